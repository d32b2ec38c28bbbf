/**
 * Nights and starts of simulated inverters. An inverter whose electronics are supplied by its
 * modules is off without light: it does not answer, and loses a limit that is not persistent. A
 * start takes minutes, breaks down if there is too little power for it, and ends with a ramp.
 */
import { minute_ms } from '@heliograph/domain/durations'
import type { Inverter, Site } from '@heliograph/domain/site'
import type { Fault } from './faults.ts'
import { hash01 } from './noise.ts'
import type { InverterSnapshot, SiteSnapshot } from './site.ts'

/**
 * By maker, unless the site file says otherwise. SUN2000 without a battery are off at night by the
 * reports of their users (daolis/ioBroker.sun2000-modbus issue 39, basking-in-the-sun2000/
 * solar-logger issue 16). SMA answers that it has no value (register 30775 by SMA's Modbus lists).
 * Sungrow can supply reactive power at night (register 5034, protocol V1.1.36). SunSpec has a state
 * for it (model 103, St 2).
 */
const silent_at_night: ReadonlySet<string> = new Set(['huawei_sun2000'])

export const answersAtNight = ({ answers_at_night, driver }: Inverter): boolean =>
  answers_at_night ?? !silent_at_night.has(driver)

/** Without light an inverter has no power to start with; a fault is another matter. */
export const isDark = ({ state }: Pick<InverterSnapshot, 'state'>): boolean =>
  state === 'sleeping' || state === 'standby'

/** Grid and insulation are checked for 60 s at least (VDE-AR-N 4105, 8.3.1), often longer. */
const start_ms_min = minute_ms
const start_ms_max = 5 * minute_ms
/** VDE-AR-N 4105, 8.3.1: after a start power rises by 10 % of the rating in a minute. */
const ramp_pct_per_ms = 10 / minute_ms
/** Part of the rating: with less, the DC link breaks down when the inverter connects. */
const connecting_ratio = 0.004
/** Time until an inverter whose start broke down tries again. */
const brown_out_ms = minute_ms
const channel = 5400

interface NightState {
  /** Null: off or in standby. */
  started_at_ms: number | null
  /** When it began to feed in; null: it does not. */
  connected_at_ms: number | null
  off_until_ms: number
}

interface Nights {
  /** Takes the light of an instant; whether an inverter went off, started or connected. */
  follow(snapshot: SiteSnapshot): boolean
  /** With the state of those that start. */
  shown(snapshot: SiteSnapshot): SiteSnapshot
  /** Bounds of a start, as faults of the simulation. */
  faultsAt(time_ms: number): Fault[]
  /** Off: the device does not answer. */
  isOff(inverter_id: number): boolean
}

/** @param onPower called when an inverter that was off has power again */
export function createNights(
  site: Site,
  seed: number,
  onPower: (inverter_id: number, time_ms: number) => void,
): Nights {
  const known = new Map(
    site.loggers.flatMap((logger) =>
      logger.inverters.map((inverter) => [inverter.inverter_id, inverter] as const),
    ),
  )
  const states = new Map<number, NightState>()

  /** An inverter that is first seen by day has started long before. */
  function stateOf(one: InverterSnapshot, time_ms: number): NightState {
    const last = states.get(one.inverter_id)
    if (last) return last
    const since_ms = isDark(one) ? null : time_ms - 60 * minute_ms
    const state = { started_at_ms: since_ms, connected_at_ms: since_ms, off_until_ms: 0 }
    states.set(one.inverter_id, state)
    return state
  }

  function followOne(one: InverterSnapshot, time_ms: number): void {
    const { inverter_id, available_power_kw } = one
    const inverter = known.get(inverter_id)!
    const state = stateOf(one, time_ms)
    const goesOff = !answersAtNight(inverter)
    if (isDark(one)) {
      Object.assign(state, { started_at_ms: null, connected_at_ms: null })
      return
    }
    if (one.state === 'fault' || time_ms < state.off_until_ms) return
    if (state.started_at_ms === null) {
      state.started_at_ms = time_ms
      if (goesOff) onPower(inverter_id, time_ms)
    }
    if (state.connected_at_ms !== null) return
    const { started_at_ms } = state
    const drawn = hash01(seed, channel + inverter_id, Math.floor(started_at_ms / minute_ms))
    const takes_ms = start_ms_min + drawn * (start_ms_max - start_ms_min)
    if (time_ms - started_at_ms < takes_ms) return
    const is_enough = available_power_kw >= connecting_ratio * inverter.rated_ac_power_kw
    if (is_enough || !goesOff) state.connected_at_ms = time_ms
    else Object.assign(state, { started_at_ms: null, off_until_ms: time_ms + brown_out_ms })
  }

  const phasesOf = (all: readonly InverterSnapshot[]) =>
    all
      .map(({ inverter_id }) => {
        const { started_at_ms = null, connected_at_ms = null } = states.get(inverter_id) ?? {}
        return `${started_at_ms} ${connected_at_ms}`
      })
      .join()
  const isStarting = (inverter_id: number) => states.get(inverter_id)?.connected_at_ms === null
  const isOff = (inverter_id: number) =>
    states.get(inverter_id)?.started_at_ms === null && !answersAtNight(known.get(inverter_id)!)

  return {
    isOff,
    follow({ inverters: all, time_ms }) {
      const before = phasesOf(all)
      for (const one of all) followOne(one, time_ms)
      return phasesOf(all) !== before
    },
    shown(snapshot) {
      const inverters = snapshot.inverters.map((one): InverterSnapshot => {
        const starts = one.state !== 'fault' && !isDark(one) && isStarting(one.inverter_id)
        return starts ? { ...one, state: 'starting' } : one
      })
      return { ...snapshot, inverters }
    },
    faultsAt(time_ms) {
      return [...states].flatMap(([inverter_id, { connected_at_ms }]): Fault[] => {
        if (connected_at_ms === null) return [{ kind: 'limit', inverter_id, limit_pct: 0 }]
        const limit_pct = Math.max(0, time_ms - connected_at_ms) * ramp_pct_per_ms
        return limit_pct < 100 ? [{ kind: 'limit', inverter_id, limit_pct }] : []
      })
    },
  }
}
