/** Price models and issued price forecasts, by market. */
import type { ScoreSums } from '@heliograph/forecast/score-sums'
import type { Database, Queries } from '../storage/database.ts'
import type { PriceFacts } from './model-states.ts'
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

export async function priceModelInUse(
  db: Queries,
  market_code: string,
): Promise<{ version: number; model: Buffer } | null> {
  const [row] = await db.query<{ version: number; model: Buffer }>(
    `select version, model from price_models where market_code = $1 and state = 'in_use'`,
    [market_code],
  )
  return row ?? null
}

interface NewPriceModel {
  version: number
  trained_at: Date
  facts: PriceFacts
  sums: ScoreSums
  model: Uint8Array
  is_worse: boolean
  hindcasts: PriceRun[]
}

/** Stores a model and, unless it is worse, puts it and its hindcasts to use. */
export async function storePriceModel(
  db: Database,
  market_code: string,
  { version, trained_at, facts, sums, model, is_worse, hindcasts }: NewPriceModel,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!is_worse) {
      await tx.execute(
        `update price_models set state = 'followed', model = null
         where market_code = $1 and state = 'in_use'`,
        [market_code],
      )
      await tx.execute('delete from price_runs where market_code = $1 and is_hindcast', [
        market_code,
      ])
      for (const run of hindcasts) await storePriceRun(tx, market_code, run)
    }
    await tx.execute(
      `insert into price_models (market_code, version, trained_at, state, facts, scores, model)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        market_code,
        version,
        trained_at.toISOString(),
        is_worse ? 'worse' : 'in_use',
        JSON.stringify(facts),
        JSON.stringify(sums),
        is_worse ? null : Buffer.from(model),
      ],
    )
  })
}

export async function storePriceRun(
  db: Queries,
  market_code: string,
  run: PriceRun,
): Promise<void> {
  await db.execute(
    `insert into price_runs (market_code, delivery_date, issued_at, is_hindcast, model_version,
       known_until_at, start_at, resolution_minutes, p10_price, p50_price, p90_price,
       negative_probability)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      market_code,
      run.delivery_date,
      run.issued_at.toISOString(),
      run.is_hindcast,
      run.model_version,
      run.known_until_at.toISOString(),
      new Date(run.start_ms).toISOString(),
      run.resolution_minutes,
      run.p10_price,
      run.p50_price,
      run.p90_price,
      run.negative_probability,
    ],
  )
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
