/**
 * What each poll round measured. A round is an instant of the poll grid at which all kinds of
 * devices that feed in are polled: only measurements of the same round are added up, as power
 * changes between two polls.
 */
import { defaultPollIntervals, type Site } from '@heliograph/domain/site'
import type { Controlled } from './decide.ts'
import type { DeviceLimits } from './device-limits.ts'
import type { PlantPower } from './row-watch.ts'
import { sum } from './sum.ts'

/** What measures power: an inverter or the controller of a plant, a meter, a PCS. */
export type PowerSource = `device ${number}` | `meter ${number}` | `pcs ${string}`

export interface PowerRound {
  /** Unix ms by the clock of the poll grid. */
  round_at: number
  /** By the stopwatch: its first answer. */
  began_ms: number
  /** Whole or fractional watts, positive when fed in; null: answered without a measurement. */
  power_w: ReadonlyMap<PowerSource, number | null>
}

export const no_round: PowerRound = { round_at: 0, began_ms: 0, power_w: new Map() }

interface OpenRound extends PowerRound {
  power_w: Map<PowerSource, number | null>
}

/** What a round measured of a plant, a battery or a device. Whole watts. */
export interface MeasuredPower {
  /** Adds up what was measured alone; null: nothing was. */
  power_w: number | null
  /** With what was not measured at its worst; left out: all was measured. */
  at_most_w?: number
}

/** Of a battery: positive when it discharges. */
export interface BatteryInRound extends MeasuredPower {
  bess_id: number
  /** Where it counts; null: at the common connection alone. */
  logger_id: number | null
}

export type BatteryPower = Pick<PlantPower, 'measured_w' | 'unmeasured_w'>

type Counting = Pick<Controlled, 'inverter_id' | 'limits'>

/** @param missing_w what was not measured may deliver at worst; null: all was measured */
export function measuredPower(power_w: number | null, missing_w: number | null): MeasuredPower {
  const rounded_w = power_w === null ? null : Math.round(power_w)
  if (missing_w === null) return { power_w: rounded_w }
  return { power_w: rounded_w, at_most_w: Math.round((power_w ?? 0) + missing_w) }
}

/** What a plant without a meter feeds in: its devices, with the batteries that discharge beside. */
export function measuredByDevices(
  { devices, removed }: Record<'devices' | 'removed', readonly Counting[]>,
  round: PowerRound,
  batteries: readonly MeasuredPower[],
  { now_ms, asleep }: { now_ms: number; asleep: ReadonlySet<DeviceLimits> },
): MeasuredPower {
  const known_w: number[] = []
  const awake = removed.filter(({ limits }) => !asleep.has(limits))
  const missing_w = awake.map(({ limits }) => limits.worst_w(now_ms))
  for (const { inverter_id, limits } of devices) {
    const power_w = round.power_w.get(`device ${inverter_id}`) ?? null
    if (power_w !== null) known_w.push(power_w)
    else if (!asleep.has(limits)) missing_w.push(limits.worst_w(now_ms))
  }
  for (const { power_w, at_most_w } of batteries) {
    const discharge_w = Math.max(0, power_w ?? 0)
    if (power_w !== null) known_w.push(discharge_w)
    if (at_most_w !== undefined) missing_w.push(Math.max(0, at_most_w - discharge_w))
  }
  const is_whole = missing_w.length === 0
  return measuredPower(known_w.length === 0 ? null : sum(known_w), is_whole ? null : sum(missing_w))
}

/** Power is noted each minute: intervals that meet less often have rounds of the longest alone. */
const common_ms_max = 60_000
/** An answer of a round that is over comes at most so late; after that the clock was set back. */
const late_ms_max = 60_000

export class PowerRounds {
  #interval_ms = 1000 * Math.max(defaultPollIntervals.inverter_s, defaultPollIntervals.meter_s)
  /** After so long each answer of a round was there, or belongs to none. */
  #over_ms = this.#interval_ms
  #open: OpenRound[] = []
  #taken_at = Number.NEGATIVE_INFINITY

  apply({ poll, meters = [], batteries = [] }: Pick<Site, 'poll' | 'meters' | 'batteries'>): void {
    const { inverter_s, meter_s, battery_s } = { ...defaultPollIntervals, ...poll }
    const intervals_ms = [
      inverter_s,
      ...(meters.length > 0 ? [meter_s] : []),
      ...(batteries.length > 0 ? [battery_s] : []),
    ].map((interval_s) => Math.round(interval_s * 1000))
    const longest_ms = Math.max(...intervals_ms)
    const common_ms = intervals_ms.reduce(leastCommonMultiple)
    this.#interval_ms = common_ms <= common_ms_max ? common_ms : longest_ms
    this.#over_ms = longest_ms
    this.#open = []
  }

  /** @param round_at the instant for which it was polled; undefined: by no poll of the grid */
  onPower(
    source: PowerSource,
    power_w: number | null,
    { round_at, now_ms }: { round_at: number | undefined; now_ms: number },
  ): void {
    if (round_at === undefined || round_at % this.#interval_ms !== 0) return
    const is_taken = round_at <= this.#taken_at && this.#taken_at - round_at < late_ms_max
    if (is_taken) return
    let round = this.#open.find((one) => one.round_at === round_at)
    if (!round) {
      round = { round_at, began_ms: now_ms, power_w: new Map() }
      this.#open.push(round)
    }
    const is_late = now_ms - round.began_ms >= this.#over_ms
    if (!is_late) round.power_w.set(source, power_w)
  }

  /** The newest round that each of `wanted` answered in, or that is over. Each round once. */
  take(wanted: readonly PowerSource[], now_ms: number): PowerRound | null {
    const isDone = ({ began_ms, power_w }: PowerRound) =>
      now_ms - began_ms >= this.#over_ms || wanted.every((source) => power_w.has(source))
    const nth = this.#open.findLastIndex(isDone)
    if (nth === -1) return null
    const [round] = this.#open.splice(0, nth + 1).slice(-1)
    this.#taken_at = round!.round_at
    return round!
  }
}

function leastCommonMultiple(a: number, b: number): number {
  let [divisor, rest] = [a, b]
  while (rest > 0) [divisor, rest] = [rest, divisor % rest]
  return (a / divisor) * b
}
