import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import {
  askToForget,
  type ForgetRequest,
  type OperatorRequest,
  openRequests,
  watchRequests,
} from './limit-requests.ts'

const timers = { after: (_: number, look: () => void) => systemTimers.after(2, look) }

function dirOf(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-requests-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function requestOf(inverter_id: number): ForgetRequest {
  const request_id = `0193a1de-0000-7000-8000-00000000000${inverter_id}`
  return { request_id, inverter_id, external_w: 20_000, asked_at: 0, asked_by: 'operator' }
}

test('a request is there until it is done, and is asked for again until then', async (t) => {
  const dir = dirOf(t)
  writeFileSync(join(dir, 'control-devices.json'), '[]')
  await askToForget(dir, requestOf(1))
  await askToForget(dir, requestOf(2))
  assert.deepEqual(await openRequests(dir), [requestOf(1), requestOf(2)])
  const [, file] = readdirSync(dir)
  assert.equal(statSync(join(dir, file!)).mode & 0o777, 0o644, 'who asks may be another account')
  const asked: number[] = []
  const faults: string[] = []
  const answers = ['later', 'fails', 'fails', 'done']
  const over = Promise.withResolvers<void>()
  const watch = watchRequests({
    dir,
    timers,
    async take({ inverter_id = 0 }) {
      asked.push(inverter_id)
      if (inverter_id === 2) return true
      const answer = answers.shift()
      if (answer === 'fails') throw new Error('full')
      if (answer === 'done') over.resolve()
      return answer === 'done'
    },
    onFault: ({ message }) => faults.push(message),
  })
  t.after(() => watch.close())
  await over.promise
  assert.deepEqual(asked, [1, 2, 1, 1, 1])
  assert.deepEqual(faults, ['full'])
  while ((await openRequests(dir)).length > 0) await new Promise(setImmediate)
  assert.deepEqual(readdirSync(dir), ['control-devices.json'])
})

test('what is no request is dropped, told of, and holds up no other', async (t) => {
  const dir = dirOf(t)
  const { request_id } = requestOf(9)
  const under_another_name = JSON.stringify(requestOf(1))
  writeFileSync(join(dir, 'forget-limit-1.json'), '{')
  writeFileSync(join(dir, `forget-limit-${request_id}.json`), under_another_name)
  await askToForget(dir, requestOf(2))
  const faults: string[] = []
  const taken = Promise.withResolvers<OperatorRequest>()
  const watch = watchRequests({
    dir,
    timers,
    async take(request) {
      taken.resolve(request)
      return true
    },
    onFault: ({ message }) => faults.push(message),
  })
  t.after(() => watch.close())
  assert.deepEqual(await taken.promise, requestOf(2))
  while (readdirSync(dir).length > 0 || faults.length < 2) await new Promise(setImmediate)
  assert.match(faults[0]!, /^forget-limit-.*\.json cannot be understood, and is dropped$/)
})
