/** One battery with its PCS under control: what is read of it, and what is to be decided on. */
import { decodeAlarms } from '@heliograph/domain/alarms/decode'
import { findAlarmTable } from '@heliograph/domain/alarms/tables'
import type { Battery } from '@heliograph/domain/battery'
import type { Stopwatch } from '@heliograph/domain/clock'
import type { BessReading, PcsReading } from '@heliograph/domain/readings'
import { wattsWithin } from '@heliograph/domain/watts'
import type { BatteryRead, PcsRead } from '../battery-reads.ts'
import { waterFill } from '../control/core/share.ts'
import { fresh_polls } from '../control/device-record.ts'
import type { SourceBook } from '../control/source-book.ts'
import { sum } from '../control/sum.ts'
import type { BatteryAnswer } from '../drivers/driver.ts'
import { ControlledPcs, heartbeats } from './controlled-pcs.ts'
import type { BatteryNow, DispatchFacts, Stop, UnitNow } from './decide-dispatch.ts'
import { PcsSource } from './pcs-source.ts'

/** Back inside of its window by so much, it goes on. */
const window_back_pct = 0.5
/** From the cells to the grid, where no datasheet says it. */
const default_discharge_ratio = 0.95
/** By the standard such a count goes on each second, which a tick may miss by a little. */
const beat_ms_min = 900
/** A tick that comes late does not ramp further than this. */
const passed_s_max = 2
/**
 * Of what its PCS are rated at: where its ramp takes longer for so much, it saves up for that; and
 * for a step of its registers, where these are coarser: one that none can hold would be asked for
 * for ever.
 */
const step_ratio = 0.02

/** One that says `off` is connected, and stands: who asks it for power starts it. */
const dead_states: readonly BessReading['state'][] = ['initializing', 'fault', 'disconnected']
/**
 * Alarms of the state of charge alone, which end by going the other way: within the limits of the
 * management system, and with its contactors closed.
 */
const one_way: Readonly<Record<string, NonNullable<Stop['only']>>> = {
  UNDER_SOC_MIN_ALARM: 'discharge',
  OVER_SOC_MAX_ALARM: 'charge',
}
const dead_pcs_states: readonly PcsReading['state'][] = ['fault', 'shutting_down']

export class ControlledUnit {
  readonly bess_id: number
  /** null: the common connection of the site. */
  readonly logger_id: number | null
  readonly facts: DispatchFacts
  readonly pcs: readonly ControlledPcs[]
  readonly #stopwatch: Stopwatch
  readonly #fresh_ms: number
  #read: (BatteryRead & { at_ms: number }) | null = null
  #full_or_empty: UnitNow['full_or_empty'] = null
  readonly #beat = heartbeats()
  #beaten_ms = Number.NEGATIVE_INFINITY
  readonly #since_ms: number
  /** As of the last decision: when, what it was told, and since when its ramp was not used. */
  #decided: { at_ms: number; told_w: number; unused_ms: number }

  constructor(
    battery: Battery,
    { interval_s, stopwatch }: { interval_s: number; stopwatch: Stopwatch },
    book: SourceBook,
  ) {
    this.bess_id = battery.bess_id
    this.logger_id = battery.logger_id ?? null
    this.facts = factsOf(battery)
    this.#stopwatch = stopwatch
    this.#fresh_ms = fresh_polls * interval_s * 1000
    this.#since_ms = stopwatch.elapsedMs()
    this.#decided = { at_ms: this.#since_ms, told_w: 0, unused_ms: this.#since_ms }
    this.pcs = battery.pcs.map(({ pcs_idx, rated_power_kw, ramp_s }) => {
      const facts = {
        rated_w: wattsWithin(rated_power_kw),
        fresh_ms: this.#fresh_ms,
        declared: ramp_s === undefined ? {} : { ramp_ms: ramp_s * 1000 },
      }
      const key = { bess_id: this.bess_id, pcs_idx }
      const power = new PcsSource(book, key, { facts, now_ms: this.#since_ms })
      return new ControlledPcs({ pcs_idx, rated_w: facts.rated_w }, power, stopwatch)
    })
  }

  /** Some count on above 100 %, which is full. */
  get soc_pct(): number | null {
    const soc_pct = this.#fresh()?.answer.battery.soc_pct ?? null
    return soc_pct === null ? null : Math.min(100, soc_pct)
  }

  /** Of all its PCS; null: one was not measured lately. */
  get measured_w(): number | null {
    const now_ms = this.#now()
    const all = this.pcs.map(({ power }) => power.measuredAt(now_ms))
    const known = all.filter((power_w) => power_w !== null)
    return known.length < all.length ? null : sum(known)
  }

  get failure(): string | null {
    return this.pcs.map(({ failure }) => failure).find((code) => code !== null) ?? null
  }

  onBattery(read: BatteryRead): void {
    const now_ms = this.#now()
    this.#read = { ...read, at_ms: now_ms }
    this.#lookAtWindow(read.answer.battery.soc_pct)
  }

  onBatteryGone(): void {
    this.#read = null
  }

  onPcs(pcs_idx: number, { answer, control, heartbeat_ok, poll }: PcsRead): void {
    const { pcs: values, alarm_table, power } = answer
    const is_off = values.state === 'off'
    // Nothing is connected by us.
    const is_apart = is_off && values.ac_breaker_closed === 0
    const is_dead = is_apart || dead_pcs_states.includes(values.state)
    this.#of(pcs_idx)?.onRead({
      control,
      power,
      took_ms: poll?.took_ms ?? 0,
      is_lost: heartbeat_ok === false,
      is_off,
      power_w: values.ac_power_kw === null ? null : Math.round(values.ac_power_kw * 1000),
      alarm_code: criticalsOf(alarm_table, values)[0] ?? (is_dead ? `pcs_${values.state}` : null),
    })
  }

  onPcsGone(pcs_idx: number): void {
    this.#of(pcs_idx)?.onGone()
  }

  #of(pcs_idx: number): ControlledPcs | undefined {
    return this.pcs.find((one) => one.pcs_idx === pcs_idx)
  }

  /** Our signs of life, about each second however often it is called; never rejects. */
  async beat(): Promise<void> {
    const now_ms = this.#now()
    if (now_ms - this.#beaten_ms < beat_ms_min) return
    this.#beaten_ms = now_ms
    const battery = this.#read?.device ?? null
    await Promise.all([this.#beat(battery), ...this.pcs.map((pcs) => pcs.beat())])
  }

  /** At each tick. */
  look(): void {
    const now_ms = this.#now()
    for (const pcs of this.pcs) pcs.power.onContact(pcs.isUsable(now_ms))
  }

  worst_w(now_ms: number): number {
    return sum(this.pcs, ({ power }) => power.worst_w(now_ms))
  }

  held_w(now_ms: number): number {
    return sum(this.pcs, ({ power }) => power.held_w(now_ms))
  }

  /** Of those that cannot be commanded now. */
  fixed_w(now_ms: number): number {
    const fixed = this.pcs.filter((pcs) => !pcs.isUsable(now_ms))
    return sum(fixed, ({ power }) => power.worst_w(now_ms))
  }

  /** Each part of it was read, or has been waited for. */
  isKnown(now_ms: number): boolean {
    const is_read = this.#read !== null || now_ms - this.#since_ms >= this.#fresh_ms
    return is_read && this.pcs.every(({ power }) => power.isKnown(now_ms))
  }

  /** All that goes into its decision but what is asked and what there is room for. */
  now(stops: readonly Stop[]): Omit<UnitNow, 'asked_w' | 'room' | 'granted_w'> {
    const now_ms = this.#now()
    const usable = this.pcs.filter((pcs) => pcs.isUsable(now_ms))
    const mostOf = (way: 'charge_max_w' | 'discharge_max_w') =>
      sum(usable, ({ power, rated_w }) => Math.min(rated_w, power.state![way]))
    return {
      facts: this.facts,
      battery: this.#battery(),
      stops: [...stops, ...this.#stops(now_ms, usable.length)],
      pcs_charge_w: mostOf('charge_max_w'),
      pcs_discharge_w: mostOf('discharge_max_w'),
      full_or_empty: this.#full_or_empty,
      ...this.#onItsWay(now_ms),
    }
  }

  /** Its next step is by the time from now, and what was saved up. */
  decided(): void {
    const at_ms = this.#now()
    const { told_w, passed_s } = this.#onItsWay(at_ms)
    this.#decided = { at_ms, told_w, unused_ms: at_ms - 1000 * passed_s }
  }

  #onItsWay(now_ms: number): Pick<UnitNow, 'told_w' | 'passed_s'> {
    // One that is silent neither goes anywhere, nor keeps the others from that.
    const usable = this.pcs.filter((pcs) => pcs.isUsable(now_ms))
    const told_w = sum(usable, (pcs) => pcs.told_w)
    const { at_ms, ...before } = this.#decided
    const grown_w = Math.abs(told_w) - Math.abs(before.told_w)
    const is_back = grown_w < 0 || told_w * before.told_w < 0
    const used_ms = (1000 * grown_w) / (this.facts.ramp_w_s ?? Number.POSITIVE_INFINITY)
    const unused_ms = is_back ? at_ms : Math.min(now_ms, before.unused_ms + used_ms)
    const most_s = Math.max(this.#stepOf(usable), Math.min(passed_s_max, (now_ms - at_ms) / 1000))
    return { told_w, passed_s: Math.min(most_s, (now_ms - unused_ms) / 1000) }
  }

  /** In which its ramp comes to where the registers of each of them hold something else, s. */
  #stepOf(usable: readonly ControlledPcs[]): number {
    const { ramp_w_s } = this.facts
    if (ramp_w_s === null) return 0
    const rated_w = sum(this.pcs, (pcs) => pcs.rated_w)
    const steps = usable.map((pcs) => {
      const step_w = Math.max(pcs.stepFrom(pcs.told_w, 1), pcs.stepFrom(pcs.told_w, -1))
      // Of what they are told together it has its part, in whole watts.
      return ((step_w + 1) * rated_w) / pcs.rated_w
    })
    return Math.max(step_ratio * rated_w, ...steps) / ramp_w_s
  }

  #battery(): BatteryNow | null {
    const values = this.#fresh()?.answer.battery
    if (!values || values.soc_pct === null) return null
    const { soc_pct, cell_temperature_min_c, cell_temperature_max_c } = values
    const { max_charge_power_kw: charge_kw, max_discharge_power_kw: discharge_kw } = values
    return {
      soc_pct,
      max_charge_w: charge_kw === null ? null : wattsWithin(charge_kw),
      max_discharge_w: discharge_kw === null ? null : wattsWithin(discharge_kw),
      cell_temperature_min_c,
      cell_temperature_max_c,
    }
  }

  #stops(now_ms: number, usable_count: number): Stop[] {
    if (!this.#read) return []
    const { answer, heartbeat_ok } = this.#read
    const { battery, alarm_table, is_remote } = answer
    const { state, contactor_state, fire_system_state: fire } = battery
    const stops = [
      ...criticalsOf(alarm_table, battery).map((code) => {
        const only = one_way[code]
        return { ...alarm('alarm', code), ...(only && { only }) }
      }),
      (fire === 'alarm' || fire === 'fault') && alarm('fire_system'),
      dead_states.includes(state) && alarm(`state_${state}`),
      state === 'soc_protection' && this.#protectionOf(battery, alarm_table),
      contactor_state === 'open' && alarm('contactor_open'),
      heartbeat_ok === false && doubt('heartbeat_lost'),
      is_remote === false && doubt('local_control'),
      ...this.#doubtsOfPcs(now_ms),
      usable_count === 0 && this.#whyNoPcs(),
    ]
    return stops.filter((stop) => stop !== false)
  }

  /**
   * Bars only the way that led there, where anything tells which: alarms, what its management
   * system still allows, or the end of the window at which it is. Else it stands still.
   */
  #protectionOf(values: BatteryAnswer['battery'], alarm_table: string | null): Stop {
    const { max_charge_power_kw: charge_kw, max_discharge_power_kw: discharge_kw } = values
    const { soc_min_pct, soc_max_pct } = this.facts
    const soc_pct = values.soc_pct ?? Number.NaN
    const ways = new Set(criticalsOf(alarm_table, values).flatMap((code) => one_way[code] ?? []))
    if (discharge_kw === 0 && (charge_kw ?? 0) > 0) ways.add('discharge')
    if (charge_kw === 0 && (discharge_kw ?? 0) > 0) ways.add('charge')
    if (soc_pct <= soc_min_pct) ways.add('discharge')
    if (soc_pct >= soc_max_pct) ways.add('charge')
    const [only, ...others] = ways
    const is_certain = only !== undefined && others.length === 0
    return { ...alarm('state_soc_protection'), ...(is_certain && { only }) }
  }

  /** What one of them does unseen would come on top of what the others are told. */
  #doubtsOfPcs(now_ms: number): (Stop | false)[] {
    return [
      this.pcs.some(({ power }) => !power.isFresh(now_ms)) && doubt('pcs_stale'),
      this.pcs.some(({ power }) => power.unknownWhy(now_ms) === 'local') && doubt('local_control'),
      this.pcs.some(({ power }) => power.unknownWhy(now_ms) === 'lost') && doubt('heartbeat_lost'),
    ]
  }

  #whyNoPcs(): Stop {
    const alarm_code = this.pcs.map((pcs) => pcs.alarm_code).find((code) => code !== null)
    return alarm_code === undefined ? doubt('pcs_not_ready') : alarm('pcs_alarm', alarm_code)
  }

  #lookAtWindow(soc_pct: number | null): void {
    if (soc_pct === null) return
    const { soc_min_pct, soc_max_pct } = this.facts
    if (soc_pct <= soc_min_pct) this.#full_or_empty = 'empty'
    else if (soc_pct >= soc_max_pct) this.#full_or_empty = 'full'
    else {
      const is_back =
        this.#full_or_empty === 'empty'
          ? soc_pct >= soc_min_pct + window_back_pct
          : soc_pct <= soc_max_pct - window_back_pct
      if (is_back) this.#full_or_empty = null
    }
  }

  #fresh(): BatteryRead | null {
    const is_fresh = this.#read && this.#now() - this.#read.at_ms <= this.#fresh_ms
    return is_fresh ? this.#read : null
  }

  #now(): number {
    return this.#stopwatch.elapsedMs()
  }
}

/** In proportion to what they are rated at, and no more than each can. */
export function splitOver(
  power_w: number,
  usable: readonly ControlledPcs[],
): ReadonlyMap<ControlledPcs, number> {
  const parts = usable.map(({ power, rated_w }) => {
    const { charge_max_w, discharge_max_w } = power.state!
    return {
      weight: rated_w,
      max_w: Math.min(rated_w, power_w < 0 ? charge_max_w : discharge_max_w),
    }
  })
  const shares = waterFill(Math.abs(power_w), parts)
  return new Map(usable.map((pcs, nth) => [pcs, power_w < 0 ? -shares[nth]! : shares[nth]!]))
}

const alarm = (code: string, alarm_code: string | null = null): Stop => ({
  code,
  clamp_reason: 'alarm',
  alarm_code,
})

const doubt = (code: string): Stop => ({ code, clamp_reason: null, alarm_code: null })

function factsOf(battery: Battery): DispatchFacts {
  const { soc_min_pct, ramp_rate_kw_s = null, roundtrip_efficiency_pct } = battery
  return {
    // Its reserve is for what nobody planned.
    soc_min_pct: Math.max(soc_min_pct, battery.soc_reserve_pct ?? 0),
    soc_max_pct: battery.soc_max_pct,
    rated_charge_w: wattsWithin(battery.rated_charge_power_kw),
    rated_discharge_w: wattsWithin(battery.rated_discharge_power_kw),
    discharge_ratio:
      roundtrip_efficiency_pct === undefined
        ? default_discharge_ratio
        : Math.sqrt(roundtrip_efficiency_pct / 100),
    ramp_w_s: ramp_rate_kw_s === null ? null : ramp_rate_kw_s * 1000,
  }
}

type Words = { readonly [Name in `alarm_${1 | 2 | 3 | 4}`]: number | null }

/** The codes of its critical alarms. */
function criticalsOf(alarm_table: string | null, words: Words & { alarm_5?: number | null }) {
  const table = alarm_table === null ? undefined : findAlarmTable(alarm_table)
  if (!table) return []
  const { alarm_1, alarm_2, alarm_3, alarm_4, alarm_5 = null } = words
  const { alarms } = decodeAlarms(table, [alarm_1, alarm_2, alarm_3, alarm_4, alarm_5])
  return alarms.filter(({ severity }) => severity === 'critical').map(({ code }) => code)
}
