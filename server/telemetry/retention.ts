/**
 * Retention of readings in tiers: all readings for years, then one a minute per device, then one an
 * hour. The sums of a week are final before any of its readings are thinned.
 */
import { cached } from '@heliograph/domain/cached'
import { day_ms, hour_ms, week_ms } from '@heliograph/domain/durations'
import type { ReadingKind } from '@heliograph/domain/readings'
import type { JobContext } from '../jobs/job.ts'
import type { Database, Queries } from '../storage/database.ts'
import type { Week } from '../storage/partitions.ts'
import { thinBlocks } from './blocks/thinning.ts'
import { isFinal, makeFinal } from './final-weeks.ts'
import { firstOf, walkReadings } from './stored-readings.ts'

/** A device with this many readings on a day must have a sum. */
const readings_min = 24
/** Limits the wait of other users of a locked table. */
const lock_ms_max = 2000
/** A run stops after this, well before it counts as failed, and the next run continues. */
const run_ms_max = 5 * hour_ms

/** The kinds with hourly sums, which need every reading of a day. */
const summedKinds = {
  inverter: { sums: 'inverter_hours', measured: 'ac_power_kw' },
  string: { sums: 'string_hours', measured: 'current_a' },
} as const satisfies Partial<Record<ReadingKind, { sums: string; measured: string }>>

/** Days of retention, to whole weeks; null: for ever. */
export interface RetentionSettings {
  /** Every reading. */
  retention_raw_days: number | null
  /** One reading a minute of each device. */
  retention_minute_days: number | null
}

/** Moves every summed week to the tier of its age. */
export async function keepTiers(context: JobContext, settings: RetentionSettings): Promise<void> {
  const { db, clock, log, signal } = context
  const now_ms = clock.now().getTime()
  const daysAgo = (days: number | null) => (days === null ? null : new Date(now_ms - days * day_ms))
  const stop_ms = now_ms + run_ms_max
  const goesOn = () => {
    signal.throwIfAborted()
    return clock.now().getTime() < stop_ms
  }
  const isFinal = cached((start_ms: number) => isFinalised(db, log, start_ms))
  const tiers = [
    { step_s: 60, before: daysAgo(settings.retention_raw_days) },
    { step_s: 3600, before: daysAgo(settings.retention_minute_days) },
  ]
  for (const { step_s, before } of tiers) {
    if (before) await thinBlocks(db, { step_s, before, goesOn, isFinal })
  }
}

/** Makes a week final if it is summed up, and logs what holds it up. */
async function isFinalised(
  db: Database,
  log: JobContext['log'],
  start_ms: number,
): Promise<boolean> {
  const week = { start: new Date(start_ms), end: new Date(start_ms + week_ms) }
  const unsummed = await finalise(db, week)
  if (unsummed === null) return true
  log.warn(
    { week: week.start, held_by: unsummed },
    'readings are beyond their retention but not summed up',
  )
  return false
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
  for (const kind of Object.keys(summedKinds) as (keyof typeof summedKinds)[]) {
    const found = await dayWithoutSums(db, kind, week)
    if (found !== null) return found
  }
  return null
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
async function dayWithoutSums(
  db: Database,
  kind: keyof typeof summedKinds,
  { start }: Week,
): Promise<string | null> {
  const { sums, measured } = summedKinds[kind]
  // Every device with readings has a latest reading.
  const days = await db.query<{ site_id: string; inverter_id: number; at: Date; day: string }>(
    `select d.site_id, d.inverter_id, day.at, day.at::date as day
     from (select distinct site_id, inverter_id from ${kind}_latest) d,
       generate_series($1::timestamptz, $1::timestamptz + interval '6 days', '1 day') as day (at)
     where not exists (
         select from ${sums} s where s.site_id = d.site_id and s.inverter_id = d.inverter_id
           and s.hour_at >= day.at and s.hour_at < day.at + interval '1 day')`,
    [start.toISOString()],
  )
  for (const { site_id, inverter_id, at, day } of days) {
    const from_ms = at.getTime()
    const span = { site_id, device_id: inverter_id, from_ms, to_ms: from_ms + day_ms }
    const readings = walkReadings(db, kind, { ...span, newest: false }, [measured])
    if ((await firstOf(withValue(readings, measured), readings_min)).length === readings_min) {
      return `${site_id}: ${kind} readings of inverter ${inverter_id} on ${day} have no sums`
    }
  }
  return null
}

async function* withValue(parts: ReturnType<typeof walkReadings>, name: string) {
  for await (const part of parts) yield part.filter((reading) => reading[name] !== null)
}
