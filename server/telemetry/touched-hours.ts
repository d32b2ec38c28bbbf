/**
 * Hours of a device in which readings arrived, so that its sums have to be made anew. Whoever
 * stores readings marks them in the same transaction; the roll-up takes them.
 *
 * A mark counts how often it was made. The roll-up reads the mark first and the readings then, and
 * takes back only a mark that still has the count which it read: readings that were committed
 * meanwhile, or are about to be, leave a mark that is dealt with again.
 *
 * The mark of an hour that is still being added to is made once and not counted: a large site makes
 * thousands a second. The roll-up never takes it back, and takes it when the hour has ended only
 * after everyone who may have found it there has ended, too: see `readSettled`.
 */
import { reach_ms } from '@heliograph/domain/reach'
import { readingKinds } from '@heliograph/domain/readings'
import type { Queries, Transaction } from '../storage/database.ts'
import { in_final_week } from './final-weeks.ts'

export const hour_ms = 3_600_000

interface TouchedHour {
  kind: string
  device_id: number
  hour_at: Date
}

export interface Mark extends TouchedHour {
  touches: number
}

/**
 * The hours, counted from 1970, whose sums a reading at `at_ms` enters: its own and, as sums reach
 * beyond their hour, the nearer one beside it.
 */
export function addTouchedHours(hours: Set<number>, at_ms: number): void {
  const hour = Math.floor(at_ms / hour_ms)
  const into_ms = at_ms - hour * hour_ms
  hours.add(hour)
  if (into_ms <= reach_ms) hours.add(hour - 1)
  if (into_ms >= hour_ms - reach_ms) hours.add(hour + 1)
}

/** How long after its beginning readings are added to an hour, a step of the clock included. */
const added_to_ms = hour_ms + reach_ms + 60_000

/**
 * Marks hours of the kinds that are summed up, in one order for all transactions so that none
 * blocks another for good. Marks that are new are due at `due_at`, else at once.
 */
export async function touchHours(
  transaction: Transaction,
  site_id: string,
  all: readonly { kind: string; device_id: number; hour: number }[],
  due_at: Date | null = null,
): Promise<void> {
  const touched = all.filter(({ kind }) => summedKinds.includes(kind as never))
  if (touched.length === 0) return
  await transaction.execute(touching, [
    site_id,
    // Many a time a second: the driver would quote each element.
    `{${touched.map(({ kind }) => kind).join()}}`,
    `{${touched.map(({ device_id }) => device_id).join()}}`,
    `{${touched.map(({ hour }) => hour).join()}}`,
    due_at?.toISOString() ?? null,
  ])
}

/** The transaction has its number before it looks at the clock: `readSettled` counts on it. */
const touching = {
  name: 'touch_hours',
  text: `
    with given as materialized (
      select kind, device_id, to_timestamp(hour * ${hour_ms / 1000}::float8) as hour_at,
        to_timestamp(hour * ${hour_ms / 1000}::float8 + ${added_to_ms / 1000}) > clock_timestamp()
          as is_running
      from unnest($2::text[], $3::int[], $4::int[]) as t (kind, device_id, hour)
      where pg_current_xact_id() is not null
      order by kind, device_id, hour
    ), running as (
      insert into touched_hours (site_id, kind, device_id, hour_at, due_at)
      select $1, kind, device_id, hour_at, coalesce($5::timestamptz, now())
      from given where is_running
      on conflict do nothing
    )
    insert into touched_hours (site_id, kind, device_id, hour_at, due_at)
    select $1, kind, device_id, hour_at, coalesce($5::timestamptz, now())
    from given where not is_running
    on conflict (site_id, kind, device_id, hour_at)
      do update set touches = touched_hours.touches + 1`,
} as const

/**
 * The instant by which whoever found a mark there and did not count it has ended: readings that are
 * read from now on include theirs. To be asked before them.
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

/**
 * The kinds whose hours are summed up or whose gaps are told by the hour, as the index of their
 * marks has them. Loggers are told with all others.
 */
const summedKinds = ['inverter', 'string', 'weather', 'meter', 'node'] as const
const summed = `kind in (${summedKinds.map((kind) => `'${kind}'`).join(', ')})`
/** An hour that is yet to come is touched by what precedes it, and not summed up. */
const due = (now: string) => `${summed} and due_at <= ${now} and hour_at <= ${now}`

/** The sites that have marks which are due. */
export async function sitesWithDueHours(db: Queries, now: Date): Promise<string[]> {
  const rows = await db.query<{ site_id: string }>(
    `select site_id from sites s
     where exists (select from touched_hours t where t.site_id = s.site_id and ${due('$1')})
     order by site_id`,
    [now.toISOString()],
  )
  return rows.map(({ site_id }) => site_id)
}

/** The sites of which hours that began before an instant are yet to be summed up, and due. */
export async function sitesWithDuePast(
  db: Queries,
  { before, now }: { before: Date; now: Date },
): Promise<Set<string>> {
  const rows = await db.query<{ site_id: string }>(
    `select site_id from sites s
     where exists (select from touched_hours t
       where t.site_id = s.site_id and ${due('$1')} and hour_at < $2)`,
    [now.toISOString(), before.toISOString()],
  )
  return new Set(rows.map(({ site_id }) => site_id))
}

/** Marks of a site that are due, those of the newest hours first: `most` of them. */
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

/** How many marks a site has of hours that have begun and are still being added to. */
export async function countRunning(db: Queries, site_id: string, now: Date): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `select count(*) from touched_hours
     where site_id = $1 and ${summed} and hour_at > $2 and hour_at <= $3`,
    [site_id, new Date(now.getTime() - added_to_ms).toISOString(), now.toISOString()],
  )
  return row!.count
}

/**
 * Takes marks back that nobody renewed since they were read; the others are due again after
 * `settle_ms`. Hours that may still be added to keep their marks, to be due after `running_ms`.
 * `settled_at` is of `readSettled`.
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
  const ended_by = Math.min(now.getTime(), settled_at.getTime()) - added_to_ms
  const isRunning = ({ hour_at }: Mark) => hour_at.getTime() > ended_by
  const due = (delay_ms: number) => new Date(now.getTime() + delay_ms).toISOString()
  const running = marks.filter(isRunning)
  const ended = marks.filter((mark) => !isRunning(mark))
  const columns = (of: readonly Mark[]) => [
    site_id,
    of.map(({ kind }) => kind),
    of.map(({ device_id }) => device_id),
    of.map(({ hour_at }) => hour_at.toISOString()),
    of.map(({ touches }) => touches),
  ]
  const given = `unnest($2::text[], $3::int[], $4::timestamptz[], $5::bigint[])
    as m (kind, device_id, hour_at, touches)`
  const same = `t.site_id = $1 and t.kind = m.kind and t.device_id = m.device_id
    and t.hour_at = m.hour_at`
  // In the order of those who make marks.
  await transaction.query(
    `select from touched_hours t join ${given} on ${same} and t.touches >= m.touches
     order by t.kind, t.device_id, t.hour_at for update of t`,
    columns(marks),
  )
  await transaction.execute(
    `delete from touched_hours t using ${given} where ${same} and t.touches = m.touches`,
    columns(ended),
  )
  const putOff = `update touched_hours t set due_at = $6 from ${given}
    where ${same} and t.touches >= m.touches`
  await transaction.execute(putOff, [...columns(ended), due(settle_ms)])
  await transaction.execute(putOff, [...columns(running), due(running_ms)])
}

/** Marks hours, counted from 1970, of all that the site has: something was lost in them. */
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
  const marks = devices.flatMap((device) => [...hours].map((hour) => ({ ...device, hour })))
  await touchHours(transaction, site_id, marks)
}

/** Marks every hour since an instant in which anything but loggers was read, final weeks apart. */
export async function touchReadingsSince(
  transaction: Transaction,
  site_id: string,
  since: Date,
): Promise<number> {
  const hoursIn = (kind: (typeof summedKinds)[number]) => {
    const { table, keys } = readingKinds[kind]
    return `select distinct '${kind}' as kind, ${keys[0]} as device_id,
              date_trunc('hour', measured_at) as hour_at
            from ${table} where site_id = $1 and measured_at >= $2`
  }
  return transaction.execute(
    `insert into touched_hours (site_id, kind, device_id, hour_at)
     select $1, kind, device_id, hour_at
     from (${summedKinds.map(hoursIn).join(' union all ')}) as t
     where not ${in_final_week}
     order by kind, device_id, hour_at
     on conflict (site_id, kind, device_id, hour_at)
       do update set touches = touched_hours.touches + 1`,
    [site_id, since.toISOString()],
  )
}
