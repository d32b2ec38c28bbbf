import type { BusErrorKind } from '../drivers/driver.ts'

/**
 * Reason for a request without an answer. `exception_code` is the Modbus exception (1 to 11) of the
 * device or its gateway, `null` for other kinds.
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

/** Exceptions by which a device or its gateway reports a temporary condition. */
export function isNotNow({ kind, exception_code }: BusError): boolean {
  return kind === 'exception' && [5, 6, 10, 11].includes(exception_code ?? 0)
}

/** The device has not begun what was asked: the request may be repeated. */
export const isBusy = (error: unknown): boolean =>
  error instanceof BusError && error.exception_code === 6

/** The device answers and refuses this request: its addresses or length are not valid. */
export function isRefusal(error: unknown): boolean {
  return error instanceof BusError && [2, 3, 4].includes(error.exception_code ?? 0)
}

/** The error of a request that is not sent because an earlier one failed. */
export function resting({ kind, message, exception_code }: BusError): BusError {
  return new BusError(kind, `not asked again yet: ${message}`, exception_code)
}

/**
 * Message of the exception by which the device refused; null if it accepted. Rejects without an
 * answer.
 */
export async function refusalOf(writing: Promise<void>): Promise<string | null> {
  try {
    await writing
    return null
  } catch (error) {
    if (error instanceof BusError && error.kind === 'exception') return error.message
    throw error
  }
}
