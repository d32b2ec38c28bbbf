/**
 * Registers of the setpoint of a power conversion system: models 704 (DER AC controls, in watts),
 * 124 (storage, in percent of WChaMax) and 123 (immediate controls, in percent of WMax, discharge
 * only). Pure; power in whole watts, positive towards the grid. A model that cannot command the
 * device gives a reason.
 */
import type { ModelId } from '@heliograph/domain/sunspec/models'
import type { PowerState, PowerTraits } from './power-control.ts'
import type { PointWrite } from './sunspec-control.ts'
import {
  armingWrites,
  type LimitWrite,
  limitParts,
  limitRegisters,
  limitState,
  percentSteps,
  rampAt,
  rampMs,
  stepsAt,
  untimed123,
  wattsOf,
} from './sunspec-limit-registers.ts'
import type { Parts, Snapshot } from './sunspec-snapshot.ts'

export type PowerModel = 704 | 124 | 123

/** State of the registers of one model, and the writes for it. */
export interface PowerRegisters {
  state: Omit<PowerState, 'is_remote'>
  traits: PowerTraits
  /** The value nearest to `power_w`, towards zero, that registers and device can hold. */
  settable(power_w: number): number
  /** Writes that set the setpoint to `power_w`, in this order. */
  setting(power_w: number): PointWrite[]
  /** Writes of the fallback without a setpoint; empty if there is nothing to set. */
  arming(): PointWrite[]
  /** Problems of the present settings. */
  faults: readonly string[]
}

export const powerModels: Readonly<Record<PowerModel, readonly ModelId[]>> = {
  704: [702, 704, 715],
  124: [120, 124, 715],
  123: [120, 121, 123, 702, 715],
}

export const powerParts: Parts = {
  121: limitParts[121],
  702: {
    last: 'W_SF',
    used: [
      'WMaxRtg',
      'WChaRteMaxRtg',
      'WDisChaRteMaxRtg',
      'WMax',
      'WChaRteMax',
      'WDisChaRteMax',
      'W_SF',
    ],
  },
  704: {
    last: 'WSetPct_SF',
    used: [
      'WMaxLimPctEna',
      'WMaxLimPct',
      'WMaxLimPct_SF',
      'WSetEna',
      'WSetMod',
      'WSet',
      'WSetRvrt',
      'WSetPct',
      'WSetEnaRvrt',
      'WSetRvrtTms',
      'WSetRvrtRem',
      'WSet_SF',
      'WSetPct_SF',
      'WRmp',
    ],
  },
}

/**
 * Long enough for some failed writes, short enough to end a setpoint without control: the edge
 * writes several times within it.
 */
const revert_s = 30
/** A shorter timer could expire between two regular writes. */
const revert_s_min = 10

/** No device is larger; below it every product here is exact. */
const power_w_max = 1e9

export function powerRegisters(snapshot: Snapshot, model_id: PowerModel): PowerRegisters | string {
  return registersBy[model_id](snapshot)
}

const registersBy: Record<PowerModel, (snapshot: Snapshot) => PowerRegisters | string> = {
  704: derRegisters,
  124: storageRegisters,
  123: limitAsSetpoint,
}

const enabled = 1
const in_percent = 0
const in_watts = 1

function derRegisters(snapshot: Snapshot): PowerRegisters | string {
  const capacity = snapshot.all(702)[0]?.values
  const controls = snapshot.all(704)[0]?.values
  if (!controls) return 'model 704 cannot be read'
  const { WSet_SF: exponent, WSetEna } = controls
  if (exponent === null) return '704.WSet_SF is not valid'
  if (WSetEna !== 0 && WSetEna !== enabled) return '704.WSetEna does not tell whether it is enabled'
  const built_w = capacity?.WMax || capacity?.WMaxRtg || null
  if (built_w === null || built_w > power_w_max) return 'model 702 shows no WMax'
  const discharge_w = least(built_w, capacity?.WDisChaRteMax, capacity?.WDisChaRteMaxRtg)
  const charge_w = least(built_w, capacity?.WChaRteMax, capacity?.WChaRteMaxRtg)
  const { WMaxLimPctEna, WMaxLimPct } = controls
  const limited_w = WMaxLimPctEna === enabled ? ((WMaxLimPct ?? 100) / 100) * built_w : built_w
  const setpoint_w = WSetEna === enabled ? derSetpoint(controls, built_w) : null
  const step_w = Math.max(1, 10 ** exponent)
  const has_revert = [controls.WSetRvrt, controls.WSetEnaRvrt, controls.WSetRvrtTms].every(
    (value) => value !== null,
  )
  const state = {
    setpoint_w: setpoint_w === null ? null : Math.round(setpoint_w),
    discharge_max_w: Math.ceil(Math.min(discharge_w, limited_w)),
    charge_max_w: Math.ceil(charge_w),
  }
  return {
    state: { ...state, revert: derRevert(controls, state) },
    traits: {
      stops_after_ms: has_revert ? revert_s * 1000 : null,
      applies_within_ms: 0,
      ramp_ms: rampMs(rampAt(controls.WRmp)),
    },
    settable(power_w) {
      const most = Math.min(Math.abs(power_w), power_w > 0 ? discharge_w : charge_w)
      const held = 0x7fff_ffff * 10 ** exponent
      return towards(power_w, Math.floor(Math.min(most, held) / step_w) * step_w)
    },
    setting: (power_w) => [
      ...(has_revert ? fallback(controls) : []),
      { point: 'WSetEna', words: [enabled, in_watts, ...words32(inSteps(power_w, exponent))] },
    ],
    arming: () => (has_revert ? fallback(controls) : []),
    faults: derFaults(controls.WSetRvrtTms, has_revert),
  }
}

type Controls = NonNullable<ReturnType<typeof controlsIn>>
const controlsIn = (snapshot: Snapshot) => snapshot.all(704)[0]?.values

/** Other masters may have set it in percent. */
function derSetpoint({ WSetMod, WSet, WSetPct }: Controls, built_w: number): number | null {
  if (WSetMod === in_watts) return WSet
  return WSetMod === in_percent && WSetPct !== null ? (WSetPct / 100) * built_w : null
}

function derFaults(WSetRvrtTms: number | null, has_revert: boolean): string[] {
  if (!has_revert) return ['model 704: no timer of the device ends its setpoint']
  if (WSetRvrtTms === null || WSetRvrtTms >= revert_s_min || WSetRvrtTms === 0) return []
  return [`704.WSetRvrtTms: the timer of ${WSetRvrtTms} s is too short to be kept from running out`]
}

/** 0 W, enabled, after `revert_s`: writing the time restarts it. */
function fallback({ WSetRvrt }: Controls): PointWrite[] {
  const timer = { point: 'WSetEnaRvrt', words: [enabled, ...words32(revert_s)] }
  return WSetRvrt === 0 ? [timer] : [{ point: 'WSetRvrt', words: [0, 0] }, timer]
}

function derRevert(
  { WSetRvrt, WSetEnaRvrt, WSetRvrtTms, WSetRvrtRem }: Controls,
  { setpoint_w, discharge_max_w }: Pick<PowerState, 'setpoint_w' | 'discharge_max_w'>,
): PowerState['revert'] {
  if (setpoint_w === null || !((WSetRvrtTms ?? 0) > 0 || (WSetRvrtRem ?? 0) > 0)) return null
  // Without an enabled setpoint after the timer, the power is not defined.
  const is_known = WSetEnaRvrt === enabled && WSetRvrt !== null
  const to_w = is_known ? Math.round(WSetRvrt) : discharge_max_w
  // Without a reported time, it may happen at any moment.
  return to_w === setpoint_w ? null : { in_ms: (WSetRvrtRem ?? 0) * 1000, to_w }
}

/** Both the minimum and the maximum are set. */
const both_bounds = 3

function storageRegisters(snapshot: Snapshot): PowerRegisters | string {
  const storage = snapshot.all(124)[0]?.values
  const nameplate = snapshot.all(120)[0]?.values
  if (!storage) return 'model 124 cannot be read'
  const { WChaMax: base_w, InOutWRte_SF: exponent, StorCtl_Mod, OutWRte, InWRte } = storage
  if (!base_w || base_w > power_w_max) return 'model 124 shows no WChaMax'
  if (exponent === null) return '124.InOutWRte_SF is not valid'
  if (StorCtl_Mod === null || OutWRte === null || InWRte === null) {
    return 'model 124 cannot be told how much to charge and to discharge'
  }
  const full = Math.min(0x7fff, Math.floor(100 / 10 ** exponent))
  if (full < 1) return '124.OutWRte has no step below 100 percent'
  const wattsOf = (steps: number) => (base_w * steps * 10 ** exponent) / 100
  const stepsOf = (power_w: number) => {
    // The quotient may be off by one step: start below and step up.
    const most = Math.min(full, Math.floor((Math.abs(power_w) * 100) / base_w / 10 ** exponent))
    let steps = Math.max(0, most - 1)
    while (steps < full && wholeWatts(wattsOf(steps + 1)) <= Math.abs(power_w)) steps += 1
    return towards(power_w, steps)
  }
  const now = { out: percentSteps(OutWRte, exponent), in: percentSteps(InWRte, exponent) }
  const is_told = StorCtl_Mod === both_bounds && now.out === 0 - now.in
  const discharge_max_w = Math.ceil(Math.max(base_w, nameplate?.MaxDisChaRte ?? 0))
  const setpoint_w = is_told ? towards(now.out, wholeWatts(wattsOf(Math.abs(now.out)))) : null
  const ends = (storage.InOutWRte_RvrtTms ?? 0) > 0
  return {
    state: {
      setpoint_w,
      discharge_max_w,
      charge_max_w: Math.ceil(base_w),
      revert: ends && setpoint_w !== null ? { in_ms: 0, to_w: discharge_max_w } : null,
    },
    traits: {
      stops_after_ms: null,
      applies_within_ms: 0,
      ramp_ms: rampMs(storage.InOutWRte_RmpTms || rampAt(storage.WDisChaGra)),
    },
    settable: (power_w) => {
      const steps = stepsOf(power_w)
      return towards(steps, wholeWatts(wattsOf(Math.abs(steps))))
    },
    setting(power_w) {
      const steps = stepsOf(power_w)
      const mode = { point: 'StorCtl_Mod', words: [both_bounds] }
      return [
        ...untimed(storage),
        bounds(steps, now),
        ...(StorCtl_Mod === both_bounds ? [] : [mode]),
      ]
    },
    arming: () => untimed(storage),
    faults: [
      ...endlessFaults('124.InOutWRte_RvrtTms', storage.InOutWRte_RvrtTms),
      ...storageFaults(storage.ChaGriSet, base_w, nameplate?.MaxDisChaRte ?? null),
    ],
  }
}

/** Equal maximum and minimum: OutWRte in percent, InWRte as its negative. */
function bounds(steps: number, now: { out: number }): PointWrite {
  // The minimum never exceeds the maximum: OutWRte goes first upwards, InWRte downwards.
  const singly = steps >= now.out ? [0, 1] : [1, 0]
  return { point: 'OutWRte', words: [word16(steps), word16(0 - steps)], singly }
}

/**
 * The timer ends in autonomous operation, which may exceed any setpoint: it is set to off, as is
 * the delay of new setpoints.
 */
function untimed(storage: {
  InOutWRte_RvrtTms: number | null
  InOutWRte_WinTms: number | null
}): PointWrite[] {
  const { InOutWRte_RvrtTms, InOutWRte_WinTms } = storage
  return [
    ...(InOutWRte_RvrtTms ? [{ point: 'InOutWRte_RvrtTms', words: [0] }] : []),
    ...(InOutWRte_WinTms ? [{ point: 'InOutWRte_WinTms', words: [0] }] : []),
  ]
}

/** Without a timer nothing ends a setpoint without writes; with it, the power is not defined. */
function endlessFaults(point: string, timer_s: number | null): string[] {
  const endless = 'no timer of the device ends its setpoint when the edge falls silent'
  if (!timer_s) return [`model ${point.split('.')[0]}: ${endless}`]
  return [`${point}: the timer of ${timer_s} s stays: it counts in full`]
}

const from_pv_only = 0

function storageFaults(
  ChaGriSet: number | null,
  base_w: number,
  MaxDisChaRte: number | null,
): string[] {
  const faults: string[] = []
  if (ChaGriSet === from_pv_only) faults.push('124.ChaGriSet: it may not charge from the grid')
  if (MaxDisChaRte && Math.abs(MaxDisChaRte - base_w) > 0.01 * base_w) {
    faults.push('124.OutWRte: percent may be of MaxDisChaRte, which is not WChaMax')
  }
  return faults
}

/**
 * Model 123 as the setpoint of a device that delivers its limit. It has no sign, so that it cannot
 * charge. 0 W is a limit of 0 %, which stays enabled: without a limit the power is not defined.
 */
function limitAsSetpoint(snapshot: Snapshot): PowerRegisters | string {
  // Replaces a WMax that is not reported, and is not smaller.
  const rated_w = snapshot.all(120)[0]?.values.WRtg ?? snapshot.all(702)[0]?.values.WMaxRtg ?? null
  const found = limitRegisters(snapshot, 123, rated_w)
  if (typeof found === 'string') return found
  const { limit_w, static_max_w, revert } = limitState(found)
  const stepsOf = (power_w: number) => stepsAt(Math.max(0, power_w), found)
  return {
    state: { setpoint_w: limit_w, discharge_max_w: static_max_w, charge_max_w: 0, revert },
    traits: { stops_after_ms: null, applies_within_ms: 0, ramp_ms: rampMs(found.ramp_s) },
    settable: (power_w) => wattsOf(stepsOf(power_w), found),
    setting: (power_w) => [
      ...untimed123(found).map(asPower),
      { point: 'WMaxLimPct', words: [stepsOf(power_w)] },
      // Each time: some devices apply a new value only when it is enabled again.
      { point: 'WMaxLim_Ena', words: [enabled] },
    ],
    arming: () => armingWrites(123, found, 0).map(asPower),
    faults: endlessFaults('123.WMaxLimPct_RvrtTms', found.revert_s),
  }
}

const asPower = ({ point, value }: LimitWrite): PointWrite => ({ point, words: [value] })

function least(built_w: number, ...others: (number | null | undefined)[]): number {
  return Math.min(built_w, ...others.filter((one) => one !== null && one !== undefined))
}

const towards = (like: number, magnitude: number) => (like < 0 ? 0 - magnitude : magnitude)

/** Rounded up, except for binary noise: power is never underestimated. */
const wholeWatts = (power_w: number) => Math.max(0, Math.ceil(power_w - 1e-6))

function inSteps(power_w: number, exponent: number): number {
  const steps = exponent < 0 ? power_w * 10 ** -exponent : power_w / 10 ** exponent
  if (Number.isInteger(steps) && Math.abs(steps) <= 0x7fff_ffff) return steps
  throw new RangeError(`704.WSet cannot hold ${power_w} W`)
}

const word16 = (value: number) => value & 0xffff
const words32 = (value: number) => [(value >> 16) & 0xffff, value & 0xffff]
