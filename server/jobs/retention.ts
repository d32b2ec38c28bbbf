/**
 * How long readings are kept as they came. What goes is a whole week of all sites, oldest first,
 * and only when everything in it has been summed up by the hour; those sums stay for ever.
 */
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { closeBefore, oldestWeek, type Week } from '../storage/partitions.ts'
import { hour_ms } from '../storage/touched-hours.ts'
import type { JobContext } from './job.ts'

const day_ms = 86_400_000
/** Readings of a device on one day that have to have led to a sum. */
const readings_min = 24
/** The tables are locked while a week goes: whoever uses them shall not wait long. */
const lock_ms_max = 2000

/**
 * The kinds whose hours are summed up. Those of meters, met stations and loggers are few and are
 * kept for ever: no sum holds them yet.
 */
const summedKinds = {
  inverter: { sums: 'inverter_hours', measured: 'ac_power_kw' },
  string: { sums: 'string_hours', measured: 'current_a' },
} as const satisfies Partial<Record<ReadingKind, { sums: string; measured: string }>>

export const summed_tables = Object.keys(summedKinds).map(
  (kind) => readingKinds[kind as keyof typeof summedKinds].table,
)

/** Nothing that was measured after this is dropped. */
export function keptFrom(now: Date, retention_raw_days: number): Date {
  return new Date(now.getTime() - retention_raw_days * day_ms)
}

/** Drops the weeks whose time is over, up to the first of which anything is not summed up. */
export async function dropOldReadings(context: JobContext): Promise<void> {
  const { db, clock, log, settings, signal } = context
  if (settings.retention_raw_days === null) return
  const kept_from = keptFrom(clock.now(), settings.retention_raw_days)
  for (;;) {
    signal.throwIfAborted()
    const week = await oldestWeek(db, summed_tables, kept_from)
    if (week === null) return
    const held_by = await whatHolds(db, week)
    if (held_by !== null) {
      log.warn({ week: week.start, held_by }, 'readings are past their time but not summed up')
      return
    }
    const dropped = await dropWeek(db, week)
    if (dropped.length === 0) return
    log.info({ dropped }, 'readings past their time were dropped')
  }
}

/** The week goes unless readings arrived meanwhile; returns the names of the partitions. */
async function dropWeek(db: Database, week: Week): Promise<string[]> {
  return db.transaction(async (transaction) => {
    await transaction.execute(`set local lock_timeout = ${lock_ms_max}`)
    // Waits for whoever is storing readings or summing them up; from here on nobody is.
    await transaction.execute(`lock table ${summed_tables.join(', ')} in access exclusive mode`)
    if ((await markedHour(transaction, week)) !== null) return []
    return closeBefore(transaction, summed_tables, week.end)
  })
}

/** In words, what of a week is not summed up; null when all is. */
async function whatHolds(db: Database, week: Week): Promise<string | null> {
  const marked = await markedHour(db, week)
  if (marked !== null) return marked
  return db.transaction(async (transaction) => {
    await transaction.execute('set local statement_timeout = 0')
    for (const kind of Object.keys(summedKinds) as (keyof typeof summedKinds)[]) {
      const found = await daysWithoutSums(transaction, kind, week)
      if (found !== null) return found
    }
    return null
  })
}

/** A mark of an hour whose sums take in readings of the week. */
async function markedHour(db: Queries, { start, end }: Week): Promise<string | null> {
  const [mark] = await db.query<{ site_id: string; kind: string; hour_at: Date }>(
    `select site_id, kind, hour_at from touched_hours
     where kind in ('inverter', 'string', 'weather') and hour_at between $1 and $2 limit 1`,
    [new Date(start.getTime() - hour_ms).toISOString(), end.toISOString()],
  )
  return mark
    ? `${mark.site_id}: the hour ${mark.hour_at.toISOString()} of ${mark.kind} readings is yet to be summed up`
    : null
}

/** A device that measured all day and has no sum of it, as one that the inventory lacks. */
async function daysWithoutSums(
  transaction: Transaction,
  kind: keyof typeof summedKinds,
  { start }: Week,
): Promise<string | null> {
  const { sums, measured } = summedKinds[kind]
  // Every device that was ever heard has a latest reading.
  const [found] = await transaction.query<{ site_id: string; inverter_id: number; day: string }>(
    `select d.site_id, d.inverter_id, day.at::date as day
     from (select distinct site_id, inverter_id from ${kind}_latest) d,
       generate_series($1::timestamptz, $1::timestamptz + interval '6 days', '1 day') as day (at)
     where not exists (
         select from ${sums} s where s.site_id = d.site_id and s.inverter_id = d.inverter_id
           and s.hour_at >= day.at and s.hour_at < day.at + interval '1 day')
       and (select count(*) from (
         select from ${readingKinds[kind].table} r
         where r.site_id = d.site_id and r.inverter_id = d.inverter_id
           and r.measured_at >= day.at and r.measured_at < day.at + interval '1 day'
           and r.${measured} is not null
         limit $2) as measured) = $2
     limit 1`,
    [start.toISOString(), readings_min],
  )
  return found
    ? `${found.site_id}: ${kind} readings of inverter ${found.inverter_id} on ${found.day} have no sums`
    : null
}
