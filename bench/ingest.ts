/**
 * Readings per second from an edge's socket to its acknowledgement, relative to a plain COPY of the
 * same rows, prepared as text, into tables with a column for each value. Both run in turns on a
 * fresh embedded server; the median of the turns counts.
 *
 *   node bench/ingest.ts
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { day_ms } from '@heliograph/domain/durations'
import type { Frame } from '@heliograph/domain/link'
import {
  columnsOf,
  emptyReading,
  type ReadingKind,
  readingKinds,
} from '@heliograph/domain/readings'
import { Registry } from 'prom-client'
import { connectEdge, type EdgeClient } from '../server/link/fixtures/edge-client.ts'
import { foundSite, site_id } from '../server/link/fixtures/plant.ts'
import { attachLink } from '../server/link/serve.ts'
import { type Database, openDatabase } from '../server/storage/database.ts'
import { ensurePartitions } from '../server/storage/partitions.ts'
import { benchDatabase } from './fixtures/database.ts'
import { median } from './fixtures/figures.ts'
import { inverterReading, near } from './fixtures/inverter-reading.ts'
import { quickOr } from './fixtures/quick.ts'

const limit_ratio = 0.35
const aim_ratio = 0.5
const turns = quickOr(1, 5)
const frames_per_turn = quickOr(20, 700)
const frames_per_batch = 20
const frames_under_way = 500
const inverters = 12
const instants_per_frame = 3
const poll_ms = 5000
const rows_per_frame = inverters * instants_per_frame * 2
const kinds = ['inverter', 'string'] as const
/** Monday: all turns lie in one week. */
const week_start = Date.UTC(2026, 5, 15)

const log = { info() {}, warn: complain, error: complain }

function complain(...what: unknown[]): void {
  process.stderr.write(`${JSON.stringify(what)}\n`)
}

/** The journal group of 15 s of twelve inverters, with values as devices report them. */
function frameOf(seq: number): Frame {
  const from = week_start + seq * instants_per_frame * poll_ms
  const rows = { inverter: [] as unknown[][], string: [] as unknown[][] }
  for (let nth = 0; nth < inverters * instants_per_frame; nth += 1) {
    const inverter_id = (nth % inverters) + 1
    const measured_at = from + Math.floor(nth / inverters) * poll_ms + inverter_id
    rows.inverter.push(
      rowOf('inverter', {
        ...inverterReading(inverter_id, { seed: seq * inverters + nth, mppts: 6 }),
        measured_at,
        quality: 'good',
        energy_total_kwh: 402_113 + (measured_at % day_ms) / 1e6,
      }),
    )
    const currents = Array.from({ length: 12 }, (_, index) => near(7.6, seq + nth + index))
    const string = { inverter_id, first_string_index: 0, measured_at, quality: 'good' }
    rows.string.push(rowOf('string', { ...string, current_a: currents }))
  }
  const table = (kind: (typeof kinds)[number]) => ({ columns: columnsOf(kind), rows: rows[kind] })
  return {
    seq,
    kind: 'readings',
    payload: { inverter: table('inverter'), string: table('string') },
  }
}

function rowOf(kind: ReadingKind, values: Record<string, unknown>): unknown[] {
  const whole: Record<string, unknown> = { ...emptyReading(kind), ...values }
  return columnsOf(kind).map((name) => whole[name])
}

/**
 * The process beside the server: on `link` it is the edge and sends the frames of a turn, on `copy`
 * it copies the same rows into the other tables. It answers with the time needed.
 */
async function beOther(port: number, url: string): Promise<void> {
  const edge = await connectEdge(port)
  const db = await openDatabase({ url, log, application_name: 'bench' })
  const work = {
    link: (first: number) => byLink(edge, first),
    copy: (of: number) => byCopy(db, of),
  }
  process.on('message', async ([way, first]: [keyof typeof work, number]) => {
    process.send?.(await work[way](first))
  })
  process.once('disconnect', () => {
    edge.socket.terminate()
    void db.close()
  })
  process.send?.('ready')
}

async function byLink(edge: EdgeClient, first: number): Promise<number> {
  const batches = Array.from({ length: frames_per_turn / frames_per_batch }, (_, nth) => {
    const seq = first + nth * frames_per_batch
    const frames = Array.from({ length: frames_per_batch }, (_, index) => frameOf(seq + index))
    return { seq, text: JSON.stringify({ type: 'batch', lane: 'backlog', frames }) }
  })
  const start = performance.now()
  for (const { seq, text } of batches) {
    const acked_first = seq + frames_per_batch - frames_under_way
    if (acked_first > first) await edge.untilAcked(acked_first - 1)
    edge.socket.send(text)
  }
  await edge.untilAcked(first + frames_per_turn - 1)
  return performance.now() - start
}

async function byCopy(db: Database, first: number): Promise<number> {
  const frames = Array.from({ length: frames_per_turn }, (_, nth) => frameOf(first + nth))
  const texts = kinds.map((kind) =>
    frames.map(({ payload }) => {
      const { columns, rows } = (payload as Record<string, ReadingTable>)[kind]!
      return Buffer.from(rows.map((row) => lineOf(columns, row)).join(''))
    }),
  )
  const start = performance.now()
  await db.transaction(async (transaction) => {
    for (const [nth, kind] of kinds.entries()) {
      const target = `plain_${readingKinds[kind].table} (site_id, ${columnsOf(kind).join(', ')})`
      await transaction.copyInto(target, texts[nth]!)
    }
  })
  return performance.now() - start
}

interface ReadingTable {
  columns: readonly string[]
  rows: readonly (readonly unknown[])[]
}

/** A row with a column for each value, as text for `COPY`. */
function lineOf(columns: readonly string[], row: readonly unknown[]): string {
  const values = row.map((value, nth) => {
    if (value === null) return '\\N'
    if (columns[nth] === 'measured_at') return new Date(value as number).toISOString()
    return Array.isArray(value) ? `{${value.join()}}` : String(value)
  })
  return `${[site_id, ...values].join('\t')}\n`
}

const rowsPerSecond = (elapsed_ms: number) => (frames_per_turn * rows_per_frame * 1000) / elapsed_ms

async function makeTables(db: Database): Promise<void> {
  await foundSite(db)
  const tables = kinds.map((kind) => readingKinds[kind].table)
  for (const table of tables) {
    await db.execute(
      `create table plain_${table} (like ${table} including all) partition by range (measured_at)`,
    )
  }
  const all = [...tables, ...tables.map((table) => `plain_${table}`)]
  await ensurePartitions(db, all, new Date(week_start), new Date(week_start + 7 * day_ms))
}

async function compare(db: Database, url: string, server: Server): Promise<void> {
  const { port } = server.address() as AddressInfo
  const other = fork(fileURLToPath(import.meta.url), [String(port), url])
  const exit = once(other, 'exit')
  const answer = async () => {
    const early = exit.then(([code]) => Promise.reject(new Error(`the edge ended: ${code}`)))
    return (await Promise.race([once(other, 'message'), early]))[0]
  }
  const ask = async (way: 'link' | 'copy', first: number) => {
    other.send([way, first])
    return rowsPerSecond(await answer())
  }
  try {
    await answer()
    const link: number[] = []
    const copy: number[] = []
    // The first turn of each warms up and does not count.
    for (let turn = 0; turn <= turns; turn += 1) {
      const first = 1 + turn * frames_per_turn
      const rates = [await ask('link', first), await ask('copy', first)] as const
      if (turn === 0) continue
      link.push(rates[0])
      copy.push(rates[1])
    }
    await report(db, median(link), median(copy))
  } finally {
    if (other.connected) other.disconnect()
    await exit
  }
}

async function report(db: Database, by_link: number, by_copy: number): Promise<void> {
  const count =
    'select (select count(*) from inverter_readings) as inverter, ' +
    '(select count(*) from string_readings) as string'
  const [stored] = await db.query<Record<(typeof kinds)[number], number>>(count)
  const expected = (turns + 1) * frames_per_turn * inverters * instants_per_frame
  if (stored!.inverter !== expected || stored!.string !== expected) {
    throw new Error(`stored ${JSON.stringify(stored)}, not ${expected} of each`)
  }
  const ratio = by_link / by_copy
  const rss_mb = process.memoryUsage.rss() / 1e6
  const lines = [
    `link to acknowledgement  ${by_link.toFixed(0)} rows/s`,
    `plain COPY               ${by_copy.toFixed(0)} rows/s`,
    `ratio                    ${ratio.toFixed(3)}  (limit ${limit_ratio}, aim ${aim_ratio})`,
    `server process           ${rss_mb.toFixed(0)} MB resident`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  if (ratio < limit_ratio) process.exitCode = 1
}

async function main(): Promise<void> {
  await using database = await benchDatabase({ log, durable: true })
  const { db, url } = database
  await makeTables(db)
  const server = createServer()
  const clock = { now: () => new Date(week_start + 7 * day_ms) }
  const link = attachLink({ server, db, clock, log, metrics: new Registry() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  await compare(db, url, server)
  await link.close()
  server.close()
}

const [port, url] = process.argv.slice(2)
await (port && url ? beOther(Number(port), url) : main())
