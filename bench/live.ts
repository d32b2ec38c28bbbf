/**
 * Simulator, edge, server with its own PostgreSQL, and a client that reads the overview once a
 * second, at the rate of a 50 MW site for a minute. The time from measurement to commit must not
 * grow; it is observed by polling the database.
 *
 *   node bench/live.ts
 */
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readingKinds } from '@heliograph/domain/readings'
import type { Database } from '@heliograph/server/storage/database'
import { freePort } from '../test/end-to-end/programs.ts'
import { fieldOf } from './fixtures/field.ts'
import { p50p99, quantile } from './fixtures/figures.ts'
import { postgresMb } from './fixtures/postgres-usage.ts'
import { figuresAt, type Program, startProgram, until, withPrograms } from './fixtures/programs.ts'
import { quickOr } from './fixtures/quick.ts'
import { enrol, onDatabase, type ServerProgram, startServer } from './fixtures/server-program.ts'

const site_id = 'live'
const gateways = quickOr(2, 10)
const units = 22
const inverter_s = 3
const warm_up_ms = quickOr(3000, 8000)
const measured_ms = quickOr(4000, 60_000)
const window_ms = quickOr(1000, 15_000)
const look_ms = 100
const rows_per_s_min = 140
const rss_mb_max = 300
/** Limit of the last window compared with the first: a growing backlog adds seconds. */
const lag_ratio_max = 1.5
/** A frame holds what was read within a second. */
const journal_frames_max = 10

interface Place {
  dir: string
  server: ServerProgram
  site_file: string
  edge_metrics: number
}

async function prepare(dir: string, server: ServerProgram): Promise<Place> {
  const [edge_metrics, ...ports] = await Promise.all(
    Array.from({ length: gateways + 1 }, () => freePort()),
  )
  const poll = { inverter_s, weather_s: 10, meter_s: 5, logger_s: 10 }
  const size = { ports, units, poll, noon_at: new Date(), with_instruments: true }
  const site_file = join(dir, 'site.yaml')
  writeFileSync(site_file, JSON.stringify(fieldOf({ site_id, ...size })))
  return { dir, server, site_file, edge_metrics: edge_metrics! }
}

/** Polls the newest reading of every inverter until stopped; records when it became readable. */
async function watchLag(db: Database, until_at: number): Promise<{ at: number; lag_ms: number }[]> {
  const newest = new Map<number, number>()
  const seen: { at: number; lag_ms: number }[] = []
  while (Date.now() < until_at) {
    const rows = await db.query<{ inverter_id: number; measured_at: Date }>(
      'select inverter_id, measured_at from inverter_latest where site_id = $1',
      [site_id],
    )
    const at = Date.now()
    for (const { inverter_id, measured_at } of rows) {
      const measured_ms = measured_at.getTime()
      const before = newest.get(inverter_id)
      newest.set(inverter_id, measured_ms)
      // Ignore readings from before the start: their age is unknown.
      if (before !== undefined && before !== measured_ms)
        seen.push({ at, lag_ms: at - measured_ms })
    }
    await wait(look_ms)
  }
  return seen
}

interface Sample {
  answer_ms: number
  journal_frames: number
  edge_mb: number
  server_mb: number
}

/** Once a second: a request for the overview, and the metrics of both programs. */
async function watchPrograms(place: Place, key: string, until_at: number): Promise<Sample[]> {
  const url = `http://127.0.0.1:${place.server.port}/v1/sites/${site_id}/overview`
  const samples: Sample[] = []
  while (Date.now() < until_at) {
    const next = wait(1000)
    const asked_at = performance.now()
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`overview: ${answer.status} ${text}`)
    const answer_ms = performance.now() - asked_at
    const edge = await figuresAt(place.edge_metrics)
    const server = await figuresAt(place.server.metrics_port)
    const rss = 'process_resident_memory_bytes'
    samples.push({
      answer_ms,
      journal_frames: edge.get('heliograph_edge_journal_frames') ?? Number.NaN,
      edge_mb: (edge.get(rss) ?? Number.NaN) / 1e6,
      server_mb: (server.get(rss) ?? Number.NaN) / 1e6,
    })
    await next
  }
  return samples
}

async function rowsStored(db: Database, from: number, to: number): Promise<number> {
  const counts = Object.values(readingKinds).map(
    ({ table }) =>
      `(select count(*) from ${table}
        where site_id = $1 and measured_at >= $2 and measured_at < $3)`,
  )
  const [row] = await db.query<{ rows: number }>(`select ${counts.join(' + ')} as rows`, [
    site_id,
    new Date(from),
    new Date(to),
  ])
  return Number(row!.rows)
}

async function measure(place: Place, db: Database, programs: Program[]) {
  const { dir, site_file } = place
  const { key, tokens } = await enrol(db, { site_ids: [site_id], scopes: ['plant:read'] })
  programs.unshift(startProgram('simulator', { dir, settings: { SITE_FILE: site_file } }))
  const settings = {
    SITE_FILE: site_file,
    EDGE_DATA_DIR: join(dir, 'edge'),
    EDGE_TOKEN: tokens[0]!,
    METRICS_PORT: String(place.edge_metrics),
    SERVER_URL: `ws://127.0.0.1:${place.server.port}`,
  }
  programs.unshift(startProgram('edge', { dir, settings }))
  const stored = async () => {
    const [row] = await db.query<{ known: number }>('select count(*) as known from inverter_latest')
    return Number(row!.known) === gateways * units
  }
  await until('every inverter is stored', stored, programs)
  await wait(warm_up_ms)
  const from = Date.now()
  const to = from + measured_ms
  const watched = Promise.all([watchLag(db, to), watchPrograms(place, key, to)])
  const [seen, samples] = await Promise.race([watched, ...programs.map(({ died }) => died)])
  const lags = (first: number, last: number) =>
    seen.filter(({ at }) => at >= first && at < last).map(({ lag_ms }) => lag_ms)
  return {
    samples,
    first: lags(from, from + window_ms),
    last: lags(to - window_ms, to),
    rows_per_s: ((await rowsStored(db, from, to - window_ms)) * 1000) / (measured_ms - window_ms),
    postgres_mb: postgresMb(place.server.data_dir),
  }
}

function report(measured: Awaited<ReturnType<typeof measure>>): void {
  const { samples, first, last, rows_per_s, postgres_mb } = measured
  const most = (name: keyof Sample) => Math.max(...samples.map((sample) => sample[name]))
  const ratio = Math.max(
    ...[0.5, 0.99].map((share) => quantile(last, share) / quantile(first, share)),
  )
  const [edge_mb, server_mb] = [most('edge_mb'), most('server_mb')]
  const lines = [
    `${rows_per_s.toFixed(0)} rows/s (at least ${rows_per_s_min}); measured to readable p50/p99 ` +
      `${p50p99(first)} ms in the first ${window_ms / 1000} s, ` +
      `${p50p99(last)} in the last of ${measured_ms / 1000}: ` +
      `ratio ${ratio.toFixed(2)} (limit ${lag_ratio_max})`,
    `journal ${most('journal_frames')} frames at most (limit ${journal_frames_max}); resident ` +
      `server ${server_mb.toFixed(0)} MB, edge ${edge_mb.toFixed(0)} MB (limit ${rss_mb_max} ` +
      `each), PostgreSQL ${postgres_mb?.toFixed(0) ?? '?'} MB; overview p50/p99 ` +
      `${p50p99(samples.map(({ answer_ms }) => answer_ms))} ms; load ${loadavg()[0]!.toFixed(1)}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  const holds =
    rows_per_s >= rows_per_s_min &&
    ratio <= lag_ratio_max &&
    most('journal_frames') <= journal_frames_max &&
    Math.max(edge_mb, server_mb) <= rss_mb_max
  if (!holds) process.exitCode = 1
}

await withPrograms(async (dir, programs) => {
  const server = await startServer(dir, programs)
  const place = await prepare(dir, server)
  report(await onDatabase(server, (db) => measure(place, db, programs)))
})
