/** Forecasts of a day as they are asked for: those that were issued, made anew where it is due. */
import type { Clock } from '@heliograph/domain/clock'
import type { Database } from '../storage/database.ts'
import { type KnownLimit, readKnownLimits } from './limits.ts'
import { day_ms, isWithinReach, makeRuns } from './production-runs.ts'
import { type ForecastRun, newestRuns } from './run-store.ts'
import { readForecastSite, type Target, targetOf } from './targets.ts'
import type { ForecastThread } from './thread.ts'

export interface PlantName {
  logger_id: number
  name: string
}

export interface DayForecasts {
  /** By id; those in service. */
  plants: PlantName[]
  /** The last run of each target that was issued; none for targets without. */
  runs: Map<Target, ForecastRun>
  limits: KnownLimit[]
  /** Made for this request. */
  is_new: boolean
  is_within_reach: boolean
  /** Whether the position of the site is known; not looked up where every target has a run. */
  has_place: boolean
}

export interface Forecasts {
  /** `date` is a day of UTC. */
  day(site_id: string, date: string, options: { refresh: boolean }): Promise<DayForecasts>
  /** The last runs that were issued for days of UTC, by day, as far as there are any. */
  issued(of: { site_id: string; target: Target }, dates: readonly string[]): Promise<ForecastRun[]>
}

/** What a request finds is made at once, and shared by all who ask for it meanwhile. */
export function createForecasts(needs: {
  db: Database
  clock: Clock
  thread: ForecastThread
}): Forecasts {
  const { db, clock } = needs
  const underway = new Map<string, Promise<void>>()

  function make(site_id: string, day: number): Promise<void> {
    const key = `${site_id} ${day}`
    let making = underway.get(key)
    if (!making) {
      making = makeRuns(needs, site_id, day).finally(() => underway.delete(key))
      underway.set(key, making)
    }
    return making
  }

  return {
    async day(site_id, date, { refresh }) {
      const day = Date.parse(date)
      const now = clock.now()
      const window = { from: new Date(day), to: new Date(day + day_ms) }
      const [plants, limits, weather_ms] = await Promise.all([
        readPlants(db, site_id),
        readKnownLimits(db, site_id, window),
        newestWeather(db, site_id, now),
      ])
      const targets = [null, ...plants.map(({ logger_id }) => logger_id)].map(targetOf)
      const asked = { targets, target_date: date, until: new Date(now.getTime() + 1) }
      const read = async () =>
        new Map((await newestRuns(db, site_id, asked)).map((run) => [run.target, run]))
      let runs = await read()
      const is_within_reach = isWithinReach(day, now)
      const is_due = refresh || isOutdated(runs, weather_ms)
      const is_new = is_within_reach && plants.length > 0 && is_due
      if (is_new) {
        await make(site_id, day)
        asked.until = new Date(clock.now().getTime() + 1)
        runs = await read()
      }
      const has_place = runs.size === targets.length || (await hasPlace(db, site_id))
      return { plants, runs, limits, is_new, is_within_reach, has_place }
    },
    async issued({ site_id, target }, dates) {
      const until = clock.now()
      const found = dates.map((target_date) =>
        newestRuns(db, site_id, { targets: [target], target_date, until }),
      )
      return (await Promise.all(found)).flat()
    },
  }
}

const readPlants = (db: Database, site_id: string): Promise<PlantName[]> =>
  db.query<PlantName>(
    `select logger_id, name from loggers
     where site_id = $1 and retired_at is null and rated_power_kw > 0 order by logger_id`,
    [site_id],
  )

/** When the newest weather forecast was issued, Unix ms; null without any of the last days. */
async function newestWeather(db: Database, site_id: string, now: Date): Promise<number | null> {
  const since = new Date(now.getTime() - 3 * day_ms)
  const [row] = await db.query<{ at: Date | null }>(
    `select max(issued_at) as at from weather_runs
     where site_id = $1 and kind = 'live' and from_at >= $2 and fetched_at <= $3`,
    [site_id, since.toISOString(), now.toISOString()],
  )
  return row?.at?.getTime() ?? null
}

/** Nothing was made, or the weather has been forecast anew since. */
function isOutdated(runs: ReadonlyMap<Target, ForecastRun>, weather_ms: number | null): boolean {
  const [any] = runs.values()
  if (!any) return true
  return weather_ms !== null && weather_ms > (any.weather_issued_at?.getTime() ?? 0)
}

async function hasPlace(db: Database, site_id: string): Promise<boolean> {
  return (await readForecastSite(db, site_id))?.place != null
}
