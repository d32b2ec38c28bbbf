/** Trains production models: one per target of every site, each on its own history. */

import { cached } from '@heliograph/domain/cached'
import { systemStopwatch } from '@heliograph/domain/clock'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { seedOf } from '@heliograph/forecast/seeded-random'
import type { JobContext } from '../jobs/job.ts'
import type { Queries } from '../storage/database.ts'
import { sitesWithDueHours } from '../telemetry/touched-hours.ts'
import { gateOf } from './assigned-market.ts'
import { readCourses } from './course.ts'
import { eachOf } from './each-of.ts'
import { type Gate, gateClosureOf } from './gate-closure.ts'
import {
  modelInUse,
  nextVersion,
  productionModels,
  recordTraining,
  storeModel,
  unreadable,
} from './model-store.ts'
import { packInChunks } from './pack-in-chunks.ts'
import { plantOf, stepMinutes } from './production-runs.ts'
import { type NewRun, replaceHindcasts, seriesOf } from './run-store.ts'
import { scored_days_max, scoreSite } from './score-runs.ts'
import { type ForecastSite, type ForecastTarget, readForecastSite } from './targets.ts'
import type { Grid, History, Trained } from './tasks.ts'
import type { ForecastThread } from './thread.ts'
import type { KnownStep } from './weather/run.ts'
import { weatherHistory } from './weather/store.ts'
import { onGrid, packSteps } from './weather-grid.ts'

/** Older data no longer represents the plant. */
const history_days_max = 730
/** Last days, which score a model: two weeks, or a quarter of a short history. */
export const holdOutDays = (history_days: number): number =>
  history_days >= 90 ? 14 : Math.min(7, Math.max(2, Math.floor(history_days / 4)))

interface TrainNeeds extends JobContext {
  thread: ForecastThread
}

export async function trainForecasts(needs: TrainNeeds, which: { only_untried: boolean }) {
  const sites = await sitesToTrain(needs.db, { ...which, now: needs.clock.now() })
  const failure = 'forecast training failed'
  await eachOf(
    sites.map((site_id) => ({ site_id })),
    { ...needs, failure },
    ({ site_id }) => trainSite(needs, site_id),
  )
}

/**
 * All sites with plants, by id. `only_untried` selects sites that
 * - were never trained,
 * - have an unreadable model, or
 * - received archived weather, since or during the last training, older than the data of any model
 *   in use (the archive is fetched over minutes, newest days first).
 *
 * Of these, sites whose hourly sums are incomplete are skipped: a model trained on half of the
 * history would be used until the next night.
 */
export async function sitesToTrain(
  db: Queries,
  { only_untried, now }: { only_untried: boolean; now: Date },
): Promise<string[]> {
  const sites = await db.query<{ site_id: string }>(
    `select distinct site_id from loggers l
     where retired_at is null and (not $1
       or not exists (select from forecast_trainings t where t.site_id = l.site_id)
       or exists (
         select from forecast_trainings t
         where t.site_id = l.site_id and t.target in ('site', 'logger:' || l.logger_id)
           and t.error = $2)
       or exists (
         select from weather_runs w
         where w.site_id = l.site_id and w.kind = 'previous'
           and w.fetched_at > (
             select max(ended_at) - interval '15 minutes' from forecast_trainings t
             where t.site_id = l.site_id)
           and not exists (
             select from forecast_models m
             where m.site_id = l.site_id and m.state = 'in_use'
               and (m.facts->>'from_at')::timestamptz < w.to_at)))
     order by site_id`,
    [only_untried, unreadable],
  )
  const ids = sites.map(({ site_id }) => site_id)
  if (!only_untried || ids.length === 0) return ids
  const unfinished = await sitesWithDueHours(db, now, new Date(utcDayStart(now)))
  return ids.filter((site_id) => !unfinished.includes(site_id))
}

async function trainSite(needs: TrainNeeds, site_id: string): Promise<void> {
  const { db, clock, signal } = needs
  const site = await readForecastSite(db, site_id)
  // Without a position or panels there is nothing to train.
  if (!site?.targets.some((target) => plantOf(site, target))) return
  const now = clock.now()
  const span = await historySpan(db, site_id, now)
  if (!span) return
  const gate = await gateOf(db, { site_id, logger_id: null }, utcDate(now))
  const { grid, weather } = await readWeather(needs, { site_id, gate, ...span })
  const logger_ids = site.targets.flatMap(({ logger_id }) => logger_id ?? [])
  const courses = await readCourses(db, { site_id, logger_ids, ...grid }, signal)
  for (const target of site.targets) {
    signal.throwIfAborted()
    const course = target.logger_id === null ? courses.site : courses.plants.get(target.logger_id)!
    await trainTarget(needs, { site, target, gate, history: { course, weather, grid } })
  }
  await scoreSite({ ...needs, site, gate, courses }, now)
}

/** From the day of the first measured hour, at most two years ago, to the end of yesterday. */
async function historySpan(db: Queries, site_id: string, now: Date) {
  const to_ms = utcDayStart(now)
  const [first] = await db.query<{ at: Date | null }>(
    'select min(hour_at) as at from logger_hours where site_id = $1 and hour_at >= $2',
    [site_id, new Date(to_ms - history_days_max * day_ms).toISOString()],
  )
  if (!first?.at || first.at.getTime() >= to_ms) return null
  return { from_ms: utcDayStart(first.at), to_ms }
}

/**
 * Weather as known at the gate closure for the day of a step, an hour before the step, and a day
 * before the gate closure (for forecasts two days ahead).
 */
async function readWeather(
  { db }: TrainNeeds,
  asked: { site_id: string; gate: Gate; from_ms: number; to_ms: number },
): Promise<{ grid: Grid; weather: Float64Array[] }> {
  const { site_id, from_ms, to_ms } = asked
  const window = { from: new Date(from_ms), to: new Date(to_ms) }
  const gateAt = gateOfDay(asked.gate)
  const day_ahead = await weatherHistory(db, site_id, window, gateAt)
  const intraday = await weatherHistory(db, site_id, window, (start_ms) => start_ms - hour_ms)
  const days_ahead = await weatherHistory(
    db,
    site_id,
    window,
    (start_ms) => gateAt(start_ms) - day_ms,
  )
  const grid = { from_ms, to_ms, step_ms: stepMinutes(intraday) * 60_000 }
  const packed = (known: readonly KnownStep[]) =>
    packInChunks(grid, (piece) => packSteps(onGrid(known, { ...grid, ...piece })))
  const series = [day_ahead, intraday, days_ahead]
  const weather: Float64Array[] = []
  for (const known of series) weather.push(await packed(known))
  return { grid, weather }
}

/** Gate closure for the first hour of the step's UTC day, applied to the whole day. */
const gateOfDay = (gate: Gate) =>
  cached((start_ms: number) => gateClosureOf(utcDayStart(start_ms), gate), utcDayStart)

interface Subject {
  site: ForecastSite
  target: ForecastTarget
  gate: Gate
  history: History
}

async function trainTarget(needs: TrainNeeds, { site, target, gate, history }: Subject) {
  const { db, clock, thread } = needs
  const { site_id } = site
  const plant = plantOf(site, target)
  if (!plant) return
  const models = productionModels(site_id, target.target)
  const used = await modelInUse(db, models)
  const version = await nextVersion(db, models)
  const history_days = (history.grid.to_ms - history.grid.from_ms) / day_ms
  const began_ms = systemStopwatch.elapsedMs()
  const ended = (error: string | null, sample_count: number) =>
    recordTraining(db, site_id, {
      target: target.target,
      ended_at: clock.now(),
      error,
      sample_count,
    })
  try {
    const { trained, sample_count } = await thread.run({
      kind: 'train',
      plant,
      history,
      hold_out_days: holdOutDays(history_days),
      previous: used?.model ?? null,
      seed: seedOf(`${site_id} ${target.target} ${version}`),
    })
    if (trained) {
      const training_s = rounded((systemStopwatch.elapsedMs() - began_ms) / 1000, 3)
      await storeTrained(needs, { site, target, gate, history }, { trained, training_s })
    }
    await ended(null, sample_count)
  } catch (error) {
    await ended((error as Error).message, 0)
    throw error
  }
}

/** Stores the model, and hindcasts of the hold-out by the model in use from now on. */
async function storeTrained(
  { db, clock }: TrainNeeds,
  { site: { site_id }, target: { target }, gate, history }: Subject,
  { trained, training_s }: { trained: Trained; training_s: number },
): Promise<void> {
  const { facts, scores, is_worse, hindcasts } = trained
  await db.transaction(async (tx) => {
    const version = await storeModel(tx, productionModels(site_id, target), {
      trained_at: clock.now(),
      facts: { ...facts, training_s },
      scores,
      model: trained.model,
      is_worse,
    })
    if (hindcasts.length === 0) return
    const runs = hindcasts.map(
      ({ from_ms, forecast }): NewRun => ({
        ...seriesOf(forecast),
        target,
        target_date: utcDate(from_ms),
        issued_at: new Date(gateClosureOf(from_ms, gate)),
        is_hindcast: true,
        model: is_worse ? 'physical' : 'blend',
        model_version: is_worse ? null : version,
        fallback_reason: is_worse ? 'physics_was_better' : null,
        weather_source: null,
        weather_issued_at: null,
        resolution_minutes: history.grid.step_ms / 60_000,
      }),
    )
    const kept_from = utcDate(history.grid.to_ms - scored_days_max * day_ms)
    await replaceHindcasts(tx, site_id, { target, runs, kept_from })
  })
}
