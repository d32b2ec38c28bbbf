/**
 * Registers of the limit of a SunSpec inverter: models 123 (immediate controls) and 704 (DER AC
 * controls). Both limit in percent of WMax of model 121 or 702. Pure; power in whole watts, rounded
 * so that the possible power of a device is never underestimated.
 */
import type { ModelId } from '@heliograph/domain/sunspec/models'
import type { LimitState } from './limit-control.ts'
import type { Parts, Snapshot } from './sunspec-snapshot.ts'

export type LimitModel = 123 | 704

export interface LimitRegisters {
  base_w: number
  /** Step of the register of `base_w` if it is writable; else null. */
  base_step_w: number | null
  /** One step of a percent register is 10^exponent percent. */
  exponent: number
  is_enabled: boolean
  /** In steps; null if the device shows none while none is enabled. */
  percent: number | null
  /** Time until power follows a lower limit, s; null: not reported. */
  ramp_s: number | null
  /** Time by which the device may delay a new limit, s; null: no such register. */
  window_s: number | null
  /** Timer that ends the limit, s, 0 for none; null: no such register. */
  revert_s: number | null
  /** Time left of the timer, s; null: not reported. */
  revert_left_s: number | null
  /** Fallback of the timer, in steps; null: no limit, and not settable. */
  revert: { is_enabled: boolean; percent: number } | null
}

export interface LimitWrite {
  point: string
  value: number
}

const base_models = { 123: 121, 704: 702 } as const

export const limitModels = (model_id: LimitModel): ModelId[] => [base_models[model_id], model_id]

export const limitParts = {
  121: { last: 'WGra_SF', used: ['WMax', 'WMax_SF', 'WGra', 'WGra_SF'] },
  702: { first: 'WMax', last: 'W_SF', used: ['WMax', 'W_SF'] },
  704: {
    last: 'WMaxLimPct_SF',
    used: [
      'WMaxLimPctEna',
      'WMaxLimPct',
      'WMaxLimPctRvrt',
      'WMaxLimPctEnaRvrt',
      'WMaxLimPctRvrtTms',
      'WMaxLimPctRvrtRem',
      'WMaxLimPct_SF',
      'WRmp',
    ],
  },
} satisfies Parts

/** No device is larger; below it every product here is exact. */
const base_w_max = 1e9
const steps_max = 0xfffe

/**
 * The registers from one reading of `limitModels`, or the reason why they show no valid limit.
 * `nameplate_w`, which is not smaller, replaces a missing WMax.
 */
export function limitRegisters(
  snapshot: Snapshot,
  model_id: LimitModel,
  nameplate_w: number | null,
): LimitRegisters | string {
  const set = settingOf(snapshot, model_id)
  const base_w = set ? Math.ceil(set.watts) : (nameplate_w ?? 0)
  if (!(base_w > 0 && base_w <= base_w_max)) return `model ${base_models[model_id]} shows no WMax`
  const base = { base_w, base_step_w: set ? 10 ** set.exponent : null }
  const controls = model_id === 123 ? immediateControls(snapshot) : derControls(snapshot)
  if (!controls) return `model ${model_id} cannot be read`
  const { exponent, ena, limit_pct, revert, ...timers } = controls
  if (exponent === null) return `${model_id}.WMaxLimPct_SF is not valid`
  if (fullSteps(exponent) < 1) return `${model_id}.WMaxLimPct has no step below 100 percent`
  if (ena !== 0 && ena !== 1) return `model ${model_id} does not tell whether its limit is enabled`
  if (limit_pct === null && ena === 1) return `${model_id}.WMaxLimPct shows no value`
  if (limit_pct !== null && limit_pct > 100) return `${model_id}.WMaxLimPct is above 100 percent`
  const steps = (percent: number) => percentSteps(percent, exponent)
  return {
    ...base,
    ...timers,
    exponent,
    is_enabled: ena === 1,
    percent: limit_pct === null ? null : steps(limit_pct),
    revert: revert && { is_enabled: revert.ena === 1, percent: steps(revert.limit_pct) },
  }
}

function settingOf(snapshot: Snapshot, model_id: LimitModel) {
  const [settings] = model_id === 123 ? snapshot.all(121) : []
  const [capacity] = model_id === 704 ? snapshot.all(702) : []
  const watts = settings?.values.WMax ?? capacity?.values.WMax
  const exponent = settings?.values.WMax_SF ?? capacity?.values.W_SF ?? null
  // A WMax of zero was never set.
  return watts && exponent !== null ? { watts, exponent } : null
}

function immediateControls(snapshot: Snapshot) {
  const values = snapshot.all(123)[0]?.values
  if (!values) return null
  return {
    exponent: values.WMaxLimPct_SF,
    ena: values.WMaxLim_Ena,
    limit_pct: values.WMaxLimPct,
    ramp_s: values.WMaxLimPct_RmpTms || rampAt(snapshot.all(121)[0]?.values.WGra),
    window_s: values.WMaxLimPct_WinTms,
    revert_s: values.WMaxLimPct_RvrtTms,
    revert_left_s: null,
    revert: null,
  }
}

function derControls(snapshot: Snapshot) {
  const values = snapshot.all(704)[0]?.values
  if (!values) return null
  const { WMaxLimPctRvrt: limit_pct, WMaxLimPctEnaRvrt: ena } = values
  return {
    exponent: values.WMaxLimPct_SF,
    ena: values.WMaxLimPctEna,
    limit_pct: values.WMaxLimPct,
    ramp_s: rampAt(values.WRmp),
    window_s: null,
    revert_s: values.WMaxLimPctRvrtTms,
    revert_left_s: values.WMaxLimPctRvrtRem,
    revert: limit_pct === null || ena === null ? null : { limit_pct, ena },
  }
}

/** Time for 100 % at a rate in percent per second; null: a rate of 0 was never set. */
export const rampAt = (pct_per_s: number | null | undefined) => (pct_per_s ? 100 / pct_per_s : null)

export const rampMs = (ramp_s: number | null) => (ramp_s === null ? null : Math.ceil(ramp_s * 1000))

export const percentSteps = (percent: number, exponent: number) =>
  Math.round(exponent < 0 ? percent * 10 ** -exponent : percent / 10 ** exponent)

function fullSteps(exponent: number): number {
  return exponent > 2 ? 0 : Math.min(steps_max, 10 ** (2 - exponent))
}

type Scale = Pick<LimitRegisters, 'base_w' | 'exponent'>

/** Power allowed by a number of steps, W, rounded up. */
export function wattsOf(steps: number, { base_w, exponent }: Scale): number {
  const percent = exponent - 2
  return percent < 0
    ? Math.ceil((base_w * steps) / 10 ** -percent)
    : Math.ceil(base_w * steps * 10 ** percent)
}

/** A register in whole percent, or coarser, is one step off after the device's own rounding. */
export const toleranceOf = (scale: Scale): number => (scale.exponent < 0 ? 0 : wattsOf(1, scale))

/** The most steps, up to 100 percent, that allow at most `limit_w`. */
export function stepsAt(limit_w: number, scale: Scale): number {
  const { base_w, exponent } = scale
  const full = fullSteps(exponent)
  const quotient = Math.floor((limit_w / base_w) * 10 ** (2 - exponent))
  // The quotient may be off by one step: start below and step up.
  let steps = Math.max(0, Math.min(full, quotient) - 1)
  while (steps < full && wattsOf(steps + 1, scale) <= limit_w) steps += 1
  return steps
}

export function limitState(registers: LimitRegisters): LimitState {
  const { is_enabled, percent, base_w } = registers
  const limit_w = is_enabled ? wattsOf(percent!, registers) : null
  return { limit_w, static_max_w: base_w, revert: revertOf(registers, limit_w) }
}

function revertOf(registers: LimitRegisters, limit_w: number | null): LimitState['revert'] {
  const { revert_s, revert_left_s, revert, base_w } = registers
  if (limit_w === null || !((revert_s ?? 0) > 0 || (revert_left_s ?? 0) > 0)) return null
  const reverts_w = revert?.is_enabled ? wattsOf(revert.percent, registers) : base_w
  const to_w = Math.min(base_w, reverts_w)
  // Without a reported time, it may happen at any moment.
  return to_w === limit_w ? null : { in_ms: (revert_left_s ?? 0) * 1000, to_w }
}

/**
 * The writes, in this order, that set the limit to `steps` permanently. At no instant may the
 * device
 * deliver more than before or than the new limit, nor may a timer that expires between two writes
 * cause it. Only changes are written.
 * @param applies_by_enabling the device applies a new value only when it is enabled again
 */
export function limitWrites(
  model_id: LimitModel,
  now: LimitRegisters,
  { steps, applies_by_enabling }: { steps: number; applies_by_enabling: boolean },
): LimitWrite[] {
  const writes = model_id === 123 ? writes123(now) : writes704(now, steps)
  const names = namesOf[model_id]
  const is_other = !now.is_enabled || now.percent !== steps
  const value = is_other ? [{ point: names.percent, value: steps }] : []
  const is_to_enable = !now.is_enabled || (is_other && applies_by_enabling)
  const enable = is_to_enable ? [{ point: names.enable, value: 1 }] : []
  return [...writes.before, ...value, ...enable, ...writes.after]
}

const namesOf = {
  123: {
    percent: 'WMaxLimPct',
    enable: 'WMaxLim_Ena',
    revert_s: 'WMaxLimPct_RvrtTms',
    window_s: 'WMaxLimPct_WinTms',
  },
  704: { percent: 'WMaxLimPct', enable: 'WMaxLimPctEna', revert_s: 'WMaxLimPctRvrtTms' },
} as const

const writes123 = (now: LimitRegisters) => ({ before: untimed123(now), after: [] })

/** The timer of 123 ends in no limit: it is never on. */
export function untimed123({ revert_s, window_s }: LimitRegisters): LimitWrite[] {
  const { revert_s: timer, window_s: window } = namesOf[123]
  const writes: LimitWrite[] = []
  if (revert_s) writes.push({ point: timer, value: 0 })
  if (window_s) writes.push({ point: window, value: 0 })
  return writes
}

/** The timer of 704 stays as it is; its fallback becomes the same limit. */
function writes704({ revert_s, revert }: LimitRegisters, steps: number) {
  if (!revert) {
    return { before: revert_s ? [{ point: namesOf[704].revert_s, value: 0 }] : [], after: [] }
  }
  const writes = revertWrites(revert, steps)
  const is_lower = revert.is_enabled && revert.percent < steps
  return is_lower ? { before: [], after: writes } : { before: writes, after: [] }
}

function revertWrites(revert: NonNullable<LimitRegisters['revert']>, steps: number) {
  const writes: LimitWrite[] = []
  if (revert.percent !== steps) writes.push({ point: 'WMaxLimPctRvrt', value: steps })
  if (!revert.is_enabled) writes.push({ point: 'WMaxLimPctEnaRvrt', value: 1 })
  return writes
}

/**
 * The writes that prepare the registers for a limit: no timer with a fallback to no limit. Writes
 * at least one register where possible, to see whether the device accepts it.
 */
export function armingWrites(
  model_id: LimitModel,
  now: LimitRegisters,
  share_steps: number,
): LimitWrite[] {
  const { revert_s, revert, is_enabled, percent } = now
  if (model_id === 123) {
    const { before } = writes123({ ...now, revert_s: null })
    const timer = { point: namesOf[123].revert_s, value: 0 }
    return revert_s === null ? before : [timer, ...before]
  }
  if (!revert) return writes704(now, share_steps).before
  const target = is_enabled ? percent! : share_steps
  const steps = revert.is_enabled ? Math.min(revert.percent, target) : target
  const enable = revert.is_enabled ? [] : [{ point: 'WMaxLimPctEnaRvrt', value: 1 }]
  return [{ point: 'WMaxLimPctRvrt', value: steps }, ...enable]
}
