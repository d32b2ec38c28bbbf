/** Checks of a machine that a person reads: what was found, and what to do. */
import { day_ms } from './durations.ts'

export const checkStates = ['ok', 'warning', 'error'] as const

export interface Check {
  name: string
  state: (typeof checkStates)[number]
  finding: string
  /** What to do; null when nothing is. */
  action: string | null
}

export const ok = (name: string, finding: string): Check => ({
  name,
  state: 'ok',
  finding,
  action: null,
})

export const warning = (name: string, finding: string, action: string): Check => ({
  name,
  state: 'warning',
  finding,
  action,
})

export const failure = (name: string, finding: string, action: string): Check => ({
  name,
  state: 'error',
  finding,
  action,
})

/** A line for each check, and below it what to do. */
export const checksText = (checks: readonly Check[]): string =>
  checks
    .map(({ name, state, finding, action }) => {
      const line = `${state.padEnd(7)}  ${name.padEnd(14)}  ${finding}`
      return action === null ? line : `${line}\n${' '.repeat(25)}${action}`
    })
    .join('\n')

/** Authorities renew thirty days before the end, some ten. */
const expiring_days = 10

/** Of a certificate that is valid now. */
export function certificateCheck(valid_until: Date, now: Date): Check {
  const days = Math.floor((valid_until.getTime() - now.getTime()) / day_ms)
  const finding = `valid until ${valid_until.toISOString().slice(0, 10)}, ${days} days`
  if (days >= expiring_days) return ok('certificate', finding)
  return warning('certificate', finding, 'Renew the certificate of the server.')
}

interface DiskNeeds {
  /** Below it the program does not work. */
  min_bytes: number
  enough_bytes: number
  action: string
}

export function diskCheck(
  folder: string,
  free_bytes: number,
  { min_bytes, enough_bytes, action }: DiskNeeds,
): Check {
  const finding = `${mebibytes(free_bytes)} MiB free for ${folder}`
  if (free_bytes < min_bytes) return failure('disk', finding, action)
  return free_bytes < enough_bytes ? warning('disk', finding, action) : ok('disk', finding)
}

const mebibytes = (bytes: number) => Math.floor(bytes / 2 ** 20)
