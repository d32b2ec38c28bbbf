/** What site.yaml says of a device beside its registers and its profile. */
import type { LimitResponse } from '@heliograph/domain/site'
import type { LimitTraits } from '../drivers/limit-control.ts'

export interface DeclaredTraits {
  /** See `LimitTraits.ramp_ms`. */
  ramp_ms?: number
}

/** As long as nothing says how fast the power of a device follows its limit. */
const undeclared_ramp_ms = 60_000

export function declaredOf({ ramp_s }: Pick<LimitResponse, 'ramp_s'> = {}): DeclaredTraits {
  return ramp_s === undefined ? {} : { ramp_ms: ramp_s * 1000 }
}

/** A declaration never shortens what the device itself or its profile says. */
export function rampOf(
  { ramp_ms }: Pick<LimitTraits, 'ramp_ms'>,
  { declared }: { declared?: DeclaredTraits },
): number {
  if (declared?.ramp_ms === undefined) return ramp_ms ?? undeclared_ramp_ms
  return Math.max(declared.ramp_ms, ramp_ms ?? 0)
}
