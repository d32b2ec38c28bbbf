/**
 * Retention of readings in tiers: all readings for days, one a minute per device for months, hourly
 * sums for ever. A whole week of all sites moves to the next tier once its hours are summed; its
 * sums are final from then on.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { JobContext } from '../jobs/job.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import {
  closeBefore,
  oldestWeek,
  partitionName,
  type Week,
  weeksBefore,
} from '../storage/partitions.ts'
import { isFinal, makeFinal } from './final-weeks.ts'
import {
  forgetThinning,
  type Thinning,
  type ThinningStep,
  thinnedSteps,
  thinWeek,
} from './thinning.ts'

/** A device with this many readings on a day must have a sum. */
const readings_min = 24
/** Limits the wait of other users of a locked table. */
const lock_ms_max = 2000
/** A run stops after this, well before it counts as failed, and the next run continues. */
const run_ms_max = 5 * hour_ms

/**
 * Cell readings are thinned to one an hour after this time: a battery has thousands of cells, and
 * balance, drift and ageing are slow.
 */
const cells_raw_days = 7

/** The kinds with hourly sums. Other kinds have no sums, so one reading an hour is retained. */
const summedKinds = {
  inverter: { sums: 'inverter_hours', measured: 'ac_power_kw' },
  string: { sums: 'string_hours', measured: 'current_a' },
} as const satisfies Partial<Record<ReadingKind, { sums: string; measured: string }>>

export const summed_tables = Object.keys(summedKinds).map(
  (kind) => readingKinds[kind as keyof typeof summedKinds].table,
)

export interface RetentionSettings {
  /** Days for which all readings are retained, to whole weeks; null: for ever. */
  retention_raw_days: number | null
  /** Minimum days for which one reading a minute per device is retained; null: for ever. */
  retention_minute_days: number | null
}

/** Moves every summed week to the tier of its age. */
export async function keepTiers(
  context: JobContext,
  { retention_raw_days: raw_days, retention_minute_days: minute_days }: RetentionSettings,
): Promise<void> {
  if (raw_days === null) return
  const now_ms = context.clock.now().getTime()
  const daysAgo = (days: number) => new Date(now_ms - days * day_ms)
  const minutes_from = minute_days === null ? null : daysAgo(minute_days)
  if (minutes_from) await dropSummed(context, minutes_from)
  await thinWeeks(context, {
    raw_from: daysAgo(raw_days),
    minutes_from,
    cells_from: daysAgo(Math.min(raw_days, cells_raw_days)),
  })
}

/** Weeks that end by these instants leave the tier. */
interface Bounds {
  raw_from: Date
  minutes_from: Date | null
  cells_from: Date
}

/** Drops the weeks of which only sums are retained, up to the first unsummed week. */
async function dropSummed({ db, log, signal }: JobContext, minutes_from: Date): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const week = await oldestWeek(db, summed_tables, minutes_from)
    // `thinWeeks` logs why a week is not final.
    if (week === null || (await finalise(db, week)) !== null) return
    const dropped = await dropWeek(db, week)
    if (dropped.length === 0) return
    log.info({ dropped }, 'readings beyond their retention were dropped')
  }
}

/** Returns the dropped partitions; none if an older week has appeared meanwhile. */
async function dropWeek(db: Database, week: Week): Promise<string[]> {
  return db.transaction(async (transaction) => {
    await transaction.execute(`set local lock_timeout = ${lock_ms_max}`)
    await transaction.execute(`lock table ${summed_tables.join(', ')} in access exclusive mode`)
    const oldest = await oldestWeek(transaction, summed_tables, week.end)
    if (oldest?.start.getTime() !== week.start.getTime()) return []
    const dropped = await closeBefore(transaction, summed_tables, week.end)
    for (const name of dropped) await forgetThinning(transaction, name)
    return dropped
  })
}

/** Thins weeks to minutes, or to hours for kinds without sums. */
async function thinWeeks({ db, clock, log, signal }: JobContext, bounds: Bounds): Promise<void> {
  const stop_ms = clock.now().getTime() + run_ms_max
  const goesOn = () => {
    signal.throwIfAborted()
    return clock.now().getTime() < stop_ms
  }
  const due = await dueThinnings(db, bounds)
  for (const thinnings of Map.groupBy(due, ({ week }) => week.start.getTime()).values()) {
    const { week } = thinnings[0]!
    const unsummed = thinnings.every(isOfCells) ? null : await finalise(db, week)
    if (unsummed !== null) {
      log.warn(
        { week: week.start, held_by: unsummed },
        'readings are beyond their retention but not summed up',
      )
    }
    for (const thinning of unsummed === null ? thinnings : thinnings.filter(isOfCells)) {
      if (!(await thinWeek(db, thinning, goesOn))) return
      const { kind, step_s } = thinning
      log.info({ week: week.start, kind, step_s }, 'readings beyond their retention were thinned')
    }
  }
}

/** Cells have no sums, so their weeks need not be final. */
const isOfCells = ({ kind }: Thinning) => kind === 'cells'

/** Oldest week first. */
async function dueThinnings(db: Database, { raw_from, minutes_from, cells_from }: Bounds) {
  const kinds = Object.keys(readingKinds) as ReadingKind[]
  const kindOf = new Map<string, ReadingKind>(kinds.map((kind) => [readingKinds[kind].table, kind]))
  const steps = await thinnedSteps(db)
  const weeks = await weeksBefore(db, [...kindOf.keys()], cells_from)
  return weeks.flatMap(({ table, week }): Thinning[] => {
    const kind = kindOf.get(table)!
    if (kind !== 'cells' && week.end > raw_from) return []
    const is_past_minutes = minutes_from !== null && week.end <= minutes_from
    const is_hourly = kind === 'cells' || (!(kind in summedKinds) && is_past_minutes)
    const step_s: ThinningStep = is_hourly ? 3600 : 60
    const is_done = (steps.get(partitionName(table, week)) ?? 0) >= step_s
    return is_done ? [] : [{ kind, week, step_s }]
  })
}

/** Makes a week final, or returns what is not summed up as text. */
async function finalise(db: Database, week: Week): Promise<string | null> {
  if (await isFinal(db, week)) return null
  const unsummed = await findUnsummed(db, week)
  if (unsummed !== null) return unsummed
  return db.transaction(async (transaction) => {
    await transaction.execute(`set local lock_timeout = ${lock_ms_max}`)
    return makeFinal(transaction, week, (queries) => markedHour(queries, week))
  })
}

/** What of a week is not summed up, as text; null if everything is. */
async function findUnsummed(db: Database, week: Week): Promise<string | null> {
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

/** A marked hour whose sums depend on readings of the week, as text. */
async function markedHour(db: Queries, { start, end }: Week): Promise<string | null> {
  const [mark] = await db.query<{ site_id: string; kind: string; hour_at: Date }>(
    `select site_id, kind, hour_at from touched_hours
     where hour_at between $1 and $2 limit 1`,
    [new Date(start.getTime() - hour_ms).toISOString(), end.toISOString()],
  )
  return mark
    ? `${mark.site_id}: the hour ${mark.hour_at.toISOString()} of ${mark.kind} readings is not summed up yet`
    : null
}

/** A device with readings but no sums on a day, for example one missing in the inventory. */
async function daysWithoutSums(
  transaction: Transaction,
  kind: keyof typeof summedKinds,
  { start }: Week,
): Promise<string | null> {
  const { sums, measured } = summedKinds[kind]
  // Every device with readings has a latest reading.
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
