import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import test from 'node:test'
import type { Timers } from '@heliograph/domain/clock'
import { testDatabase } from '../../test/postgres.ts'
import { type CopyOrder, copyOut, passOn } from './copy-out.ts'

/** Timers that run when the test says so. */
function handTimers() {
  const running = new Set<() => void>()
  const timers: Timers = {
    after(_ms, run) {
      running.add(run)
      return () => void running.delete(run)
    },
  }
  return { timers, running }
}

test('a copy of rows', { timeout: 30_000 }, async (t) => {
  const { db, drop } = await testDatabase({ migrations: false })
  t.after(drop)
  const { timers, running } = handTimers()
  const order = (statement: string, change: Partial<CopyOrder> = {}): CopyOrder => ({
    statement,
    timeout_ms: 60_000,
    patience: { wait_ms: 60_000, bytes_min: 400_000 },
    timers,
    signal: new AbortController().signal,
    ...change,
  })
  const wide = `COPY (SELECT repeat('x', 200) FROM generate_series(1, 100000)) TO STDOUT`

  await t.test('comes whole, and its connection serves the next', async () => {
    const { bytes, released } = copyOut(db, order(wide))
    assert.equal((await buffer(bytes)).length, 201 * 100_000)
    await released
    assert.equal(running.size, 0)
    assert.deepEqual(await db.query('SHOW statement_timeout'), [{ statement_timeout: '1min' }])
    assert.equal(db.connections().total, 1)
  })

  await t.test('a reader that stalls is given up, and the backend ends', async () => {
    const { bytes, released } = copyOut(db, order(wide))
    await once(bytes, 'readable')
    while (running.size === 0) await db.query('SELECT')
    const failed = once(bytes, 'error')
    for (const run of running) run()
    // Nobody reads on.
    assert.equal((await failed)[0].name, 'AbortError')
    await released
    for (;;) {
      const left = await db.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY%'",
      )
      if (left.length === 0) break
    }
  })

  await t.test('a reader that trickles is given up, one that is slow is not', async () => {
    let now_ms = 0
    const delays_ms: number[] = []
    const trickled: Timers = {
      after(delay_ms, run) {
        delays_ms.push(delay_ms)
        return timers.after(delay_ms, run)
      },
    }
    const { bytes, released } = copyOut(db, order(wide, { timers: trickled, now_ms: () => now_ms }))
    let read_bytes = 0
    const readOn = async (until_bytes: number) => {
      while (read_bytes < until_bytes) {
        const chunk: Buffer | null = bytes.read()
        if (chunk === null) await once(bytes, 'readable')
        else read_bytes += chunk.length
      }
    }
    await readOn(100_000)
    while (!(bytes as PassThrough).writableNeedDrain || running.size === 0) await db.query('SELECT')
    now_ms = 50_000
    await readOn(1_000_000)
    while (running.size === 0) await db.query('SELECT')
    assert.ok(Math.min(...delays_ms) <= 10_000, 'earlier waits count')
    for (const run of [...running]) run()
    await readOn(1_000_001)
    assert.equal(bytes.destroyed, false, 'it took enough')
    await readOn(1_200_000)
    while (running.size === 0) await db.query('SELECT')
    for (const run of [...running]) run()
    await assert.rejects(buffer(bytes), { name: 'AbortError' })
    await released
  })

  await t.test('what the database refuses keeps the connection', async () => {
    const before = await db.query('SELECT pg_backend_pid()')
    const late = `COPY (SELECT 1 / (90000 - n) FROM generate_series(1, 100000) AS n) TO STDOUT`
    const { bytes, released } = copyOut(db, order(late))
    await assert.rejects(buffer(bytes), /division by zero/)
    await released
    assert.deepEqual(await db.query('SELECT pg_backend_pid()'), before)
  })

  await t.test('has its own time, and none where it was given up before', async () => {
    const slow = 'COPY (SELECT pg_sleep(600)) TO STDOUT'
    await assert.rejects(buffer(copyOut(db, order(slow, { timeout_ms: 20 })).bytes), {
      code: '57014',
    })
    const { bytes } = copyOut(db, order(slow, { signal: AbortSignal.abort() }))
    await assert.rejects(buffer(bytes), { name: 'AbortError' })
  })
})

test('what comes from elsewhere', { timeout: 30_000 }, async (t) => {
  const kib = Buffer.alloc(1024, 'x')
  const scene = () => {
    const { timers, running } = handTimers()
    const reader = new AbortController()
    const seen: { given_up?: AbortSignal } = {}
    const order = {
      timeout_ms: 60_000,
      patience: { wait_ms: 60_000, bytes_min: 400_000 },
      timers,
      signal: reader.signal,
    }
    const pass = (parts: () => AsyncIterable<Buffer>) =>
      passOn(order, (given_up) => {
        seen.given_up = given_up
        return parts()
      })
    return { running, reader, seen, pass }
  }
  async function* endless() {
    for (;;) yield kib
  }

  await t.test('ends with its source', async () => {
    const { pass, running, seen } = scene()
    const { bytes, released } = pass(async function* parts() {
      yield kib
      yield kib
    })
    assert.equal((await buffer(bytes)).length, 2048)
    await released
    assert.deepEqual([running.size, seen.given_up?.aborted], [0, false])
  })

  await t.test('breaks off where its source fails', async () => {
    const { bytes, released } = scene().pass(async function* parts() {
      yield kib
      throw new Error('the thread ended')
    })
    await assert.rejects(buffer(bytes), /the thread ended/)
    await released
  })

  await t.test('is given up when its reader stalls or goes', async () => {
    for (const leave of ['stalls', 'goes']) {
      const { pass, running, reader, seen } = scene()
      const { bytes, released } = pass(endless)
      await once(bytes, 'readable')
      while (running.size === 0) await new Promise(setImmediate)
      const failed = once(bytes, 'error')
      if (leave === 'goes') reader.abort()
      else for (const run of running) run()
      assert.equal((await failed)[0].name, 'AbortError')
      await released
      assert.equal(seen.given_up?.aborted, true, leave)
    }
  })
})
