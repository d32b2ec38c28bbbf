import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { silent, testDatabase } from '../../test/postgres.ts'
import { defineJob } from './job.ts'
import { createJobs } from './queue.ts'
import { requestWhenNotified } from './wake.ts'

test('a job that nothing schedules runs soon after its channel was notified', async () => {
  const { db, drop } = await testDatabase()
  let ran = (_payload: string) => {}
  const running = new Promise<string>((resolve) => {
    ran = resolve
  })
  const woken = defineJob({
    name: 'woken',
    schedule: null,
    seconds_max: 60,
    run: async () => ran('it ran'),
  })
  const queue = createJobs({
    db,
    clock: { now: () => new Date('2026-06-21T10:00:00Z') },
    log: silent,
    registry: new Registry(),
    jobs: [woken],
    options: { poll_s: 0.5, retries_max: 0, retry_delay_s: 0 },
  })
  await queue.start()
  const order = { channel: 'a_channel', job: 'woken', request: queue.request }
  const listening = await requestWhenNotified({ db, log: silent }, order)
  await db.execute(`select pg_notify('a_channel', '')`)
  assert.equal(await running, 'it ran')
  await listening.stop()
  await queue.stop()
  await drop()
})
