/** What every template begins with: the hours and days of the period, and who is reported on. */
import { hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import type { Position } from '@heliograph/domain/place'
import { rounded } from '@heliograph/domain/significant'
import type { Bounds, Now } from '../../performance/energy/figures.ts'
import { type Period, periodOf } from '../../performance/period.ts'
import { awakeTime } from '../../plant/daylight.ts'
import { siteElevation } from '../../plant/site-elevation.ts'
import type { Queries } from '../../storage/database.ts'
import type { ReportDocument, Section } from '../document.ts'
import type { ReportOrder, ReportTemplate } from '../template.ts'
import { dayName } from '../writers/cells.ts'

/** A day of the calendar of the report: 23, 24 or 25 hours. */
export interface ReportDay extends Bounds {
  /** YYYY-MM-DD */
  date: string
}

interface Plant {
  logger_id: number
  logger_name: string
  commissioned_date: string | null
  retired_at: Date | null
}

export interface Frame {
  order: ReportOrder
  site_id: string
  /** Null until the inventory says it. */
  currency: string | null
  position: Position
  /** Those that have begun. */
  days: readonly ReportDay[]
  /** The hours of all days of the period, those to come among them. */
  span: Bounds
  /** The same as diagnoses know it: as far as it has passed. */
  period: Period
  now: Now
  /** In service at some time of the period, of those that were asked for. */
  plants: readonly Plant[]
  /** Of these, days or hours of which there are readings of any plant. */
  measured: Measured
  /** Of the whole report: what is to come, who is left out. */
  notes: readonly string[]
}

/** How many of the days that have begun, or hours of a single day, have readings. */
export interface Measured {
  known: number
  all: number
  unit: 'days' | 'hours'
}

interface SiteRow extends Position {
  currency: string | null
}

export async function frameOf(db: Queries, order: ReportOrder): Promise<Frame> {
  const { site, now, timezone, logger_ids } = order
  const [row] = await db.query<SiteRow>(
    `select (inventory->>'latitude')::float8 as latitude,
       (inventory->>'longitude')::float8 as longitude, inventory->>'currency' as currency,
       ${siteElevation('s')} as elevation_m
     from sites s where site_id = $1`,
    [site.site_id],
  )
  const { currency, ...position } = row!
  const days = daysOf(order)
  const span = { start_ms: days[0]!.start_ms, end_ms: days.at(-1)!.end_ms }
  const window = {
    start: new Date(span.start_ms).toISOString(),
    end: new Date(span.end_ms).toISOString(),
  }
  const all = await db.query<Plant>(
    `select logger_id, name as logger_name, commissioned_date, retired_at from loggers
     where site_id = $1 and ($2::int[] is null or logger_id = any ($2)) order by logger_id`,
    [site.site_id, logger_ids],
  )
  const absent = all.flatMap((plant) => absence(plant, span, timezone) ?? [])
  const begun = days.filter(({ start_ms }) => start_ms < now.getTime())
  const plants = all.filter((plant) => absence(plant, span, timezone) === null)
  return {
    order,
    site_id: site.site_id,
    currency,
    position,
    days: begun,
    span,
    period: periodOf(window, position, now),
    now: { now_ms: now.getTime(), awake: awakeTime(position) },
    plants,
    measured: await readMeasured(db, { site_id: site.site_id, days: begun, plants, now }),
    notes: [...timeNotes(span, order), ...scopeNotes(order, all), ...absent],
  }
}

type Asked = Pick<Frame, 'site_id' | 'days' | 'plants'> & { now: Date }

async function readMeasured(db: Queries, { site_id, days, plants, now }: Asked): Promise<Measured> {
  const unit = days.length === 1 ? 'hours' : 'days'
  if (days.length === 0) return { known: 0, all: 0, unit }
  const { start_ms } = days[0]!
  const end_ms = days.at(-1)!.end_ms
  const bounds = [...days.map((day) => day.start_ms), end_ms]
  const [read] = await db.query<{ days: number; hours: number }>(
    `select count(distinct width_bucket(hour_at, $2::timestamptz[])) as days,
       count(distinct hour_at) as hours
     from logger_hours
     where site_id = $1 and hour_at >= $3 and hour_at < $4 and logger_id = any ($5)
       and sample_count > 0`,
    [
      site_id,
      bounds.map((ms) => new Date(ms).toISOString()),
      new Date(start_ms),
      new Date(end_ms),
      plants.map(({ logger_id }) => logger_id),
    ],
  )
  const hours = Math.ceil((Math.min(end_ms, now.getTime()) - start_ms) / hour_ms)
  return { known: read![unit], all: unit === 'days' ? days.length : hours, unit }
}

/** Of hours of UTC: in zones off by half an hour the hour around midnight is of the day before. */
function daysOf({ period, timezone }: ReportOrder): ReportDay[] {
  const days: ReportDay[] = []
  const last_ms = period.end_at.getTime() - 1
  let date = localDate(period.start_at.getTime(), timezone)
  for (;;) {
    const { from_ms, to_ms } = hoursOfLocalDate(date, timezone)
    days.push({ date, start_ms: from_ms, end_ms: to_ms })
    // The hour at `to_ms` is of the next day that the zone has.
    const next = localDate(to_ms, timezone)
    if (to_ms > last_ms) return days
    date = next
  }
}

function timeNotes({ start_ms, end_ms }: Bounds, { now, timezone }: ReportOrder): string[] {
  const notes: string[] = []
  if (start_ms >= now.getTime()) notes.push('The period has not begun: there is nothing to report.')
  else if (end_ms > now.getTime()) notes.push('The period is not over: figures are of what passed.')
  // Midnight there lies within an hour.
  if (localDate(start_ms - 1, timezone) === localDate(start_ms, timezone)) {
    notes.push('Sums are of whole hours of UTC: days begin up to an hour after midnight.')
  }
  return notes
}

const scopeNotes = ({ logger_ids }: ReportOrder, plants: readonly Plant[]): string[] =>
  logger_ids === null
    ? []
    : [`Only of: ${plants.map(({ logger_name }) => logger_name).join(', ')}.`]

/** Why a plant is not in the report; null where it is. */
function absence(
  { logger_name, commissioned_date, retired_at }: Plant,
  { start_ms, end_ms }: Bounds,
  timezone: string,
): string | null {
  if (retired_at !== null && retired_at.getTime() <= start_ms) {
    const date = dayName(localDate(retired_at.getTime(), timezone))
    return `Left out: ${logger_name}, retired on ${date}, before the period.`
  }
  if (commissioned_date !== null && commissioned_date > localDate(end_ms - 1, timezone)) {
    return `Left out: ${logger_name}, commissioned on ${dayName(commissioned_date)}, after the period.`
  }
  return null
}

/** Told of plants of which nothing is known, which are in no sum. */
export function unknownNotes(names: readonly string[], all_count: number): string[] {
  if (names.length === 0) return []
  if (names.length === all_count) return ['No data: nothing was measured in this period.']
  return [`Left out of sums, for lack of data: ${names.join(', ')}.`]
}

/** Below this a sum is not one of the period. */
const whole_pct = 95

export const isIncomplete = (completeness_pct: number | null): completeness_pct is number =>
  completeness_pct !== null && completeness_pct > 0 && completeness_pct < whole_pct

/** Told before all else where readings are missing; where there are none the template says so. */
function gapNotes(
  { data_completeness_pct: completeness_pct, has_sums = true }: Contents,
  { known, all, unit }: Measured,
): string[] {
  if (!isIncomplete(completeness_pct)) return []
  const there = `Incomplete: ${completeness_pct.toFixed(1)} % of the readings are there`
  const covers = known > 0 ? `, from ${known} of ${all} ${unit}` : ''
  return [
    has_sums
      ? `${there}${covers}. Sums are of what was measured, not of the whole period.`
      : `${there}${covers}. That is too little for sums.`,
  ]
}

/** What a row of totals is of. */
export const totalsName = ({ order }: Frame): string =>
  order.logger_ids === null ? 'Site' : 'All plants shown'

/** Whether a device of a plant is in the report. */
export function isAsked({ plants }: Frame): (of: { logger_id: number }) => boolean {
  const ids = new Set(plants.map(({ logger_id }) => logger_id))
  return ({ logger_id }) => ids.has(logger_id)
}

interface Contents {
  title: string
  data_completeness_pct: number | null
  currency?: string | null
  notes: readonly string[]
  sections: Section[]
  /** Where it is not of the readings of plants. */
  measured?: Measured
  /** False where too little was measured for any; true if left out. */
  has_sums?: boolean
}

export function documentOf(
  { template_id }: Pick<ReportTemplate, 'template_id'>,
  { order, notes, measured }: Frame,
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

/** Days along the axis of a chart, YYYY-MM-DD: how they look is for the writer to say. */
export const dayLabels = (days: readonly ReportDay[]): string[] => days.map(({ date }) => date)

/** Rounded, null where nothing is known. */
export function sumOf(values: readonly (number | null)[], decimals = 3): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0
    ? null
    : rounded(
        known.reduce((sum, value) => sum + value, 0),
        decimals,
      )
}
