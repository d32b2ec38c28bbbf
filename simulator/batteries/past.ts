/**
 * History of the simulated batteries: one cycle a day, charged around noon and discharged in the
 * evening. It ends in the initial state of the live batteries: half full, with the counters of
 * `livedUnits` and the temperatures of `firstUnits`. Without ageing, as the live cells are new.
 */
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { shownAt } from '@heliograph/domain/local-day'
import type { BessReading, PcsReading } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import { hash01 } from '../noise.ts'
import { initialUnits, type UnitState, type UnitStates } from './batteries.ts'
import { advanceBattery } from './battery-model.ts'
import { type BatteryCounters, bessReading, pcsReadings } from './battery-readings.ts'
import { batterySnapshot } from './battery-snapshot.ts'
import { type BatteryModel, type BatteryState, batteryModel } from './battery-state.ts'

/** Cycle count of a used battery when the simulation begins. */
const first_cycles = 120
const usual_efficiency_pct = 90

/** Turns new units into used ones, in place: with counters, but without ageing. */
export function livedUnits(site: Site, units: UnitStates, seed: number): UnitStates {
  for (const battery of site.batteries ?? []) {
    const { clusters } = batteryModel(battery, seed)
    const { battery: state } = units[battery.bess_id]!
    const efficiency = (battery.roundtrip_efficiency_pct ?? usual_efficiency_pct) / 100
    const injected_kwh = first_cycles * battery.rated_energy_kwh
    const absorbed_kwh = injected_kwh / efficiency
    Object.assign(state.totals, { injected_kwh, absorbed_kwh })
    for (const [nth, pcs] of state.pcs.entries()) {
      const share = shareOf(battery.pcs, nth)
      Object.assign(pcs, { injected_kwh: share * injected_kwh, absorbed_kwh: share * absorbed_kwh })
    }
    for (const [nth, cluster] of state.clusters.entries()) {
      cluster.discharged_ah = first_cycles * clusters[nth]!.nominal_ah
    }
  }
  return units
}

const shareOf = (pcs: readonly { rated_power_kw: number }[], nth: number) =>
  pcs[nth]!.rated_power_kw / pcs.reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0)

/** All batteries of the site at a minute, without the grid side of PCS. */
interface PastMinute {
  bess: BessReading[]
  pcs: PcsReading[]
  /** At the connection, including the units' own supply. */
  power_kw: number
}

interface PastSpan {
  seed: number
  /** Unix ms, whole minutes: [end_ms - days, end_ms). */
  end_ms: number
  days: number
  ambient_c: (time_ms: number) => number
}

/** By time, Unix ms; deterministic. */
export const batteryPast = (site: Site, span: PastSpan): ReadonlyMap<number, PastMinute> =>
  liveThrough(site, span).past

/** Days after which temperatures no longer depend on the start, to less than 0.01 °C. */
const settling_days = 3

/** Units at the end of their history, with its temperatures. */
export function firstUnits(
  site: Site,
  { seed, time_ms, ambient_c }: Omit<PastSpan, 'end_ms' | 'days'> & { time_ms: number },
): UnitStates {
  const units = livedUnits(site, initialUnits(site, { seed, time_ms }), seed)
  const end_ms = Math.floor(time_ms / minute_ms) * minute_ms
  const past = liveThrough(site, { seed, end_ms, days: settling_days, ambient_c })
  for (const [bess_id, { battery }] of Object.entries(units)) {
    const before = past.units[Number(bess_id)]!.battery
    battery.coolant_temperature_c = before.coolant_temperature_c
    battery.ambient_temperature_c = before.ambient_temperature_c
    for (const [nth, cluster] of battery.clusters.entries()) {
      cluster.module_temperature_c = before.clusters[nth]!.module_temperature_c
    }
  }
  return units
}

/** The history, and the units at its end. */
function liveThrough(
  site: Site,
  span: PastSpan,
): { past: ReadonlyMap<number, PastMinute>; units: UnitStates } {
  const past = new Map<number, PastMinute>()
  const start_ms = span.end_ms - span.days * day_ms
  for (let time_ms = start_ms; time_ms < span.end_ms; time_ms += minute_ms) {
    past.set(time_ms, { bess: [], pcs: [], power_kw: 0 })
  }
  const units = livedUnits(site, initialUnits(site, { ...span, time_ms: start_ms }), span.seed)
  for (const battery of site.batteries ?? []) {
    const model = batteryModel(battery, span.seed)
    addUnit(past, { site, model, unit: units[battery.bess_id]!, span })
  }
  return { past, units }
}

interface Of {
  site: Site
  model: BatteryModel
  unit: UnitState
  span: PastSpan
}

function addUnit(past: ReadonlyMap<number, PastMinute>, { site, model, unit, span }: Of): void {
  const { battery } = model
  const last = countersOf(unit.battery)
  const state = unit.battery
  const read: { minute: PastMinute; bess: BessReading; pcs: PcsReading[] }[] = []
  for (const [time_ms, minute] of past) {
    const snapshot = batterySnapshot(model, state)
    const aim_kw = aimAt(time_ms, { site, model, soc_pct: snapshot.soc_pct, span })
    const setpoint_kw = battery.pcs.map((_, nth) =>
      aim_kw === null ? null : aim_kw * shareOf(battery.pcs, nth),
    )
    const told = { model, snapshot, setpoint_kw }
    read.push({ minute, bess: bessReading(told, time_ms), pcs: pcsReadings(told, time_ms) })
    minute.power_kw += snapshot.ac_power_kw - snapshot.auxiliary_power_kw
    const input = { seconds: 60, setpoint_kw, ambient_c: span.ambient_c(time_ms) }
    advanceBattery(model, state, input, { step_s: 60 })
    renew(state)
  }
  // Counters are shifted to end where those of the live unit begin.
  const gained = gainOf(last, countersOf(state))
  for (const { minute, bess, pcs } of read) {
    minute.bess.push(unitBefore(bess, gained))
    minute.pcs.push(...pcs.map((one, nth) => pcsBefore(one, gained.pcs[nth]!)))
  }
}

function renew({ clusters }: BatteryState): void {
  for (const cluster of clusters) {
    Object.assign(cluster, { capacity_ratio: 1, resistance_ratio: 1 })
    Object.assign(cluster.ageing, { calendar_fade: 0, cycle_fade: 0, resistance_growth: 0 })
  }
}

const countersOf = ({ pcs, clusters }: BatteryState): BatteryCounters => ({
  pcs: pcs.map(({ injected_kwh, absorbed_kwh }) => ({ injected_kwh, absorbed_kwh })),
  discharged_ah: clusters.map(({ discharged_ah }) => discharged_ah),
})

interface Gain {
  pcs: BatteryCounters['pcs']
  cycles: number
}

function gainOf(first: BatteryCounters, last: BatteryCounters): Gain {
  const cycles = last.discharged_ah.map((ah, nth) => {
    const first_ah = first.discharged_ah[nth]!
    return (ah / first_ah - 1) * first_cycles
  })
  return {
    pcs: last.pcs.map(({ injected_kwh, absorbed_kwh }, nth) => ({
      injected_kwh: injected_kwh - first.pcs[nth]!.injected_kwh,
      absorbed_kwh: absorbed_kwh - first.pcs[nth]!.absorbed_kwh,
    })),
    cycles: cycles.reduce((sum, one) => sum + one, 0) / cycles.length,
  }
}

function unitBefore(bess: BessReading, { pcs, cycles }: Gain): BessReading {
  const sum = (name: keyof Gain['pcs'][number]) => pcs.reduce((kwh, one) => kwh + one[name], 0)
  return {
    ...bess,
    discharged_total_kwh: bess.discharged_total_kwh! - sum('injected_kwh'),
    charged_total_kwh: bess.charged_total_kwh! - sum('absorbed_kwh'),
    // As its management system reports them.
    cycle_count: Math.floor(bess.cycle_count! - cycles),
  }
}

const pcsBefore = (pcs: PcsReading, gain: Gain['pcs'][number]): PcsReading => ({
  ...pcs,
  energy_injected_total_kwh: pcs.energy_injected_total_kwh! - gain.injected_kwh,
  energy_absorbed_total_kwh: pcs.energy_absorbed_total_kwh! - gain.absorbed_kwh,
})

interface Window {
  /** Hours of the local day. */
  from_h: number
  to_h: number
  /** Target, on average of the days, and its spread. */
  soc_pct: number
  spread_pct: number
}

const windows: readonly Window[] = [
  { from_h: 10.5, to_h: 14.5, soc_pct: 82, spread_pct: 16 },
  { from_h: 17.75, to_h: 21.25, soc_pct: 26, spread_pct: 18 },
]
/** State of charge at the end, reached in the last hours. */
const last_soc_pct = 50
const last_h = 4
const channel = 41
const least_kw = 2

/** Setpoint, kW, discharge positive; null: none. */
function aimAt(
  time_ms: number,
  { site, model, soc_pct, span }: Omit<Of, 'unit'> & { soc_pct: number },
): number | null {
  const { battery } = model
  const to = targetAt(time_ms, { site, seed: span.seed, end_ms: span.end_ms })
  if (!to) return null
  const missing_kwh = ((to.soc_pct - soc_pct) / 100) * battery.rated_energy_kwh
  const aim_kw = -missing_kwh / Math.max(0.25, to.left_h)
  if (Math.abs(aim_kw) < least_kw) return null
  return Math.max(
    -battery.rated_charge_power_kw,
    Math.min(battery.rated_discharge_power_kw, aim_kw),
  )
}

function targetAt(
  time_ms: number,
  { site, seed, end_ms }: { site: Site; seed: number; end_ms: number },
): { soc_pct: number; left_h: number } | null {
  const end_h = (end_ms - time_ms) / hour_ms
  if (end_h <= last_h) return { soc_pct: last_soc_pct, left_h: end_h }
  const shown_ms = shownAt(time_ms, site.timezone)
  const day = Math.floor(shown_ms / day_ms)
  const hour = (shown_ms - day * day_ms) / hour_ms
  const nth = windows.findIndex(({ from_h, to_h }) => hour >= from_h && hour < to_h)
  const window = windows[nth]
  if (!window) return null
  const { soc_pct, spread_pct, to_h } = window
  const wanted_pct = soc_pct + spread_pct * (hash01(seed, channel + nth, day) - 0.5)
  return { soc_pct: wanted_pct, left_h: to_h - hour }
}
