import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import { frames_per_batch_max } from '@heliograph/domain/link'
import { pino } from 'pino'
import { hastyTimers } from './fixtures/hasty-timers.ts'
import { LinkServer, type LinkServerOptions } from './fixtures/link-server.ts'
import { type HistoryFrame, importHistory } from './importer.ts'
import { type Journal, openJournal } from './journal.ts'
import { batchesOf, Link, type LinkNeeds } from './link.ts'

const log = pino({ level: 'silent' })

async function journalOf(t: TestContext): Promise<Journal> {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-link-'))
  const journal = await openJournal({
    dir,
    bytes_max: 1e8,
    segment_bytes: 20_000,
    clock: systemClock,
    timers: systemTimers,
    newEpoch: () => 'epoch-1',
    onNotice: () => {},
  })
  t.after(async () => {
    await journal.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return journal
}

async function serverOf(t: TestContext, options: LinkServerOptions = {}) {
  const server = new LinkServer(options)
  const url = await server.listen()
  t.after(() => server.close())
  return { server, url }
}

function linkOf(t: TestContext, needs: Partial<LinkNeeds> & Pick<LinkNeeds, 'url' | 'journal'>) {
  const link = new Link({
    token: 'secret',
    clock: systemClock,
    timers: hastyTimers(),
    random: () => 0.5,
    log,
    site_id: 'demo',
    agent_version: '0',
    backlog_bytes_per_s: 1e9,
    devices: () => [],
    askTime: () => () => {},
    ...needs,
  })
  t.after(() => link.close())
  link.start()
  return link
}

const entry = (nth: number) => ({ kind: 'readings', payload: JSON.stringify({ nth }), readings: 1 })

async function appendEach(journal: Journal, first: number, last: number): Promise<void> {
  for (let nth = first; nth <= last; nth += 1) await journal.append([entry(nth)])
}

async function comesTrue(condition: () => boolean): Promise<void> {
  const late_ms = performance.now() + 60_000
  while (!condition()) {
    assert.ok(performance.now() < late_ms, `not within a minute: ${condition}`)
    await new Promise(setImmediate)
  }
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

/** Numbers that look random and are the same each time (Park and Miller). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

for (const seed of [1, 2, 3]) {
  test(`nothing is lost or doubled however often the link breaks (seed ${seed})`, async (t) => {
    const random = seeded(seed)
    const journal = await journalOf(t)
    await appendEach(journal, 1, 200)
    const { server, url } = await serverOf(t, {
      window_frames: 7,
      onBatch: () => (random() < 0.1 ? 'lose_before' : random() < 0.1 ? 'lose_after' : 'ack'),
    })
    linkOf(t, { url, journal, random })
    await server.until(() => server.seqs('epoch-1').length > 20)
    await appendEach(journal, 201, 400)
    await server.until(() => server.seqs('epoch-1').length === 400)
    assert.deepEqual(server.seqs('epoch-1'), upTo(400))
    for (const [seq, payload] of server.committed.get('epoch-1')!) {
      assert.deepEqual(payload, { nth: seq })
    }
    assert.ok(server.hellos.length > 3, 'the link broke')
    await comesTrue(() => journal.status().depth_frames === 0)
    assert.equal(journal.lowest_unacked_seq, 401)
  })
}

test('live frames do not wait behind a backlog that is stuck', async (t) => {
  const journal = await journalOf(t)
  await appendEach(journal, 1, 500)
  const { server, url } = await serverOf(t, {
    window_frames: 50,
    onBatch: ({ lane }) => (lane === 'backlog' ? 'hold' : 'ack'),
  })
  linkOf(t, { url, journal })
  await server.until(() => server.held.length > 0)
  await appendEach(journal, 501, 520)
  await server.until(() => server.seqs('epoch-1').includes(520))
  const live = server.arrivals.filter(({ lane }) => lane === 'live').flatMap(({ seqs }) => seqs)
  assert.deepEqual(live, upTo(520).slice(500))
  const backlog = server.arrivals.filter(({ lane }) => lane === 'backlog').flatMap((a) => a.seqs)
  assert.deepEqual(backlog, upTo(backlog.length), 'oldest first')
  assert.ok(backlog.length <= 50, 'the window holds')
})

test('what the live window has no room for follows through the backlog', async (t) => {
  const journal = await journalOf(t)
  const { server, url } = await serverOf(t, {
    window_frames: 5,
    onBatch: ({ lane }) => (lane === 'live' ? 'hold' : 'ack'),
  })
  const link = linkOf(t, { url, journal })
  await server.until(() => server.statuses.length > 0)
  assert.ok(link.connected)
  await appendEach(journal, 1, 30)
  await server.until(() => server.seqs('epoch-1').length === 30)
  const lanes = new Map(server.arrivals.flatMap((a) => a.seqs.map((seq) => [seq, a.lane])))
  assert.deepEqual(
    upTo(5).map((seq) => lanes.get(seq)),
    Array(5).fill('live'),
  )
  assert.deepEqual(
    [
      ...new Set(
        upTo(30)
          .slice(5)
          .map((seq) => lanes.get(seq)),
      ),
    ],
    ['backlog'],
  )
  assert.equal(journal.lowest_unacked_seq, 1)
  for (const acknowledge of server.held) acknowledge()
  await comesTrue(() => journal.status().depth_frames === 0)
  assert.equal(journal.lowest_unacked_seq, 31)
})

test('a refusal that will not pass is retried slowly, a passing one soon', async (t) => {
  for (const [code, slow] of [
    ['wrong_site', true],
    ['shutting_down', false],
  ] as const) {
    const refusals = [code, code]
    const { server, url } = await serverOf(t, {
      refusal: () => refusals.pop() ?? null,
    })
    const timers = hastyTimers()
    const delays_ms = { first: 1000, max: 60_000, refused: 45_000, silence: 999_999 }
    linkOf(t, { url, journal: await journalOf(t), timers, delays_ms })
    await server.until(() => server.statuses.length > 0)
    const waits = timers.delays_ms.filter((ms) => ms < 40_000 && ms !== 10_000)
    assert.deepEqual(waits, slow ? [33_750, 33_750] : [750, 1500], code)
  }
})

test('a token that is refused is retried slowly, and never written to the log', async (t) => {
  const lines: string[] = []
  const loud = pino({ level: 'trace' }, { write: (line) => lines.push(line) })
  const { server, url } = await serverOf(t, { token: 'another' })
  const timers = hastyTimers()
  linkOf(t, { url, journal: await journalOf(t), timers, log: loud })
  let waited = false
  await server.until(() => {
    waited ||= timers.delays_ms.includes(45_000)
    return waited
  })
  assert.equal(server.hellos.length, 0)
  assert.match(lines.join(''), /"status":401/)
  assert.ok(!lines.join('').includes('secret'))
})

test('a server that falls silent is left, and found again', async (t) => {
  const journal = await journalOf(t)
  const { server, url } = await serverOf(t)
  linkOf(t, { url, journal })
  await server.until(() => server.statuses.length > 0)
  server.sockets[0]!.pause()
  await server.until(() => server.hellos.length > 1)
  assert.deepEqual([server.hellos.length, server.sockets.length], [2, 2])
})

test('the status says how deep the journal is, and what changed', async (t) => {
  const journal = await journalOf(t)
  await appendEach(journal, 1, 3)
  const { server, url } = await serverOf(t, { onBatch: () => 'hold' })
  const device = {
    kind: 'inverter' as const,
    id: '1',
    comm_state: 'connected' as 'connected' | 'disconnected',
    since: 1,
    last_ok_at: null,
    error: null,
    identity: null,
  }
  const link = linkOf(t, { url, journal, devices: () => [device] })
  await server.until(() => server.statuses.length > 0)
  assert.equal(server.statuses[0]?.journal.depth_frames, 3)
  assert.equal(server.statuses[0]?.lowest_unacked_seq, 1)
  device.comm_state = 'disconnected'
  link.statusChanged()
  await server.until(() => server.statuses.at(-1)?.devices[0]?.comm_state === 'disconnected')
})

test('batches keep the bounds of the link', () => {
  const small = Array.from({ length: 2500 }, () => ({ payload: 'x' }))
  assert.deepEqual(
    [...batchesOf(small)].map((b) => b.length),
    [frames_per_batch_max, 1000, 500],
  )
  const large = Array.from({ length: 5 }, () => ({ payload: 'x'.repeat(600_000) }))
  assert.deepEqual(
    [...batchesOf(large)].map((b) => b.length),
    [1, 1, 1, 1, 1],
  )
})

async function* history(
  count: number,
  onMade: () => void = () => {},
): AsyncGenerator<HistoryFrame> {
  for (let seq = 1; seq <= count; seq += 1) {
    await new Promise(setImmediate)
    onMade()
    yield { seq, kind: 'readings', payload: { nth: seq } }
  }
}

const importNeeds = (url: string, frames: AsyncIterable<HistoryFrame>) => ({
  url,
  token: 'secret',
  site_id: 'demo',
  epoch: 'history-1',
  agent_version: '0',
  frames,
  clock: systemClock,
  timers: hastyTimers(),
  random: () => 0.5,
  log,
})

test('history arrives whole over a link that breaks, and again costs nothing', async (t) => {
  const random = seeded(5)
  const { server, url } = await serverOf(t, {
    window_frames: 20,
    onBatch: () => (random() < 0.1 ? 'lose_before' : random() < 0.1 ? 'lose_after' : 'ack'),
  })
  const progress: number[] = []
  const done = await importHistory({
    ...importNeeds(url, history(600)),
    onProgress: ({ frames_done }) => progress.push(frames_done),
  })
  assert.deepEqual(done, { frames_done: 600 })
  assert.deepEqual(server.seqs('history-1'), upTo(600))
  assert.ok(server.hellos.length > 3, 'the link broke')
  assert.ok(server.hellos.every(({ role }) => role === 'importer'))
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
  )
  assert.ok(server.arrivals.every(({ lane, seqs }) => lane === 'backfill' && seqs.length <= 20))
  const before = server.arrivals.length
  await importHistory(importNeeds(url, history(610)))
  const again = server.arrivals.slice(before).flatMap(({ seqs }) => seqs)
  assert.deepEqual(
    [...new Set(again)].sort((a, b) => a - b),
    upTo(610).slice(600),
  )
})

test('an import that cannot make its frames fails with the reason', async (t) => {
  const { url } = await serverOf(t)
  async function* broken(): AsyncGenerator<HistoryFrame> {
    yield* history(3)
    throw new Error('no weather for this day')
  }
  await assert.rejects(importHistory(importNeeds(url, broken())), /no weather/)
  const controller = new AbortController()
  const stopped = importHistory({ ...importNeeds(url, history(1e9)), signal: controller.signal })
  controller.abort(new Error('stopped'))
  await assert.rejects(stopped, /stopped/)
})

test('what the server refused stands in the log of the edge, with the reason', async (t) => {
  const { server, url } = await serverOf(t, {
    refused: ({ seqs }) =>
      seqs.includes(2) ? [{ seq: 2, kind: 'inventory', reason: 'no such place' }] : [],
  })
  const journal = await journalOf(t)
  const lines: unknown[] = []
  const link = linkOf(t, {
    journal,
    url,
    log: pino({ level: 'error' }, { write: (line: string) => lines.push(JSON.parse(line)) }),
  })
  await appendEach(journal, 1, 3)
  await server.until(() => server.seqs('epoch-1').length === 3)
  await comesTrue(() => link.counts.frames_acked === 3)
  assert.deepEqual(
    lines.map((line) => {
      const { seq, kind, reason, msg } = line as Record<string, unknown>
      return { seq, kind, reason, msg }
    }),
    [{ seq: 2, kind: 'inventory', reason: 'no such place', msg: 'the server refused a frame' }],
  )
})
