/** Trains and runs price forecasts for every market that a plant is assigned to. */

import { systemStopwatch } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/durations'
import { localDate } from '@heliograph/domain/local-day'
import { rounded } from '@heliograph/domain/significant'
import { addDays, utcDate } from '@heliograph/domain/utc-day'
import { seedOf } from '@heliograph/forecast/seeded-random'
import type { JobContext } from '../jobs/job.ts'
import { deliveryDay } from '../markets/periods.ts'
import { type Market, type PricePeriod, readMarket, readPrices } from '../markets/price-store.ts'
import { putRow } from '../storage/rows.ts'
import { eachOf } from './each-of.ts'
import { gateClosureOf, gateClosureOn, usualGate } from './gate-closure.ts'
import { modelInUse, nextVersion, priceModels } from './model-store.ts'
import { packInChunks } from './pack-in-chunks.ts'
import { packPrices } from './perform-prices.ts'
import { type KnownPrice, priceScorer } from './price-scores.ts'
import { type PriceRun, priceVintages, storePriceModel, storePriceRun } from './price-store.ts'
import { scored_days_max } from './score-runs.ts'
import type { PriceLimits } from './tasks.ts'
import type { ForecastThread } from './thread.ts'

/** Covers the longest training window and its calibration. */
const history_days_max = 1200
/** Covers the longest lag of a forecast. */
const known_days = 30
const hold_out_days = 14
const days_ahead = 2

interface PriceNeeds extends JobContext {
  thread: ForecastThread
}

/**
 * Runs `work` on each market that plants are or will be assigned to. `only_untried` selects markets
 * without a model that were never trained, or have new prices since.
 */
async function eachMarket(
  needs: PriceNeeds,
  { only_untried }: { only_untried: boolean },
  work: (market: Market) => Promise<void>,
) {
  const { db, clock } = needs
  const codes = await db.query<{ market_code: string }>(
    `select distinct coalesce(sold_market_code, market_code) as market_code
     from market_assignments
     where (valid_to is null or valid_to >= $1) and not ($2 and exists (
       select from price_trainings t
       where t.market_code = coalesce(sold_market_code, market_assignments.market_code)
         and (exists (
             select from price_models m where m.market_code = t.market_code and m.state = 'in_use')
           or not exists (
             select from market_prices p
             where p.market_code = t.market_code and p.kind = 'day_ahead' and p.is_current
               and p.fetched_at > t.ended_at))))
     order by 1`,
    [utcDate(clock.now()), only_untried],
  )
  const failure = 'price forecast failed'
  await eachOf(codes, { ...needs, failure }, async ({ market_code }) => {
    const market = await readMarket(db, market_code)
    if (market) await work(market)
  })
}

const gateOfMarket = ({ timezone, gate_closure_local }: Market) => ({
  timezone,
  gate_closure_local: gate_closure_local ?? usualGate.gate_closure_local,
})

const limitsOf = ({ price_min_per_mwh, price_max_per_mwh }: Market): PriceLimits => ({
  price_min_per_mwh,
  price_max_per_mwh,
})

const inUnits = ({ start_ms, end_ms, price_micro }: PricePeriod): KnownPrice => ({
  start_ms,
  end_ms,
  price_per_mwh: price_micro / 1_000_000,
})

export const trainPriceForecasts = (
  needs: PriceNeeds,
  which: { only_untried: boolean },
): Promise<void> =>
  eachMarket(needs, which, async (market) => {
    const { db, clock } = needs
    const { market_code } = market
    const record = (error: string | null, day_count: number) =>
      putRow(db, 'price_trainings', { market_code }, { ended_at: clock.now(), error, day_count })
    try {
      await record(null, await trainMarket(needs, market))
    } catch (error) {
      await record((error as Error).message, 0)
      throw error
    }
    await scoreMarket(needs, market)
  })

/** Returns the number of delivery days available for training. */
async function trainMarket({ db, clock, thread }: PriceNeeds, market: Market): Promise<number> {
  const { market_code, timezone } = market
  const began = clock.now()
  const began_ms = systemStopwatch.elapsedMs()
  // Only past delivery days; those of today and tomorrow are left to the next training.
  const today_ms = deliveryDay(localDate(began.getTime(), timezone), timezone).start_ms
  const past = { from_ms: today_ms - history_days_max * day_ms, to_ms: today_ms }
  const prices = await packInChunks(past, async ({ from_ms, to_ms }) => {
    const span = { start_ms: from_ms, end_ms: to_ms }
    const periods = await readPrices(db, { market_code, kind: 'day_ahead' }, span)
    // A period across a chunk boundary belongs to the chunk that it starts in.
    return packPrices(periods.filter(({ start_ms }) => start_ms >= from_ms).map(inUnits))
  })
  if (prices.length === 0) return 0
  const models = priceModels(market_code)
  const version = await nextVersion(db, models)
  const { trained, day_count } = await thread.run({
    kind: 'train_prices',
    prices,
    timezone,
    limits: limitsOf(market),
    hold_out_days,
    previous: (await modelInUse(db, models))?.model ?? null,
    seed: seedOf(`${market_code} ${version}`),
  })
  if (trained) {
    const gate = gateOfMarket(market)
    await storePriceModel(db, market_code, {
      trained_at: clock.now(),
      facts: {
        from_at: new Date(trained.from_ms).toISOString(),
        to_at: new Date(trained.to_ms).toISOString(),
        sample_count: trained.day_count,
        hold_out_days,
        method: trained.method,
        training_s: rounded((systemStopwatch.elapsedMs() - began_ms) / 1000, 3),
      },
      scores: trained.sums,
      model: trained.model,
      is_worse: trained.is_worse,
      hindcasts: trained.hindcasts.map((day) => ({
        ...day,
        issued_at: new Date(gateClosureOf(day.start_ms, gate)),
        is_hindcast: true,
        known_until_at: new Date(day.start_ms),
      })),
    })
  }
  return day_count
}

/**
 * Forecasts the delivery days from today on without published prices, if there are new prices or a
 * new model since their last forecast.
 */
export const runPriceForecasts = (needs: PriceNeeds): Promise<void> =>
  eachMarket(needs, { only_untried: false }, async (market) => {
    const { db, clock, thread } = needs
    const { market_code, timezone } = market
    const model = await modelInUse(db, priceModels(market_code))
    if (!model) return
    const now = clock.now()
    const start_ms = now.getTime() - known_days * day_ms
    const end_ms = now.getTime() + (days_ahead + 2) * day_ms
    const prices = await readPrices(db, { market_code, kind: 'day_ahead' }, { start_ms, end_ms })
    const newest_ms = prices.at(-1)?.end_ms
    if (newest_ms === undefined) return
    const today = localDate(now.getTime(), timezone)
    const open = Array.from({ length: days_ahead + 1 }, (_, ahead) => addDays(today, ahead)).filter(
      (date) => deliveryDay(date, timezone).start_ms >= newest_ms,
    )
    const asked = open.map((delivery_date) => ({ delivery_date, before: now }))
    const is_new = ({ model_version, known_until_at, is_hindcast }: PriceRun) =>
      !is_hindcast && model_version === model.version && known_until_at.getTime() === newest_ms
    const found = await priceVintages(db, market_code, asked)
    const done = new Set(found.filter(is_new).map(({ delivery_date }) => delivery_date))
    const delivery_dates = open.filter((date) => !done.has(date))
    if (delivery_dates.length === 0) return
    const last = prices.at(-1)!
    const days = await thread.run({
      kind: 'predict_prices',
      model: model.model,
      prices: packPrices(prices.map(inUnits)),
      timezone,
      limits: limitsOf(market),
      delivery_dates,
      resolution_minutes: (last.end_ms - last.start_ms) / 60_000,
    })
    for (const day of days) {
      await storePriceRun(db, market_code, {
        ...day,
        issued_at: now,
        is_hindcast: false,
        model_version: model.version,
        known_until_at: new Date(newest_ms),
      })
    }
  })

/** Scores past delivery days by the last forecast before their gate closure. */
async function scoreMarket({ db, clock }: PriceNeeds, market: Market): Promise<void> {
  const { market_code, timezone } = market
  const today = localDate(clock.now().getTime(), timezone)
  const dates = Array.from({ length: scored_days_max }, (_, nth) => addDays(today, -1 - nth))
  const gate = gateOfMarket(market)
  const asked = dates.map((delivery_date) => {
    return { delivery_date, before: new Date(gateClosureOn(delivery_date, gate)) }
  })
  const runs = await priceVintages(db, market_code, asked)
  const first = runs[0]
  if (!first) return
  const span = { start_ms: first.start_ms - day_ms, end_ms: deliveryDay(today, timezone).start_ms }
  const prices = await readPrices(db, { market_code, kind: 'day_ahead' }, span)
  const score = priceScorer(prices.map(inUnits))
  await db.execute(
    `insert into price_scores (market_code, delivery_date, sums)
     select $1, * from unnest($2::date[], $3::jsonb[])
     on conflict (market_code, delivery_date) do update set sums = excluded.sums`,
    [
      market_code,
      runs.map(({ delivery_date }) => delivery_date),
      runs.map((run) => JSON.stringify(score(run, run.is_hindcast))),
    ],
  )
}
