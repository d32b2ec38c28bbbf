/** Makes forecasts of production from the newest weather forecast, and keeps them as issued. */
import type { Clock } from '@heliograph/domain/clock'
import type { Plant } from '@heliograph/forecast/plant'
import type { Log, Queries } from '../storage/database.ts'
import type { KnownStep } from '../weather-forecasts/run.ts'
import { createWeatherForecastStore } from '../weather-forecasts/store.ts'
import { readCourses } from './course.ts'
import { modelInUse } from './model-store.ts'
import { type FallbackReason, type NewRun, seriesOf, storeRuns } from './run-store.ts'
import { type ForecastSite, type ForecastTarget, readForecastSite } from './targets.ts'
import type { History, PredictItem } from './tasks.ts'
import type { ForecastThread } from './thread.ts'
import { onGrid, packSteps } from './weather-grid.ts'

const minute_ms = 60_000
export const day_ms = 86_400_000
/** Days after today that are forecast. */
export const days_ahead = 2
/** Of history that tells how far physics is off at a plant without a model. */
const history_ms = 14 * day_ms

export interface RunNeeds {
  db: Queries
  clock: Clock
  thread: ForecastThread
}

/** Whether a day, midnight UTC in Unix ms, is one of those that are forecast. */
export function isWithinReach(day: number, now: Date): boolean {
  const today = Math.floor(now.getTime() / day_ms) * day_ms
  return day >= today && day <= today + days_ahead * day_ms
}

/** The arrays and ratings that a model needs; null where they are not known. */
export function plantOf(site: ForecastSite, target: ForecastTarget): Plant | null {
  const arrays = target.panels.filter(({ dc_capacity_kwp }) => dc_capacity_kwp > 0)
  if (site.place === null || arrays.length === 0) return null
  const { rated_power_kw } = target
  const dc_capacity_kwp = arrays.reduce((sum, array) => sum + array.dc_capacity_kwp, 0)
  return { rated_power_kw, dc_capacity_kwp, place: site.place, arrays }
}

/**
 * Makes and keeps a run of every target of a site for a day (midnight UTC, Unix ms) from what is
 * known now; targets whose panels or position are not known have none.
 */
export async function makeRuns(needs: RunNeeds, site_id: string, day: number): Promise<void> {
  const { db, clock, thread } = needs
  const site = await readForecastSite(db, site_id)
  if (!site) return
  const wanted = site.targets.flatMap((target) => {
    const plant = plantOf(site, target)
    return plant ? [{ target, plant }] : []
  })
  if (wanted.length === 0) return
  const issued_at = clock.now()
  const window = { from: new Date(day), to: new Date(day + day_ms) }
  const known = await createWeatherForecastStore(db).knownAt(site_id, issued_at, window)
  const items: (PredictItem & { version: number | null })[] = []
  for (const { target, plant } of wanted) {
    const model = await modelInUse(db, site_id, target.target)
    const step_ms = (model?.facts.step_minutes ?? stepMinutes(known)) * minute_ms
    const grid = { from_ms: day, to_ms: day + day_ms, step_ms }
    items.push({
      plant,
      grid,
      weather: packSteps(onGrid(known, grid)),
      model: model?.model ?? null,
      history: model ? null : await recentHistory(needs, site, target),
      version: model?.version ?? null,
    })
  }
  const forecasts = await thread.run({ kind: 'predict', issued_ms: issued_at.getTime(), items })
  const newest = known.reduce<KnownStep | null>(
    (best, step) => (best === null || step.issued_at > best.issued_at ? step : best),
    null,
  )
  const runs = wanted.map(({ target }, nth): NewRun => {
    const { version, weather, grid } = items[nth]!
    return {
      ...seriesOf(forecasts[nth]!),
      target: target.target,
      target_date: new Date(day).toISOString().slice(0, 10),
      issued_at,
      is_hindcast: false,
      model: version === null ? 'physical' : 'blend',
      model_version: version,
      fallback_reason: reasonOf(version, weather.length > 0),
      weather_source: newest?.source ?? null,
      weather_issued_at: newest?.issued_at ?? null,
      resolution_minutes: grid.step_ms / minute_ms,
    }
  })
  await storeRuns(db, site_id, runs)
}

/** Of most of the time that is known; an hour where nothing is. */
export function stepMinutes(known: readonly KnownStep[]): number {
  const lengths = new Map<number, number>()
  for (const { start_ms, end_ms } of known) {
    const length = end_ms - start_ms
    lengths.set(length, (lengths.get(length) ?? 0) + length)
  }
  const [most] = [...lengths].sort((a, b) => b[1] - a[1])
  return (most?.[0] ?? 60 * minute_ms) / minute_ms
}

function reasonOf(version: number | null, has_weather: boolean): FallbackReason | null {
  if (!has_weather) return 'no_weather_forecast'
  return version === null ? 'too_little_history' : null
}

/** What a target did lately and what had been forecast of the weather, an hour ahead. */
async function recentHistory(
  { db, clock }: RunNeeds,
  { site_id, targets }: ForecastSite,
  { logger_id }: ForecastTarget,
): Promise<History> {
  const hour_ms = 60 * minute_ms
  const to_ms = Math.floor(clock.now().getTime() / hour_ms) * hour_ms
  const grid = { from_ms: to_ms - history_ms, to_ms, step_ms: hour_ms }
  const logger_ids =
    logger_id === null ? targets.flatMap((target) => target.logger_id ?? []) : [logger_id]
  const courses = await readCourses(db, { site_id, logger_ids, ...grid })
  const known = await createWeatherForecastStore(db).history(
    site_id,
    { from: new Date(grid.from_ms), to: new Date(to_ms) },
    (start_ms) => start_ms - hour_ms,
  )
  return {
    course: logger_id === null ? courses.site : courses.plants.get(logger_id)!,
    weather: [packSteps(onGrid(known, grid))],
    grid,
  }
}

/** Today and the days ahead of every site, where the weather or a model is newer than the runs. */
export async function runForecasts(
  needs: RunNeeds & { log: Log; signal: AbortSignal },
): Promise<void> {
  const { db, clock, log, signal } = needs
  const now = clock.now()
  const sites = await db.query<{ site_id: string }>(
    'select distinct site_id from loggers where retired_at is null order by site_id',
  )
  const today = Math.floor(now.getTime() / day_ms) * day_ms
  const failed: string[] = []
  for (const { site_id } of sites) {
    for (let ahead = 0; ahead <= days_ahead; ahead += 1) {
      signal.throwIfAborted()
      const day = today + ahead * day_ms
      try {
        if (await isDue(db, site_id, day, now)) await makeRuns(needs, site_id, day)
      } catch (error) {
        signal.throwIfAborted()
        log.error({ err: error, site_id }, 'a forecast was not made')
        failed.push(site_id)
      }
    }
  }
  if (failed.length > 0) throw new Error(`no forecasts for ${[...new Set(failed)].join(', ')}`)
}

/** The newest run of the day is not of the newest weather, or not of the model in use. */
async function isDue(db: Queries, site_id: string, day: number, now: Date): Promise<boolean> {
  const [row] = await db.query<{ is_due: boolean }>(
    `with run as (
       select model_version, weather_issued_at from forecast_runs
       where site_id = $1 and target = 'site' and target_date = $2 and not is_hindcast
       order by issued_at desc, run_id desc limit 1)
     select not exists (select from run)
       or exists (select from weather_runs w, run
         where w.site_id = $1 and w.kind = 'live' and w.from_at >= $3 and w.fetched_at <= $4
           and w.issued_at > coalesce(run.weather_issued_at, '-infinity'))
       or exists (select from forecast_models m, run
         where m.site_id = $1 and m.target = 'site' and m.state = 'in_use'
           and m.version is distinct from run.model_version) as is_due`,
    [
      ...[site_id, new Date(day).toISOString().slice(0, 10)],
      ...[new Date(now.getTime() - 3 * day_ms).toISOString(), now.toISOString()],
    ],
  )
  return row!.is_due
}
