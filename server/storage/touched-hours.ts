/**
 * Hours of a device in which readings arrived, so that its sums have to be made anew. Whoever
 * stores readings marks them in the same transaction; the roll-up takes them.
 *
 * A mark counts how often it was made. The roll-up reads the mark first and the readings then, and
 * takes back only a mark that still has the count which it read: readings that were committed
 * meanwhile, or are about to be, leave a mark that is dealt with again.
 */
import { readingKinds } from '@heliograph/domain/readings'
import type { Queries, Transaction } from './database.ts'

export const hour_ms = 3_600_000

/**
 * The sums of an hour take in readings this far beyond its bounds, to tell gaps and stuck values
 * from what lies around: a reading touches the nearer hour beside its own, too.
 */
export const reach_ms = 1_800_000

export interface TouchedHour {
  kind: string
  device_id: number
  hour_at: Date
}

export interface Mark extends TouchedHour {
  touches: number
}

/** The hours, counted from 1970, whose sums a reading at `at_ms` enters. */
export function addTouchedHours(hours: Set<number>, at_ms: number): void {
  const hour = Math.floor(at_ms / hour_ms)
  const into_ms = at_ms - hour * hour_ms
  hours.add(hour)
  if (into_ms <= reach_ms) hours.add(hour - 1)
  if (into_ms >= hour_ms - reach_ms) hours.add(hour + 1)
}

/**
 * Marks hours of the kinds that are summed up, in one order for all transactions so that none
 * blocks another for good.
 */
export async function touchHours(
  transaction: Transaction,
  site_id: string,
  all: readonly { kind: string; device_id: number; hour: number }[],
): Promise<void> {
  const touched = all.filter(({ kind }) => summedKinds.includes(kind as never))
  if (touched.length === 0) return
  await transaction.execute(
    `insert into touched_hours (site_id, kind, device_id, hour_at)
     select $1, kind, device_id, hour_at
     from unnest($2::text[], $3::int[], $4::timestamptz[]) as t (kind, device_id, hour_at)
     order by kind, device_id, hour_at
     on conflict (site_id, kind, device_id, hour_at)
       do update set touches = touched_hours.touches + 1`,
    [
      site_id,
      touched.map(({ kind }) => kind),
      touched.map(({ device_id }) => device_id),
      touched.map(({ hour }) => new Date(hour * hour_ms).toISOString()),
    ],
  )
}

/** The kinds whose hours are summed up, as the index of their marks has them. */
const summedKinds = ['inverter', 'string', 'weather'] as const
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

/**
 * The newest marks of a site that are due: about `enough` of them, and all of every hour that is
 * among them, so that what was read of a device is summed up once.
 */
export function dueHours(
  db: Queries,
  site_id: string,
  { now, enough }: { now: Date; enough: number },
): Promise<Mark[]> {
  return db.query<Mark>(
    `select kind, device_id, hour_at, touches from touched_hours
     where site_id = $1 and ${due('$2')} and hour_at >= coalesce(
       (select hour_at from touched_hours where site_id = $1 and ${due('$2')}
        order by hour_at desc offset $3 limit 1), '-infinity')
     order by hour_at desc`,
    [site_id, now.toISOString(), enough],
  )
}

/**
 * Takes marks back that nobody renewed since they were read; the others are due again after
 * `settle_ms`. Hours that may still be added to keep their marks, to be due after `running_ms`.
 */
export async function settleHours(
  transaction: Transaction,
  site_id: string,
  marks: readonly Mark[],
  { now, settle_ms, running_ms }: { now: Date; settle_ms: number; running_ms: number },
): Promise<void> {
  const ended_by = now.getTime() - hour_ms - reach_ms
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
  await transaction.execute(
    `delete from touched_hours t using ${given} where ${same} and t.touches = m.touches`,
    columns(ended),
  )
  const putOff = `update touched_hours t set due_at = $6 from ${given}
    where ${same} and t.touches >= m.touches`
  await transaction.execute(putOff, [...columns(ended), due(settle_ms)])
  await transaction.execute(putOff, [...columns(running), due(running_ms)])
}

/** Marks every hour since an instant in which inverters, strings or met stations were read. */
export async function touchReadingsSince(
  transaction: Transaction,
  site_id: string,
  since: Date,
): Promise<number> {
  const hoursIn = (kind: 'inverter' | 'string' | 'weather') => {
    const { table, keys } = readingKinds[kind]
    return `select distinct '${kind}' as kind, ${keys[0]} as device_id,
              date_trunc('hour', measured_at) as hour_at
            from ${table} where site_id = $1 and measured_at >= $2`
  }
  return transaction.execute(
    `insert into touched_hours (site_id, kind, device_id, hour_at)
     select $1, kind, device_id, hour_at
     from (${hoursIn('inverter')} union all ${hoursIn('string')} union all ${hoursIn('weather')})
       as t
     order by kind, device_id, hour_at
     on conflict (site_id, kind, device_id, hour_at)
       do update set touches = touched_hours.touches + 1`,
    [site_id, since.toISOString()],
  )
}
