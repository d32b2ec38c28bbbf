import assert from 'node:assert/strict'
import test from 'node:test'
import { eachOf } from './each-of.ts'

const items = ['one', 'other', 'third'].map((site_id) => ({ site_id }))

function undertaking() {
  const told: object[] = []
  const controller = new AbortController()
  const log = { info: () => {}, warn: () => {}, error: (what: object) => void told.push(what) }
  return { told, controller, log, signal: controller.signal, failure: 'nothing was made' }
}

test('one that fails does not hold up the others, and is named at the end', async () => {
  const under = undertaking()
  const done: string[] = []
  const made = eachOf(items, under, async ({ site_id }) => {
    if (site_id === 'other') throw new Error('no weather')
    done.push(site_id)
  })
  await assert.rejects(made, /^Error: nothing was made: other$/)
  assert.deepEqual(done, ['one', 'third'])
  assert.deepEqual(under.told, [{ err: new Error('no weather'), site_id: 'other' }])
})

test('once it is stopped nothing more is begun, and what broke off is no failure', async () => {
  const under = undertaking()
  const begun: string[] = []
  const made = eachOf(items, under, async ({ site_id }) => {
    begun.push(site_id)
    under.controller.abort(new Error('the program ends'))
    throw new Error('broken off')
  })
  await assert.rejects(made, /the program ends/)
  assert.deepEqual([begun, under.told], [['one'], []])
})
