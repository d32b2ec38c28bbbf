/**
 * The batteries of the simulated plant over time: cells, and commands to battery management and
 * PCS. All of it is state, saved in the state file.
 */

import type { Battery } from '@heliograph/domain/battery'
import { second_ms } from '@heliograph/domain/durations'
import type { Site } from '@heliograph/domain/site'
import { type Fault, isInForce } from '../faults.ts'
import { type BatteryFault, cellPlace, isBatteryFault } from './battery-faults.ts'
import { advanceBattery, type BatteryAilments } from './battery-model.ts'
import { type BatterySnapshot, batterySnapshot } from './battery-snapshot.ts'
import {
  type BatteryModel,
  type BatteryState,
  batteryModel,
  initialBattery,
} from './battery-state.ts'
import {
  initialControl,
  isGivenUp,
  type PcsControl,
  type PcsTold,
  revertUntil,
  setpointOf,
  tellPcs,
} from './pcs-control.ts'

export interface BmsTold {
  is_disconnected: boolean
  /** Heartbeat counter of the master. */
  controller_beat: number
}

export interface UnitState {
  /** Instant of the state, Unix ms. */
  time_ms: number
  battery: BatteryState
  bms: BmsTold & { beat_at_ms: number | null }
  /** In the order of `battery.pcs`. */
  controls: PcsControl[]
}

export type UnitStates = Record<number, UnitState>

export interface BatteryUnit {
  readonly battery: Battery
  readonly model: BatteryModel
  readonly state: Readonly<UnitState>
  snapshot(): BatterySnapshot
  tellBms(told: Partial<BmsTold>): void
  tellPcs(pcs_idx: number, told: Partial<PcsTold>): void
  faults(): readonly BatteryFault[]
  now_ms(): number
  /** Incremented by each command. */
  readonly version: number
}

export interface Batteries {
  readonly units: readonly BatteryUnit[]
  /** Power of all batteries at the connection, including their own supply, kW. */
  power_kw(): number
  /** Delivered minus consumed energy up to the newest state. */
  energy_kwh(): number
}

interface BatterySurroundings {
  seed: number
  now_ms: () => number
  faults: () => readonly Fault[]
  ambient_c: (time_ms: number) => number
}

/** Steps after a gap; otherwise one second. */
const long_step_ms = 60_000
const many_steps_ms = 120_000
/** A longer gap counts as a loss of power, after which commands are lost. */
const gap_max_ms = 6 * 3_600_000

type Begin = { seed: number; time_ms: number }

export const initialUnits = (site: Site, begin: Begin): UnitStates =>
  Object.fromEntries(
    (site.batteries ?? []).map((battery) => [battery.bess_id, initialUnit(battery, begin)]),
  )

const initialUnit = (battery: Battery, { seed, time_ms }: Begin): UnitState => ({
  time_ms: Math.floor(time_ms / second_ms) * second_ms,
  battery: initialBattery(batteryModel(battery, seed)),
  bms: { is_disconnected: false, controller_beat: 0, beat_at_ms: null },
  controls: battery.pcs.map(initialControl),
})

/** Saved units continue if they still have the same clusters, cells and PCS. */
export function resumedUnits(initial: UnitStates, saved: UnitStates): UnitStates {
  const shapeOf = ({ battery, controls }: UnitState) =>
    [battery.clusters.length, battery.clusters[0]?.soc.length, controls.length].join(' ')
  return Object.fromEntries(
    Object.entries(initial).map(([bess_id, fresh]) => {
      const old = saved[Number(bess_id)]
      return [bess_id, old && shapeOf(old) === shapeOf(fresh) ? old : fresh]
    }),
  )
}

/** Changes `states` as time passes. */
export function createBatteries(
  site: Site,
  states: UnitStates,
  around: BatterySurroundings,
): Batteries {
  const batteries = site.batteries ?? []
  const units = batteries.map((battery) => createUnit(battery, states[battery.bess_id]!, around))
  return {
    units,
    power_kw: () =>
      units.reduce((sum, unit) => {
        const { ac_power_kw, auxiliary_power_kw } = unit.snapshot()
        return sum + ac_power_kw - auxiliary_power_kw
      }, 0),
    energy_kwh: () =>
      batteries.reduce((sum, { bess_id }) => {
        const { injected_kwh, absorbed_kwh, auxiliary_kwh } = states[bess_id]!.battery.totals
        return sum + injected_kwh - absorbed_kwh - auxiliary_kwh
      }, 0),
  }
}

function createUnit(battery: Battery, state: UnitState, around: BatterySurroundings): BatteryUnit {
  const model = batteryModel(battery, around.seed)
  let version = 0
  let newest: { snapshot: BatterySnapshot; time_ms: number } | null = null

  const faultsAt = (time_ms: number): BatteryFault[] =>
    around
      .faults()
      .filter((fault) => isInForce(fault, time_ms))
      .filter(isBatteryFault)
      .filter(({ bess_id }) => bess_id === battery.bess_id)

  function follow(): UnitState {
    const until_ms = Math.floor(around.now_ms() / second_ms) * second_ms
    if (until_ms - state.time_ms > gap_max_ms) lose(state, until_ms)
    const is_far = until_ms - state.time_ms > many_steps_ms
    while (state.time_ms < until_ms) {
      const step_ms = Math.min(is_far ? long_step_ms : second_ms, until_ms - state.time_ms)
      advanceUnit(model, state, {
        step_ms,
        faults: faultsAt(state.time_ms),
        ambient_c: around.ambient_c(state.time_ms),
      })
    }
    return state
  }

  return {
    battery,
    model,
    get state() {
      return follow()
    },
    snapshot() {
      const { battery: now, time_ms } = follow()
      if (newest?.time_ms !== time_ms) newest = { snapshot: batterySnapshot(model, now), time_ms }
      return newest.snapshot
    },
    tellBms(told) {
      const { bms } = follow()
      const is_beat = (told.controller_beat ?? bms.controller_beat) !== bms.controller_beat
      Object.assign(bms, told, is_beat ? { beat_at_ms: around.now_ms() } : {})
      version += 1
    },
    tellPcs(pcs_idx, told) {
      const nth = battery.pcs.findIndex((pcs) => pcs.pcs_idx === pcs_idx)
      tellPcs(follow().controls[nth]!, told, around.now_ms())
      version += 1
    },
    faults: () => faultsAt(around.now_ms()),
    now_ms: around.now_ms,
    get version() {
      return version
    },
  }
}

/** End of a loss of power: the cells are unchanged, everything else starts anew. */
function lose(state: UnitState, time_ms: number): void {
  state.time_ms = time_ms
  state.bms = { is_disconnected: false, controller_beat: 0, beat_at_ms: null }
  state.controls = state.controls.map(initialControl)
}

function advanceUnit(
  model: BatteryModel,
  state: UnitState,
  {
    step_ms,
    faults,
    ambient_c,
  }: { step_ms: number; faults: readonly BatteryFault[]; ambient_c: number },
): void {
  const now_ms = state.time_ms
  const is_obedient =
    !faults.some(({ kind }) => kind === 'local_control') && !isGivenUp(state.bms.beat_at_ms, now_ms)
  const setpoint_kw = state.controls.map((control, nth) => {
    revertUntil(control, now_ms)
    const { rated_power_kw: rated_kw } = model.battery.pcs[nth]!
    return is_obedient ? setpointOf(control, { now_ms, rated_kw }) : null
  })
  advanceBattery(model, state.battery, {
    seconds: step_ms / 1000,
    setpoint_kw,
    ambient_c,
    ailments: ailmentsOf(model.battery, faults, state.bms.is_disconnected),
  })
  state.time_ms += step_ms
}

function ailmentsOf(
  battery: Battery,
  faults: readonly BatteryFault[],
  is_disconnected: boolean,
): BatteryAilments {
  const ailments: BatteryAilments = {
    contactors_open: is_disconnected || faults.some(({ kind }) => kind === 'contactor_open'),
    failed_pcs: faults.flatMap((fault) => (fault.kind === 'pcs_fault' ? [fault.pcs_idx] : [])),
  }
  for (const fault of faults) {
    const place = 'cell' in fault ? cellPlace(battery, fault.cell) : null
    if (!place) continue
    if (fault.kind === 'cell_weak') ailments.weak_cell = place
    if (fault.kind === 'cell_over_temperature') {
      ailments.hot_cell = { ...place, temperature_c: fault.temperature_c }
    }
  }
  return ailments
}
