import type { BusErrorKind } from '../drivers/driver.ts'

/**
 * Why a request has no answer. `exception_code` is the Modbus exception (1 to 11) that the device
 * or its gateway answered with, `null` for every other kind.
 */
export class BusError extends Error {
  override name = 'BusError'
  readonly kind: BusErrorKind
  readonly exception_code: number | null

  constructor(kind: BusErrorKind, message: string, exception_code: number | null = null) {
    super(message)
    this.kind = kind
    this.exception_code = exception_code
  }
}

/** Modbus application protocol specification V1.1b3, section 7. */
const exceptions: Readonly<Record<number, string>> = {
  1: 'illegal function',
  2: 'illegal data address',
  3: 'illegal data value',
  4: 'device failure',
  5: 'acknowledged, not done yet',
  6: 'device busy',
  7: 'negative acknowledge',
  8: 'memory parity error',
  10: 'gateway path unavailable',
  11: 'gateway target did not respond',
}

export function exceptionError(code: number): BusError {
  return new BusError('exception', `exception ${code} (${exceptions[code] ?? 'unknown'})`, code)
}

/** Exceptions by which a device, or the gateway in front of it, says "not now". */
export function isNotNow({ kind, exception_code }: BusError): boolean {
  return kind === 'exception' && [5, 6, 10, 11].includes(exception_code ?? 0)
}

/** The device answers, but not to this: the addresses or the length are not its own. */
export function isRefusal(error: unknown): boolean {
  return error instanceof BusError && [2, 3, 4].includes(error.exception_code ?? 0)
}

/** For a request that is not sent at all, because of what happened to an earlier one. */
export function resting({ kind, message, exception_code }: BusError): BusError {
  return new BusError(kind, `not asked again yet: ${message}`, exception_code)
}

/** What a device said that refused; null where it did not. Rejects where it did not answer. */
export async function refusalOf(writing: Promise<void>): Promise<string | null> {
  try {
    await writing
    return null
  } catch (error) {
    if (error instanceof BusError && error.kind === 'exception') return error.message
    throw error
  }
}
