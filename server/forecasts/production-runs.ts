/** Makes production forecasts from the newest weather forecast and stores them. */

import type { Clock } from '@heliograph/domain/clock'
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Plant } from '@heliograph/forecast/plant'
import type { JobContext } from '../jobs/job.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { type Course, readCourses } from './course.ts'
import { eachOf } from './each-of.ts'
import { modelInUse, productionModels, retireUnreadable } from './model-store.ts'
import { publishForecast } from './published.ts'
import { isOutdated, readRunBasis } from './run-basis.ts'
import { type ForecastRun, type NewRun, newestRuns, seriesOf, storeRuns } from './run-store.ts'
import { keepStartedSteps } from './started-steps.ts'
import {
  type ForecastSite,
  type ForecastTarget,
  readForecastSite,
  readPlants,
  type Target,
  targetsOf,
} from './targets.ts'
import type { Grid, History, PredictItem } from './tasks.ts'
import type { ForecastThread } from './thread.ts'
import type { KnownStep } from './weather/run.ts'
import { knownWeather, weatherHistory } from './weather/store.ts'
import { onGrid, packSteps } from './weather-grid.ts'

/** Forecast horizon in days after today. */
const days_ahead = 2
/** History from which the error of the physical model is estimated without a trained model. */
const history_ms = 30 * day_ms
/** PostgreSQL advisory lock for storing the runs of a site and day: `hgfr`. */
const advisory_class = 0x68676672
/** Lead times of the weather forecasts in that history. */
const history_leads_h = [1, 12, 36, 60] as const

interface RunNeeds extends Pick<JobContext, 'db' | 'clock'> {
  thread: ForecastThread
}

/** `day` is midnight UTC in Unix ms. */
export function isWithinHorizon(day: number, now: Date): boolean {
  const today = utcDayStart(now)
  return day >= today && day <= today + days_ahead * day_ms
}

/** Arrays and ratings for a model; null when position or panels are unknown. */
export function plantOf(site: ForecastSite, target: ForecastTarget): Plant | null {
  const arrays = target.panels.filter(({ dc_capacity_kwp }) => dc_capacity_kwp > 0)
  if (site.place === null || arrays.length === 0) return null
  const { rated_power_kw } = target
  const dc_capacity_kwp = arrays.reduce((sum, array) => sum + array.dc_capacity_kwp, 0)
  return { rated_power_kw, dc_capacity_kwp, place: site.place, arrays }
}

export interface Issued {
  runs: ForecastRun[]
  /** A run is outdated, or a target that can be forecast has none. */
  is_due: boolean
}

/** Shared by requests and the job, so that both renew runs by the same rule. */
export async function readIssued(
  db: Queries,
  site_id: string,
  { targets, day, now }: { targets: readonly Target[]; day: number; now: Date },
): Promise<Issued> {
  const until = new Date(now.getTime() + 1)
  const [runs, basis] = await Promise.all([
    newestRuns(db, site_id, { targets, target_date: utcDate(day), until }),
    readRunBasis(db, site_id, { targets, day, now }),
  ])
  if (runs.some((run) => isOutdated(run, basis.get(run.target)!))) return { runs, is_due: true }
  if (runs.length === targets.length) return { runs, is_due: false }
  const made = new Set(runs.map(({ target }) => target))
  const site = await readForecastSite(db, site_id)
  const isMissing = (target: ForecastTarget) =>
    targets.includes(target.target) && !made.has(target.target)
  const missing = site?.targets.filter(isMissing) ?? []
  return { runs, is_due: missing.some((target) => plantOf(site!, target) !== null) }
}

interface RunsWanted {
  /** Midnights UTC, Unix ms. */
  days: readonly number[]
  /** Checked again before the runs of a day are stored, as another server may have stored some. */
  isWanted(issued: Issued): boolean
}

/**
 * Makes and stores a run of every target of a site for each day, except targets with unknown panels
 * or position. The runs of a day are stored all or none. Returns whether any were stored.
 */
export async function makeRuns(
  needs: RunNeeds,
  site_id: string,
  { days, isWanted }: RunsWanted,
): Promise<boolean> {
  const { db, clock, thread } = needs
  const site = await readForecastSite(db, site_id)
  if (!site) return false
  const wanted = site.targets.flatMap((target) => {
    const plant = plantOf(site, target)
    return plant ? [{ target, plant }] : []
  })
  if (wanted.length === 0 || days.length === 0) return false
  const issued_at = clock.now()
  const weather = await weatherOf(db, site_id, { days, at: issued_at })
  const items = await itemsOf(needs, site, { wanted, weather })
  const forecasts = await thread.run({ kind: 'predict', items })
  const unread = items.filter((_, nth) => forecasts[nth] === null)
  for (const { target, version } of unread) {
    await retireUnreadable(db, site_id, { target, version: version!, at: issued_at })
  }
  // Targets whose model was unreadable are now forecast by the physical model.
  if (unread.length > 0) return makeRuns(needs, site_id, { days, isWanted })
  const targets = items.map(({ target }) => target)
  const basis = await readRunBasis(db, site_id, { targets, day: days[0]!, now: issued_at })
  let has_stored = false
  for (const [at, { day, known }] of weather.entries()) {
    const runs = items.map(({ target, version, days }, nth): NewRun => {
      const { grid, weather: of_day } = days[at]!
      const absence = version === null ? (basis.get(target)!.absence ?? 'no_model_yet') : null
      return {
        ...seriesOf(forecasts[nth]![at]!),
        ...newest(known),
        target,
        target_date: utcDate(day),
        issued_at,
        is_hindcast: false,
        model: version === null ? 'physical' : 'blend',
        model_version: version,
        fallback_reason: of_day.length === 0 ? 'no_weather_forecast' : absence,
        resolution_minutes: grid.step_ms / minute_ms,
      }
    })
    const order = { day, runs, clock, isWanted }
    const is_stored = await db.transaction((tx) => storeDay(tx, site_id, order))
    has_stored ||= is_stored
  }
  return has_stored
}

async function storeDay(
  tx: Transaction,
  site_id: string,
  order: Pick<RunsWanted, 'isWanted'> & { day: number; runs: readonly NewRun[]; clock: Clock },
): Promise<boolean> {
  const { day, runs, clock, isWanted } = order
  await tx.query('select pg_advisory_xact_lock($1, hashtext($2))', [
    advisory_class,
    `${site_id} ${utcDate(day)}`,
  ])
  const targets = runs.map(({ target }) => target)
  const issued = await readIssued(tx, site_id, { targets, day, now: clock.now() })
  if (!isWanted(issued)) return false
  const earlier = new Map(issued.runs.map((run) => [run.target, run]))
  const whole = runs.map((run) => keepStartedSteps(run, earlier.get(run.target)))
  await storeRuns(tx, site_id, whole)
  const of_site = whole.find(({ target }) => target === 'site')
  if (of_site) publishForecast(tx, site_id, of_site)
  return true
}

type Item = PredictItem & { target: Target; version: number | null }

interface DayWeather {
  day: number
  known: KnownStep[]
}

/** The model of each target, or recent history for the error of the physical model. */
async function itemsOf(
  needs: RunNeeds,
  site: ForecastSite,
  of: { wanted: { target: ForecastTarget; plant: Plant }[]; weather: readonly DayWeather[] },
): Promise<Item[]> {
  const items: Item[] = []
  let past: Past | null = null
  for (const { target, plant } of of.wanted) {
    const model = await modelInUse(needs.db, productionModels(site.site_id, target.target))
    if (!model) past ??= await recentPast(needs, site)
    items.push({
      plant,
      days: of.weather.map(({ day, known }) => {
        const step_ms = (model?.facts.step_minutes ?? stepMinutes(known)) * minute_ms
        const grid = { from_ms: day, to_ms: day + day_ms, step_ms }
        return { grid, weather: packSteps(onGrid(known, grid)) }
      }),
      model: model?.model ?? null,
      history: model ? null : historyOf(past!, target),
      target: target.target,
      version: model?.version ?? null,
    })
  }
  return items
}

async function weatherOf(
  db: Queries,
  site_id: string,
  { days, at }: { days: readonly number[]; at: Date },
): Promise<DayWeather[]> {
  const weather: DayWeather[] = []
  for (const day of days) {
    const window = { from: new Date(day), to: new Date(day + day_ms) }
    weather.push({ day, known: await knownWeather(db, site_id, at, window) })
  }
  return weather
}

function newest(known: readonly KnownStep[]): Pick<NewRun, 'weather_source' | 'weather_issued_at'> {
  const step = known.reduce<KnownStep | null>(
    (best, other) => (best === null || other.issued_at > best.issued_at ? other : best),
    null,
  )
  return { weather_source: step?.source ?? null, weather_issued_at: step?.issued_at ?? null }
}

/** The step length that covers most of the time; 60 without steps. */
export function stepMinutes(known: readonly KnownStep[]): number {
  const lengths = new Map<number, number>()
  for (const { start_ms, end_ms } of known) {
    const length = end_ms - start_ms
    lengths.set(length, (lengths.get(length) ?? 0) + length)
  }
  const [most] = [...lengths].sort((a, b) => b[1] - a[1])
  return (most?.[0] ?? hour_ms) / minute_ms
}

interface Past {
  courses: { site: Course; plants: Map<number, Course> }
  weather: Float64Array[]
  grid: Grid
}

/** Recent production of the plants, with the weather as forecast at several lead times. */
async function recentPast({ db, clock }: RunNeeds, site: ForecastSite): Promise<Past> {
  const { site_id, targets } = site
  const to_ms = Math.floor(clock.now().getTime() / hour_ms) * hour_ms
  const grid = { from_ms: to_ms - history_ms, to_ms, step_ms: hour_ms }
  const logger_ids = targets.flatMap(({ logger_id }) => logger_id ?? [])
  const courses = await readCourses(db, { site_id, logger_ids, ...grid })
  const window = { from: new Date(grid.from_ms), to: new Date(to_ms) }
  const weather: Float64Array[] = []
  for (const lead_h of history_leads_h) {
    const known = await weatherHistory(
      db,
      site_id,
      window,
      (start_ms) => start_ms - lead_h * hour_ms,
    )
    weather.push(packSteps(onGrid(known, grid)))
  }
  return { courses, weather, grid }
}

function historyOf({ courses, weather, grid }: Past, { logger_id }: ForecastTarget): History {
  const course = logger_id === null ? courses.site : courses.plants.get(logger_id)!
  return { course, weather, grid }
}

/** Renews outdated runs of every site for today and the days ahead. */
export async function runForecasts(needs: RunNeeds & JobContext): Promise<void> {
  const { db, clock } = needs
  const now = clock.now()
  const sites = await db.query<{ site_id: string }>(
    'select distinct site_id from loggers where retired_at is null order by site_id',
  )
  const today = utcDayStart(now)
  const days = Array.from({ length: days_ahead + 1 }, (_, ahead) => today + ahead * day_ms)
  const failure = 'production forecast failed'
  await eachOf(sites, { ...needs, failure }, async ({ site_id }) => {
    const targets = targetsOf(await readPlants(db, site_id))
    const due: number[] = []
    for (const day of days) {
      const { is_due } = await readIssued(db, site_id, { targets, day, now })
      if (is_due) due.push(day)
    }
    await makeRuns(needs, site_id, { days: due, isWanted: ({ is_due }) => is_due })
  })
}
