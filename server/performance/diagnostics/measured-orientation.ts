/**
 * Groups strings with an assumed orientation by the time of their energy: panels facing east
 * produce earlier than panels facing west. Strings are then compared again within these groups,
 * from sums in which all strings with an assumed orientation formed one group.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { mediansOfOthers } from './peer-medians.ts'
import type { StringLayout, StringSums } from './string-sums.ts'

interface HourOfSums {
  hour_at: Date
  sums: StringSums
}

/** Minimum coverage of an hour of a string, relative to the string with the highest coverage. */
const covered_ratio_min = 0.9
/**
 * Minimum distance of groups. At 48° north and a tilt of 20°, planes with azimuths 90° apart are
 * 0.6 h to 0.8 h apart on a clear day; equal strings with dirt, mismatch and 1 % sensors are within
 * 0.05 h.
 */
const apart_h_min = 0.2
/** Smaller groups have too few peers and join the nearest group. */
const members_min = 4

/** Layout with groups of assumed orientations divided by the measured hours. */
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
      // Strings without enough data take the group of their MPPT: its strings usually face one way.
      const own = clusters.find(isOf) ?? clusters.find(isOfMppt) ?? usual
      if (own) groups.set(string, `${group}/${clusters.indexOf(own) + 1}`)
    }
  }
  return layout.map((string) => ({ ...string, group: groups.get(string) ?? string.group }))
}

interface TimedString {
  string: StringLayout
  /** Energy-weighted hour of the day relative to the mean of the strings; negative is earlier. */
  energy_h: number
}

/** Energy-weighted hours of the strings with enough data. */
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

/** Energy-weighted circular mean of the hour of the day; null without energy. */
function angleOf(weighted: readonly (readonly [HourOfSums, number])[]): number | null {
  let [x, y] = [0, 0]
  for (const [{ hour_at }, kwh] of weighted) {
    const angle = (2 * Math.PI * (hour_at.getTime() / hour_ms)) / 24
    x += kwh * Math.cos(angle)
    y += kwh * Math.sin(angle)
  }
  return x === 0 && y === 0 ? null : (24 * Math.atan2(y, x)) / (2 * Math.PI)
}

/** Clusters of strings without a gap in time, earliest first. */
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
 * Sums with each string of an assumed orientation compared within its own group, by mean power,
 * current and voltage over the compared time. Strings with less compared time than their peers are
 * not compared.
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
