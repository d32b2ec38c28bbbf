/** Sends the desired state (curtailment rows and approved dispatch) to connected edges. */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { CurtailmentRow, Desired, OutsideSource } from '@heliograph/domain/curtailment'
import type { DispatchHour } from '@heliograph/domain/dispatch'
import type { Static } from 'typebox'
import {
  changed_channel,
  isFromOutside,
  isReleasing,
  unconfirmed_rows_max,
} from '../storage/curtailment.ts'
import type { Database, Log, Queries } from '../storage/database.ts'
import type { Stored } from '../storage/records.ts'

export type DesiredMessage = Static<typeof Desired>

export interface DesiredRows {
  /**
   * Calls `tell` with the desired state of a site, now and after each change by any process. An
   * empty state is sent as well: an edge that lost its rows raises nothing before it receives one.
   * Returns a function that ends the watch.
   */
  watch(site_id: string, tell: (desired: DesiredMessage) => void): () => void
  stop(): Promise<void>
}

/** Upper bound of the delay after a lost notification. */
const reread_ms = 400
/** Sites whose state is read and sent together. */
const sites_at_once = 50
/** Version of a site without a row in `desired_versions`: it never had a command. */
const no_version = 0

interface Watcher {
  site_id: string
  tell: (desired: DesiredMessage) => void
  /** Version of `desired_versions` that was sent last; null before the first. */
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
  let is_requested = false
  let is_failing = false
  let is_stopped = false
  let cancel = timers.after(reread_ms, rereadLater)

  function read(): void {
    is_requested = true
    if (!is_reading) reading = readWhileRequested()
  }

  async function readWhileRequested(): Promise<void> {
    is_reading = true
    while (is_requested && !is_stopped) {
      is_requested = false
      try {
        await sendChanges(db, watchers, clock)
        is_failing = false
      } catch (error) {
        if (!is_failing) log.error({ err: error }, 'the desired state cannot be sent to edges')
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
  // A change between the first read and LISTEN has notified nobody.
  listening.then(read, (error: unknown) => {
    log.warn({ err: error, reread_ms }, 'no notifications of curtailment changes: polling instead')
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

async function sendChanges(db: Database, watchers: Set<Watcher>, clock: Clock): Promise<void> {
  const site_ids = [...new Set([...watchers].map(({ site_id }) => site_id))]
  if (site_ids.length === 0) return
  const found = await db.query<{ site_id: string; version: number }>(
    'select site_id, version from desired_versions where site_id = any($1)',
    [site_ids],
  )
  const versions = new Map(found.map(({ site_id, version }) => [site_id, version]))
  const versionOf = ({ site_id }: Watcher) => versions.get(site_id) ?? no_version
  const behind = [...watchers].filter((one) => one.version !== versionOf(one))
  const of_sites = [...Map.groupBy(behind, ({ site_id }) => site_id)]
  // A cluster locks the rows of one site at a time: see cluster-statements.ts for the mark.
  const at_once = db.is_distributed ? 1 : sites_at_once
  for (let first = 0; first < of_sites.length; first += at_once) {
    const some = of_sites.slice(first, first + at_once)
    const ids = some.map(([site_id]) => site_id)
    // Before the rows are read: a release must not treat them as never sent. In one order, as
    // another server may send to the same sites.
    await db.execute(
      `/* one site on a cluster */
       update curtailment_rows r set told_at = $2
       from (
         select site_id, group_id, logger_id from curtailment_rows
         where site_id = any($1) and told_at is null and released_at is null and end_at > $2
         order by site_id, group_id, logger_id for update
       ) as due
       where (r.site_id, r.group_id, r.logger_id) = (due.site_id, due.group_id, due.logger_id)
         and r.site_id = any($1)`,
      [ids, clock.now()],
    )
    // After the version: a newer change is sent now, and again with its own version.
    const desiredOf = await readDesired(db, ids, clock.now())
    for (const watcher of some.flatMap(([, of_site]) => of_site)) {
      if (!watchers.has(watcher)) continue
      watcher.version = versionOf(watcher)
      watcher.tell(desiredOf(watcher.site_id))
    }
  }
}

/** Of orders from outside, those in force: for an edge that has lost them. */
const sentRows = `
  select site_id, r.group_id, logger_id, start_at, end_at, max_power_kw, released_at,
    case when ${isFromOutside} then g.source end as source
  from curtailment_rows r join curtailment_groups g using (site_id, group_id)
  where site_id = any($1) and (released_at is null or not ${isFromOutside})`

/**
 * Includes released rows until their end, for edges that were disconnected at the release. Includes
 * rows past their end until the edge confirms: an edge that does not have them confirms as well.
 */
async function readDesired(
  db: Queries,
  site_ids: readonly string[],
  now: Date,
): Promise<(site_id: string) => DesiredMessage> {
  const rows = await db.query<OfSite & Stored<StoredRow>>(
    `select site_id, group_id, logger_id, start_at, end_at, max_power_kw, released_at, source
     from (
       select *, 0 as nth from (${sentRows} and end_at > $2) as open
       union all
       select *, row_number() over (partition by site_id order by end_at desc) as nth
       from (${sentRows} and end_at <= $2 and ${isReleasing('$2::timestamptz')}) as past
     ) as rows
     where nth <= ${unconfirmed_rows_max}
     order by start_at, group_id, logger_id`,
    [site_ids, now],
  )
  const rowsOfSite = Map.groupBy(rows, ({ site_id }) => site_id)
  const dispatchOf = Map.groupBy(await readDispatch(db, site_ids, now), ({ site_id }) => site_id)
  return (site_id) => {
    const dispatch = dispatchOf.get(site_id)?.map(({ site_id: _, ...hour }) => hour)
    return {
      type: 'desired',
      // Edges older than battery dispatch refuse unknown fields.
      ...(dispatch && { dispatch }),
      rows: (rowsOfSite.get(site_id) ?? []).map(({ site_id: _, source, ...row }) => ({
        ...row,
        // Edges older than orders from outside refuse unknown fields.
        ...(source !== null && { source }),
        start_at: row.start_at.getTime(),
        end_at: row.end_at.getTime(),
        released_at: row.released_at?.getTime() ?? null,
      })),
    }
  }
}

type StoredRow = Omit<CurtailmentRow, 'source'> & { source: OutsideSource | null }

interface OfSite {
  site_id: string
}

/** Includes hours of superseded schedules until their end. */
async function readDispatch(
  db: Queries,
  site_ids: readonly string[],
  now: Date,
): Promise<(OfSite & DispatchHour)[]> {
  const hours = await db.query<OfSite & Stored<DispatchHour>>(
    `select s.site_id, s.schedule_id, s.bess_id, h.start_at, h.end_at, h.power_kw, h.quarter_power_kw,
       s.superseded_at as ended_at
     from battery_schedules s
     cross join jsonb_to_recordset(s.hours) as h (
       start_at timestamptz, end_at timestamptz, power_kw float8, quarter_power_kw float8[])
     where s.site_id = any($1) and s.approved_at is not null and s.target_date >= $2::date
       and h.end_at > $3
     order by h.start_at, s.schedule_id`,
    [site_ids, now.toISOString().slice(0, 10), now],
  )
  return hours.map((hour) => ({
    ...hour,
    start_at: hour.start_at.getTime(),
    end_at: hour.end_at.getTime(),
    ended_at: hour.ended_at?.getTime() ?? null,
  }))
}
