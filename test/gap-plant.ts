/** A small plant in a database of its own, for tests of its gaps; one for each test process. */
import type { Frame, LinkEvent } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import { edge_id, foundSite } from '@heliograph/server/link/fixtures/plant'
import { ingestInto } from '@heliograph/server/link/ingest'
import { createRollups } from '@heliograph/server/performance/rollups/job'
import { watchGaps } from '@heliograph/server/telemetry/gaps/watch'
import { smallSite } from '@heliograph/simulator/fixtures/site'
import { silent, type TestDatabase, testDatabase } from './postgres.ts'

const site_id = smallSite.site_id
export const minute = 60_000
export const hour = 60 * minute
export const ten = Date.UTC(2026, 5, 21, 10)

export const site: Site = {
  ...smallSite,
  mqtt: { listen: { port: 1883 } },
  nodes: [
    {
      node_id: 'ts-1',
      node_number: 7,
      name: 'TS 1',
      type: 'transformer_station',
      report_s: 1200,
      channels: [{ channel: 'oil', kind: 'temperature', label: 'Oil' }],
    },
  ],
}

let database: TestDatabase
let seq = 1

/** The same frames once more, as new ones. */
export const numbered = (some: readonly Frame[]) => some.map((each) => ({ ...each, seq: seq++ }))

export async function foundPlant(): Promise<void> {
  database = await testDatabase()
  await foundSite(database.db, site_id)
  await store([{ seq: 100_000, kind: 'inventory', payload: site }])
}

export const dropPlant = () => database.drop()

export const execute = (sql: string, values: unknown[] = []) => database.db.execute(sql, values)
export const query = (sql: string) => database.db.query(sql)

/** Forgets everything but the site. */
export async function clear(): Promise<void> {
  await database.db.execute(
    `truncate gaps, events, touched_hours, inverter_readings, weather_readings, logger_readings,
       meter_readings, node_readings, inverter_latest, weather_latest, logger_latest, meter_latest,
       node_latest, inverter_hours, string_hours, string_days;
     update inverters set retired_at = null;
     update edges set last_seen_at = null, journal_oldest_at = null`,
  )
}

export async function store(
  frames: readonly Frame[],
  received_at = ten + 24 * hour,
): Promise<void> {
  const source = { site_id, edge_id, epoch: 'e', lane: 'live' as const }
  await ingestInto(database.db).ingest({ ...source, frames, received_at })
}

export const minutes = (from: number, until: number) =>
  Array.from({ length: Math.ceil((until - from) / minute) }, (_, nth) => from + nth * minute)

const keys = {
  inverter: 'inverter_id',
  weather: 'station_id',
  logger: 'logger_id',
  meter: 'meter_id',
  node: 'node_number',
}
type Kind = keyof typeof keys

/** Readings of a device, or of several, at some instants. */
export function frame(
  kind: Kind,
  ids: readonly number[],
  times: readonly number[],
  state?: string,
): Frame {
  const of_state = kind === 'inverter' ? ['state'] : []
  const columns = [keys[kind], 'measured_at', 'quality', ...of_state]
  const rows = times.flatMap((time) =>
    ids.map((id) => [id, time, 'good', ...of_state.map(() => state ?? 'mppt')]),
  )
  return { seq: seq++, kind: 'readings', payload: { [kind]: { columns, rows } } }
}

/** Readings of everything that the site has. */
export const plantFrames = (times: readonly number[]): Frame[] => [
  frame('inverter', [1, 2], times),
  frame('weather', [1], times),
  frame('logger', [1], times),
]

export const event = (
  at: number,
  code: string,
  edge: LinkEvent['edge'],
  source: Partial<LinkEvent> = { source_kind: 'edge', source_id: edge_id },
  details?: Record<string, unknown>,
): Frame => ({
  seq: seq++,
  kind: 'events',
  payload: [
    { at, code, edge, severity: 'major', message: code, ...source, details: details ?? null },
  ],
})

const timers = { after: () => () => {} }
export async function rollUp(now: number): Promise<void> {
  // Marks are made in the time of the database, which is not that of the readings.
  await database.db.execute("update touched_hours set due_at = '-infinity'")
  await createRollups(database.db, {
    clock: { now: () => new Date(now) },
    timers,
    log: silent,
  }).runDue()
}
export const watch = (now: number) => watchGaps(database.db, new Date(now))

/** The edge was heard of, and the oldest that it holds is this old. */
export const heard = (last_seen: number, oldest: number | null = null) =>
  database.db.execute('update edges set last_seen_at = $1, journal_oldest_at = $2', [
    new Date(last_seen),
    oldest === null ? null : new Date(oldest),
  ])

interface Row {
  gap_id: number
  source: string
  start: string
  end: string | null
  status: string
  cause: string
  expected: number
  backfilled: number
}

export const gaps = (where = 'true') =>
  database.db.query<Row>(
    `select gap_id, source_type || ' ' || source_id as source, status, cause,
       to_char(start_at at time zone 'UTC', 'DD HH24:MI') as start,
       to_char(end_at at time zone 'UTC', 'DD HH24:MI') as end,
       expected_count as expected, backfilled_count as backfilled
     from gaps where ${where} order by source_type, source_id, start_at`,
  )
export const inWords = (rows: readonly Row[]) =>
  rows.map((row) => `${row.source}: ${row.start} to ${row.end}, ${row.status}, ${row.cause}`)
