/** Reasons for failed report runs. */

const faults = {
  template_gone: { is_final: true, message: 'The template no longer exists on this server.' },
  parameters_invalid: {
    is_final: true,
    message: 'The template no longer accepts the parameters of the subscription: change them.',
  },
  file_too_large: {
    is_final: true,
    message: 'The file is too large: choose a shorter period or fewer plants.',
  },
  build_failed: {
    is_final: false,
    message: 'The data could not be read. See the log of the server.',
  },
  write_failed: {
    is_final: false,
    message: 'The file could not be written. See the log of the server.',
  },
  timed_out: {
    is_final: false,
    message: 'The report took too long: choose a shorter period or fewer plants.',
  },
  server_lost: { is_final: true, message: 'The server was lost in every attempt.' },
  subscription_disabled: {
    is_final: true,
    message: 'The subscription was disabled before the run started.',
  },
  subscription_deleted: {
    is_final: true,
    message: 'The subscription was deleted before the run started.',
  },
} as const satisfies Record<string, { is_final: boolean; message: string }>

export type FaultCode = keyof typeof faults

export const faultMessage = (code: FaultCode): string => faults[code].message

/** A failure with a known reason. */
export class ReportFault extends Error {
  readonly code: FaultCode
  /** Another attempt would fail as well. */
  readonly is_final: boolean
  constructor(code: FaultCode, options?: ErrorOptions) {
    super(faultMessage(code), options)
    this.name = 'ReportFault'
    this.code = code
    this.is_final = faults[code].is_final
  }
}
