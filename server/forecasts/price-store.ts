/** Price models and issued price forecasts, by market. */

import { minute_ms } from '@heliograph/domain/durations'
import type { ScoreSums } from '@heliograph/forecast/score-sums'
import { deliveryDates, type PeriodSpan } from '../markets/periods.ts'
import type { Database, Queries } from '../storage/database.ts'
import { insertRow } from '../storage/rows.ts'
import { type NewModel, priceModels, storeModel } from './model-store.ts'
import type { PriceDay, PriceMethod } from './tasks.ts'

export interface PriceRun extends PriceDay {
  issued_at: Date
  is_hindcast: boolean
  model_version: number
  known_until_at: Date
}

export interface PriceVintage extends PriceRun {
  method: PriceMethod
}

export interface PriceFacts {
  from_at: string
  to_at: string
  /** Delivery days with prices. */
  sample_count: number
  hold_out_days: number
  method: PriceMethod
  training_s: number
}

type NewPriceModel = NewModel<PriceFacts, ScoreSums> & {
  hindcasts: readonly Omit<PriceRun, 'model_version'>[]
}

/** Stores a model and, unless it is worse, puts it and its hindcasts to use. */
export async function storePriceModel(
  db: Database,
  market_code: string,
  { hindcasts, ...model }: NewPriceModel,
): Promise<void> {
  await db.transaction(async (tx) => {
    const model_version = await storeModel(tx, priceModels(market_code), model)
    if (model.is_worse) return
    await tx.execute('delete from price_runs where market_code = $1 and is_hindcast', [market_code])
    for (const run of hindcasts) await storePriceRun(tx, market_code, { ...run, model_version })
  })
}

export async function storePriceRun(db: Queries, market_code: string, run: PriceRun) {
  const { start_ms, ...columns } = run
  await insertRow(db, 'price_runs', { market_code, start_at: new Date(start_ms), ...columns })
}

/** The last run of each delivery day issued by `before`; issued runs come before hindcasts. */
export async function priceVintages(
  db: Queries,
  market_code: string,
  asked: readonly { delivery_date: string; before: Date }[],
): Promise<PriceVintage[]> {
  return db.query<PriceVintage>(
    `select r.delivery_date, r.issued_at, r.is_hindcast, r.model_version, r.known_until_at,
            (extract(epoch from r.start_at) * 1000)::float8 as start_ms, r.resolution_minutes,
            r.p10_price, r.p50_price, r.p90_price, r.negative_probability,
            coalesce(m.facts->>'method', 'learned') as method
     from unnest($2::date[], $3::timestamptz[]) as a (delivery_date, before_at)
     cross join lateral (
       select * from price_runs
       where market_code = $1 and delivery_date = a.delivery_date and issued_at <= a.before_at
       order by is_hindcast, issued_at desc, run_id desc limit 1
     ) as r
     join price_models m on m.market_code = r.market_code and m.version = r.model_version
     order by r.delivery_date`,
    [
      market_code,
      asked.map(({ delivery_date }) => delivery_date),
      asked.map(({ before }) => before.toISOString()),
    ],
  )
}

interface ForecastPrice extends PeriodSpan {
  /** Per MWh. */
  p10_price: number
  p50_price: number
}

/** The last issued forecast of the delivery days of a span, by step; hindcasts were not known. */
export async function issuedPrices(
  db: Queries,
  { market_code, timezone }: { market_code: string; timezone: string },
  { span, before }: { span: PeriodSpan; before: Date },
): Promise<ForecastPrice[]> {
  const days = deliveryDates(span, timezone).map((delivery_date) => ({ delivery_date, before }))
  const runs = await priceVintages(db, market_code, days)
  return runs
    .filter(({ is_hindcast }) => !is_hindcast)
    .flatMap(({ start_ms, resolution_minutes, p10_price, p50_price }) => {
      const step_ms = resolution_minutes * minute_ms
      return p50_price.map((price, nth) => ({
        start_ms: start_ms + nth * step_ms,
        end_ms: start_ms + (nth + 1) * step_ms,
        p10_price: p10_price[nth]!,
        p50_price: price,
      }))
    })
}

/** End of the last forecast or published price, over all markets ever assigned to the site. */
export async function endOfPrices(db: Queries, site_id: string): Promise<Date | null> {
  const [row] = await db.query<{ end_at: Date | null }>(
    `select max(greatest(
       (select end_at from market_prices p
        where p.market_code = m.market_code and kind = 'day_ahead' and is_current
        order by start_at desc limit 1),
       (select start_at + cardinality(p50_price) * resolution_minutes * interval '1 minute'
        from price_runs r where r.market_code = m.market_code
        order by delivery_date desc limit 1)
     )) as end_at
     from (
       select distinct coalesce(sold_market_code, market_code) as market_code
       from market_assignments where site_id = $1
     ) as m`,
    [site_id],
  )
  return row!.end_at
}
