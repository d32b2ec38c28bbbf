/** Weather forecasts in the database, and how the fetching of them goes. */
import { day_ms, utcDayStart } from '@heliograph/domain/utc-day'
import type { Queries } from '../../storage/database.ts'
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
  /** Why it failed last. It says so also when it has succeeded since, or in part. */
  failure: string | null
  /** In a row, up to now. */
  failure_count: number
  /** The source is not asked before. */
  due_at: Date
  last_modified: string | null
}

export interface WeatherForecastStore {
  /** Keeps a run; one of an archive that is there already is replaced. Returns its id. */
  save(run: NewRun): Promise<number>
  /** The newest that was fetched as it was issued; null where there is none. */
  newest(site_id: string): Promise<WeatherRun | null>
  /**
   * What was known at an instant: of each step within the window, ascending, the newest forecast
   * that was issued (and, where it was fetched live, fetched) at `at` or before.
   */
  knownAt(site_id: string, at: Date, window: Window): Promise<KnownStep[]>
  /**
   * The same over a long past, with an instant for each step: what was known at `knownBy` of its
   * start, both Unix ms. For training on what would have been known, such as at a gate closure.
   */
  history(
    site_id: string,
    window: Window,
    knownBy: (start_ms: number) => number,
  ): Promise<KnownStep[]>
  /** Runs that were issued in the window, the newest first. */
  runs(site_id: string, window: Window): Promise<RunFacts[]>
  /** How the fetching goes; null where it was never begun. */
  state(site_id: string): Promise<FetchState | null>
  saveState(site_id: string, state: FetchState): Promise<void>
  /** The days (UTC, Unix ms of their start) within the window of which an archive was asked. */
  previousDays(site_id: string, source: string, window: Window): Promise<Set<number>>
}

const span = ({ from, to }: Window) => ({ from_ms: from.getTime(), to_ms: to.getTime() })

const minute_ms = 60_000
/** Of history at once: bounds what is in memory, and how long reading it holds up requests. */
const piece_ms = 3 * day_ms

const facts_columns = `site_id, run_id, source, kind, issued_at, fetched_at, model, lead_minutes,
  resolution_minutes, from_at, to_at`
const step_columns = quantities.join(', ')

type Row = RunFacts & { [quantity in Quantity]: (number | null)[] }

export function createWeatherForecastStore(db: Queries): WeatherForecastStore {
  /** Those with a step in the window that can have been known by then. */
  async function overlapping(site_id: string, { from, to }: Window, by: Date) {
    const rows = await db.query<Row>(
      `select ${facts_columns}, ${step_columns} from weather_runs
       where site_id = $1 and from_at < $3 and to_at > $2
         and from_at > $2::timestamptz - interval '${run_days_max} days'
         and case kind when 'live' then fetched_at
             else from_at + make_interval(mins => resolution_minutes - lead_minutes) end <= $4
       order by run_id`,
      [site_id, from, to, by],
    )
    return rows.map((row) => runOf(row, span({ from, to })))
  }

  return {
    save: (run) => saveRun(db, run),
    async newest(site_id) {
      const [row] = await db.query<Row>(
        `select ${facts_columns}, ${step_columns} from weather_runs
         where site_id = $1 and kind = 'live' order by fetched_at desc limit 1`,
        [site_id],
      )
      return row ? runOf(row) : null
    },
    async knownAt(site_id, at, window) {
      const runs = await overlapping(site_id, window, at)
      return newestKnown(runs, span(window), () => at.getTime())
    },
    async history(site_id, window, knownBy) {
      const { from_ms, to_ms } = span(window)
      const known: KnownStep[] = []
      for (let start_ms = from_ms; start_ms < to_ms; start_ms += piece_ms) {
        const piece = {
          from: new Date(start_ms),
          to: new Date(Math.min(to_ms, start_ms + piece_ms)),
        }
        const runs = await overlapping(site_id, piece, window.to)
        const steps = newestKnown(runs, span(piece), knownBy)
        // A step across the border is of the piece that it begins in.
        const last_ms = known.at(-1)?.end_ms ?? Number.NEGATIVE_INFINITY
        known.push(...steps.filter((step) => step.start_ms >= last_ms))
      }
      return known
    },
    runs: (site_id, { from, to }) =>
      db.query<RunFacts>(
        `select ${facts_columns} from weather_runs
         where site_id = $1 and issued_at >= $2 and issued_at < $3
         order by issued_at desc, run_id desc`,
        [site_id, from, to],
      ),
    async state(site_id) {
      const [state] = await db.query<FetchState>(
        `select source, succeeded_at, failed_at, failure, failure_count, due_at, last_modified
         from weather_fetches where site_id = $1`,
        [site_id],
      )
      return state ?? null
    },
    saveState: (site_id, state) => saveState(db, site_id, state),
    previousDays: (site_id, source, window) => readPreviousDays(db, { site_id, source }, window),
  }
}

async function readPreviousDays(
  db: Queries,
  { site_id, source }: { site_id: string; source: string },
  { from, to }: Window,
): Promise<Set<number>> {
  const rows = await db.query<{ from_at: Date }>(
    `select distinct from_at from weather_runs
     where site_id = $1 and source = $2 and kind = 'previous' and from_at >= $3 and from_at < $4`,
    [site_id, source, from, to],
  )
  return new Set(rows.map(({ from_at }) => utcDayStart(from_at)))
}

async function saveRun(db: Queries, run: NewRun): Promise<number> {
  const { resolution_minutes } = checkRun(run)
  const { site_id, source, kind, issued_at, fetched_at, model, lead_minutes, steps } = run
  const values = [
    site_id,
    source,
    kind,
    issued_at,
    fetched_at,
    model,
    lead_minutes,
    resolution_minutes,
    new Date(steps[0]!.start_ms),
    new Date(steps.at(-1)!.end_ms),
    ...quantities.map((quantity) => steps.map((step) => step[quantity])),
  ]
  const columns = facts_columns.replace(' run_id,', '')
  const replaced = ['fetched_at', 'issued_at', 'to_at', 'resolution_minutes', ...quantities]
  const [saved] = await db.query<{ run_id: number }>(
    `insert into weather_runs (${columns}, ${step_columns})
     values (${values.map((_, index) => `$${index + 1}`).join(', ')})
     on conflict (site_id, source, lead_minutes, from_at) where kind = 'previous'
     do update set ${replaced.map((column) => `${column} = excluded.${column}`).join(', ')}
     returning run_id`,
    values,
  )
  return saved!.run_id
}

async function saveState(db: Queries, site_id: string, state: FetchState): Promise<void> {
  const { source, succeeded_at, failed_at, failure, failure_count, due_at, last_modified } = state
  await db.execute(
    `insert into weather_fetches (site_id, source, succeeded_at, failed_at, failure, failure_count,
       due_at, last_modified)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (site_id) do update set source = excluded.source,
       succeeded_at = excluded.succeeded_at, failed_at = excluded.failed_at,
       failure = excluded.failure, failure_count = excluded.failure_count,
       due_at = excluded.due_at, last_modified = excluded.last_modified`,
    [site_id, source, succeeded_at, failed_at, failure, failure_count, due_at, last_modified],
  )
}

/** With the steps within a span of time, or with all of them. */
function runOf(row: Row, span?: { from_ms: number; to_ms: number }): WeatherRun {
  const { site_id, run_id, source, kind, issued_at, fetched_at, model, lead_minutes } = row
  const step_ms = row.resolution_minutes * minute_ms
  const [first_ms, last_ms] = [row.from_at.getTime(), row.to_at.getTime()]
  const steps: ForecastStep[] = []
  for (let at = 0, start_ms = first_ms; start_ms < last_ms; at += 1, start_ms += step_ms) {
    const end_ms = start_ms + step_ms
    if (span && (end_ms <= span.from_ms || start_ms >= span.to_ms)) continue
    steps.push({
      start_ms,
      end_ms,
      ghi_w_m2: row.ghi_w_m2[at] ?? null,
      dni_w_m2: row.dni_w_m2[at] ?? null,
      dhi_w_m2: row.dhi_w_m2[at] ?? null,
      temperature_c: row.temperature_c[at] ?? null,
      wind_speed_m_s: row.wind_speed_m_s[at] ?? null,
      cloud_cover_pct: row.cloud_cover_pct[at] ?? null,
      relative_humidity_pct: row.relative_humidity_pct[at] ?? null,
      ghi_p10_w_m2: row.ghi_p10_w_m2[at] ?? null,
      ghi_p90_w_m2: row.ghi_p90_w_m2[at] ?? null,
    })
  }
  return { site_id, run_id, source, kind, issued_at, fetched_at, model, lead_minutes, steps }
}
