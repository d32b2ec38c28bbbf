/** Standing orders and their planned days in the database. */
import type { Queries, Transaction } from '../storage/database.ts'
import type { PlannedPeriod } from './standing-plan.ts'

export const orderStates = ['active', 'paused', 'ended'] as const

export const outcomes = [
  'planned',
  'none_below',
  'no_price',
  'skipped',
  'not_allowed',
  'safe_mode',
  'no_plant',
] as const
export type Outcome = (typeof outcomes)[number]

export interface OrderKey {
  site_id: string
  standing_order_id: number
}

export interface StandingOrder extends OrderKey {
  scope: 'site' | 'logger'
  logger_id: number | null
  limit_mode: 'percent' | 'kw'
  limit_value: number
  /** Per MWh, in `currency`. */
  net_price_below: number
  currency: string
  /** Of the market: delivery days are days in it. */
  timezone: string
  hours_per_day_max: number | null
  /** The last delivery day. */
  end_date: string
  state: (typeof orderStates)[number]
  created_at: Date
  approved_by_id: string
  approved_by: string
}

/** Locks the order, so that nobody else plans it meanwhile; null for an unknown one. */
export const lockOrder = (tx: Transaction, { site_id, standing_order_id }: OrderKey) =>
  tx.queryOne<StandingOrder>(
    'select * from standing_orders where site_id = $1 and standing_order_id = $2 for update',
    [site_id, standing_order_id],
  )

interface DayKey extends OrderKey {
  delivery_date: string
}

const values = ({ site_id, standing_order_id, delivery_date }: DayKey) => [
  site_id,
  standing_order_id,
  delivery_date,
]

interface StandingDay {
  delivery_date: string
  outcome: Outcome
  /** Quarter hours without a net price. */
  unpriced_quarter_count: number
  /** When the outcome last changed. */
  planned_at: Date
  skipped_by: string | null
}

export const readDay = (db: Queries, key: DayKey) =>
  db.queryOne<StandingDay>(
    `select delivery_date, outcome, unpriced_quarter_count, planned_at, skipped_by
     from standing_order_days
     where site_id = $1 and standing_order_id = $2 and delivery_date = $3`,
    values(key),
  )

/** The newest days. */
export const readDays = (db: Queries, { site_id, standing_order_id }: OrderKey, count: number) =>
  db.query<StandingDay>(
    `select delivery_date, outcome, unpriced_quarter_count, planned_at, skipped_by
     from standing_order_days where site_id = $1 and standing_order_id = $2
     order by delivery_date desc limit $3`,
    [site_id, standing_order_id, count],
  )

export async function putDay(
  tx: Transaction,
  key: DayKey,
  { outcome, unpriced_quarter_count, planned_at, skipped_by }: Omit<StandingDay, 'delivery_date'>,
): Promise<void> {
  await tx.execute(
    `insert into standing_order_days as d (site_id, standing_order_id, delivery_date, outcome,
       unpriced_quarter_count, planned_at, skipped_by)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (site_id, standing_order_id, delivery_date) do update
       set outcome = excluded.outcome, unpriced_quarter_count = excluded.unpriced_quarter_count,
         planned_at = excluded.planned_at, skipped_by = excluded.skipped_by
       where (d.outcome, d.unpriced_quarter_count, d.skipped_by) is distinct from
         (excluded.outcome, excluded.unpriced_quarter_count, excluded.skipped_by)`,
    [...values(key), outcome, unpriced_quarter_count, planned_at, skipped_by],
  )
}

export interface StoredPeriod {
  delivery_date: string
  group_id: string
  start_at: Date
  end_at: Date
  /** Mean per MWh, as planned. */
  net_price: number
  is_released: boolean
}

/** Periods of the days since `from`, by start. */
export const readPeriods = (db: Queries, { site_id, standing_order_id }: OrderKey, from: string) =>
  db.query<StoredPeriod>(
    `select p.delivery_date, p.group_id, p.start_at, p.end_at, p.net_price,
       bool_or(r.released_at is not null) as is_released
     from standing_order_periods p join curtailment_rows r using (site_id, group_id)
     where p.site_id = $1 and p.standing_order_id = $2 and p.delivery_date >= $3
     group by p.site_id, p.group_id order by p.start_at`,
    [site_id, standing_order_id, from],
  )

export const readPeriodsOf = async (db: Queries, key: DayKey) =>
  (await readPeriods(db, key, key.delivery_date)).filter(
    ({ delivery_date }) => delivery_date === key.delivery_date,
  )

export async function insertPeriod(
  tx: Transaction,
  key: DayKey,
  {
    group_id,
    start_ms,
    end_ms,
    net_price,
  }: {
    group_id: string
    net_price: number
  } & Pick<PlannedPeriod, 'start_ms' | 'end_ms'>,
): Promise<void> {
  await tx.execute(
    `insert into standing_order_periods (site_id, standing_order_id, delivery_date, group_id,
       start_at, end_at, net_price)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [...values(key), group_id, new Date(start_ms), new Date(end_ms), net_price],
  )
}

/** Forgets a period that has not begun; one that has begun ends now. */
export async function endPeriod(
  tx: Transaction,
  site_id: string,
  { group_id, start_at }: StoredPeriod,
  now: Date,
): Promise<void> {
  const statement =
    start_at > now
      ? 'delete from standing_order_periods where site_id = $1 and group_id = $2'
      : 'update standing_order_periods set end_at = $3 where site_id = $1 and group_id = $2'
  await tx.execute(statement, start_at > now ? [site_id, group_id] : [site_id, group_id, now])
}

/** Forgets the planned days since `from` of which nothing is left. */
export async function forgetDays(
  tx: Transaction,
  { site_id, standing_order_id }: OrderKey,
  from: string,
): Promise<void> {
  await tx.execute(
    `delete from standing_order_days d
     where site_id = $1 and standing_order_id = $2 and delivery_date >= $3 and skipped_by is null
       and not exists (
         select from standing_order_periods p
         where p.site_id = d.site_id and p.standing_order_id = d.standing_order_id
           and p.delivery_date = d.delivery_date)`,
    [site_id, standing_order_id, from],
  )
}
