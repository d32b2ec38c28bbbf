/** Strings of an inverter that delivered less than their peers, by hourly sums. Pure. */
import {
  comparedInGroups,
  withMeasuredGroups,
} from '../../performance/diagnostics/measured-orientation.ts'
import { judgeStrings } from '../../performance/diagnostics/string-health.ts'
import {
  additive_quantities,
  addSums,
  type StringLayout,
  type StringSums,
} from '../../performance/diagnostics/string-sums.ts'

export interface StringHour {
  hour_at: Date
  sums: StringSums
}

interface ShortfallThresholds {
  shortfall_pct: number
  /** Full-sun hours of the peers needed for a judgement. */
  peer_hours: number
}

export interface Shortfall {
  string_index: number
  is_short: boolean
  /** Negative where the string delivered more than its peers. */
  shortfall_pct: number
  /** The start of the latest consecutive hours of shortfall. */
  since: Date
  /** The cause that the pattern of the loss suggests; null for none. */
  cause: string | null
}

/** Above this share of time without current an hour counts as dead, not as shortfall. */
const dead_ratio = 0.5
/** Hours with at least this share of the threshold belong to the same loss. */
const same_loss_ratio = 0.5

/**
 * Judges the strings with enough sun. The sums exclude limited, dark and unmeasured time. Dead
 * hours of a string and hours before a manual resolution do not count for it. Losses caused by
 * another string on the same MPPT are not attributed to the string.
 */
export function judgeShortfalls(
  layout: readonly StringLayout[],
  hours: readonly StringHour[],
  { shortfall_pct, peer_hours }: ShortfallThresholds,
  handledAt: (string_index: number) => Date | undefined = () => undefined,
): Shortfall[] {
  const handled_at = layout.map(({ string_index }) => ({
    string_index,
    at: handledAt(string_index),
  }))
  const alive = hours.map(({ hour_at, sums }) => {
    const before = handled_at.flatMap(({ string_index, at }) =>
      at !== undefined && hour_at < at ? [string_index] : [],
    )
    return { hour_at, sums: without(sums, [...deadOf(sums), ...before]) }
  })
  if (alive.length === 0) return []
  const grouped = withMeasuredGroups(layout, alive)
  const sums = alive.map((hour) => comparedInGroups(grouped, hour.sums))
  const total = addSums(sums)
  const verdicts = judgeStrings(grouped, total, { hours: sums })
  const compared = alive.map(({ hour_at }, nth) => ({ hour_at, sums: sums[nth]! }))
  return verdicts.flatMap((verdict, nth): Shortfall[] => {
    const { string_index, own_ratio, compared_with, suspected_cause } = verdict
    const peer_kwh = total.peer_kwh[string_index] ?? 0
    const is_known = compared_with === 'peers' && own_ratio !== null
    if (!is_known || peer_kwh < peer_hours * layout[nth]!.rated_kw) return []
    const lacking_pct = 100 * (1 - own_ratio)
    const is_short = lacking_pct >= shortfall_pct
    return [
      {
        string_index,
        is_short,
        shortfall_pct: lacking_pct,
        since: beganAt(compared, string_index, shortfall_pct),
        cause: suspected_cause === 'unknown' ? null : suspected_cause,
      },
    ]
  })
}

const deadOf = (sums: StringSums): number[] =>
  sums.known_s.flatMap((known_s, index) =>
    known_s > 0 && sums.zero_current_s[index]! > dead_ratio * known_s ? [index] : [],
  )

function without(sums: StringSums, indices: readonly number[]): StringSums {
  if (indices.length === 0) return sums
  const left = { ...sums }
  for (const quantity of additive_quantities) {
    left[quantity] = sums[quantity].map((value, index) => (indices.includes(index) ? 0 : value))
  }
  return left
}

function beganAt(hours: readonly StringHour[], index: number, shortfall_pct: number): Date {
  const least = (same_loss_ratio * shortfall_pct) / 100
  let since: Date | null = null
  for (const { hour_at, sums } of hours.toReversed()) {
    const peer_kwh = sums.peer_kwh[index] ?? 0
    if (!(peer_kwh > 0)) continue
    if (sums.compared_kwh[index]! > (1 - least) * peer_kwh) break
    since = hour_at
  }
  return since ?? hours.at(-1)!.hour_at
}
