/** Contract terms of a plant over time: spans in which contract, fees and month stay the same. */
/// <reference lib="esnext.temporal" />
import { day_ms } from '@heliograph/domain/durations'
import { addDays, utcDate } from '@heliograph/domain/utc-day'
import { type PriceTerms, priceTerms } from './contract-price.ts'
import type { Assignment, Fee } from './contract-store.ts'
import type { FeeBasis } from './contracts.ts'
import { elapsedShare, microOf, productOver } from './money.ts'

export interface TermsOfFee {
  /** Index of the fee in the list of fees. */
  place: number
  basis: FeeBasis
  /** Micro per MWh, micro-percent, or the plant's amount for a whole month. */
  value: number
  currency: string | null
}

/** A span [from_ms, to_ms), Unix ms, within one month of the market's time zone. */
export interface Terms {
  from_ms: number
  to_ms: number
  month_from_ms: number
  month_to_ms: number
  assignment: Assignment
  price: PriceTerms
  market_code: string
  fees: readonly TermsOfFee[]
}

interface TermsInput {
  /** Contracts of one plant, by time. */
  assignments: readonly Assignment[]
  fees: readonly Fee[]
  rated_power_kw: number
  timezoneOf: (market_code: string) => string
  from_ms: number
  to_ms: number
}

/** The spans of [from_ms, to_ms) that a contract covers, ascending. */
export function termsOf(input: TermsInput): Terms[] {
  const { from_ms, to_ms } = input
  if (to_ms <= from_ms) return []
  return input.assignments.flatMap((assignment) => {
    const market_code = assignment.sold_market_code ?? assignment.market_code
    const midnight = midnights(input.timezoneOf(market_code))
    const dates = datesOfChange(assignment, input.fees, { from_ms, to_ms })
    return dates.slice(0, -1).flatMap((date, nth) => {
      const span = {
        from_ms: Math.max(from_ms, midnight(date)),
        to_ms: Math.min(to_ms, midnight(dates[nth + 1]!)),
      }
      if (span.to_ms <= span.from_ms || !isValidOn(assignment, date)) return []
      return {
        ...span,
        month_from_ms: midnight(monthOf(date)),
        month_to_ms: midnight(nextMonth(date)),
        assignment,
        price: priceTerms(assignment),
        market_code,
        fees: feesOn(date, input, assignment.logger_id),
      }
    })
  })
}

/** Days around the window on which terms may change, ascending. */
function datesOfChange(
  assignment: Assignment,
  fees: readonly Fee[],
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): string[] {
  // A local date differs from the UTC date by at most one day.
  const first = utcDate(from_ms - day_ms)
  const last = utcDate(to_ms + day_ms)
  const dates = new Set([first, last])
  for (let month = nextMonth(first); month < last; month = nextMonth(month)) dates.add(month)
  for (const { valid_from, valid_to } of [assignment, ...fees]) {
    dates.add(valid_from)
    if (valid_to !== null) dates.add(addDays(valid_to, 1))
  }
  return [...dates].filter((date) => date >= first && date <= last).sort()
}

function feesOn(
  date: string,
  { fees, rated_power_kw }: TermsInput,
  logger_id: number,
): TermsOfFee[] {
  return fees.flatMap((fee, place) => {
    if (!isValidOn(fee, date) || (fee.logger_id ?? logger_id) !== logger_id) return []
    const value = microOf(fee.value)
    if (value === null) throw new Error(`the value of fee ${fee.fee_id} is ${fee.value}`)
    const rated_w = Math.round(rated_power_kw * 1000)
    const of_plant = fee.basis === 'per_mw_month' ? productOver(value, rated_w, 1_000_000) : value
    return { place, basis: fee.basis, value: of_plant, currency: fee.currency }
  })
}

/** The part of a monthly fee that falls into [from_ms, to_ms), which lies within the terms. */
export function monthlyFee(
  value: number,
  { month_from_ms, month_to_ms }: Terms,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): number {
  // Hours and midnights are whole minutes in every time zone.
  const minutes = (at_ms: number) => (at_ms - month_from_ms) / 60_000
  const length = minutes(month_to_ms)
  const until = (at_ms: number) => elapsedShare(value, minutes(at_ms), length)
  return until(to_ms) - until(from_ms)
}

const monthOf = (date: string) => `${date.slice(0, 7)}-01`
const nextMonth = (date: string) => monthOf(addDays(monthOf(date), 31))

const isValidOn = (
  { valid_from, valid_to }: { valid_from: string; valid_to: string | null },
  date: string,
) => valid_from <= date && (valid_to === null || date <= valid_to)

/** Start of a local date, Unix ms. */
export const midnights =
  (timezone: string) =>
  (date: string): number =>
    Temporal.PlainDate.from(date).toZonedDateTime(timezone).epochMilliseconds
