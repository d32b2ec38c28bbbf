/** The job that fetches the prices of the markets that have a source. */

import type { JobContext } from '../jobs/job.ts'
import type { Database } from '../storage/database.ts'
import { changeRows, putRow } from '../storage/rows.ts'
import { backOff, dueDays, type FetchedDay } from './due.ts'
import { deliveryDay, holesIn, type PeriodSpan } from './periods.ts'
import { type Market, readMarkets, readPrices } from './price-store.ts'
import { inCurrency, limitFault, storePrices } from './publications.ts'
import type { FollowedSource } from './schemas.ts'
import { energyChartsSource } from './sources/energy-charts.ts'
import { entsoeSource } from './sources/entsoe.ts'
import { createGet } from './sources/http-get.ts'
import { simulatedSource } from './sources/simulated.ts'
import type { Get, Outcome, Source } from './sources/source.ts'

export interface PriceSettings {
  /** Security token of ENTSO-E's web API, a secret; null without one. */
  entsoe_token: string | null
  entsoe_url: string
  energy_charts_url: string
}

interface FetchContext extends JobContext {
  settings: PriceSettings
}

/** Days of one market per run: a long history is fetched over several runs. */
const days_at_once = 40
/** After this many failed days in a run the source counts as failing. */
const failures_at_once = 3

/** Fetches all due days of all markets. Failures are stored and logged, not thrown. */
export async function fetchPrices(context: FetchContext, get: Get = createGet()): Promise<void> {
  const { db, clock, signal } = context
  const waiting = await db.query<{ market_code: string }>(
    'select market_code from price_fetches where next_attempt_at > $1',
    [clock.now()],
  )
  const backing_off = new Set(waiting.map(({ market_code }) => market_code))
  for (const market of await readMarkets(db)) {
    if (signal.aborted) return
    if (market.source === null || backing_off.has(market.market_code)) continue
    try {
      await fetchMarket(market, context, get)
    } catch (error) {
      // Requests aborted by a shutdown are repeated by the next run.
      if (!signal.aborted) throw error
    }
  }
}

/** Fetches the due days of one market; a failed day does not stop the others. */
export async function fetchMarket(market: Market, context: FetchContext, get: Get = createGet()) {
  const { db, clock, signal } = context
  const source = sourceOf(market.source!, context.settings)
  const failures: string[] = []
  let success_count = 0
  const due = await readDue(db, market, clock.now())
  for (const date of market.source === 'simulated' ? due : due.slice(0, days_at_once)) {
    if (signal.aborted || failures.length === failures_at_once) break
    const now = clock.now()
    const day = deliveryDay(date, market.timezone)
    const answer = await source.fetchDay(market, day, { get, now, signal })
    const stored =
      answer.outcome === 'published' ? await storeAnswer(db, market, { answer, now }) : null
    const failure = answer.outcome === 'failed' ? answer.reason : stored
    if (failure !== null) failures.push(`${date}: ${failure}`)
    else {
      success_count += 1
      await noteDay(db, market, { date, day, now })
    }
  }
  if (failures.length > 0) await noteFailure(context, market, { failures, success_count })
  else if (success_count > 0) await noteSuccess(context, market)
}

function sourceOf(name: FollowedSource, settings: PriceSettings): Source {
  const { entsoe_token, entsoe_url, energy_charts_url } = settings
  if (name === 'entsoe') return entsoeSource({ url: entsoe_url, token: entsoe_token })
  return name === 'simulated' ? simulatedSource : energyChartsSource({ url: energy_charts_url })
}

async function readDue(db: Database, market: Market, now: Date): Promise<string[]> {
  const days = await db.query<FetchedDay & { delivery_date: string }>(
    'select delivery_date, fetched_at, is_complete from price_days where market_code = $1',
    [market.market_code],
  )
  const fetched = new Map(days.map((day) => [day.delivery_date, day]))
  return dueDays(market, { from: market.followed_from!, fetched, now })
}

/** Stores published prices; returns the reason when they are rejected, else null. */
async function storeAnswer(
  db: Database,
  market: Market,
  { answer, now }: { answer: Extract<Outcome, { outcome: 'published' }>; now: Date },
): Promise<string | null> {
  const { market_code, currency } = market
  return db.transaction(async (tx) => {
    const periods = await inCurrency(tx, answer.periods, { from: answer.currency, to: currency })
    if (periods === null) return `prices in ${answer.currency}, without a rate to ${currency}`
    for (const { start_ms, price_micro } of periods) {
      const fault = limitFault(price_micro, market)
      if (fault !== null) return `the price at ${new Date(start_ms).toISOString()}: ${fault}`
    }
    await storePrices(tx, {
      market_code,
      kind: 'day_ahead',
      source: market.source!,
      document_id: answer.document_id,
      published_at: answer.published_at,
      fetched_at: now,
      periods,
    })
    return null
  })
}

async function noteDay(
  db: Database,
  { market_code }: Market,
  { date, day, now }: { date: string; day: PeriodSpan; now: Date },
): Promise<void> {
  const known = await readPrices(db, { market_code, kind: 'day_ahead' }, day)
  const fetched = { fetched_at: now, is_complete: holesIn(known, day).length === 0 }
  await putRow(db, 'price_days', { market_code, delivery_date: date }, fetched)
}

async function noteSuccess({ db, clock }: FetchContext, { market_code }: Market): Promise<void> {
  const now = clock.now()
  const fetched = { attempted_at: now, succeeded_at: now, next_attempt_at: now, failure_count: 0 }
  await putRow(db, 'price_fetches', { market_code }, fetched)
}

/** Backs off only when no day succeeded. */
async function noteFailure(
  { db, clock, log }: FetchContext,
  { market_code, source }: Market,
  { failures, success_count }: { failures: readonly string[]; success_count: number },
): Promise<void> {
  const now = clock.now()
  const [reason] = failures
  const [row] = await db.query<{ failure_count: number }>(
    `insert into price_fetches (market_code, attempted_at, succeeded_at, failure_count, failed_at,
       last_failure, next_attempt_at)
     values ($1, $2, $3, 1, $2, $4, $2)
     on conflict (market_code) do update set attempted_at = excluded.attempted_at,
       succeeded_at = coalesce(excluded.succeeded_at, price_fetches.succeeded_at),
       failure_count = price_fetches.failure_count + 1, failed_at = excluded.failed_at,
       last_failure = excluded.last_failure, next_attempt_at = excluded.next_attempt_at
     returning failure_count`,
    [market_code, now, success_count > 0 ? now : null, reason],
  )
  const { failure_count } = row!
  if (success_count === 0) {
    const next_attempt_at = new Date(now.getTime() + backOff(failure_count))
    await changeRows(db, 'price_fetches', { market_code }, { next_attempt_at })
  }
  log.warn({ market_code, source, failure_count, failures }, 'prices could not be fetched')
}
