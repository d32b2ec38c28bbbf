/** Weather forecasts in the database, and the state of fetching them. */

import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { utcDayStart } from '@heliograph/domain/utc-day'
import type { Queries } from '../../storage/database.ts'
import { insertRow, putRow } from '../../storage/rows.ts'
import {
  checkRun,
  type ForecastStep,
  type KnownStep,
  type NewRun,
  newestKnown,
  type Quantity,
  quantities,
  type RunFacts,
  run_days_max,
  type WeatherRun,
} from './run.ts'

/** The instants of [from, to). */
interface Window {
  from: Date
  to: Date
}

export interface FetchState {
  source: string
  succeeded_at: Date | null
  failed_at: Date | null
  /** Reason of the last failure, also after a later or partial success. */
  failure: string | null
  /** Consecutive failures up to now. */
  failure_count: number
  /** Time of the next request to the source. */
  due_at: Date
  last_modified: string | null
}

const span = ({ from, to }: Window) => ({ from_ms: from.getTime(), to_ms: to.getTime() })

/** Length of history per query: bounds memory and the time that it blocks requests. */
const chunk_ms = 3 * day_ms

const facts_columns = `site_id, run_id, source, kind, issued_at, fetched_at, model, lead_minutes,
  resolution_minutes, from_at, to_at`
const step_columns = quantities.join(', ')

type Row = RunFacts & { [quantity in Quantity]: (number | null)[] }

/** The newest run that was fetched live; null without any. */
export async function newestRun(db: Queries, site_id: string): Promise<WeatherRun | null> {
  const [row] = await db.query<Row>(
    `select ${facts_columns}, ${step_columns} from weather_runs
     where site_id = $1 and kind = 'live' order by fetched_at desc limit 1`,
    [site_id],
  )
  return row ? runOf(row) : null
}

/**
 * The weather known at an instant: for each step within the window, ascending, the newest forecast
 * that was issued (and, for live runs, fetched) at `at` or before.
 */
export async function knownWeather(db: Queries, site_id: string, at: Date, window: Window) {
  const runs = await runsKnownBy(db, site_id, window, at)
  return newestKnown(runs, span(window), () => at.getTime())
}

/**
 * As `knownWeather` over a long past, with an instant for each step: `knownBy` of its start, both
 * Unix ms. Gives training the weather as it was known at, say, the gate closure.
 */
export async function weatherHistory(
  db: Queries,
  site_id: string,
  window: Window,
  knownBy: (start_ms: number) => number,
): Promise<KnownStep[]> {
  const { from_ms, to_ms } = span(window)
  const known: KnownStep[] = []
  for (let start_ms = from_ms; start_ms < to_ms; start_ms += chunk_ms) {
    const chunk = { from: new Date(start_ms), to: new Date(Math.min(to_ms, start_ms + chunk_ms)) }
    const runs = await runsKnownBy(db, site_id, chunk, window.to)
    const steps = newestKnown(runs, span(chunk), knownBy)
    // A step across the boundary belongs to the chunk that it starts in.
    const last_ms = known.at(-1)?.end_ms ?? Number.NEGATIVE_INFINITY
    known.push(...steps.filter((step) => step.start_ms >= last_ms))
  }
  return known
}

/** Runs with a step in the window that can have been known at `at`. */
async function runsKnownBy(db: Queries, site_id: string, { from, to }: Window, at: Date) {
  const rows = await db.query<Row>(
    `select ${facts_columns}, ${step_columns} from weather_runs
     where site_id = $1 and from_at < $3 and to_at > $2
       and from_at > $2::timestamptz - interval '${run_days_max} days'
       and case kind when 'live' then fetched_at
           else from_at + make_interval(mins => resolution_minutes - lead_minutes) end <= $4
     order by run_id`,
    [site_id, from, to, at],
  )
  return rows.map((row) => runOf(row, span({ from, to })))
}

const state_columns = [
  'source',
  'succeeded_at',
  'failed_at',
  'failure',
  'failure_count',
  'due_at',
  'last_modified',
] as const satisfies (keyof FetchState)[]

/** null before the first request to a source. */
export const readFetchState = (db: Queries, site_id: string) =>
  db.queryOne<FetchState>(
    `select ${state_columns.join(', ')} from weather_fetches where site_id = $1`,
    [site_id],
  )

export async function saveFetchState(db: Queries, site_id: string, state: FetchState) {
  await putRow(db, 'weather_fetches', { site_id }, { ...state })
}

/** Days within the window that an archive was fetched for: UTC, Unix ms of their start. */
export async function readArchivedDays(
  db: Queries,
  site_id: string,
  source: string,
  { from, to }: Window,
): Promise<Set<number>> {
  const rows = await db.query<{ from_at: Date }>(
    `select distinct from_at from weather_runs
     where site_id = $1 and source = $2 and kind = 'previous' and from_at >= $3 and from_at < $4`,
    [site_id, source, from, to],
  )
  return new Set(rows.map(({ from_at }) => utcDayStart(from_at)))
}

/** Stores a run, replacing the same run of an archive; returns its id. */
export async function saveRun(db: Queries, run: NewRun): Promise<number> {
  const { steps, ...facts } = run
  const series = quantities.map((quantity) => [quantity, steps.map((step) => step[quantity])])
  const columns = {
    ...facts,
    ...checkRun(run),
    from_at: new Date(steps[0]!.start_ms),
    to_at: new Date(steps.at(-1)!.end_ms),
    ...Object.fromEntries(series),
  }
  const replaced = ['fetched_at', 'issued_at', 'to_at', 'resolution_minutes', ...quantities]
  const saved = await insertRow<{ run_id: number }>(
    db,
    'weather_runs',
    columns,
    `on conflict (site_id, source, lead_minutes, from_at) where kind = 'previous'
     do update set ${replaced.map((column) => `${column} = excluded.${column}`).join(', ')}
     returning run_id`,
  )
  return saved!.run_id
}

/** A run with its steps within a span; with all steps by default. */
function runOf(row: Row, span?: { from_ms: number; to_ms: number }): WeatherRun {
  const { site_id, run_id, source, kind, issued_at, fetched_at, model, lead_minutes } = row
  const step_ms = row.resolution_minutes * minute_ms
  const [first_ms, last_ms] = [row.from_at.getTime(), row.to_at.getTime()]
  const steps: ForecastStep[] = []
  for (let at = 0, start_ms = first_ms; start_ms < last_ms; at += 1, start_ms += step_ms) {
    const end_ms = start_ms + step_ms
    if (span && (end_ms <= span.from_ms || start_ms >= span.to_ms)) continue
    const values = Object.fromEntries(
      quantities.map((quantity) => [quantity, row[quantity][at] ?? null]),
    ) as Record<Quantity, number | null>
    steps.push({ start_ms, end_ms, ...values })
  }
  return { site_id, run_id, source, kind, issued_at, fetched_at, model, lead_minutes, steps }
}
