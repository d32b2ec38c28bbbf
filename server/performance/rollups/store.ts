/** The sums of hours and days in the database. */
import type { Queries, Transaction } from '../../storage/database.ts'
import { emptyHour, type InverterHour } from './inverter-hour.ts'
import { type StoredStrings, string_layout } from './string-codec.ts'

const inverter_columns = Object.keys(emptyHour())

interface HourKey {
  inverter_id: number
  hour_at: Date
}

/** Replaces the sums of hours; `gone` are hours without any readings left. */
export async function storeInverterHours(
  transaction: Transaction,
  site_id: string,
  rows: readonly (HourKey & InverterHour)[],
  gone: readonly HourKey[],
): Promise<void> {
  const columns = ['inverter_id', 'hour_at', ...inverter_columns]
  await transaction.execute(
    `insert into inverter_hours (site_id, ${columns.join(', ')})
     select $1, ${columns.join(', ')}
     from jsonb_populate_recordset(null::inverter_hours, $2::jsonb)
     order by inverter_id, hour_at
     on conflict (site_id, inverter_id, hour_at) do update
       set ${inverter_columns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    [site_id, JSON.stringify(rows)],
  )
  await forget(transaction, 'inverter_hours', site_id, gone)
}

export type StringHourRow = HourKey & StoredStrings

export async function storeStringHours(
  transaction: Transaction,
  site_id: string,
  rows: readonly StringHourRow[],
  gone: readonly HourKey[],
): Promise<void> {
  const times = rows.map(({ hour_at }) => hour_at.toISOString())
  await storeStrings(transaction, 'string_hours', site_id, rows, times)
  await forget(transaction, 'string_hours', site_id, gone)
}

type StringDayRow = StoredStrings & { inverter_id: number; local_date: string }

export async function storeStringDays(
  transaction: Transaction,
  site_id: string,
  rows: readonly StringDayRow[],
): Promise<void> {
  const dates = rows.map(({ local_date }) => local_date)
  await storeStrings(transaction, 'string_days', site_id, rows, dates)
}

const time_columns = {
  string_hours: { column: 'hour_at', type: 'timestamptz' },
  string_days: { column: 'local_date', type: 'date' },
} as const

async function storeStrings(
  transaction: Transaction,
  table: keyof typeof time_columns,
  site_id: string,
  rows: readonly (StoredStrings & { inverter_id: number })[],
  times: readonly string[],
): Promise<void> {
  const { column, type } = time_columns[table]
  await transaction.execute(
    `insert into ${table} (site_id, inverter_id, ${column}, string_count, layout, sums)
     select $1, inverter_id, ${column}, string_count, $5, decode(sums, 'hex')
     from unnest($2::int[], $3::${type}[], $4::int[], $6::text[])
       as t (inverter_id, ${column}, string_count, sums)
     order by inverter_id, ${column}
     on conflict (site_id, inverter_id, ${column}) do update
       set string_count = excluded.string_count, layout = excluded.layout, sums = excluded.sums`,
    [
      site_id,
      rows.map(({ inverter_id }) => inverter_id),
      times,
      rows.map(({ string_count }) => string_count),
      string_layout,
      rows.map(({ sums }) => sums.toString('hex')),
    ],
  )
}

async function forget(
  transaction: Transaction,
  table: string,
  site_id: string,
  gone: readonly HourKey[],
): Promise<void> {
  if (gone.length === 0) return
  await transaction.execute(
    `delete from ${table} t using jsonb_populate_recordset(null::${table}, $2::jsonb) as g
     where t.site_id = $1 and t.inverter_id = g.inverter_id and t.hour_at = g.hour_at`,
    [site_id, JSON.stringify(gone)],
  )
}

/** String sums of hours that start in a window, by inverter and hour; null for all inverters. */
export function readStringHours(
  db: Queries,
  site_id: string,
  {
    inverter_ids,
    from_ms,
    to_ms,
  }: { inverter_ids: readonly number[] | null; from_ms: number; to_ms: number },
): Promise<StringHourRow[]> {
  return db.query<StringHourRow>(
    `select inverter_id, hour_at, string_count, layout, sums from string_hours
     where site_id = $1 and ($2::int[] is null or inverter_id = any($2)) and hour_at >= $3 and hour_at < $4
     order by inverter_id, hour_at`,
    [site_id, inverter_ids, new Date(from_ms).toISOString(), new Date(to_ms).toISOString()],
  )
}

/** String sums of local days, both inclusive, by inverter and day; null for all inverters. */
export function readStringDays(
  db: Queries,
  site_id: string,
  inverter_ids: readonly number[] | null,
  { first, last }: { first: string; last: string },
): Promise<StringDayRow[]> {
  return db.query<StringDayRow>(
    `select inverter_id, local_date, string_count, layout, sums from string_days
     where site_id = $1 and ($2::int[] is null or inverter_id = any($2))
       and local_date between $3 and $4
     order by inverter_id, local_date`,
    [site_id, inverter_ids, first, last],
  )
}
