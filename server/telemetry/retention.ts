/**
 * How long readings are kept, in tiers: all of them for days, one a minute of each device for
 * months, and the hours for ever. What steps down is a whole week of all sites, and only when
 * everything in it has been summed up by the hour; its sums are final from then on.
 */
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import { day_ms } from '@heliograph/domain/utc-day'
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
import { hour_ms } from './touched-hours.ts'

/** Readings of a device on one day that have to have led to a sum. */
const readings_min = 24
/** Whoever uses what is locked shall not wait long. */
const lock_ms_max = 2000
/** A run leaves the rest to the next one after this, well before it counts as failed. */
const run_ms_max = 5 * hour_ms

/**
 * Readings of cells are kept whole this long at most, then one an hour: a battery has thousands,
 * and what they tell (balance, drift, ageing) is slow.
 */
const cells_raw_days = 7

/**
 * The kinds whose hours are summed up: of these the sums stay. Of all others, of which no sum holds
 * what they measured, one reading an hour stays.
 */
const summedKinds = {
  inverter: { sums: 'inverter_hours', measured: 'ac_power_kw' },
  string: { sums: 'string_hours', measured: 'current_a' },
} as const satisfies Partial<Record<ReadingKind, { sums: string; measured: string }>>

export const summed_tables = Object.keys(summedKinds).map(
  (kind) => readingKinds[kind as keyof typeof summedKinds].table,
)

/** Weeks that ended before this are no longer in the tier. */
function keptFrom(now: Date, retention_days: number): Date {
  return new Date(now.getTime() - retention_days * day_ms)
}

export interface RetentionSettings {
  /** All readings are kept this many days, to whole weeks; null: for ever. */
  retention_raw_days: number | null
  /** One reading a minute of each device is kept this many days, no fewer; null: for ever. */
  retention_minute_days: number | null
}

/** Takes every week down to the tier that its age is of, except those that are not summed up. */
export async function keepTiers(
  context: JobContext,
  { retention_raw_days: raw_days, retention_minute_days: minute_days }: RetentionSettings,
): Promise<void> {
  if (raw_days === null) return
  const now = context.clock.now()
  const minutes_from = minute_days === null ? null : keptFrom(now, minute_days)
  if (minutes_from) await dropSummed(context, minutes_from)
  await thinWeeks(context, {
    raw_from: keptFrom(now, raw_days),
    minutes_from,
    cells_from: keptFrom(now, Math.min(raw_days, cells_raw_days)),
  })
}

/** Weeks that end by these step down. */
interface Bounds {
  raw_from: Date
  minutes_from: Date | null
  cells_from: Date
}

/** Drops the weeks whose sums are all that is kept, up to the first that is not summed up. */
async function dropSummed({ db, log, signal }: JobContext, minutes_from: Date): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const week = await oldestWeek(db, summed_tables, minutes_from)
    // What holds it is told where weeks are thinned.
    if (week === null || (await finalise(db, week)) !== null) return
    const dropped = await dropWeek(db, week)
    if (dropped.length === 0) return
    log.info({ dropped }, 'readings past their time were dropped')
  }
}

/** Returns the names of the partitions; none when an older week has come up meanwhile. */
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

/** Thins weeks to minutes, or to hours where no sums hold them. */
async function thinWeeks({ db, clock, log, signal }: JobContext, bounds: Bounds): Promise<void> {
  const stop_ms = clock.now().getTime() + run_ms_max
  const goesOn = () => {
    signal.throwIfAborted()
    return clock.now().getTime() < stop_ms
  }
  const due = await dueThinnings(db, bounds)
  for (const thinnings of Map.groupBy(due, ({ week }) => week.start.getTime()).values()) {
    const { week } = thinnings[0]!
    const held_by = thinnings.every(isOfCells) ? null : await finalise(db, week)
    if (held_by !== null) {
      log.warn({ week: week.start, held_by }, 'readings are past their time but not summed up')
    }
    for (const thinning of held_by === null ? thinnings : thinnings.filter(isOfCells)) {
      if (!(await thinWeek(db, thinning, goesOn))) return
      const { kind, step_s } = thinning
      log.info({ week: week.start, kind, step_s }, 'readings past their time were thinned')
    }
  }
}

/** Cells enter no sum that a week has to be final for. */
const isOfCells = ({ kind }: Thinning) => kind === 'cells'

/** Oldest week first. */
async function dueThinnings(
  db: Database,
  { raw_from, minutes_from, cells_from }: Bounds,
): Promise<Thinning[]> {
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

/** Makes a week final, or says in words what of it is not summed up. */
async function finalise(db: Database, week: Week): Promise<string | null> {
  if (await isFinal(db, week)) return null
  const held_by = await whatHolds(db, week)
  if (held_by !== null) return held_by
  return db.transaction(async (transaction) => {
    await transaction.execute(`set local lock_timeout = ${lock_ms_max}`)
    return makeFinal(transaction, week, (queries) => markedHour(queries, week))
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
     where hour_at between $1 and $2 limit 1`,
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
