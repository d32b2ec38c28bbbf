/** Three days without uplink, on a virtual clock: the real journal, link, ingest and API. */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Readings } from '@heliograph/domain/link'
import {
  type ColumnType,
  columnsOf,
  type ReadingKind,
  readingKinds,
  readingWords,
} from '@heliograph/domain/readings'
import { virtualClock } from '@heliograph/edge/fixtures/virtual-clock'
import { openJournal } from '@heliograph/edge/journal'
import { Link as EdgeLink } from '@heliograph/edge/link'
import { createDeps } from '@heliograph/server/deps'
import { endpoints } from '@heliograph/server/endpoints'
import { addKey } from '@heliograph/server/fixtures/served-site'
import { serve } from '@heliograph/server/http/serve'
import { foundSite, park, site_id, token } from '@heliograph/server/link/fixtures/plant'
import { ingestInto } from '@heliograph/server/link/ingest'
import { attachLink, type Link } from '@heliograph/server/link/serve'
import { readingsIn } from '@heliograph/server/telemetry/blocks/store'
import { readRows } from '@heliograph/server/telemetry/rows'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { silent, testDatabase } from './postgres.ts'

const start = Date.UTC(2026, 5, 1, 10)
const minute = 60_000
const outage_minutes = 3 * 24 * 60
const backlog_bytes_per_s = 2 ** 20
const beat_ms = 250
/** While nobody answers for the link, the edge tries again after half of it each time. */
const retry_ms = 6 * 60 * minute

const kinds = Object.keys(readingKinds) as ReadingKind[]

const words: Readonly<
  Partial<Record<string, Readonly<Partial<Record<string, readonly string[]>>>>>
> = readingWords

/** A value that is of its instant and column alone. */
function measured(
  [kind, name, type]: [ReadingKind, string, ColumnType],
  [nth, minute_of]: [number, number],
): unknown {
  if (type === 'text') return words[kind]![name]![0]
  const number = (minute_of % 500) + nth / 4
  if (type.endsWith('[]')) return [number, null, number + 0.5]
  return type === 'integer' || type === 'bigint' ? Math.floor(number) : number
}

/** A reading of every kind with every column. */
function readingsAt(measured_at: number, quality = 'good'): Readings {
  const readings: Readings = {}
  const minute_of = Math.floor(measured_at / minute)
  for (const kind of kinds) {
    const { keys, columns } = readingKinds[kind]
    const types = Object.entries(columns as Record<string, ColumnType>)
    const values = types.map(([name, type], nth) => measured([kind, name, type], [nth, minute_of]))
    const row = [...keys.map(() => 1), measured_at, quality, ...values]
    readings[kind] = { columns: [...columnsOf(kind)], rows: [row] }
  }
  return readings
}

interface Stored {
  seqs: number[]
  at: number
}

async function plant(t: TestContext) {
  const clock = virtualClock(new Date(start).toISOString())
  const { db, drop } = await testDatabase()
  await foundSite(db)
  const key = await addKey(db, { key_id: '0123456789ab' })
  const events = new EventEmitter()

  /** What was committed, in its order; batches of the backlog wait while the gate is closed. */
  const stored: Stored[] = []
  const gate = { last_backlog_seq: 0, waiting: [] as (() => void)[], is_closed: false }
  const ingest = ingestInto(db)
  const store: typeof ingest.store = async (batches) => {
    const seqs = batches.flatMap(({ frames }) => frames.map(({ seq }) => seq))
    const is_backlog = seqs.every((seq) => seq <= gate.last_backlog_seq)
    if (gate.is_closed && is_backlog) {
      await new Promise<void>((resolve) => {
        gate.waiting.push(resolve)
        events.emit('change')
      })
    }
    const done = await ingest.store(batches)
    stored.push({ seqs, at: clock.now().getTime() })
    return done
  }
  const app = await serve({
    endpoints,
    needs: createDeps(db, clock),
    db,
    clock,
    timers: { after: () => () => {} },
    newId: () => 'test',
    log: silent,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  let uplinked: Link | null = null
  const uplink = () => {
    const log = silent
    const needs = { server: app.server, db, clock, log, metrics: new Registry() }
    uplinked = attachLink({ ...needs, ingest: { ...ingest, store } })
    return uplinked
  }
  const get = async (path: string) => {
    const url = `/v1/sites/${site_id}${path}`
    const answer = await app.inject({ url, headers: { authorization: `Bearer ${key}` } })
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json()
  }
  const { port } = app.server.address() as AddressInfo
  const edge = await edgeOf({ clock, events, url: `ws://127.0.0.1:${port}` })
  t.after(async () => {
    gate.is_closed = false
    for (const release of gate.waiting) release()
    await Promise.all([edge.close(), uplinked?.close()])
    await app.close()
    await drop()
  })
  return { clock, db, get, uplink, stored, gate, events, ...edge }
}

async function edgeOf({
  clock,
  events,
  url,
}: {
  clock: ReturnType<typeof virtualClock>
  events: EventEmitter
  url: string
}) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-outage-'))
  const journal = await openJournal({
    dir,
    bytes_max: 1e9,
    clock,
    timers: clock,
    newEpoch: () => 'journal-1',
    onNotice: (notice) => assert.fail(`the journal says ${notice.type}`),
  })
  let reading = 0
  const attempts = { count: 0, next_at: 0 }
  const read = journal.read.bind(journal)
  journal.read = async (...bounds) => {
    reading += 1
    const records = await read(...bounds)
    reading -= 1
    events.emit('change')
    return records
  }
  const write = () => {
    attempts.count += 1
    attempts.next_at = clock.now().getTime() + retry_ms / 2
    events.emit('change')
  }
  const link = new EdgeLink({
    url,
    token,
    clock,
    timers: clock,
    random: () => 0,
    delays_ms: { first: retry_ms, max: retry_ms, refused: retry_ms },
    // Each attempt to connect ends in a line or two.
    log: pino({ level: 'info' }, { write }),
    site_id,
    agent_version: '1',
    journal,
    backlog_bytes_per_s,
    devices: () => [],
    askTime: () => () => {},
    onAcked: () => events.emit('change'),
  })
  link.start()
  return {
    journal,
    link,
    isIdle: () => reading === 0,
    attempts,
    async close() {
      await link.close()
      await journal.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

test('three days without uplink: live data at once, the rest behind it, each row once', async (t) => {
  const { clock, db, get, uplink, stored, gate, events, journal, link, isIdle, attempts } =
    await plant(t)
  const until = async (condition: () => boolean) => {
    while (!condition()) {
      await once(events, 'change')
      await new Promise(setImmediate)
    }
  }
  const now = () => clock.now().getTime()
  const journaled = new Map<number, string>()
  const append = async (instants: readonly number[], quality = 'good') => {
    for (const at of instants) journaled.set(at, quality)
    const payloads = instants.map((at) => JSON.stringify(readingsAt(at, quality)))
    const entries = payloads.map((payload) => ({
      kind: 'readings',
      payload,
      readings: kinds.length,
    }))
    return journal.append(entries)
  }
  const connect = async () => {
    while (!link.connected) {
      const before = attempts.count
      await clock.advance(Math.max(0, attempts.next_at - now()))
      await until(() => attempts.count > before)
    }
  }

  const first = uplink()
  await connect()
  await journal.append([{ kind: 'inventory', payload: JSON.stringify(park()), readings: 0 }])
  const [last_before] = await append([now()])
  await until(() => journal.lowest_unacked_seq > last_before!.seq)
  await first.close()

  const outage_from = now() + minute
  for (let nth = 0; nth < outage_minutes; nth += 10) {
    await clock.advance(10 * minute)
    const instants = Array.from({ length: 10 }, (_, i) => now() - (9 - i) * minute)
    await append(instants, nth >= 1000 && nth < 1100 ? 'suspect' : 'good')
  }
  assert.equal(journal.status().depth_frames, outage_minutes)
  const { depth_bytes } = journal.status()
  const bytes_of_frame = depth_bytes / outage_minutes
  gate.last_backlog_seq = journal.last_seq
  stored.length = 0
  uplink()
  gate.is_closed = true
  await connect()

  const connected_at = now()
  const latest_at: number[] = []
  let live_beside_backlog = 0
  while (journal.lowest_unacked_seq <= gate.last_backlog_seq) {
    await until(isIdle)
    const [live] = await append([now()])
    await until(() => stored.some(({ seqs }) => seqs.includes(live!.seq)))
    if (gate.waiting.length > 0) live_beside_backlog += 1
    for (const release of gate.waiting.splice(0)) release()
    gate.is_closed = false
    await until(() => link.counts.frames_acked === link.counts.frames_sent && isIdle())
    const [latest] = await db.query<{ at: Date }>('select measured_at as at from inverter_latest')
    latest_at.push(latest!.at.getTime())
    gate.is_closed = true
    await clock.advance(beat_ms)
  }
  const drained_ms = now() - connected_at

  await t.test('live data never waits, and what is current never goes back', () => {
    const live = stored.filter(({ seqs }) => seqs.some((seq) => seq > gate.last_backlog_seq))
    assert.equal(live.length, latest_at.length, 'each by itself, and none with the backlog')
    assert.deepEqual(
      live.map(({ at }) => at),
      latest_at,
      'current is what was just measured, from the first moment on',
    )
    assert.ok(live_beside_backlog > latest_at.length * 0.9, 'while the backlog was stuck')
  })

  await t.test('the backlog follows oldest first, at the rate that was set', () => {
    const backlog = stored.filter(({ seqs }) => seqs.every((seq) => seq <= gate.last_backlog_seq))
    const order = backlog.flatMap(({ seqs }) => seqs)
    assert.equal(order.length, outage_minutes)
    assert.ok(order.every((seq, nth) => nth === 0 || seq === order[nth - 1]! + 1))
    const frames_per_s_max = backlog_bytes_per_s / bytes_of_frame
    const sent = new Map<number, number>()
    for (const { seqs, at } of backlog) {
      const second_of = Math.floor((at - connected_at) / 1000)
      sent.set(second_of, (sent.get(second_of) ?? 0) + seqs.length)
    }
    const beat_frames = (frames_per_s_max * beat_ms) / 1000
    assert.ok(Math.max(...sent.values()) <= frames_per_s_max + beat_frames)
    const least_ms = (depth_bytes / backlog_bytes_per_s) * 1000
    assert.ok(drained_ms > least_ms * 0.9 && drained_ms < least_ms * 1.5, `${drained_ms} ms`)
  })

  await t.test('every row of every kind is there once, as it was measured', async () => {
    const canonical = (row: unknown) =>
      JSON.stringify(row, (_, one) => (typeof one === 'number' ? Math.fround(one) : one))
    for (const kind of kinds) {
      const names = columnsOf(kind)
      const readings = readingsIn(await readRows(db, kind, { where: '', values: [] }, names))
      assert.equal(readings.length, journaled.size, kind)
      for (const reading of readings) {
        const { measured_at } = reading
        const [meant] = readingsAt(measured_at, journaled.get(measured_at))[kind]!.rows
        assert.equal(canonical(names.map((name) => reading[name])), canonical(meant), kind)
      }
    }
  })

  await t.test('a reading that is not trusted is told as such by the API', async () => {
    const from = outage_from + 995 * minute
    const window = `start=${new Date(from).toISOString()}&end=${new Date(from + 10 * minute).toISOString()}`
    for (const path of [
      '/loggers/1/history',
      '/inverters/1/history',
      '/strings/inverter/1/history',
    ]) {
      const { data } = await get(`${path}?${window}`)
      const told = data.map((row: { quality: string }) => row.quality)
      const half = told.length / 2
      assert.ok(half >= 5)
      assert.deepEqual(told, [...Array(half).fill('good'), ...Array(half).fill('suspect')], path)
    }
    await append([now() + 1000], 'suspect')
    await until(() => journal.status().depth_frames === 0)
    await clock.advance(1000)
    assert.equal((await get('/inverters/1')).quality, 'suspect')
  })

  await t.test('late, retained and repeated readings change nothing that is current', async () => {
    const current = async () => (await get('/inverters/1')).measured_at
    const before = await current()
    const late = outage_from + minute / 2
    await append([late])
    await journal.append([
      { kind: 'readings', payload: JSON.stringify(readingsAt(outage_from)), readings: 5 },
    ])
    await until(() => journal.status().depth_frames === 0)
    assert.equal(await current(), before)
    const [{ count } = { count: 0 }] = await db.query<{ count: number }>(
      'select count(*) from inverter_readings',
    )
    assert.equal(count, journaled.size)
  })
})
