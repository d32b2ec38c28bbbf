/** Under which contract and fees a plant sells when: stretches of time in which nothing changes. */
import { dayStart, hoursOfLocalDate } from '@heliograph/domain/local-day'
import { addDays, day_ms, utcDate } from '@heliograph/domain/utc-day'
import { type PriceTerms, priceTerms } from './contract-price.ts'
import type { Assignment, Fee } from './contract-store.ts'
import type { FeeBasis } from './contracts.ts'
import { elapsedShare, microOf, productOver } from './money.ts'

export interface TermsOfFee {
  /** The place of the fee in the list that was given. */
  place: number
  basis: FeeBasis
  /** Micro per MWh, or micro-percent; of a month: what the plant pays for all of it. */
  value: number
  currency: string | null
}

/** A stretch [from_ms, to_ms), Unix ms, within one month of the time zone of the market. */
export interface Terms {
  from_ms: number
  to_ms: number
  month_from_ms: number
  month_to_ms: number
  assignment: Assignment
  price: PriceTerms
  /** Whose prices count. */
  market_code: string
  fees: readonly TermsOfFee[]
}

interface TermsAsked {
  /** Of one plant, by time. */
  assignments: readonly Assignment[]
  /** All that may be of the plant. */
  fees: readonly Fee[]
  rated_power_kw: number
  timezoneOf: (market_code: string) => string
  from_ms: number
  to_ms: number
}

/** The stretches of [from_ms, to_ms) that a contract covers, ascending. */
export function termsOf(asked: TermsAsked): Terms[] {
  const { from_ms, to_ms } = asked
  if (to_ms <= from_ms) return []
  return asked.assignments.flatMap((assignment) => {
    const market_code = assignment.sold_market_code ?? assignment.market_code
    const midnight = midnights(asked.timezoneOf(market_code))
    const dates = datesOfChange(assignment, asked.fees, { from_ms, to_ms })
    return dates.slice(0, -1).flatMap((date, nth) => {
      const next = dates[nth + 1]!
      const stretch = {
        from_ms: Math.max(from_ms, midnight(date)),
        to_ms: Math.min(to_ms, midnight(next)),
      }
      if (stretch.to_ms <= stretch.from_ms || !holdsOn(assignment, date)) return []
      return {
        ...stretch,
        month_from_ms: midnight(monthOf(date)),
        month_to_ms: midnight(nextMonth(date)),
        assignment,
        price: priceTerms(assignment),
        market_code,
        fees: feesOn(date, asked, assignment.logger_id),
      }
    })
  })
}

/** Days on which something may begin or have ended, ascending, around the window. */
function datesOfChange(
  assignment: Assignment,
  fees: readonly Fee[],
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): string[] {
  // A local date is at most one day off that of UTC.
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
  { fees, rated_power_kw }: TermsAsked,
  logger_id: number,
): TermsOfFee[] {
  return fees.flatMap((fee, place) => {
    if (!holdsOn(fee, date) || (fee.logger_id ?? logger_id) !== logger_id) return []
    const value = microOf(fee.value)
    if (value === null) throw new Error(`the value of fee ${fee.fee_id} is ${fee.value}`)
    const rated_w = Math.round(rated_power_kw * 1000)
    const of_plant = fee.basis === 'per_mw_month' ? productOver(value, rated_w, 1_000_000) : value
    return { place, basis: fee.basis, value: of_plant, currency: fee.currency }
  })
}

/** What a fee of the month comes to in [from_ms, to_ms), which lies within the stretch. */
export function ofMonth(
  value: number,
  { month_from_ms, month_to_ms }: Terms,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): number {
  // Hours and midnights are whole minutes, whatever the time zone.
  const minutes = (at_ms: number) => (at_ms - month_from_ms) / 60_000
  const length = minutes(month_to_ms)
  const until = (at_ms: number) => elapsedShare(value, minutes(at_ms), length)
  return until(to_ms) - until(from_ms)
}

const monthOf = (date: string) => `${date.slice(0, 7)}-01`
const nextMonth = (date: string) => monthOf(addDays(monthOf(date), 31))

const holdsOn = (
  { valid_from, valid_to }: { valid_from: string; valid_to: string | null },
  date: string,
) => valid_from <= date && (valid_to === null || date <= valid_to)

/** When a local date begins, Unix ms. */
export function midnights(timezone: string): (date: string) => number {
  const known = new Map<string, number>()
  return (date) => {
    let at = known.get(date)
    if (at === undefined) {
      const { from_ms } = hoursOfLocalDate(date, timezone)
      at = dayStart(new Date(from_ms), timezone).getTime()
      known.set(date, at)
    }
    return at
  }
}
