/**
 * What site.yaml says of a device beside its registers and its profile, and so which read-back is
 * an answer to which command. Nothing of that is learnt. Power in whole watts.
 */
import type { LimitResponse } from '@heliograph/domain/site'
import type { LimitControl, LimitTraits } from '../drivers/limit-control.ts'

/** See `LimitTraits`, by the same names. */
export interface DeclaredTraits {
  ramp_ms?: number
  applies_within_ms?: number
  step_w?: number
  tolerance_w?: number
  min_limit_w?: number
}

/** As long as nothing says how fast the power of a device follows its limit. */
const undeclared_ramp_ms = 60_000

export function declaredOf(response: LimitResponse | undefined, rated_w: number): DeclaredTraits {
  const { ramp_s, latency_s, step_pct, tolerance_pct, least_pct } = response ?? {}
  return {
    ...(ramp_s !== undefined && { ramp_ms: ramp_s * 1000 }),
    ...(latency_s !== undefined && { applies_within_ms: latency_s * 1000 }),
    // Not rounded: a multiple of it has to be a whole step of the register.
    ...(step_pct !== undefined && { step_w: (rated_w * step_pct) / 100 }),
    ...(tolerance_pct !== undefined && { tolerance_w: Math.ceil((rated_w * tolerance_pct) / 100) }),
    ...(least_pct !== undefined && { min_limit_w: Math.ceil((rated_w * least_pct) / 100) }),
  }
}

/** A declaration never shortens what the device itself or its profile says. */
export function rampOf(
  { ramp_ms, applies_within_ms = 0 }: Pick<LimitTraits, 'ramp_ms'> & Partial<LimitTraits>,
  { declared = {} }: { declared?: DeclaredTraits },
): number {
  // It may show a limit at once, and act on it later. A ramp that it tells includes its own delay.
  const later_ms = declared.applies_within_ms ?? 0
  if (declared.ramp_ms === undefined) return (ramp_ms ?? undeclared_ramp_ms) + later_ms
  const latency_ms = latencyOf({ applies_within_ms }, { declared })
  return Math.max(declared.ramp_ms + latency_ms, (ramp_ms ?? 0) + later_ms)
}

/** How long it may take to act on a command. */
export function latencyOf(
  { applies_within_ms }: Pick<LimitTraits, 'applies_within_ms'>,
  { declared }: { declared?: DeclaredTraits },
): number {
  return Math.max(applies_within_ms, declared?.applies_within_ms ?? 0)
}

/** The highest limit of the registers at or below `limit_w`, in declared steps; 0 if unknown. */
export function settableStep(
  control: Pick<LimitControl, 'settable'> | null,
  step_w: number,
  limit_w: number,
  max_w: number,
): number {
  try {
    const set_w = control?.settable(limit_w >= max_w ? limit_w : stepBelow(limit_w, step_w)) ?? 0
    return set_w >= 0 && set_w <= limit_w ? set_w : 0
  } catch {
    return 0
  }
}

/** Whole watts, and where a step is none, the next above it, as registers are read. */
function stepBelow(limit_w: number, step_w: number): number {
  if (step_w === 0) return limit_w
  const steps = Math.floor(limit_w / step_w)
  const whole_w = Math.ceil(steps * step_w - 1e-6)
  return whole_w <= limit_w ? whole_w : Math.max(0, Math.ceil((steps - 1) * step_w - 1e-6))
}
