/** What connected edges are to do: curtailment and dispatch of their site, after every change. */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { CurtailmentRow, Desired } from '@heliograph/domain/curtailment'
import type { DispatchHour } from '@heliograph/domain/dispatch'
import type { Static } from 'typebox'
import { changed_channel, isReleasing, unconfirmed_rows_max } from '../storage/curtailment.ts'
import type { Database, Log, Queries } from '../storage/database.ts'

export type DesiredMessage = Static<typeof Desired>

export interface DesiredRows {
  /**
   * Tells the rows of a site that are not over, now and after each change, whoever made it. That
   * there is none is told as well: an edge that lost its own raises nothing until it hears that.
   * Returns what ends it.
   */
  watch(site_id: string, tell: (desired: DesiredMessage) => void): () => void
  stop(): Promise<void>
}

/** A notification that is lost costs no more than this. */
const reread_ms = 400
/** Of a site that has no line in `desired_versions`: nothing was ever asked of it. */
const no_version = 0

interface Watcher {
  site_id: string
  tell: (desired: DesiredMessage) => void
  /** Of `desired_versions`, when it was told last; null: it was not told yet. */
  version: number | null
}

export function tellDesired({
  db,
  clock,
  timers,
  log,
}: {
  db: Database
  clock: Clock
  timers: Timers
  log: Log
}): DesiredRows {
  const watchers = new Set<Watcher>()
  let reading = Promise.resolve()
  let is_reading = false
  let is_asked_again = false
  let is_failing = false
  let is_stopped = false
  let cancel = timers.after(reread_ms, rereadLater)

  function read(): void {
    is_asked_again = true
    if (!is_reading) reading = readAsAsked()
  }

  async function readAsAsked(): Promise<void> {
    is_reading = true
    while (is_asked_again && !is_stopped) {
      is_asked_again = false
      try {
        await tellChanges(db, watchers, clock)
        is_failing = false
      } catch (error) {
        if (!is_failing) log.error({ err: error }, 'edges cannot be told what is asked of them')
        is_failing = true
      }
    }
    is_reading = false
  }

  function rereadLater(): void {
    if (is_stopped) return
    if (watchers.size > 0) read()
    cancel = timers.after(reread_ms, rereadLater)
  }

  const listening = db.listen(changed_channel, { notified: read, resumed: read })
  listening.catch((error: unknown) => {
    log.warn({ err: error, reread_ms }, 'changes of curtailment are not heard of, but looked for')
  })

  return {
    watch(site_id, tell) {
      const watcher: Watcher = { site_id, tell, version: null }
      watchers.add(watcher)
      read()
      return () => watchers.delete(watcher)
    },
    async stop() {
      is_stopped = true
      cancel()
      await reading
      const subscription = await listening.catch(() => null)
      await subscription?.stop()
    },
  }
}

async function tellChanges(db: Queries, watchers: Set<Watcher>, clock: Clock): Promise<void> {
  const site_ids = [...new Set([...watchers].map(({ site_id }) => site_id))]
  if (site_ids.length === 0) return
  const found = await db.query<{ site_id: string; version: number }>(
    'select site_id, version from desired_versions where site_id = any($1)',
    [site_ids],
  )
  const versions = new Map(found.map(({ site_id, version }) => [site_id, version]))
  for (const site_id of site_ids) {
    const version = versions.get(site_id) ?? no_version
    const behind = [...watchers].filter((one) => one.site_id === site_id && one.version !== version)
    if (behind.length === 0) continue
    // Before they are read: a release must not take a row for one that no edge ever saw.
    await db.execute(
      `update curtailment_rows set told_at = $2
       where site_id = $1 and told_at is null and released_at is null and end_at > $2`,
      [site_id, clock.now()],
    )
    // Read after the version: what is newer than that is told now, and once more.
    const desired = await readDesired(db, site_id, clock.now())
    for (const watcher of behind) {
      if (!watchers.has(watcher)) continue
      watcher.version = version
      watcher.tell(desired)
    }
  }
}

type StoredRow = Omit<CurtailmentRow, 'start_at' | 'end_at' | 'released_at'> & {
  start_at: Date
  end_at: Date
  released_at: Date | null
}

const rowColumns = 'group_id, logger_id, start_at, end_at, max_power_kw, released_at'

/**
 * Released rows too until their end, as an edge that was away must hear of the release. Rows past
 * their end until the edge confirms: one that lost them, or never received them, confirms as well.
 */
async function readDesired(db: Queries, site_id: string, now: Date): Promise<DesiredMessage> {
  const rows = await db.query<StoredRow>(
    `select * from (
       (select ${rowColumns} from curtailment_rows where site_id = $1 and end_at > $2)
       union all
       (select ${rowColumns} from curtailment_rows r
        where site_id = $1 and end_at <= $2 and ${isReleasing('$2::timestamptz')}
        order by end_at desc limit ${unconfirmed_rows_max})
     ) as rows
     order by start_at, group_id, logger_id`,
    [site_id, now],
  )
  const dispatch = await readDispatch(db, site_id, now)
  return {
    type: 'desired',
    // An edge of before there were batteries would refuse what it does not know.
    ...(dispatch.length > 0 && { dispatch }),
    rows: rows.map((row) => ({
      ...row,
      start_at: row.start_at.getTime(),
      end_at: row.end_at.getTime(),
      released_at: row.released_at?.getTime() ?? null,
    })),
  }
}

/** Hours of replaced schedules too, until they would have ended. */
async function readDispatch(db: Queries, site_id: string, now: Date): Promise<DispatchHour[]> {
  const hours = await db.query<
    Omit<DispatchHour, 'start_at' | 'end_at' | 'ended_at'> & {
      start_at: Date
      end_at: Date
      ended_at: Date | null
    }
  >(
    `select s.schedule_id, s.bess_id, h.start_at, h.end_at, h.power_kw, h.quarter_power_kw,
       s.superseded_at as ended_at
     from battery_schedules s
     cross join jsonb_to_recordset(s.hours) as h (
       start_at timestamptz, end_at timestamptz, power_kw float8, quarter_power_kw float8[])
     where s.site_id = $1 and s.approved_at is not null and s.target_date >= $2::date
       and h.end_at > $3
     order by h.start_at, s.schedule_id`,
    [site_id, now.toISOString().slice(0, 10), now],
  )
  return hours.map((hour) => ({
    ...hour,
    start_at: hour.start_at.getTime(),
    end_at: hour.end_at.getTime(),
    ended_at: hour.ended_at?.getTime() ?? null,
  }))
}
