/** The days, plants and notes that every report starts from. */
import { hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import type { Position } from '@heliograph/domain/place'
import { rounded } from '@heliograph/domain/significant'
import type { Bounds, Now } from '../../performance/energy/figures.ts'
import { type Period, periodOf } from '../../performance/period.ts'
import { awakeTime } from '../../plant/daylight.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import type { Queries } from '../../storage/database.ts'
import type { ReportDocument } from '../document.ts'
import type { ReportOrder, ReportTemplate } from '../template.ts'
import { dayName } from '../writers/cells.ts'

/** A local day of the report: 23, 24 or 25 hours. */
export interface ReportDay extends Bounds {
  /** YYYY-MM-DD */
  date: string
}

export const dateOf = ({ date }: { date: string }) => date

interface Plant {
  logger_id: number
  logger_name: string
  commissioned_date: string | null
  retired_at: Date | null
}

/** Days with readings, of the days that have started; hours for a single day. */
export interface Measured {
  known: number
  all: number
  unit: 'days' | 'hours'
}

export type Frame = Awaited<ReturnType<typeof frameOf>>

export async function frameOf(db: Queries, order: ReportOrder) {
  const { now, timezone, logger_ids } = order
  const { site_id } = order.site
  const position: Position = await siteFacts(db, site_id)
  const all_days = daysOf(order)
  /** Hours of all days of the period, past and future. */
  const span = { start_ms: all_days[0]!.start_ms, end_ms: all_days.at(-1)!.end_ms }
  const all = await db.query<Plant>(
    `select logger_id, name as logger_name, commissioned_date, retired_at from loggers
     where site_id = $1 and ($2::int[] is null or logger_id = any ($2)) order by logger_id`,
    [site_id, logger_ids],
  )
  const reasons = all.map((plant) => absence(plant, span, timezone))
  const days: readonly ReportDay[] = all_days.filter(({ start_ms }) => start_ms < now.getTime())
  /** Ordered plants in service during a part of the period. */
  const plants: readonly Plant[] = all.filter((_, nth) => reasons[nth] === null)
  const plant_ids = plants.map(({ logger_id }) => logger_id)
  return {
    order,
    site_id,
    position,
    days,
    span,
    period: periodIn(span, position, now),
    now: { now_ms: now.getTime(), awake: awakeTime(position) } satisfies Now,
    plants,
    plant_ids,
    measured: await readMeasured(db, { site_id, days, plant_ids, now }),
    notes: [
      ...timeNotes(span, order),
      ...(logger_ids === null ? [] : [`Only these plants: ${namesOf(all)}.`]),
      ...reasons.filter((reason) => reason !== null),
    ],
  }
}

/** The time of [start_ms, end_ms) up to now. */
export const periodIn = ({ start_ms, end_ms }: Bounds, position: Position, now: Date): Period =>
  periodOf(
    { start: new Date(start_ms).toISOString(), end: new Date(end_ms).toISOString() },
    position,
    now,
  )

export const namesOf = (plants: readonly { logger_name: string }[]) =>
  plants.map(({ logger_name }) => logger_name).join(', ')

/** Values of a query by day: the bounds for `width_bucket`, the first one and the last one. */
export function dayBounds(days: readonly ReportDay[]) {
  const bounds = [...days.map(({ start_ms }) => start_ms), days.at(-1)!.end_ms].map((ms) =>
    new Date(ms).toISOString(),
  )
  return [bounds, bounds[0], bounds.at(-1)] as const
}

async function readMeasured(
  db: Queries,
  of: { site_id: string; days: readonly ReportDay[]; plant_ids: readonly number[]; now: Date },
): Promise<Measured> {
  const { site_id, days, plant_ids, now } = of
  const unit = days.length === 1 ? 'hours' : 'days'
  if (days.length === 0) return { known: 0, all: 0, unit }
  const [read] = await db.query<{ days: number; hours: number }>(
    `select count(distinct width_bucket(hour_at, $2::timestamptz[])) as days,
       count(distinct hour_at) as hours
     from logger_hours
     where site_id = $1 and hour_at >= $3 and hour_at < $4 and logger_id = any ($5)
       and sample_count > 0`,
    [site_id, ...dayBounds(days), plant_ids],
  )
  const end_ms = Math.min(days.at(-1)!.end_ms, now.getTime())
  const hours = Math.ceil((end_ms - days[0]!.start_ms) / hour_ms)
  return { known: read![unit], all: unit === 'days' ? days.length : hours, unit }
}

/** Whole UTC hours: with a half-hour offset, the hour around midnight belongs to the day before. */
function daysOf({ period, timezone }: ReportOrder): ReportDay[] {
  const days: ReportDay[] = []
  const last_ms = period.end_at.getTime() - 1
  let date = localDate(period.start_at.getTime(), timezone)
  for (;;) {
    const { from_ms, to_ms } = hoursOfLocalDate(date, timezone)
    days.push({ date, start_ms: from_ms, end_ms: to_ms })
    if (to_ms > last_ms) return days
    // A zone may skip a date.
    date = localDate(to_ms, timezone)
  }
}

function timeNotes({ start_ms, end_ms }: Bounds, { now, timezone }: ReportOrder): string[] {
  const notes: string[] = []
  if (start_ms >= now.getTime()) notes.push('The period has not started: there is no data yet.')
  else if (end_ms > now.getTime()) notes.push('The period is not over: values end at present.')
  // Local midnight is not at a whole UTC hour.
  if (localDate(start_ms - 1, timezone) === localDate(start_ms, timezone)) {
    notes.push('Sums are of whole UTC hours: days start up to an hour after local midnight.')
  }
  return notes
}

/** Why a plant is excluded; null when it is included. */
function absence(
  { logger_name, commissioned_date, retired_at }: Plant,
  { start_ms, end_ms }: Bounds,
  timezone: string,
): string | null {
  if (retired_at !== null && retired_at.getTime() <= start_ms) {
    const date = dayName(localDate(retired_at.getTime(), timezone))
    return `Excluded: ${logger_name}, retired on ${date}, before the period.`
  }
  if (commissioned_date !== null && commissioned_date > localDate(end_ms - 1, timezone)) {
    return `Excluded: ${logger_name}, commissioned on ${dayName(commissioned_date)}, after the period.`
  }
  return null
}

/** Note on plants without data, which are in no sum. */
export function unknownNotes(
  unknown: readonly { logger_name: string }[],
  all_count: number,
): string[] {
  if (unknown.length === 0) return []
  if (unknown.length === all_count) return ['No data: nothing was measured in this period.']
  return [`Excluded from sums, without data: ${namesOf(unknown)}.`]
}

/** Below this completeness a sum does not stand for the period. */
const whole_pct = 95

export const isIncomplete = (completeness_pct: number | null): completeness_pct is number =>
  completeness_pct !== null && completeness_pct > 0 && completeness_pct < whole_pct

/** Templates note by themselves that there is no data at all. */
function gapNotes(
  { data_completeness_pct: completeness_pct, has_sums = true }: Contents,
  { known, all, unit }: Measured,
): string[] {
  if (!isIncomplete(completeness_pct)) return []
  const covers = known > 0 ? `, from ${known} of ${all} ${unit}` : ''
  const effect = has_sums
    ? 'Sums are of what was measured, not of the whole period.'
    : 'That is too little for sums.'
  return [
    `Incomplete: ${completeness_pct.toFixed(1)} % of the readings are available${covers}. ${effect}`,
  ]
}

export const totalsName = ({ order }: Frame): string =>
  order.logger_ids === null ? 'Site' : 'All plants shown'

/** Whether a device belongs to a plant of the report. */
export function isIncluded({ plant_ids }: Frame): (of: { logger_id: number }) => boolean {
  const ids = new Set(plant_ids)
  return ({ logger_id }) => ids.has(logger_id)
}

export interface Contents
  extends Pick<ReportDocument, 'title' | 'data_completeness_pct' | 'sections'> {
  currency?: string | null
  notes: readonly string[]
  /** Defaults to the readings of the plants. */
  measured?: Measured
  /** Whether there is enough data for sums; defaults to true. */
  has_sums?: boolean
}

export function documentOf(
  { template_id }: Pick<ReportTemplate, 'template_id'>,
  { order, notes, measured }: Pick<Frame, 'order' | 'notes' | 'measured'>,
  contents: Contents,
): ReportDocument {
  const { site, period, timezone, now } = order
  return {
    template_id,
    title: contents.title,
    site_name: site.name,
    timezone,
    period_start_at: period.start_at,
    period_end_at: period.end_at,
    generated_at: now,
    language: 'en',
    currency: contents.currency ?? null,
    data_completeness_pct: contents.data_completeness_pct,
    notes: [...gapNotes(contents, contents.measured ?? measured), ...notes, ...contents.notes],
    sections: contents.sections,
  }
}

/** Rounded; null when no value is known. */
export function sumOf(values: readonly (number | null)[], decimals = 3): number | null {
  const known = values.filter((value) => value !== null)
  const sum = known.reduce((total, value) => total + value, 0)
  return known.length === 0 ? null : rounded(sum, decimals)
}
