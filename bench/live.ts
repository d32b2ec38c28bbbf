/**
 * The whole chain at the rate of a 50 MW site for a minute: simulator, edge, server with its own
 * PostgreSQL, and a client that asks for the overview once a second. The time from measurement to
 * commit must not grow: it is seen from outside, by asking the database again and again.
 *
 *   node bench/live.ts
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { withDatabase } from '@heliograph/cli/database'
import { systemClock } from '@heliograph/domain/clock'
import { readingKinds } from '@heliograph/domain/readings'
import { createClient } from '@heliograph/server/admin/clients'
import { createEdge } from '@heliograph/server/admin/edges'
import { createKey } from '@heliograph/server/admin/keys'
import { createSite } from '@heliograph/server/admin/sites'
import type { Database } from '@heliograph/server/storage/database'
import { freePort } from '../test/end-to-end/programs.ts'
import { fieldOf } from './fixtures/field.ts'
import {
  endAll,
  figuresAt,
  type Program,
  quantile,
  startProgram,
  until,
} from './fixtures/programs.ts'

const site_id = 'live'
const gateways = 10
const units = 22
const inverter_s = 3
const warm_up_ms = 8000
const measured_ms = 60_000
const window_ms = 15_000
const look_ms = 100
const rows_per_s_min = 140
const rss_mb_max = 300
/** The last window beside the first: what cannot keep up grows by seconds. */
const lag_ratio_max = 1.5
/** A frame holds what was read within a second. */
const journal_frames_max = 10
const silent = { info() {}, warn() {}, error() {} }

interface Place {
  dir: string
  server_dir: string
  site_file: string
  port: number
  server_metrics: number
  edge_metrics: number
}

async function prepare(dir: string): Promise<Place> {
  const [port, server_metrics, edge_metrics, ...ports] = await Promise.all(
    Array.from({ length: gateways + 3 }, () => freePort()),
  )
  const poll = { inverter_s, weather_s: 10, meter_s: 5, logger_s: 10 }
  const size = { ports, units, poll, noon_at: new Date(), with_instruments: true }
  const site_file = join(dir, 'site.yaml')
  writeFileSync(site_file, JSON.stringify(fieldOf({ site_id, ...size })))
  const server_dir = join(dir, 'server')
  mkdirSync(server_dir)
  const metrics = { server_metrics: server_metrics!, edge_metrics: edge_metrics! }
  return { dir, server_dir, site_file, port: port!, ...metrics }
}

async function enrol(db: Database): Promise<{ key: string; token: string }> {
  const admin = { db, clock: systemClock, randomBytes }
  await createClient(admin, { name: 'Bench', modules: ['basic_scada'] })
  await createSite(admin, { client: 'Bench', site_id, name: 'Live' })
  const { token } = await createEdge(admin, { site_id, name: 'gateway' })
  const order = { client: 'Bench', name: 'bench', scopes: ['plant:read'], created_by: 'bench' }
  const { key } = await createKey(admin, { ...order, site_ids: null, expires_at: null })
  return { key, token }
}

/** Looks at the newest reading of every inverter until told: when it could first be read. */
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
      // One that was there when the watch began may have been there for long.
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

/** Once a second: a request for the overview, and the figures of both programs. */
async function watchPrograms(place: Place, key: string, until_at: number): Promise<Sample[]> {
  const url = `http://127.0.0.1:${place.port}/v1/sites/${site_id}/overview`
  const samples: Sample[] = []
  while (Date.now() < until_at) {
    const next = wait(1000)
    const asked_at = performance.now()
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`overview: ${answer.status} ${text}`)
    const answer_ms = performance.now() - asked_at
    const edge = await figuresAt(place.edge_metrics)
    const server = await figuresAt(place.server_metrics)
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

/** Proportional memory of PostgreSQL with its backends; null where the system does not tell. */
function postgresMb(server_dir: string): number | null {
  try {
    const file = join(server_dir, 'postgres/cluster/postmaster.pid')
    const postmaster = readFileSync(file, 'utf8').split('\n')[0]!
    const parent = new RegExp(`^PPid:\\s+${postmaster}$`, 'm')
    const backends = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => parent.test(read(`/proc/${pid}/status`)))
    const kb = [postmaster, ...backends].map((pid) =>
      Number(/^Pss:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
    )
    return (kb.reduce((sum, one) => sum + one, 0) * 1024) / 1e6
  } catch {
    return null
  }
}

/** A process may have ended since it was listed. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

async function rowsStored(db: Database, from: number, to: number): Promise<number> {
  const counts = Object.values(readingKinds).map(
    ({ table }) =>
      `(select count(*) from ${table}
        where site_id = $1 and measured_at >= $2 and measured_at < $3)`,
  )
  const [row] = await db.query<{ rows: number }>(`select ${counts.join(' + ')} as rows`, [
    ...[site_id, new Date(from), new Date(to)],
  ])
  return Number(row!.rows)
}

async function measure(place: Place, db: Database, programs: Program[]) {
  const { dir, site_file } = place
  const { key, token } = await enrol(db)
  programs.unshift(startProgram('simulator', { dir, settings: { SITE_FILE: site_file } }))
  const settings = {
    ...{ SITE_FILE: site_file, EDGE_DATA_DIR: join(dir, 'edge'), EDGE_TOKEN: token },
    ...{ METRICS_PORT: String(place.edge_metrics), SERVER_URL: `ws://127.0.0.1:${place.port}` },
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
    postgres_mb: postgresMb(place.server_dir),
  }
}

function report(measured: Awaited<ReturnType<typeof measure>>): void {
  const { samples, first, last, rows_per_s, postgres_mb } = measured
  const ms = (values: readonly number[], share: number) => quantile(values, share).toFixed(0)
  const most = (name: keyof Sample) => Math.max(...samples.map((sample) => sample[name]))
  const ratio = Math.max(
    ...[0.5, 0.99].map((share) => quantile(last, share) / quantile(first, share)),
  )
  const [edge_mb, server_mb] = [most('edge_mb'), most('server_mb')]
  const lines = [
    `${rows_per_s.toFixed(0)} rows/s (at least ${rows_per_s_min}); measured to readable p50/p99 ` +
      `${ms(first, 0.5)}/${ms(first, 0.99)} ms in the first ${window_ms / 1000} s, ` +
      `${ms(last, 0.5)}/${ms(last, 0.99)} in the last of ${measured_ms / 1000}: ` +
      `ratio ${ratio.toFixed(2)} (limit ${lag_ratio_max})`,
    `journal ${most('journal_frames')} frames at most (limit ${journal_frames_max}); resident ` +
      `server ${server_mb.toFixed(0)} MB, edge ${edge_mb.toFixed(0)} MB (limit ${rss_mb_max} ` +
      `each), PostgreSQL ${postgres_mb?.toFixed(0) ?? '?'} MB; overview p50/p99 ` +
      `${ms(
        samples.map(({ answer_ms }) => answer_ms),
        0.5,
      )}/${ms(
        samples.map(({ answer_ms }) => answer_ms),
        0.99,
      )} ms; load ${loadavg()[0]!.toFixed(1)}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  const holds =
    rows_per_s >= rows_per_s_min &&
    ratio <= lag_ratio_max &&
    most('journal_frames') <= journal_frames_max &&
    Math.max(edge_mb, server_mb) <= rss_mb_max
  if (!holds) process.exitCode = 1
}

const dir = mkdtempSync(join(tmpdir(), 'heliograph-bench-live-'))
const programs: Program[] = []
try {
  const place = await prepare(dir)
  const settings = {
    ...{ HOST: '127.0.0.1', PORT: String(place.port), DATA_DIR: place.server_dir },
    METRICS_PORT: String(place.server_metrics),
  }
  programs.unshift(startProgram('server', { dir, settings }))
  const ready = async () =>
    (await fetch(`http://127.0.0.1:${place.port}/readyz`).catch(() => null))?.ok === true
  await until('the server is ready', ready, programs)
  const at = { database_url: null, data_dir: place.server_dir }
  report(await withDatabase(at, silent, (db) => measure(place, db, programs)))
} finally {
  await endAll(programs)
  rmSync(dir, { recursive: true, force: true })
}
