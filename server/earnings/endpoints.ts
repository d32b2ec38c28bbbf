import { knownTimezone, localDate } from '@heliograph/domain/local-day'
import { day_ms } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import type { Assignment, Fee } from '../contracts/contract-store.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { JsonText } from '../http/json-text.ts'
import { LoggerId } from '../http/params.ts'
import { daysSpan, daysSum, pastDaysSpan, spanMeta, type WholeWindow } from '../http/windows.ts'
import type { PriceStore } from '../markets/price-store.ts'
import { awakeTime } from '../plant/daylight.ts'
import type { SiteFacts } from '../plant/situation.ts'
import { pairOf, type Reads, readCompared } from './compare-markets.ts'
import { crossBorderPrices } from './cross-border.ts'
import {
  crossBorderExample,
  earningsHourExample,
  earningsSummaryExample,
  marketAssignmentExample,
} from './examples.ts'
import { crossBorderExport, hoursExport } from './exports.ts'
import { feeTerms } from './figures.ts'
import { hoursOfDays, hoursText, summaryOf } from './records.ts'
import { CrossBorderPrices, EarningsHours, EarningsSummary, MarketAssignment } from './schemas.ts'
import type { EarningsStore } from './store.ts'

export interface Needs {
  clock: { now(): Date }
  sites: { facts(site_id: string): Promise<SiteFacts> }
  loggers: { exists(site_id: string, logger_id: number): Promise<boolean> }
  earnings: EarningsStore
  prices: PriceStore
}

const earnings = {
  method: 'GET',
  scope: 'earnings:read',
  module: 'earnings',
  tag: 'Earnings',
} as const

const ofLogger = Type.Optional(LoggerId)
const whole = { truncated: false, next_start: null }

const note =
  'Energy of quarter hours times the price of the contract in them, exact to a millionth of the ' +
  'currency: gross and fees of hours, days and plants add up. What is not known is `null` and says ' +
  'why; what a plant delivers without a contract, or before it is commissioned, is in no amount. ' +
  'Prices of two markets of one auction differ by what their border costs, which the plant earns ' +
  'only where its contract says so.'

interface Asked {
  site: { site_id: string }
  query: { logger_id?: number; timezone?: string }
  window: WholeWindow
}

const Timezone = Type.Optional(
  Type.String({
    maxLength: 64,
    examples: ['Europe/Berlin'],
    description:
      'Extension: days of this IANA time zone, such as that of the market, in place of UTC. The ' +
      'money of batteries stays that of the same dates in UTC.',
  }),
)

function zoneOf({ timezone = 'UTC' }: Asked['query']): string {
  const known = knownTimezone(timezone)
  if (known !== null) return known
  throw invalid({
    location: 'query',
    field: 'timezone',
    code: 'invalid_format',
    message: 'must be the IANA name of a time zone, such as Europe/Berlin',
  })
}

/** The window of a request and who is meant by it; 404 for a logger that is not of the site. */
async function askedOf(
  { site: { site_id }, query, window: { start, end } }: Asked,
  { clock, sites, loggers }: Needs,
) {
  const { logger_id = null } = query
  const days = { start, end, timezone: zoneOf(query) }
  if (logger_id !== null && !(await loggers.exists(site_id, logger_id))) {
    throw new ApiError('not_found', { logger_id })
  }
  const now = clock.now()
  return {
    days,
    window: { site_id, logger_id, ...hoursOfDays(days, now.getTime()) },
    now: { now_ms: now.getTime(), awake: awakeTime(await sites.facts(site_id)) },
  }
}

export const earningsSummary = endpoint({
  ...earnings,
  path: '/earnings/summary',
  operation_id: 'earnings_summary_get',
  summary: 'Earnings of a time: gross, fees and net, by plant and day',
  description:
    'The month to date where no days are given. More than 400 days are counted as far as the site ' +
    `has records: \`start_date\` and \`end_date\` say from when to when. ${note}`,
  window: daysSum,
  query: { logger_id: ofLogger, timezone: Timezone },
  heavy: true,
  returns: EarningsSummary,
  example: { answer: earningsSummaryExample },
  async handle(request, needs: Needs) {
    const { days, window, now } = await askedOf(request, needs)
    const books = await needs.earnings.books({ ...window, ...now })
    const { currency } = books
    const utc_days = hoursOfDays({ ...days, timezone: 'UTC' }, now.now_ms)
    const arbitrage = await needs.earnings.arbitrage({
      ...window,
      ...utc_days,
      ...now,
      currency,
    })
    return summaryOf(books, arbitrage, { ...days, logger_id: window.logger_id }, now)
  },
})

export const earningsByHour = endpoint({
  ...earnings,
  path: '/earnings/hourly',
  operation_id: 'earnings_hourly_list',
  summary: 'Earnings hour by hour, by plant',
  description:
    'An item for each hour (UTC) and plant up to now, by these, from the day it was commissioned ' +
    '(earlier ones, on trial, where they have energy) to its retirement; the month to date where ' +
    `no days are given. ${note}`,
  window: pastDaysSpan,
  query: { logger_id: ofLogger },
  heavy: true,
  returns: EarningsHours,
  example: {
    answer: { data: [earningsHourExample], meta: { count: 1, ...whole, exchange_rates: [] } },
  },
  async handle(request, needs: Needs) {
    const { window, now } = await askedOf(request, needs)
    // A year of them: to check each against the schema costs as much as to compute it.
    const books = await needs.earnings.books({ ...window, ...now })
    return new JsonText(hoursText(books, now, spanMeta(request.window)))
  },
  async exports(request, needs: Needs) {
    const { window, now } = await askedOf(request, needs)
    return hoursExport(window, now)
  },
})

export const marketAssignments = endpoint({
  ...earnings,
  path: '/earnings/market-assignments',
  operation_id: 'earnings_market_assignments_list',
  summary: 'Contracts under which plants sell, with their fees',
  description:
    'By plant and time, past and future ones too. They are imported from a file by ' +
    '`heliograph contracts import`.',
  query: { logger_id: ofLogger },
  returns: List(MarketAssignment),
  example: { answer: { data: [marketAssignmentExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, query }, { clock, loggers, earnings, prices }: Needs) {
    const { logger_id = null } = query
    if (logger_id !== null && !(await loggers.exists(site_id, logger_id))) {
      throw new ApiError('not_found', { logger_id })
    }
    const { assignments, fees } = await earnings.contracts(site_id, logger_id)
    const names = await earnings.loggerNames(site_id)
    const zones = new Map(
      (await prices.markets()).map(({ market_code, timezone }) => [market_code, timezone]),
    )
    return list(
      assignments.map((assignment) => {
        const zone = zones.get(assignment.sold_market_code ?? assignment.market_code) ?? 'UTC'
        const today = localDate(clock.now().getTime(), zone)
        const name = names.get(assignment.logger_id)!
        return assignmentItem(assignment, { name, fees, today, timezone: zone })
      }),
    )
  },
})

function assignmentItem(
  assignment: Assignment,
  of: { name: string; fees: readonly Fee[]; today: string; timezone: string },
): Static<typeof MarketAssignment> {
  const { name, fees, today, timezone } = of
  const { fixed_price, floor_price, valid_from, valid_to, logger_id, ...rest } = assignment
  const last = valid_to ?? '9999-12-31'
  return {
    assignment_id: rest.assignment_id,
    logger_id,
    logger_name: name,
    market_code: rest.market_code,
    sold_market_code: rest.sold_market_code,
    contract_type: rest.contract_type,
    fixed_price_per_mwh: fixed_price === null ? null : Number(fixed_price),
    floor_price_per_mwh: floor_price === null ? null : Number(floor_price),
    fee_schedule: fees
      .filter((fee) => (fee.logger_id ?? logger_id) === logger_id)
      .filter((fee) => fee.valid_from <= last && (fee.valid_to ?? valid_from) >= valid_from)
      .map((fee) => ({
        ...feeTerms(fee),
        valid_from_date: fee.valid_from,
        valid_to_date: fee.valid_to,
      })),
    currency: rest.currency,
    valid_from_date: valid_from,
    valid_to_date: valid_to,
    timezone,
    offtaker: rest.offtaker,
    imbalance_responsible_party: rest.imbalance_responsible_party,
    pays_at_negative_price: rest.pays_at_negative_price,
    is_active: valid_from <= today && today <= last,
  }
}

const marketCode = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^[A-Z0-9][A-Z0-9-]{1,19}$',
      examples: ['DE-LU'],
      description,
    }),
  )

export const crossBorder = endpoint({
  ...earnings,
  path: '/earnings/cross-border-prices',
  operation_id: 'earnings_cross_border_prices_list',
  summary: 'Prices of the market of a plant and of one sold into, side by side',
  description:
    'Every market period of the days, of the coarser resolution of the two, with the mean of the ' +
    'finer one; the month to date where none are given. Within the coupled European auction energy ' +
    'crosses borders implicitly: the spread is congestion rent, which no producer earns unless a ' +
    'contract says so. Elsewhere capacity has its own price, which is not known here. Without ' +
    '`base` and `sold` those of the contracts of the site are compared.',
  window: daysSpan,
  query: {
    base: marketCode('The market where the plant is; that of its contract by default.'),
    sold: marketCode('The market sold into; that of the contract by default.'),
  },
  heavy: true,
  returns: CrossBorderPrices,
  example: { answer: crossBorderExample },
  async handle(request, needs: Needs) {
    const { pair, window } = await bordersOf(request, needs)
    const compared = await readCompared(needs, pair, window)
    return crossBorderPrices(compared, spanMeta(request.window))
  },
  async exports(request, needs: Needs) {
    const { pair, window } = await bordersOf(request, needs)
    return crossBorderExport(window, pair)
  },
})

async function bordersOf(
  {
    site: { site_id },
    query,
    window: { start, end },
  }: {
    site: { site_id: string }
    query: { base?: string; sold?: string }
    window: WholeWindow
  },
  reads: Reads,
) {
  const pair = await pairOf(reads, { site_id, end, ...query })
  return { pair, window: { site_id, from_ms: Date.parse(start), to_ms: Date.parse(end) + day_ms } }
}
