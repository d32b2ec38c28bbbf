/** Which strings of an inverter delivered less than their peers, by hourly sums. Pure. */
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
  /** Hours of full sun on the peers that it takes to judge. */
  peer_hours: number
}

/** A string that could be judged. */
export interface Shortfall {
  string_index: number
  is_short: boolean
  /** How much less than its peers it delivered; below 0 where it was more. */
  shortfall_pct: number
  /** The beginning of the hours in a row to the last one in which it did. */
  since: Date
  /** What the pattern of the loss looks like; null where it looks like nothing known. */
  cause: string | null
}

/** In an hour in which it carried nothing for most of the time a string was dead, not weak. */
const dead_ratio = 0.5
/** Of a loss that varies from hour to hour the lesser ones belong to it, too. */
const same_loss_ratio = 0.5

/**
 * The strings that had enough sun to be judged by: limited, dark and unmeasured time is in no sum,
 * and the hours in which a string was dead are left out for it, as are those that began before a
 * person saw to it. What a string loses to the partner on its MPPT is not its own.
 */
export function judgeShortfalls(
  layout: readonly StringLayout[],
  hours: readonly StringHour[],
  { shortfall_pct, peer_hours }: ShortfallThresholds,
  seenTo: (string_index: number) => Date | undefined = () => undefined,
): Shortfall[] {
  const seen_to = layout.map(({ string_index }) => ({ string_index, at: seenTo(string_index) }))
  const alive = hours.map(({ hour_at, sums }) => {
    const before = seen_to.flatMap(({ string_index, at }) =>
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

/** The sums as if nothing of these strings were known in this hour. */
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
