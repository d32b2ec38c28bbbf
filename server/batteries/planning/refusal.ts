/**
 * Reasons why a unit cannot be planned: an error of `optimize`, a skipped unit of `optimize-all`.
 */
export const refusalCodes = [
  'retired',
  'no_hours_left',
  'telemetry_stale',
  'no_market',
  'no_price',
  'price_hole',
  'no_exchange_rate',
  'no_usable_window',
  'infeasible',
  'nothing_approved',
] as const
type RefusalCode = (typeof refusalCodes)[number]

export class Refusal extends Error {
  readonly code: RefusalCode
  readonly details: Record<string, unknown>
  constructor(code: RefusalCode, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.details = details
  }
}
