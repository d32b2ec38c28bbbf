import assert from 'node:assert/strict'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import test from 'node:test'
import type { Timers } from '@heliograph/domain/clock'
import { testDatabase } from '../../test/postgres.ts'
import { type CopyOrder, copyOut } from './copy-out.ts'

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
    stall_ms: 60_000,
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
    for (const run of running) run()
    await assert.rejects(buffer(bytes), { name: 'AbortError' })
    await released
    for (;;) {
      const left = await db.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY%'",
      )
      if (left.length === 0) break
    }
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
