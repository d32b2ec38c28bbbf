/** Why a limit could not be set, as it is told. */
import { BusError } from '../bus/bus-error.ts'
import type { Failure } from './row-watch.ts'

/** `error` is what the write was rejected with; null: it reads back as another. */
export function codeOf(error: unknown): Failure['code'] {
  if (error === null) return 'readback_mismatch'
  if (!(error instanceof BusError)) return 'driver_error'
  if (error.kind === 'exception') return 'device_rejected'
  return error.kind === 'garbled' ? 'driver_error' : 'timeout'
}

export function told(code: Failure['code']): string {
  if (code === 'device_rejected') return 'it refuses its limit'
  if (code === 'readback_mismatch') return 'its limit reads back as another'
  if (code === 'timeout') return 'it does not answer when its limit is set'
  return 'its limit cannot be set'
}
