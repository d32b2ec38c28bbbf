/** The driver of the simulated devices: watts to steps of their registers and back. */
import type { LimitState, LimitTraits } from '../../drivers/limit-control.ts'
import type { Answer, SimulatedDevice } from './device.ts'

/** It is on its way for no longer. */
export const ramp_ms = 4000

/** The timer of a model 704 leads to the same limit: it may run. */
const revert_ms = 60_000

/** Of those that act late every other is known for it. */
function appliesWithin({ build, quirks }: SimulatedDevice): number {
  const { inverter_id, delay_ms_max } = build
  if (quirks.ramp_units !== null) return delay_ms_max + ramp_ms + 1000
  return delay_ms_max > 0 && inverter_id % 2 === 0 ? delay_ms_max + 1000 : 0
}

/** Every third that comes down slowly does not say so, and none takes longer than is taken then. */
const rampOf = ({ build, quirks }: SimulatedDevice) =>
  quirks.fall_ms > 0 && build.inverter_id % 3 === 0 ? null : quirks.fall_ms

export const traitsOf = (device: SimulatedDevice): LimitTraits => ({
  survives_power_loss: !device.loses_limit,
  min_interval_ms: device.build.min_interval_ms,
  applies_within_ms: appliesWithin(device),
  ramp_ms: rampOf(device),
  ...roundingOf(device),
})

/** What is declared of it. */
function roundingOf({ build, quirks }: SimulatedDevice) {
  const { tolerance_units, least_units, is_declared } = quirks
  return {
    min_limit_w: is_declared ? wattsOf(least_units, build.step_w) : 0,
    tolerance_w: wattsOf(tolerance_units, build.step_w),
  }
}

/** What so many steps are, in whole watts that are never less. */
const wattsOf = (units: number, step_w: number) => Math.ceil(units * step_w - 1e-6)

export function settable({ build }: SimulatedDevice, limit_w: number): number {
  const { step_w, static_w } = build
  const units = Math.floor(Math.min(limit_w, static_w) / step_w + 1e-9)
  const whole_w = wattsOf(units, step_w)
  return whole_w <= limit_w ? whole_w : wattsOf(Math.max(0, units - 1), step_w)
}

/** null: no answer. */
export function readLimit(device: SimulatedDevice): LimitState | null {
  const setting = device.read()
  if (!setting) return null
  const { static_w, step_w } = device.build
  const { units, timer } = setting
  const watts = (steps: number | null) => (steps === null ? static_w : wattsOf(steps, step_w))
  return {
    limit_w: units === null ? null : watts(units),
    static_max_w: device.is('nonsense') ? 0 : static_w,
    revert: timer && {
      in_ms: timer.ends_ms - device.now_ms,
      to_w: Math.min(static_w, watts(timer.to_units)),
    },
  }
}

/** @throws {Error} where the limit is none that `settable` gave */
export function writeLimit(
  device: SimulatedDevice,
  limit_w: number,
  meant_ms = device.meant_ms,
): Answer {
  // What was decided on under another ceiling is rounded down anew.
  if (!device.is_rescaled && settable(device, limit_w) !== limit_w) {
    throw new Error(`${limit_w} W was never settable`)
  }
  const units = Math.floor(limit_w / device.build.step_w + 1e-9)
  if (device.build.model === '704') {
    const timer = { ends_ms: device.now_ms + revert_ms, to_units: units }
    return device.write({ units, timer }, meant_ms)
  }
  return device.write({ units, timer: null }, meant_ms)
}
