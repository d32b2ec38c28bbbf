import { day_ms } from '@heliograph/domain/durations'
import { knownTimezone, localDate } from '@heliograph/domain/local-day'
import { type Static, Type } from 'typebox'
import { type Assignment, type Fee, readContracts } from '../contracts/contract-store.ts'
import type { Context } from '../http/context.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { badField } from '../http/errors.ts'
import type { ExportItem, ExportItems } from '../http/export-items.ts'
import * as field from '../http/fields.ts'
import { JsonText } from '../http/json-text.ts'
import { LoggerId } from '../http/params.ts'
import { daysSpan, daysSum, pastDaysSpan, spanMeta, type WholeWindow } from '../http/windows.ts'
import { readMarkets } from '../markets/price-store.ts'
import { awakeTime } from '../plant/daylight.ts'
import { requireLogger } from '../plant/device-ids.ts'
import { siteFacts } from '../plant/site-facts.ts'
import type { Queries } from '../storage/database.ts'
import { readArbitrage } from './arbitrage.ts'
import { type Pair, readComparison, readPair } from './compare-markets.ts'
import { crossBorderPrices } from './cross-border.ts'
import { feeTerms, type Now } from './metrics.ts'
import { earningsHours, hoursOfDays, hoursText, summaryOf } from './records.ts'
import { CrossBorderPrices, EarningsHours, EarningsSummary, MarketAssignment } from './schemas.ts'
import { readEarnings, readLoggers } from './store.ts'

const earnings = {
  method: 'GET',
  scope: 'earnings:read',
  module: 'earnings',
  tag: 'Earnings',
} as const

const ofLogger = Type.Optional(LoggerId)

const note =
  'Revenue is energy times contract price per quarter hour, exact to a millionth of the currency: ' +
  'gross and fees of hours, days and plants add up. Unknown amounts are `null` with a reason. ' +
  'Energy without a contract, or from before commissioning, is in no amount. Price differences ' +
  'between two markets of one auction are revenue of the plant only if its contract says so.'

interface EarningsRequest {
  site: { site_id: string }
  query: { logger_id?: number; timezone?: string }
  window: WholeWindow
}

const Timezone = Type.Optional(
  field.Text(
    'Extension: IANA time zone of the days, such as that of the market. Defaults to UTC. Battery ' +
      'revenue always covers the same dates in UTC.',
    { maxLength: 64, examples: ['Europe/Berlin'] },
  ),
)

function zoneOf({ timezone = 'UTC' }: EarningsRequest['query']): string {
  const known = knownTimezone(timezone)
  if (known !== null) return known
  const message = 'must be the IANA name of a time zone, such as Europe/Berlin'
  throw badField('timezone', 'invalid_format', message, 'query')
}

/** @throws ApiError not_found for an unknown logger */
async function ledgerQuery(
  { site: { site_id }, query, window: { start, end } }: EarningsRequest,
  { db, clock }: Context,
) {
  const { logger_id = null } = query
  const days = { start, end, timezone: zoneOf(query) }
  if (logger_id !== null) await requireLogger(db, site_id, logger_id)
  const now_ms = clock.now().getTime()
  return {
    days,
    window: { site_id, logger_id, ...hoursOfDays(days, now_ms) },
    now: { now_ms, awake: awakeTime(await siteFacts(db, site_id)) },
  }
}

export const earningsSummary = endpoint({
  ...earnings,
  path: '/earnings/summary',
  operation_id: 'earnings_summary_get',
  summary: 'Get revenue over a period',
  description:
    'Returns gross, fees and net of a period, in total, by plant and by day. Defaults to the month ' +
    'to date. A period of more than 400 days is cut to the days with records, as reported by ' +
    `\`start_date\` and \`end_date\`. ${note}`,
  window: daysSum,
  query: { logger_id: ofLogger, timezone: Timezone },
  heavy: true,
  returns: EarningsSummary,
  async handle(request, context: Context) {
    const { db } = context
    const { days, window, now } = await ledgerQuery(request, context)
    const ledger = await readEarnings(db, { ...window, ...now })
    const { currency } = ledger
    const utc_days = hoursOfDays({ ...days, timezone: 'UTC' }, now.now_ms)
    const arbitrage = await readArbitrage(db, { ...window, ...utc_days, ...now, currency })
    return summaryOf(ledger, arbitrage, { ...days, logger_id: window.logger_id }, now)
  },
})

export const earningsByHour = endpoint({
  ...earnings,
  path: '/earnings/hourly',
  operation_id: 'earnings_hourly_list',
  summary: 'List revenue by hour',
  description:
    'Returns one item per hour (UTC) and plant up to now, ordered by hour and plant, from the ' +
    'commissioning day of the plant to its retirement. Earlier hours of trial runs are included ' +
    `when they have energy. Defaults to the month to date. ${note}`,
  window: pastDaysSpan,
  query: { logger_id: ofLogger },
  heavy: true,
  returns: EarningsHours,
  async handle(request, context: Context) {
    const { window, now } = await ledgerQuery(request, context)
    const ledger = await readEarnings(context.db, { ...window, ...now })
    // Checking a year of hours against the schema would take as long as computing them.
    return new JsonText(hoursText(ledger, now, spanMeta(request.window)))
  },
  async exports(request, context: Context) {
    const { window, now } = await ledgerQuery(request, context)
    return hoursExport(window, now)
  },
})

export const marketAssignments = endpoint({
  ...earnings,
  path: '/earnings/market-assignments',
  operation_id: 'earnings_market_assignments_list',
  summary: 'List contracts and fees of plants',
  description:
    'Returns the contracts under which plants sell, ordered by plant and time, including past and ' +
    'future ones. `heliograph contracts import` imports them from a file.',
  query: { logger_id: ofLogger },
  returns: List(MarketAssignment),
  async handle({ site: { site_id }, query }, { db, clock }: Context) {
    const { logger_id = null } = query
    if (logger_id !== null) await requireLogger(db, site_id, logger_id)
    const { assignments, fees } = await readContracts(db, site_id, logger_id)
    const loggers = await readLoggers(db, site_id)
    const markets = await readMarkets(db)
    const zones = new Map(markets.map(({ market_code, timezone }) => [market_code, timezone]))
    return list(
      assignments.map((assignment) => {
        const timezone = zones.get(assignment.sold_market_code ?? assignment.market_code) ?? 'UTC'
        const today = localDate(clock.now().getTime(), timezone)
        const logger_name = loggers.get(assignment.logger_id)!.name
        return assignmentItem(assignment, { logger_name, fees, today, timezone })
      }),
    )
  },
})

function assignmentItem(
  { fixed_price, floor_price, valid_from, valid_to, ...assignment }: Assignment,
  of: { logger_name: string; fees: readonly Fee[]; today: string; timezone: string },
): Static<typeof MarketAssignment> {
  const { logger_name, fees, today, timezone } = of
  const { logger_id } = assignment
  const last = valid_to ?? '9999-12-31'
  return {
    ...assignment,
    logger_name,
    timezone,
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
    valid_from_date: valid_from,
    valid_to_date: valid_to,
    is_active: valid_from <= today && today <= last,
  }
}

const marketCode = (description: string) =>
  Type.Optional(
    field.Text(description, { pattern: '^[A-Z0-9][A-Z0-9-]{1,19}$', examples: ['DE-LU'] }),
  )

export const crossBorder = endpoint({
  ...earnings,
  path: '/earnings/cross-border-prices',
  operation_id: 'earnings_cross_border_prices_list',
  summary: 'Compare the prices of two markets',
  description:
    'Returns every market period in the coarser resolution of the two markets, with the mean price ' +
    'of the finer one. Defaults to the month to date, and to the markets of the contracts of the ' +
    'site. Within the coupled European auction energy crosses borders implicitly: the spread is ' +
    'congestion rent, which a producer earns only if its contract says so. Elsewhere cross-border ' +
    'capacity has a price of its own, which is not available here. Rejected with 422 when `base` ' +
    'is missing and has no default.',
  window: daysSpan,
  query: {
    base: marketCode('Market that the plant is located in. Defaults to that of its contract.'),
    sold: marketCode('Market sold into. Defaults to that of the contract.'),
  },
  heavy: true,
  returns: CrossBorderPrices,
  async handle(request, { db }: Context) {
    const { pair, window } = await comparisonQuery(request, db)
    const comparison = await readComparison(db, pair, window)
    return crossBorderPrices(comparison, spanMeta(request.window))
  },
  async exports(request, { db }: Context) {
    const { pair, window } = await comparisonQuery(request, db)
    return crossBorderExport(window, pair)
  },
})

interface ComparisonRequest {
  site: { site_id: string }
  query: { base?: string; sold?: string }
  window: WholeWindow
}

async function comparisonQuery(
  { site: { site_id }, query, window: { start, end } }: ComparisonRequest,
  db: Queries,
) {
  const pair = await readPair(db, { site_id, end, ...query })
  return { pair, window: { site_id, from_ms: Date.parse(start), to_ms: Date.parse(end) + day_ms } }
}

// Exports of hours and market periods, computed one week at a time.
interface Window {
  site_id: string
  from_ms: number
  to_ms: number
}

const hoursExport = (window: Window & { logger_id: number | null }, now: Now): ExportItems => ({
  async *items(db) {
    for (const week of weeksOf(window)) {
      const ledger = await readEarnings(db, { ...window, ...week, ...now, in_turn: true })
      yield [...earningsHours(ledger, now)]
    }
  },
})

const crossBorderExport = (window: Window, pair: Pair): ExportItems => ({
  async *items(db) {
    for (const week of weeksOf(window)) {
      const comparison = await readComparison(db, pair, { ...window, ...week })
      const { data } = crossBorderPrices(comparison, { truncated: false, next_start: null })
      yield data as ExportItem[]
    }
  },
})

function* weeksOf({ from_ms, to_ms }: Window): Generator<{ from_ms: number; to_ms: number }> {
  for (let at = from_ms; at < to_ms; at += 7 * day_ms) {
    yield { from_ms: at, to_ms: Math.min(to_ms, at + 7 * day_ms) }
  }
}
