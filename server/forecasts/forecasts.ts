/** Forecasts of a day as they are asked for: those that were issued, made anew where it is due. */
import type { Clock } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/utc-day'
import type { Database } from '../storage/database.ts'
import { runForAll } from '../storage/reader.ts'
import { isOutage, type KnownLimit, readKnownLimits } from './limits.ts'
import { withoutOutages } from './outages.ts'
import { type Issued, isWithinReach, makeRuns, readIssued } from './production-runs.ts'
import { type ForecastRun, newestRuns } from './run-store.ts'
import { readForecastSite, readPlants, type Target, targetsOf } from './targets.ts'
import type { ForecastThread } from './thread.ts'

/** A request for a new run is answered from the last one for so long. */
const refresh_interval_ms = 60_000

interface PlantName {
  logger_id: number
  name: string
}

export interface DayForecasts {
  /** By id; those in service. */
  plants: PlantName[]
  /** The last run of each target that was issued, less outages; none for targets without. */
  runs: Map<Target, ForecastRun>
  /** Of curtailment. */
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
  /** The last runs issued for days of UTC, by day and less outages, as far as there are any. */
  issued(of: { site_id: string; target: Target }, dates: readonly string[]): Promise<ForecastRun[]>
}

/** What a request finds is made at once, and shared by all who ask for it meanwhile. */
export function createForecasts(needs: {
  db: Database
  clock: Clock
  thread: ForecastThread
}): Forecasts {
  const { db, clock } = needs
  const underway = new Map<string, Promise<boolean>>()

  /** Returns whether new runs were kept. */
  function make(
    site_id: string,
    day: number,
    isWanted: (issued: Issued) => boolean,
  ): Promise<boolean> {
    const key = `${site_id} ${day}`
    let making = underway.get(key)
    if (!making) {
      making = runForAll(() => makeRuns(needs, site_id, { days: [day], isWanted })).finally(() =>
        underway.delete(key),
      )
      underway.set(key, making)
    }
    return making
  }

  return {
    async day(site_id, date, { refresh }) {
      const day = Date.parse(date)
      const now = clock.now()
      const [plants, known] = await Promise.all([
        readPlants(db, site_id),
        readKnownLimits(db, site_id, { from: new Date(day), to: new Date(day + day_ms) }),
      ])
      const targets = targetsOf(plants)
      const isWanted = (issued: Issued) =>
        issued.is_due || (refresh && !isFresh(issued.runs, clock.now()))
      const issued = await readIssued(db, site_id, { targets, day, now })
      let { runs } = issued
      const is_within_reach = isWithinReach(day, now)
      let is_new = false
      if (is_within_reach && plants.length > 0 && isWanted(issued)) {
        is_new = await make(site_id, day, isWanted)
        const until = new Date(clock.now().getTime() + 1)
        runs = await newestRuns(db, site_id, { targets, target_date: date, until })
      }
      const has_place = runs.length === targets.length || (await hasPlace(db, site_id))
      const { outages, limits } = apart(known)
      const left = withoutOutages(runs, outages).map((run) => [run.target, run] as const)
      return { plants, runs: new Map(left), limits, is_new, is_within_reach, has_place }
    },
    async issued({ site_id, target }, dates) {
      const until = clock.now()
      const found = dates.map(async (target_date) => {
        const from = new Date(target_date)
        const to = new Date(from.getTime() + day_ms)
        const { outages } = apart(await readKnownLimits(db, site_id, { from, to }))
        // What an outage of a plant takes of the site is told by the runs of all plants.
        const targets = outages.length > 0 ? targetsOf(await readPlants(db, site_id)) : [target]
        const runs = await newestRuns(db, site_id, { targets, target_date, until })
        return withoutOutages(runs, outages).filter((run) => run.target === target)
      })
      return (await Promise.all(found)).flat()
    },
  }
}

const isFresh = (runs: readonly ForecastRun[], now: Date): boolean =>
  runs.some(({ issued_at }) => now.getTime() - issued_at.getTime() < refresh_interval_ms)

function apart(known: readonly KnownLimit[]) {
  return {
    outages: known.filter(isOutage),
    limits: known.filter((limit) => !isOutage(limit)),
  }
}

async function hasPlace(db: Database, site_id: string): Promise<boolean> {
  return (await readForecastSite(db, site_id))?.place != null
}
