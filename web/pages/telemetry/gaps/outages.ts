import type { Gap } from '@heliograph/sdk'

export interface Outage {
  id: Gap['gap_id']
  cause: Gap['cause']
  start_at: string
  /** End of the last gap; null while the outage lasts. */
  end_at: string | null
  duration_s: number
  /** At least one, in the given order. */
  gaps: Gap[]
}

/** Polling intervals range from seconds to minutes, so the ends of gaps differ slightly. */
const apart_ms = 300_000

const near = (one: string | null, other: string | null): boolean =>
  one === null || other === null
    ? one === other
    : Math.abs(Date.parse(one) - Date.parse(other)) <= apart_ms

/** Groups gaps of one cause that start and end together, the newest first. */
export function outagesOf(gaps: readonly Gap[]): Outage[] {
  const groups: Gap[][] = []
  for (const gap of gaps) {
    const own = groups.find(
      ([first]) =>
        first!.cause === gap.cause &&
        near(first!.start_at, gap.start_at) &&
        near(first!.end_at, gap.end_at),
    )
    if (own) own.push(gap)
    else groups.push([gap])
  }
  return groups.map(outageOf).toSorted((a, b) => Date.parse(b.start_at) - Date.parse(a.start_at))
}

function outageOf(gaps: Gap[]): Outage {
  const { gap_id, cause } = gaps[0]!
  const start_at = gaps.map((gap) => gap.start_at).reduce((a, b) => (a < b ? a : b))
  const ends = gaps.map(({ end_at }) => end_at)
  const end_at = ends.reduce((a, b) => (a === null || b === null ? null : a > b ? a : b))
  const longest_s = Math.max(...gaps.map(({ duration_s }) => duration_s))
  const whole_s = end_at === null ? longest_s : (Date.parse(end_at) - Date.parse(start_at)) / 1000
  return { id: gap_id, cause, start_at, end_at, duration_s: Math.max(longest_s, whole_s), gaps }
}
