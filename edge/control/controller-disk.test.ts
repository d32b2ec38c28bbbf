import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { rowKey } from '@heliograph/domain/curtailment'
import { controlledSite, rowOf, start_at } from '../fixtures/controlled-site.ts'
import { openControlStore } from './control-store.ts'
import { memoryControlStore } from './fixtures/memory-stores.ts'

const never = () => new Promise<void>(() => {})
const permitOf = (permit_w: number) => ({ plant_w: new Map([[1, permit_w]]), site_w: null })

test('a disk that hangs keeps nothing from being lowered, and is told', async () => {
  const site = await controlledSite({ permit_w: 300_000 })
  await site.clock.advance(10_000)
  site.store.saveDevices = never
  site.permit = permitOf(150_000)
  await site.clock.advance(3000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  // It hangs on: nothing is raised, and a lower waits no longer than with a disk that works.
  site.permit = permitOf(300_000)
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  site.permit = permitOf(90_000)
  await site.clock.advance(1100)
  assert.deepEqual(site.limits(), [30_000, 30_000, 30_000])
  assert.deepEqual(
    site.events.map(({ code, edge }) => [code, edge]),
    [['control_fault', 'rising']],
  )
})

test('after a disk was stuck for a minute, what was held back is raised', async () => {
  const site = await controlledSite({ permit_w: 150_000 })
  await site.clock.advance(10_000)
  const { store, clock } = site
  const { saveDevices } = store
  store.saveDevices = async (devices) => {
    store.saveDevices = saveDevices
    await new Promise<void>((resolve) => clock.after(60_000, resolve))
    await saveDevices(devices)
  }
  site.permit = permitOf(240_000)
  await clock.advance(58_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  await clock.advance(6000)
  assert.deepEqual(site.limits(), [80_000, 80_000, 80_000])
  assert.deepEqual(
    site.events.map(({ code, edge }) => [code, edge]),
    [
      ['control_fault', 'rising'],
      ['control_fault', 'falling'],
    ],
  )
})

test('rows that cannot be written down are obeyed, hold up nothing, and are told of', async () => {
  const site = await controlledSite({ permit_w: 300_000 })
  await site.clock.advance(10_000)
  const { saveRows } = site.store
  const release = Promise.withResolvers<void>()
  site.store.saveRows = async (rows) => {
    await release.promise
    await saveRows(rows)
  }
  const row = rowOf(240)
  void site.controller.hear([row])
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [80_000, 80_000, 80_000])
  site.permit = permitOf(150_000)
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  await site.clock.advance(15_000)
  assert.deepEqual([site.events.map(({ code }) => code), site.reports], [['control_fault'], []])
  release.resolve()
  await site.clock.advance(2000)
  assert.equal(site.newest.get(rowKey(row))?.observed_limit_kw, 150)
  assert.deepEqual(site.events.at(-1)?.edge, 'falling')
})

test('where the rows were lost nothing is raised until the server told them', async () => {
  const before = await controlledSite({ permit_w: 300_000 })
  await before.controller.hear([rowOf(60)])
  await before.clock.advance(10_000)
  const store = { ...memoryControlStore([], before.store.devices), is_rows_lost: true }
  const site = await controlledSite({
    permit_w: 300_000,
    store,
    prepare: (inverter) => {
      inverter.limit_w = 20_000
    },
  })
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  site.restart()
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.controller.hear([rowOf(90, { start_at: start_at + 60_000 })])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [30_000, 30_000, 30_000])
})

test('where the rows were lost and the server has none, all comes back once that is on disk', async () => {
  const before = await controlledSite({ permit_w: 300_000 })
  await before.controller.hear([rowOf(60)])
  await before.clock.advance(10_000)
  const store = memoryControlStore([], before.store.devices)
  const site = await controlledSite({
    permit_w: 300_000,
    store: Object.assign(store, { is_rows_lost: true }),
    prepare: (inverter) => {
      inverter.limit_w = 20_000
    },
  })
  const { saveRows } = store
  store.saveRows = () => Promise.reject(new Error('disk full'))
  await site.clock.advance(10_000)
  await assert.rejects(site.controller.hear([]), /disk full/)
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  store.saveRows = saveRows
  await site.controller.hear([])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 100_000])
})

test('rows stay lost over restarts until they are saved again', async (t) => {
  const dir = dirOf(t)
  const open = () => openControlStore({ dir, onFault() {} })
  assert.ok(!(await open()).is_rows_lost, 'a first start')
  assert.ok(!(await open()).is_rows_lost)
  rmSync(join(dir, 'control-rows.json'))
  assert.equal((await open()).is_rows_lost, true)
  const store = await open()
  assert.equal(store.is_rows_lost, true)
  await store.saveRows([])
  assert.equal((await open()).is_rows_lost, false)
})

const whole = { written_w: 20_000, before_w: null, external_w: null, intents: [] }
const broken = {
  'control-rows.json': ['', '{}', 'null', '[1]', '[{}]', '[null]'],
  'control-devices.json': [
    '{}',
    'null',
    '[1]',
    '[{}]',
    JSON.stringify([[1, whole]]),
    JSON.stringify([[1, { ...whole, static_max_w: null }]]),
    JSON.stringify([[1, { ...whole, static_max_w: 1e5, intents: null }]]),
  ],
}

for (const [name, texts] of Object.entries(broken)) {
  test(`${name} that holds something else is told of and set aside`, async (t) => {
    for (const text of texts) {
      const dir = dirOf(t)
      const faults: string[] = []
      writeFileSync(join(dir, name), text)
      const store = await openControlStore({ dir, onFault: (error) => faults.push(error.message) })
      assert.deepEqual([store.rows, store.devices.size], [[], 0], text)
      assert.ok(faults.includes(`${name} cannot be understood`), text)
      assert.ok(existsSync(join(dir, `${name}.broken`)), text)
      assert.equal(store.is_rows_lost, true, text)
    }
  })
}

function dirOf(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-control-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test('a raise that was never sent is nothing that the device held', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.controller.hear([rowOf(60, { end_at: start_at + 20_000 })])
  await site.clock.advance(15_000)
  const { saveDevices } = site.store
  site.store.saveDevices = () => Promise.reject(new Error('full'))
  await site.clock.advance(15_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  site.permit = { plant_w: new Map(), lapsed_w: new Map([[1, 200_000]]), site_w: null }
  site.store.saveDevices = saveDevices
  await site.clock.advance(20_000)
  // It loses its limit in a restart, and nothing of its plant may be raised.
  const [inverter] = site.inverters
  inverter!.is_silent = true
  await site.clock.advance(60_000)
  inverter!.is_silent = false
  inverter!.limit_w = null
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.deepEqual(site.store.devices.get(1)?.intents, [])
})

test('what could not be written down is raised as soon as it can, also at long intervals', async () => {
  const site = await controlledSite({ permit_w: 150_000, traits: { min_interval_ms: 60_000 } })
  await site.clock.advance(90_000)
  const { saveDevices } = site.store
  site.store.saveDevices = () => Promise.reject(new Error('full'))
  site.permit = permitOf(240_000)
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  // The log tells that they never went out, or a proof would count them as begun.
  const raises = site.entries.filter((entry) => entry.is === 'order' && entry.limit_w === 80_000)
  const unsent = site.entries.filter(({ is }) => is === 'unsent')
  assert.ok(unsent.length >= 3)
  assert.equal(unsent.length, raises.length)
  site.store.saveDevices = saveDevices
  await site.clock.advance(3000)
  assert.deepEqual(site.limits(), [80_000, 80_000, 80_000])
})
