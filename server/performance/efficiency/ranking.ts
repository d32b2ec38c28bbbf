/** Ranks and distances from the middle of a field. */

import { median } from '@heliograph/domain/median'
import { rounded } from '@heliograph/domain/significant'

interface Ranked {
  /** 1 is the best; equal values share a rank, and without a value there is none. */
  rank: number | null
  /** Share of the others that are no better, 0 to 100; null for one alone. */
  percentile: number | null
  deviation_pct: number | null
}

/** Each value among all of them, the highest first. */
export function ranked(values: readonly (number | null)[]): Ranked[] {
  const known = values.filter((value) => value !== null).toSorted((a, b) => b - a)
  const middle = median(known)
  return values.map((value) => {
    if (value === null) return { rank: null, percentile: null, deviation_pct: null }
    const better = known.findIndex((other) => other <= value)
    const not_better = known.length - better - 1
    return {
      rank: better + 1,
      percentile: known.length > 1 ? rounded((100 * not_better) / (known.length - 1), 1) : null,
      deviation_pct:
        middle === null || middle === 0 ? null : rounded(100 * (value / middle - 1), 3),
    }
  })
}

/** What is known of less than this share of what is known of the best-known does not compare. */
const comparable_ratio = 0.95

/** The values that compare: those that stand on as much of the period as the others do. */
export function comparable(
  values: readonly (number | null)[],
  known: readonly (number | null)[],
): (number | null)[] {
  const most = Math.max(0, ...known.map((share) => share ?? 0))
  return values.map((value, nth) => ((known[nth] ?? 0) >= comparable_ratio * most ? value : null))
}
