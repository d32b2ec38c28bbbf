/** Reasons for failed report runs, as error codes with messages for people. */

const messages = {
  template_gone: 'The template no longer exists on this server.',
  parameters_invalid:
    'The template no longer accepts the parameters of the subscription: change them.',
  file_too_large: 'The file is too large: choose a shorter period or fewer plants.',
  build_failed: 'The data could not be read. See the log of the server.',
  write_failed: 'The file could not be written. See the log of the server.',
  timed_out: 'The report took too long: choose a shorter period or fewer plants.',
  server_lost: 'The server was lost in every attempt.',
  subscription_disabled: 'The subscription was disabled before the run started.',
  subscription_deleted: 'The subscription was deleted before the run started.',
} as const

export type FaultCode = keyof typeof messages

const retried: readonly FaultCode[] = ['build_failed', 'write_failed', 'timed_out']

export const faultMessage = (code: FaultCode): string => messages[code]

export class ReportFault extends Error {
  readonly code: FaultCode
  readonly is_final: boolean
  constructor(code: FaultCode, options?: ErrorOptions) {
    super(faultMessage(code), options)
    this.name = 'ReportFault'
    this.code = code
    this.is_final = !retried.includes(code)
  }
}
