import type { Paged } from '../http/cursor.ts'
import type { Database, Queries } from '../storage/database.ts'
import { readFile, type StoredFile } from './files.ts'
import type { StoredRun } from './run.ts'
import {
  countRuns,
  newestRuns,
  type RunCounts,
  type RunKey,
  type RunPage,
  readRun,
} from './runs.ts'
import type { StoredSubscription } from './subscription.ts'
import { readSubscriptions } from './subscriptions.ts'

interface RunList extends Paged<StoredRun> {
  counts: RunCounts
}

export interface ReportStore {
  /** The newest runs of a site, the newest first, and how many there are, of one instant. */
  runs(of: RunPage, now: Date): Promise<RunList>
  /** All of a site, by id. */
  subscriptions(site_id: string, now: Date): Promise<StoredSubscription[]>
  /** The same as counts, for the overview. */
  schedules(site_id: string): Promise<{ active: number; next_run_at: Date | null }>
  /** null where the site has no such run. */
  run(key: RunKey): Promise<StoredRun | null>
  /** null where there is none, or no more. */
  file(key: RunKey, now: Date): Promise<StoredFile | null>
}

const snapshot = { isolation: 'repeatable read', read_only: true } as const

export function createReportStore(db: Database): ReportStore {
  return {
    runs: (of, now) =>
      db.transaction(async (tx) => {
        const counts = await countRuns(tx, of.site_id, now)
        return { counts, ...(await newestRuns(tx, of)) }
      }, snapshot),
    subscriptions: (site_id, now) => readSubscriptions(db, site_id, now),
    schedules: (site_id) => readSchedules(db, site_id),
    run: (key) => readRun(db, key),
    file: (key, now) => readFile(db, key, now),
  }
}

async function readSchedules(db: Queries, site_id: string) {
  const [row] = await db.query<{ active: number; next_run_at: Date | null }>(
    `select count(*) as active, min(next_run_at) as next_run_at
     from report_subscriptions where site_id = $1 and enabled`,
    [site_id],
  )
  return row!
}
