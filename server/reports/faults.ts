/** Why runs of reports fail, in words for those who wait for them. */
import type { RunFailure } from './runs.ts'

const faults = {
  template_gone: { is_final: true, message: 'This server has no such template any more.' },
  parameters_invalid: {
    is_final: true,
    message: 'The template no longer takes the parameters of the subscription: change them.',
  },
  file_too_large: {
    is_final: true,
    message: 'The file would be too large: ask for a shorter period or for fewer plants.',
  },
  build_failed: {
    is_final: false,
    message: 'The figures could not be read. The log of the server has the reason.',
  },
  write_failed: {
    is_final: false,
    message: 'The file could not be written. The log of the server has the reason.',
  },
  timed_out: {
    is_final: false,
    message: 'It took too long: ask for a shorter period or for fewer plants.',
  },
  server_lost: {
    is_final: true,
    message: 'The server that made it was lost, each time that it was begun.',
  },
  subscription_disabled: {
    is_final: true,
    message: 'The subscription was disabled before it was begun.',
  },
  subscription_deleted: {
    is_final: true,
    message: 'The subscription was deleted before it was begun.',
  },
} as const satisfies Record<string, { is_final: boolean; message: string }>

type FaultCode = keyof typeof faults

export const failureOf = (code: FaultCode): RunFailure => ({ code, message: faults[code].message })

/** A run that failed for a reason that has a name. */
export class ReportFault extends Error {
  readonly code: FaultCode
  /** Whether another attempt would end the same. */
  readonly is_final: boolean
  constructor(code: FaultCode, options?: ErrorOptions) {
    super(faults[code].message, options)
    this.name = 'ReportFault'
    this.code = code
    this.is_final = faults[code].is_final
  }
}
