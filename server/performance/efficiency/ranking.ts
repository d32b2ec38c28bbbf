/** Ranks and deviations from the median. */

import { median } from '@heliograph/domain/median'
import { rounded } from '@heliograph/domain/significant'

interface Ranked {
  /** 1 is the best; equal values share a rank. Null without a value. */
  rank: number | null
  /** Share of the other values that are not better, 0 to 100; null without others. */
  percentile: number | null
  deviation_pct: number | null
}

/** Rank, percentile and deviation of each value; the highest is the best. */
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

/** Minimum coverage of a comparable value, relative to the highest coverage. */
const comparable_ratio = 0.95

/** Values with comparable coverage; others become null. */
export function comparable(
  values: readonly (number | null)[],
  coverages: readonly (number | null)[],
): (number | null)[] {
  const most = Math.max(0, ...coverages.map((share) => share ?? 0))
  return values.map((value, nth) =>
    (coverages[nth] ?? 0) >= comparable_ratio * most ? value : null,
  )
}

/** Items without a rank last; equal ranks keep their order. */
export const byRank = <Item extends { rank: number | null }>(items: Item[]): Item[] =>
  items.sort((a, b) => (a.rank ?? items.length + 1) - (b.rank ?? items.length + 1))
