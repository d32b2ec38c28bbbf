/**
 * Peers of strings whose orientation is only assumed, by when their energy comes: panels that face
 * east give theirs earlier than panels that face west. A string is compared again with those of its
 * group alone, from sums in which all with an assumed orientation were compared as one.
 */
import { mediansOfOthers } from './peer-medians.ts'
import type { StringLayout, StringSums } from './string-sums.ts'

interface HourOfSums {
  hour_at: Date
  sums: StringSums
}

const hour_ms = 3_600_000
/** Of the time of the string that was measured most: an hour with less of a string is left out. */
const covered_ratio_min = 0.9
/**
 * Between groups. At 48° north and a tilt of 20°, planes that face 90° apart are 0.6 h to 0.8 h
 * apart on a clear day; equal strings with dirt, mismatch and sensors of 1 % are within 0.05 h.
 */
const apart_h_min = 0.2
/** Fewer have no peers of their own, and join the group that is nearest. */
const members_min = 4

/** The layout, in which assumed orientations are told apart by what the hours show. */
export function withMeasuredGroups(
  layout: readonly StringLayout[],
  hours: readonly HourOfSums[],
): StringLayout[] {
  const groups = new Map<StringLayout, string>()
  const assumed = layout.filter((string) => string.is_orientation_assumed && string.is_connected)
  for (const [group, members] of Map.groupBy(assumed, (string) => string.group)) {
    const clusters = clustersOf(energyHours(members, hours))
    const usual = clusters.toSorted((a, b) => b.length - a.length)[0]
    for (const string of members) {
      const isOf = (cluster: readonly TimedString[]) => cluster.some((one) => one.string === string)
      const isOfMppt = (cluster: readonly TimedString[]) =>
        cluster.some((one) => one.string.mppt_index === string.mppt_index)
      // Dead, or hardly measured: strings of an MPPT face the same way, as a rule.
      const own = clusters.find(isOf) ?? clusters.find(isOfMppt) ?? usual
      if (own) groups.set(string, `${group}/${clusters.indexOf(own) + 1}`)
    }
  }
  return layout.map((string) => ({ ...string, group: groups.get(string) ?? string.group }))
}

interface TimedString {
  string: StringLayout
  /** Of the day, UTC, weighted by energy; below the mean of its strings where it is earlier. */
  energy_h: number
}

/** Of those that were measured in enough of the hours to tell. */
function energyHours(members: readonly StringLayout[], hours: readonly HourOfSums[]) {
  const lit = hours.filter(({ sums }) =>
    members.some(({ string_index }) => (sums.light_s[string_index] ?? 0) > 0),
  )
  const whole = lit.map(({ sums }) => {
    const covered = members.map(({ string_index }) => sums.covered_s[string_index] ?? 0)
    const most_s = Math.max(...covered)
    return covered.map((covered_s) => covered_s >= covered_ratio_min * most_s)
  })
  const middle = angleOf(lit.map((hour) => [hour, totalOf(hour.sums, members)]))
  if (middle === null) return []
  return members.flatMap((string, at): TimedString[] => {
    const own = lit.filter((_, nth) => whole[nth]![at])
    if (own.length < covered_ratio_min * lit.length) return []
    const [weight, moment] = own.reduce(
      ([sum, sum_h], { hour_at, sums }) => {
        const kwh = sums.energy_kwh[string.string_index] ?? 0
        const after_h = (((hour_at.getTime() / hour_ms - middle) % 24) + 36) % 24
        return [sum + kwh, sum_h + kwh * (after_h - 12)]
      },
      [0, 0],
    )
    return weight > 0 ? [{ string, energy_h: moment / weight }] : []
  })
}

const totalOf = ({ energy_kwh }: StringSums, members: readonly StringLayout[]) =>
  members.reduce((sum, { string_index }) => sum + (energy_kwh[string_index] ?? 0), 0)

/** The hour of the day around which energy lies, whatever the time zone; null without energy. */
function angleOf(weighted: readonly (readonly [HourOfSums, number])[]): number | null {
  let [x, y] = [0, 0]
  for (const [{ hour_at }, kwh] of weighted) {
    const angle = (2 * Math.PI * (hour_at.getTime() / hour_ms)) / 24
    x += kwh * Math.cos(angle)
    y += kwh * Math.sin(angle)
  }
  return x === 0 && y === 0 ? null : (24 * Math.atan2(y, x)) / (2 * Math.PI)
}

/** Consecutive strings without a gap between, the earliest first. */
function clustersOf(strings: readonly TimedString[]): TimedString[][] {
  const sorted = strings.toSorted((a, b) => a.energy_h - b.energy_h)
  const clusters: TimedString[][] = []
  for (const string of sorted) {
    const before = clusters.at(-1)?.at(-1)
    if (before && string.energy_h - before.energy_h < apart_h_min) clusters.at(-1)!.push(string)
    else clusters.push([string])
  }
  const large = clusters.filter(({ length }) => length >= members_min)
  if (large.length === 0) return [sorted]
  const meanOf = (cluster: readonly TimedString[]) =>
    cluster.reduce((sum, { energy_h }) => sum + energy_h, 0) / cluster.length
  const means = large.map(meanOf)
  const joined = large.map((cluster) => [...cluster])
  for (const string of clusters.filter(({ length }) => length < members_min).flat()) {
    const apart_h = means.map((mean) => Math.abs(mean - string.energy_h))
    joined[apart_h.indexOf(Math.min(...apart_h))]!.push(string)
  }
  return joined
}

/**
 * The sums with each string of an assumed orientation compared with its own group: by the mean of
 * the power, current and voltage over the time in which it could be compared. A string that was
 * measured in less of that time than its peers is not compared.
 */
export function comparedInGroups(layout: readonly StringLayout[], sums: StringSums): StringSums {
  const assumed = layout.filter((string) => string.is_orientation_assumed && string.is_connected)
  if (assumed.length === 0) return sums
  const compared = {
    compared_s: [...sums.compared_s],
    compared_kwh: [...sums.compared_kwh],
    peer_kwh: [...sums.peer_kwh],
    compared_ah: [...sums.compared_ah],
    peer_ah: [...sums.peer_ah],
    compared_vs: [...sums.compared_vs],
    peer_vs: [...sums.peer_vs],
  }
  for (const members of Map.groupBy(assumed, ({ group }) => group).values()) {
    const most_s = Math.max(...members.map(({ string_index: nth }) => sums.compared_s[nth] ?? 0))
    const mean = (quantity: 'compared_kwh' | 'compared_ah' | 'compared_vs', is_scaled: boolean) => {
      const means = members.map(({ string_index: nth, rated_kw }) => {
        const compared_s = sums.compared_s[nth] ?? 0
        const is_whole = compared_s > 0 && compared_s >= covered_ratio_min * most_s
        return is_whole
          ? sums[quantity][nth]! / compared_s / (is_scaled ? rated_kw : 1)
          : Number.NaN
      })
      const medians = new Float64Array(means.length)
      mediansOfOthers(Float64Array.from(means), medians)
      return medians
    }
    const [kw, a, v] = [
      mean('compared_kwh', true),
      mean('compared_ah', false),
      mean('compared_vs', true),
    ]
    for (const [at, { string_index: nth, rated_kw }] of members.entries()) {
      const is_compared = !Number.isNaN(kw[at]!)
      const compared_s = is_compared ? sums.compared_s[nth]! : 0
      if (!is_compared) for (const list of Object.values(compared)) list[nth] = 0
      compared.peer_kwh[nth] = is_compared ? kw[at]! * rated_kw * compared_s : 0
      compared.peer_ah[nth] = is_compared ? a[at]! * compared_s : 0
      compared.peer_vs[nth] = is_compared ? v[at]! * rated_kw * compared_s : 0
    }
  }
  return { ...sums, ...compared }
}
