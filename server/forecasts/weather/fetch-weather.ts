/**
 * Fetches weather for every site with a position: a forecast at most every hour and, if the source
 * has an archive, past forecasts for each day with readings. Failed requests are retried with
 * exponential backoff; stored forecasts stay.
 */

import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { type Place, type Position, placeOf } from '@heliograph/domain/place'
import { utcDayStart } from '@heliograph/domain/utc-day'
import type { JobContext } from '../../jobs/job.ts'
import { SourceFault } from '../../markets/sources/source.ts'
import { siteElevation } from '../../plant/site-elevation.ts'
import type { Queries } from '../../storage/database.ts'
import { type ForecastStep, type NewRun, quantities } from './run.ts'
import type { WeatherSettings } from './settings.ts'
import type { Forecast, PreviousSteps, WeatherSource } from './source.ts'
import { metNorway } from './sources/met-norway.ts'
import { openMeteo } from './sources/open-meteo.ts'
import {
  type FetchState,
  newestRun,
  readArchivedDays,
  readFetchState,
  saveFetchState,
  saveRun,
} from './store.ts'

/** Interval of forecast requests. */
const every_ms = hour_ms
/** First retry delay, doubled with each failure up to an hour. */
const retry_ms = minute_ms
/** Longest delay that an `Expires` header of a service can cause. */
const delay_ms_max = day_ms
const request_days_max = 31
const archive_days_max = 730
const failed_in_a_row_max = 3
const failure_chars_max = 300

export const no_position = 'the site has no position: latitude and longitude in its site.yaml'

interface Needs extends JobContext {
  settings: WeatherSettings | null
}

interface Site {
  site_id: string
  place: Place | null
  /** Oldest hour with readings; null without any. */
  readings_from: Date | null
}

function sourceOf(settings: WeatherSettings): WeatherSource {
  return { open_meteo: openMeteo, met_norway: metNorway }[settings.source](settings)
}

/**
 * Fetches one site after the other. Failures are stored in the state of the site and do not stop
 * other sites, but several in a row end the run.
 */
export async function fetchWeather({ db, clock, log, settings, signal }: Needs): Promise<void> {
  if (settings === null) return
  const source = sourceOf(settings)
  let failed_in_a_row = 0
  for (const site of await readSites(db)) {
    signal.throwIfAborted()
    const fetching = { db, clock, source, now: clock.now(), signal }
    const { failed_at, failure } = await fetchSite(site, fetching)
    const has_failed = failed_at === fetching.now && failure !== no_position
    if (has_failed) log.warn({ site_id: site.site_id, failure }, 'weather fetch failed')
    failed_in_a_row = has_failed ? failed_in_a_row + 1 : 0
    if (failed_in_a_row === failed_in_a_row_max) return
  }
}

interface Fetching extends Omit<JobContext, 'log'> {
  source: WeatherSource
  now: Date
}

type Placed = Site & { place: Place }

async function fetchSite({ place, ...site }: Site, fetching: Fetching): Promise<FetchState> {
  const { db, source, now } = fetching
  const known = await readFetchState(db, site.site_id)
  let state = known?.source === source.name ? known : initialState(source.name, now)
  if (state.due_at <= now) {
    let next = state
    const failure =
      place === null
        ? no_position
        : await failureOf(fetching, async () => {
            next = await fetchForecast({ ...site, place }, state, fetching)
          })
    state = failure === null ? next : failedAgain(state, now, failure)
    await saveFetchState(db, site.site_id, state)
  }
  // After a failure the archive waits for the next forecast.
  if (place === null || state.failure_count > 0) return state
  const failure = await failureOf(fetching, () => fetchArchive({ ...site, place }, fetching))
  if (failure === null) return state
  state = { ...state, failed_at: now, failure, failure_count: 1 }
  await saveFetchState(db, site.site_id, state)
  return state
}

const initialState = (source: string, now: Date): FetchState => ({
  source,
  succeeded_at: null,
  failed_at: null,
  failure: null,
  failure_count: 0,
  due_at: now,
  last_modified: null,
})

function failedAgain(state: FetchState, now: Date, failure: string): FetchState {
  const failure_count = state.failure_count + 1
  const delay_ms = Math.min(every_ms, retry_ms * 2 ** (failure_count - 1))
  const due_at = new Date(now.getTime() + delay_ms)
  return { ...state, failed_at: now, failure, failure_count, due_at }
}

/** Message of a `SourceFault`, null without one; other errors and aborts are thrown. */
async function failureOf({ signal }: Fetching, work: () => Promise<void>): Promise<string | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (!(error instanceof SourceFault) || signal.aborted) throw error
    return error.message.slice(0, failure_chars_max)
  }
}

/** Stores a new forecast, if there is one, and returns the new state. */
async function fetchForecast(
  { site_id, place }: Placed,
  state: FetchState,
  fetching: Fetching,
): Promise<FetchState> {
  const { source, clock, now, signal } = fetching
  const answer = await source.forecast(place, { now, signal, last_modified: state.last_modified })
  const { forecast, expires_at, last_modified } = answer
  const fetched_at = clock.now()
  if (forecast) await saveIfNew(liveRun(site_id, source.name, forecast, fetched_at), fetching)
  const due_ms = Math.max(now.getTime() + every_ms, expires_at?.getTime() ?? 0)
  const shortcoming = forecast?.shortcoming ?? null
  return {
    ...state,
    succeeded_at: fetched_at,
    failure_count: 0,
    last_modified,
    due_at: new Date(Math.min(due_ms, now.getTime() + delay_ms_max)),
    ...(shortcoming !== null && { failed_at: now, failure: shortcoming }),
  }
}

/** Stores a forecast unless it repeats the previous one. */
async function saveIfNew(run: NewRun, { db }: Fetching): Promise<void> {
  const newest = await newestRun(db, run.site_id)
  const is_known = newest?.source === run.source && repeats(run.steps, newest.steps)
  if (!is_known) await saveRun(db, run)
}

function liveRun(site_id: string, source: string, forecast: Forecast, fetched_at: Date): NewRun {
  const { issued_at, model, steps } = forecast
  return {
    site_id,
    source,
    kind: 'live',
    model,
    steps,
    lead_minutes: null,
    issued_at: issued_at === null || issued_at > fetched_at ? fetched_at : issued_at,
    fetched_at,
  }
}

/** Every step was known with the same values, as rounded by the database. */
function repeats(steps: readonly ForecastStep[], known: readonly ForecastStep[]): boolean {
  const by_start = new Map(known.map((step) => [step.start_ms, step]))
  const isSame = (a: number | null, b: number | null) =>
    a === b || (a !== null && b !== null && Math.fround(a) === Math.fround(b))
  return steps.every((step) => {
    const before = by_start.get(step.start_ms)
    return before && quantities.every((quantity) => isSame(step[quantity], before[quantity]))
  })
}

/** Fetches missing days of the archive, the newest and most useful first. */
async function fetchArchive(
  { site_id, place, readings_from }: Placed,
  { db, clock, source, now, signal }: Fetching,
): Promise<void> {
  if (source.previous === null || readings_from === null) return
  const today_ms = utcDayStart(now)
  const oldest_ms = today_ms - archive_days_max * day_ms
  const from_ms = Math.max(utcDayStart(readings_from), oldest_ms)
  const window = { from: new Date(from_ms), to: new Date(today_ms) }
  const there = await readArchivedDays(db, site_id, source.name, window)
  for (const days of missingDays({ from_ms, to_ms: today_ms }, there)) {
    signal.throwIfAborted()
    const answer = await source.previous(place, days, { now, signal })
    const fetched_at = clock.now()
    const runs = answer.flatMap((previous) => daysOf(previous, { site_id, source, fetched_at }))
    const asked = (days.to.getTime() - days.from.getTime()) / day_ms
    if (runs.length < asked * answer.length) {
      const which = `${days.from.toISOString()} to ${days.to.toISOString()}`
      throw new SourceFault(`${source.name}: its archive did not answer all days of ${which}`)
    }
    // Stores all lead times of a day or none, so that stored days are complete.
    await db.transaction(async (transaction) => {
      for (const run of runs) await saveRun(transaction, run)
    })
  }
}

/** One run per day. */
function daysOf(
  { lead_minutes, model, steps }: PreviousSteps,
  { site_id, source, fetched_at }: { site_id: string; source: WeatherSource; fetched_at: Date },
): NewRun[] {
  const days = Map.groupBy(steps, ({ start_ms }) => utcDayStart(start_ms))
  return [...days.values()].map((of_day) => ({
    site_id,
    source: source.name,
    kind: 'previous',
    model,
    lead_minutes,
    fetched_at,
    issued_at: new Date(of_day.at(-1)!.end_ms - lead_minutes * minute_ms),
    steps: of_day,
  }))
}

/** Ranges of missing days, the newest first, each short enough for a request. */
export function missingDays(
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
  there: ReadonlySet<number>,
): { from: Date; to: Date }[] {
  const missing: { from: Date; to: Date }[] = []
  for (let day = to_ms - day_ms; day >= from_ms; day -= day_ms) {
    if (there.has(day)) continue
    const newest = missing.at(-1)
    const length_ms = newest ? newest.to.getTime() - day : 0
    if (newest?.from.getTime() === day + day_ms && length_ms <= request_days_max * day_ms) {
      newest.from = new Date(day)
    } else missing.push({ from: new Date(day), to: new Date(day + day_ms) })
  }
  return missing
}

async function readSites(db: Queries): Promise<Site[]> {
  const rows = await db.query<Position & { site_id: string; readings_from: Date | null }>(
    `select s.site_id, (inventory->>'latitude')::float8 as latitude,
       (inventory->>'longitude')::float8 as longitude, ${siteElevation('s.site_id')} as elevation_m,
       least(
         (select min(hour_at) from inverter_hours h where h.site_id = s.site_id),
         (select min(hour_at) from touched_hours t
          where t.site_id = s.site_id and t.kind = 'inverter')) as readings_from
     from sites s where inventory is not null order by s.site_id`,
  )
  return rows.map(({ site_id, readings_from, ...position }) => {
    return { site_id, readings_from, place: placeOf(position) }
  })
}
