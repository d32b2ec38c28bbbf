/**
 * Hours of a device with new readings, which no block holds yet and whose sums must be computed
 * again. The transaction that stores readings marks the hours; the roll-up processes the marks.
 *
 * A mark counts its touches. The roll-up reads the mark before the readings and deletes the mark
 * only if the count is unchanged, so readings committed meanwhile leave a mark for the next run.
 *
 * The mark of a running hour is made once and not counted, since a large site touches thousands a
 * second. The roll-up deletes such a mark only after the hour has ended, and after every
 * transaction that may have found the mark has ended: see `readSettled`.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Queries, Transaction } from '../storage/database.ts'
import { in_final_week } from './final-weeks.ts'

export interface Mark {
  kind: ReadingKind
  device_id: number
  hour_at: Date
  touches: number
}

/**
 * Adds the hours, counted from 1970, whose sums depend on a reading at `at_ms`: its own hour and,
 * near a bound, the adjacent hour, since sums reach beyond their hour.
 */
export function addTouchedHours(hours: Set<number>, at_ms: number): void {
  const hour = Math.floor(at_ms / hour_ms)
  const into_ms = at_ms - hour * hour_ms
  hours.add(hour)
  if (into_ms <= reach_ms) hours.add(hour - 1)
  if (into_ms >= hour_ms - reach_ms) hours.add(hour + 1)
}

/** How long after its start an hour receives readings, including a step of the clock. */
const added_to_ms = hour_ms + reach_ms + 60_000

/**
 * Marks hours, in the same order in all transactions to avoid deadlocks. New marks are due at
 * `due_at`, or at once if null.
 */
export async function touchHours(
  transaction: Transaction,
  touched: readonly { site_id: string; kind: string; device_id: number; hour: number }[],
  due_at: Date | null = null,
): Promise<void> {
  if (touched.length === 0) return
  await transaction.execute(touching, [
    // Called many times a second: the driver would quote each element of an array.
    `{${touched.map(({ site_id }) => site_id).join()}}`,
    `{${touched.map(({ kind }) => kind).join()}}`,
    `{${touched.map(({ device_id }) => device_id).join()}}`,
    `{${touched.map(({ hour }) => hour).join()}}`,
    due_at?.toISOString() ?? null,
  ])
}

/** Gets the transaction id before it reads the clock, which `readSettled` requires. */
const touching = {
  name: 'touch_hours',
  text: `
    with given as materialized (
      select site_id, kind, device_id, to_timestamp(hour * ${hour_ms / 1000}::float8) as hour_at,
        to_timestamp(hour * ${hour_ms / 1000}::float8 + ${added_to_ms / 1000}) > clock_timestamp()
          as is_running
      from unnest($1::text[], $2::text[], $3::int[], $4::int[])
        as t (site_id, kind, device_id, hour)
      where pg_current_xact_id() is not null
      order by site_id, kind, device_id, hour
    ), running as (
      insert into touched_hours (site_id, kind, device_id, hour_at, due_at)
      select site_id, kind, device_id, hour_at, coalesce($5::timestamptz, now())
      from given where is_running
      on conflict do nothing
    )
    insert into touched_hours (site_id, kind, device_id, hour_at, due_at)
    select site_id, kind, device_id, hour_at, coalesce($5::timestamptz, now())
    from given where not is_running
    on conflict (site_id, kind, device_id, hour_at)
      do update set touches = touched_hours.touches + 1`,
} as const

/**
 * Transactions that found marks before this instant have ended, so that readings read from now on
 * include theirs. Call before reading the readings.
 */
export async function readSettled(transaction: Transaction): Promise<Date> {
  const [row] = await transaction.query<{ settled_at: Date }>(
    `select least(now(), (
       select min(xact_start) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
         and backend_type = 'client backend' and backend_xid is not null
     )) as settled_at`,
  )
  return row!.settled_at
}

/** A future hour may be marked by readings just before it, but is not summed up. */
const due = (now: string) => `due_at <= ${now} and hour_at <= ${now}`

/** The sites with due marks, of hours that started before an instant if given. */
export async function sitesWithDueHours(db: Queries, now: Date, before: Date | null = null) {
  const rows = await db.query<{ site_id: string }>(
    `select site_id from sites s
     where exists (select from touched_hours t where t.site_id = s.site_id and ${due('$1')}
       and hour_at < coalesce($2::timestamptz, 'infinity'))
     order by site_id`,
    [now.toISOString(), before?.toISOString() ?? null],
  )
  return rows.map(({ site_id }) => site_id)
}

/** Due marks of a site, newest hours first, `most` at most. */
export function dueHours(
  db: Queries,
  site_id: string,
  { now, kinds, most }: { now: Date; kinds: readonly string[]; most: number },
): Promise<Mark[]> {
  return db.query<Mark>(
    `select kind, device_id, hour_at, touches from touched_hours
     where site_id = $1 and ${due('$2')} and kind = any ($3)
     order by hour_at desc, device_id, kind limit $4`,
    [site_id, now.toISOString(), kinds, most],
  )
}

/** The number of marks of running hours. */
export async function countRunning(db: Queries, site_id: string, now: Date): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `select count(*) from touched_hours
     where site_id = $1 and hour_at > $2 and hour_at <= $3`,
    [site_id, new Date(now.getTime() - added_to_ms).toISOString(), now.toISOString()],
  )
  return row!.count
}

/** Whether all readings of the hour that were stored when `settled_at` was read can be read. */
export const hasEnded = (
  { hour_at }: Pick<Mark, 'hour_at'>,
  { now, settled_at }: { now: Date; settled_at: Date },
): boolean => hour_at.getTime() <= Math.min(now.getTime(), settled_at.getTime()) - added_to_ms

/**
 * Deletes marks that were not touched since they were read; the others are due again after
 * `settle_ms`. Marks of running hours stay and are due after `running_ms`.
 *
 * @param settled_at from `readSettled`
 */
export async function settleHours(
  transaction: Transaction,
  site_id: string,
  marks: readonly Mark[],
  {
    now,
    settled_at,
    settle_ms,
    running_ms,
  }: { now: Date; settled_at: Date; settle_ms: number; running_ms: number },
): Promise<void> {
  const isRunning = (mark: Mark) => !hasEnded(mark, { now, settled_at })
  const due = (delay_ms: number) => new Date(now.getTime() + delay_ms).toISOString()
  const running = marks.filter(isRunning)
  const ended = marks.filter((mark) => !isRunning(mark))
  const values = (of: readonly Mark[]) => [site_id, JSON.stringify(of)]
  const given = 'jsonb_populate_recordset(null::touched_hours, $2::jsonb) as m'
  const same = `t.site_id = $1 and t.kind = m.kind and t.device_id = m.device_id
    and t.hour_at = m.hour_at`
  // In the order of `touchHours`.
  await transaction.query(
    `select from touched_hours t join ${given} on ${same} and t.touches >= m.touches
     order by t.kind, t.device_id, t.hour_at for update of t`,
    values(marks),
  )
  await transaction.execute(
    `delete from touched_hours t using ${given} where ${same} and t.touches = m.touches`,
    values(ended),
  )
  const putOff = `update touched_hours t set due_at = $3 from ${given}
    where ${same} and t.touches >= m.touches`
  await transaction.execute(putOff, [...values(ended), due(settle_ms)])
  await transaction.execute(putOff, [...values(running), due(running_ms)])
}

/** Marks hours, counted from 1970, of every device of the site after a loss of frames. */
export async function touchAllIn(
  transaction: Transaction,
  site_id: string,
  hours: ReadonlySet<number>,
): Promise<void> {
  const devices = await transaction.query<{ kind: string; device_id: number }>(
    `select 'inverter' as kind, inverter_id as device_id from inverters where site_id = $1
     union all select distinct 'string', inverter_id from string_latest where site_id = $1
     union all select 'weather', station_id from stations where site_id = $1
     union all select 'meter', meter_id from meters where site_id = $1
     union all select 'node', node_number from nodes where site_id = $1`,
    [site_id],
  )
  const marks = devices.flatMap((device) =>
    [...hours].map((hour) => ({ site_id, ...device, hour })),
  )
  await touchHours(transaction, marks)
}

/** The kinds whose hours are summed up or searched for gaps; loggers are with any other. */
const summedKinds = ['inverter', 'string', 'weather', 'meter', 'node'] as const

/** Marks every hour with readings of these kinds since an instant, except final weeks. */
export async function touchReadingsSince(transaction: Transaction, site_id: string, since: Date) {
  const hoursIn = (kind: (typeof summedKinds)[number]) => {
    const { table, keys } = readingKinds[kind]
    const rows = `select '${kind}' as kind, ${keys[0]} as device_id,
              date_trunc('hour', measured_at) as hour_at
            from ${table} where site_id = $1 and measured_at >= $2`
    const blocks = `select kind, device_id, hour_at from reading_blocks
            where site_id = $1 and kind = '${kind}' and last_at >= $2`
    return `${rows} union ${blocks}`
  }
  return transaction.execute(
    `insert into touched_hours (site_id, kind, device_id, hour_at)
     select $1, kind, device_id, hour_at
     from (${summedKinds.map(hoursIn).join(' union ')}) as t
     where not ${in_final_week}
     order by kind, device_id, hour_at
     on conflict (site_id, kind, device_id, hour_at)
       do update set touches = touched_hours.touches + 1`,
    [site_id, since.toISOString()],
  )
}
