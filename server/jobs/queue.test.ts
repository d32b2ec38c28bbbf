import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Registry } from 'prom-client'
import { eventually, virtualTime } from '../../test/conventions/virtual-time.ts'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import type { Log } from '../storage/log.ts'
import { defineJob, type Job } from './job.ts'
import { createJobs, JobRunning } from './queue.ts'

let database: TestDatabase

before(async () => {
  database = await testDatabase()
})
after(() => database.drop())

const job = (name: string, run: Job['run']): Job =>
  defineJob({ name, schedule: null, seconds_max: 60, run })

function queueOf(jobs: readonly Job[], needs: { log?: Log } = {}) {
  const registry = new Registry()
  const time = virtualTime()
  const queue = createJobs({
    db: database.db,
    clock: time.clock,
    log: silent,
    registry,
    options: { poll_s: 0.5, retries_max: 3, retry_delay_s: 0 },
    jobs,
    ...needs,
  })
  const figure = async (name: string, labels: Record<string, string>) => {
    const metric = await registry.getSingleMetric(name)!.get()
    return metric.values.find((value) =>
      Object.entries(labels).every(([label, wanted]) => String(value.labels[label]) === wanted),
    )?.value
  }
  const runs = (of: string, outcome: string) =>
    figure('heliograph_job_runs_total', { job: of, outcome })
  return { queue, time, figure, runs }
}

const waiting = async (name: string) =>
  (
    await database.db.query(
      `select from pgboss.job where name = $1 and state in ('created', 'retry', 'active')`,
      [name],
    )
  ).length

test('a job that fails is logged, tried again and counted', async () => {
  const logged: unknown[] = []
  const log = { ...silent, error: (what: unknown) => void logged.push(what) }
  let tries = 0
  const succeeded = Promise.withResolvers<void>()
  const { queue, runs } = queueOf(
    [
      job('flaky', async () => {
        tries += 1
        if (tries < 3) throw new Error(`failure ${tries}`)
        succeeded.resolve()
      }),
    ],
    { log },
  )
  assert.equal(await runs('flaky', 'failed'), 0)
  await queue.start()
  await queue.request('flaky')
  await succeeded.promise
  await eventually(async () => assert.equal(await waiting('flaky'), 0))
  await queue.stop()
  assert.deepEqual([await runs('flaky', 'failed'), await runs('flaky', 'succeeded')], [2, 1])
  assert.deepEqual(
    logged.map((what) => {
      const { err, job: name, tried } = what as { err: Error; job: string; tried: number }
      return [name, tried, err.message]
    }),
    [
      ['flaky', 1, 'failure 1'],
      ['flaky', 2, 'failure 2'],
    ],
  )
})

test('two run at once beside those that have a turn of their own', async () => {
  const begun: string[] = []
  const ending = Promise.withResolvers<void>()
  const work = (name: string, more = {}) => ({
    ...job(name, async () => {
      begun.push(name)
      await ending.promise
    }),
    ...more,
  })
  const { queue } = queueOf([
    work('first'),
    work('second'),
    work('third'),
    work('soon', { own_turn: true }),
  ])
  const runs = ['first', 'second', 'third', 'soon'].map((name) => queue.runNow(name))
  await eventually(async () => assert.deepEqual([...begun].sort(), ['first', 'second', 'soon']))
  ending.resolve()
  await Promise.all(runs)
  assert.equal(begun.at(-1), 'third')
})

test('a job runs by name on a virtual clock, and tells when and how long', async () => {
  const { queue, time, figure, runs } = queueOf([
    job('slow', async ({ clock }) => {
      assert.deepEqual(clock.now(), time.clock.now())
      time.jump(90_000)
    }),
    job('broken', () => Promise.reject(new Error('why'))),
  ])
  await queue.runNow('slow')
  assert.equal(await runs('slow', 'succeeded'), 1)
  const now_s = time.clock.now().getTime() / 1000
  assert.equal(
    await figure('heliograph_job_last_success_timestamp_seconds', { job: 'slow' }),
    now_s,
  )
  assert.equal(await figure('heliograph_job_duration_seconds', { job: 'slow', le: '60' }), 0)
  assert.equal(await figure('heliograph_job_duration_seconds', { job: 'slow', le: '600' }), 1)
  await assert.rejects(queue.runNow('broken'), /why/)
  assert.equal(await runs('broken', 'failed'), 1)
  await assert.rejects(queue.runNow('no_such_job'), /there is no job no_such_job/)
})

test('a run holds off another one, not one of another job', async () => {
  const [began, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { queue } = queueOf([
    job('held_here', async () => {
      began.resolve()
      await released.promise
    }),
    job('other', async () => {}),
  ])
  const running = queue.runNow('held_here')
  await began.promise
  await assert.rejects(queue.runNow('held_here'), JobRunning)
  await queue.runNow('other')
  released.resolve()
  await running
  await queue.runNow('held_here')
})

test('two processes run a job once at a time, and as often as was asked for', async () => {
  const program = fileURLToPath(new URL('fixtures/process.ts', import.meta.url))
  const both = [0, 1].map(() => fork(program, [database.url]))
  const heard = (message: string) =>
    Promise.race(
      both.map(async (process) => {
        while ((await once(process, 'message'))[0] !== message);
        return process
      }),
    )
  const heardFrom = async (process: (typeof both)[number], words: readonly string[]) => {
    for (;;) {
      const [word] = await once(process, 'message')
      if (words.includes(word)) return word
    }
  }
  const ready = both.map((process) => once(process, 'message'))
  await Promise.all(ready)

  const first = heard('began')
  const one_asked = heardFrom(both[0]!, ['asked'])
  both[0]!.send('request')
  const runner = await first
  await one_asked
  // Of what is asked for meanwhile one run is to come, and none begins before this one has ended.
  for (const process of both) {
    const answer = heardFrom(process, ['refused', 'ran'])
    process.send('run now')
    assert.deepEqual(await answer, 'refused')
    // One that is still under way when the next run begins would be a request for a third.
    for (let nth = 0; nth < 2; nth += 1) {
      const asked = heardFrom(process, ['asked'])
      process.send('request')
      await asked
    }
  }
  await eventually(async () => assert.equal(await waiting('held'), 2))
  const second = heard('began')
  runner.send('go on')
  const next = await second
  next.send('go on')
  await eventually(async () => assert.equal(await waiting('held'), 0))
  const states = await database.db.query(
    `select state::text, count(*) from pgboss.job where name = 'held' group by 1`,
  )
  assert.deepEqual(states, [{ state: 'completed', count: 2 }])
  for (const process of both) {
    const exit = once(process, 'exit')
    process.disconnect()
    assert.deepEqual((await exit)[0], 0)
  }
})

test('stopping tells a run to end and waits for it; what it left is tried again', async () => {
  const began = Promise.withResolvers<void>()
  let ended = false
  const stopped = job('stopped', async ({ signal }) => {
    began.resolve()
    if (!signal.aborted) await once(signal, 'abort')
    ended = true
    signal.throwIfAborted()
  })
  const { queue } = queueOf([stopped])
  await queue.start()
  await queue.request('stopped')
  await began.promise
  await queue.stop()
  assert.equal(ended, true)

  const again = Promise.withResolvers<void>()
  const successor = queueOf([job('stopped', async () => again.resolve())])
  await successor.queue.start()
  await again.promise
  await successor.queue.stop()
})

test('schedules are those of the table of jobs, in UTC and made up for once', async () => {
  const daily = (name: string) => ({ ...job(name, async () => {}), schedule: '20 2 * * *' })
  const schedules = () =>
    database.db.query('select name, cron, timezone, options from pgboss.schedule order by name')
  const old = queueOf([daily('gone'), daily('stays')])
  await old.queue.start()
  await old.queue.stop()
  const present = queueOf([daily('stays')])
  await present.queue.start()
  await present.queue.stop()
  const [only, ...more] = await schedules()
  assert.equal(more.length, 0)
  assert.deepEqual(
    { ...only, options: (only!.options as { missed?: string }).missed },
    { name: 'stays', cron: '20 2 * * *', timezone: 'UTC', options: 'once' },
  )
})

test('a job that is wrong is refused where it is written', () => {
  const good = { name: 'good', schedule: '* * * * *', seconds_max: 60, run: async () => {} }
  assert.equal(defineJob(good), good)
  assert.throws(() => defineJob({ ...good, name: 'Not good' }), /not a name/)
  assert.throws(() => defineJob({ ...good, schedule: '@daily' }), /five fields/)
  assert.throws(() => defineJob({ ...good, seconds_max: 5 }), /seconds_max/)
  assert.throws(() => queueOf([good, good]), /duplicate name/)
})
