import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import os from 'node:os'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { backgroundThreads } from './fixtures/background-threads.ts'
import type { TestTask } from './fixtures/task-worker.ts'
import { createWorkerThread, type ThreadOptions } from './worker-thread.ts'

const program = new URL('./fixtures/task-worker.ts', import.meta.url)

function threadOf(t: TestContext, options: Partial<ThreadOptions> = {}) {
  const thread = createWorkerThread<TestTask, number>(program, { name: 'test', ...options })
  t.after(() => thread.close())
  return thread
}

const add = (...numbers: number[]): TestTask => ({ is: 'add', numbers })

test('each who asks has its own answer, what fails is told, and the next is served', async (t) => {
  const thread = threadOf(t)
  const asked = [add(1, 2), { is: 'fail', message: 'no' } as const, add(3, 4)]
  const [first, failed, last] = await Promise.allSettled(asked.map((task) => thread.run(task)))
  assert.deepEqual(first, { status: 'fulfilled', value: 3 })
  assert.match(String(failed?.status === 'rejected' && failed.reason), /no/)
  assert.deepEqual(last, { status: 'fulfilled', value: 7 })
})

test('a task that waits for something keeps the next one waiting too', async (t) => {
  const thread = threadOf(t)
  const lingering = { is: 'linger' } as const
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => thread.run(lingering))), [1, 1, 1])
})

test('where the thread ends by itself all it was asked for fails, and another starts', async (t) => {
  const thread = threadOf(t)
  const both = [thread.run({ is: 'exit' }), thread.run(add(1))]
  for (const one of both) await assert.rejects(one, /the test thread ended/)
  assert.equal(await thread.run(add(1, 1)), 2)
})

test('where it dies of an error, that is what the task fails with', async () => {
  const dying = new URL('data:text/javascript,throw new Error("crashed")')
  const thread = createWorkerThread<TestTask, number>(dying, { name: 'test' })
  await assert.rejects(thread.run(add(1)), /crashed/)
})

test('one that is closed is ended at once, and says so', async (t) => {
  const thread = threadOf(t)
  const failed = assert.rejects(thread.run({ is: 'hang' }), /the test thread was closed/)
  await thread.close()
  await failed
})

test('memory that moves is in the thread, and no copy stays', async (t) => {
  const thread = threadOf(t)
  const [moved, copied] = [new ArrayBuffer(1000), new ArrayBuffer(500)]
  assert.equal(await thread.run({ is: 'count', bytes: moved }, { moved: [moved] }), 1000)
  assert.equal(await thread.run({ is: 'count', bytes: copied }), 500)
  assert.deepEqual([moved.byteLength, copied.byteLength], [0, 500])
})

test('a task whose signal aborts learns of it, also before its turn', async (t) => {
  const thread = threadOf(t)
  const [first, second] = [new AbortController(), new AbortController()]
  const waiting = [first, second].map(({ signal }) => thread.run({ is: 'wait' }, { signal }))
  second.abort()
  const next = thread.run(add(1))
  first.abort()
  assert.deepEqual(await Promise.all([...waiting, next]), [1, 0, 1])
})

test('what cannot cross into the thread, or out of it, fails alone', async (t) => {
  const thread = threadOf(t)
  const bad = { is: 'add', numbers: [() => 1] } as unknown as TestTask
  await assert.rejects(thread.run(bad), { name: 'DataCloneError' })
  await assert.rejects(thread.run({ is: 'odd' }), /could not be cloned/)
  assert.equal(await thread.run(add(2, 2)), 4)
})

test('each task has the whole time until it is given up, and all that wait are told', async (t) => {
  const pending = new Set<() => void>()
  const timers = {
    after(delay_ms: number, callback: () => void) {
      assert.equal(delay_ms, 50)
      pending.add(callback)
      return () => void pending.delete(callback)
    },
  }
  const error = () => new Error('given up')
  const thread = threadOf(t, { give_up: { after_ms: 50, timers, error } })
  const first = thread.run(add(1))
  const timers_of_first = [...pending]
  const others = [thread.run({ is: 'hang' }), thread.run(add(2))]
  assert.equal(await first, 1)
  const timers_of_second = [...pending]
  assert.deepEqual([timers_of_first.length, timers_of_second.length], [1, 1])
  assert.notEqual(timers_of_first[0], timers_of_second[0])
  timers_of_second[0]!()
  for (const one of others) await assert.rejects(one, /given up/)
  assert.equal(await thread.run(add(5)), 5)
  assert.equal(pending.size, 0)
})

test('a thread in the background gives way, and no other does', async (t) => {
  if (process.platform !== 'linux') return t.skip('LEFT OUT: priorities of threads, but on Linux')
  if (os.getPriority() > 0) return t.skip('LEFT OUT: this process gives way to all others itself')
  const priority = os.getPriority()
  const before = backgroundThreads()
  for (const in_background of [false, true]) {
    await threadOf(t, { in_background }).run(add(1))
    const found = backgroundThreads().difference(before)
    assert.equal(found.size, in_background ? 1 : 0)
  }
  assert.equal(os.getPriority(), priority)
})

test('an idle thread does not keep the process alive; one at a task does', () => {
  const path = fileURLToPath(new URL('./fixtures/unclosed.ts', import.meta.url))
  const { stdout, status } = spawnSync(process.execPath, [path], { timeout: 20_000 })
  assert.deepEqual([String(stdout), status], ['3 4 ', 0])
})
