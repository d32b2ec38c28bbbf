/** Forecasts of a day for requests: the issued runs, renewed when due. */
/// <reference lib="esnext.collection" />
import { day_ms } from '@heliograph/domain/durations'
import type { Context } from '../http/context.ts'
import type { Database, Queries } from '../storage/database.ts'
import { runForAll } from '../storage/reader.ts'
import { isOutage, type KnownLimit, readKnownLimits } from './limits.ts'
import { withoutOutages } from './outages.ts'
import { type Issued, isWithinHorizon, makeRuns, readIssued } from './production-runs.ts'
import { type ForecastRun, newestRuns } from './run-store.ts'
import { readForecastSite, readPlants, type Target, targetsOf } from './targets.ts'
import { createThread } from './thread.ts'

/** Shortest time between two runs that requests make. */
const refresh_interval_ms = 60_000

interface PlantName {
  logger_id: number
  name: string
}

export interface DayForecasts {
  plants: PlantName[]
  /** The last issued run of each target, reduced by outages. */
  runs: Map<Target, ForecastRun>
  limits: KnownLimit[]
  is_new: boolean
  is_within_horizon: boolean
  /** The position of the site is known; assumed when every target has a run. */
  has_place: boolean
}

interface DayQuery {
  site_id: string
  /** UTC day. */
  date: string
  refresh: boolean
}

const request_thread = createThread()

/** Runs being made for requests, by site and day; concurrent requests share one. */
const pending = new WeakMap<Database, Map<string, Promise<boolean>>>()

export async function readDayForecasts(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  { site_id, date, refresh }: DayQuery,
  thread = request_thread,
): Promise<DayForecasts> {
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
  const is_within_horizon = isWithinHorizon(day, now)
  let is_new = false
  if (is_within_horizon && plants.length > 0 && isWanted(issued)) {
    is_new = await shared(db, `${site_id} ${day}`, () =>
      makeRuns({ db, clock, thread }, site_id, { days: [day], isWanted }),
    )
    const until = new Date(clock.now().getTime() + 1)
    runs = await newestRuns(db, site_id, { targets, target_date: date, until })
  }
  const has_place =
    runs.length === targets.length || (await readForecastSite(db, site_id))?.place != null
  const available = withoutOutages(runs, known.filter(isOutage))
  return {
    plants,
    runs: new Map(available.map((run) => [run.target, run])),
    limits: known.filter((limit) => !isOutage(limit)),
    is_new,
    is_within_horizon,
    has_place,
  }
}

/** The last issued runs of a target for UTC days, by day, reduced by outages. */
export async function readIssuedForecasts(
  { db, clock }: { db: Queries; clock: Context['clock'] },
  { site_id, target }: { site_id: string; target: Target },
  dates: readonly string[],
): Promise<ForecastRun[]> {
  const until = clock.now()
  const found = dates.map(async (target_date) => {
    const from = new Date(target_date)
    const to = new Date(from.getTime() + day_ms)
    const outages = (await readKnownLimits(db, site_id, { from, to })).filter(isOutage)
    // The effect of a plant's outage on the site depends on the runs of all plants.
    const targets = outages.length > 0 ? targetsOf(await readPlants(db, site_id)) : [target]
    const runs = await newestRuns(db, site_id, { targets, target_date, until })
    return withoutOutages(runs, outages).filter((run) => run.target === target)
  })
  return (await Promise.all(found)).flat()
}

/** Joins work already pending under the key; it goes on when a requester disconnects. */
function shared(db: Database, key: string, work: () => Promise<boolean>): Promise<boolean> {
  const of_database = pending.getOrInsertComputed(db, () => new Map())
  return of_database.getOrInsertComputed(key, () =>
    runForAll(work).finally(() => of_database.delete(key)),
  )
}

const isFresh = (runs: readonly ForecastRun[], now: Date): boolean =>
  runs.some(({ issued_at }) => now.getTime() - issued_at.getTime() < refresh_interval_ms)
