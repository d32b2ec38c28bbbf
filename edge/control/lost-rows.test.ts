import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { controlledSite, rowOf } from '../fixtures/controlled-site.ts'
import { openControlStore } from './control-store.ts'
import { memoryControlStore } from './fixtures/memory-stores.ts'

const low = [20_000, 20_000, 20_000]

/** With devices that an earlier run held to a row of 60 kW, which is lost. */
async function lost() {
  const before = await controlledSite({ permit_w: 300_000 })
  await before.controller.hear([rowOf(60)])
  await before.clock.advance(10_000)
  const store = Object.assign(memoryControlStore([], before.store.devices), { is_rows_lost: true })
  const site = await controlledSite({
    permit_w: 300_000,
    store,
    prepare: (inverter) => {
      inverter.limit_w = 20_000
    },
  })
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), low)
  return { site, store }
}

function dirOf(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-control-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test('rows that were lost stay lost over a stop before the server told its own', async (t) => {
  const dir = dirOf(t)
  const open = () => openControlStore({ dir, onFault() {} })
  await (await open()).saveRows([rowOf(60)].map((row) => ({ row }) as never))
  rmSync(join(dir, 'control-rows.json'))
  const store = await open()
  assert.equal(store.is_rows_lost, true)
  const site = await controlledSite({ permit_w: 300_000, store })
  await site.clock.advance(2000)
  await site.controller.stop()
  assert.equal((await open()).is_rows_lost, true)
})

test('that rows are lost is told until the server has told its own, over restarts too', async () => {
  const { site, store } = await lost()
  const told = () =>
    site.events.flatMap(({ code, edge }) => (code === 'control_rows_lost' ? [edge] : []))
  assert.deepEqual(told(), ['rising'])
  site.restart()
  await site.clock.advance(60_000)
  const { saveRows } = store
  store.saveRows = () => Promise.reject(new Error('disk full'))
  await assert.rejects(site.controller.hear([]), /disk full/)
  await site.clock.advance(10_000)
  assert.deepEqual(told(), ['rising'])
  store.saveRows = saveRows
  await site.clock.advance(5000)
  assert.deepEqual(told(), ['rising', 'falling'])
})

test('what a run before told to be lost is known where it is there again', async () => {
  const { site } = await lost()
  site.store = memoryControlStore([], site.store.devices)
  site.restart()
  await site.clock.advance(2000)
  assert.deepEqual(site.events.at(-1)?.edge, 'falling')
})

for (const rows of [[], [rowOf(90)]]) {
  test(`what the server told of ${rows.length} rows is written down as soon as the disk works`, async () => {
    const { site, store } = await lost()
    const { saveRows } = store
    store.saveRows = () => Promise.reject(new Error('disk full'))
    await assert.rejects(site.controller.hear(rows), /disk full/)
    await site.clock.advance(10_000)
    assert.deepEqual(site.limits(), low)
    store.saveRows = saveRows
    await site.clock.advance(10_000)
    const each_w = rows.length === 0 ? 100_000 : 30_000
    assert.deepEqual(site.limits(), [each_w, each_w, each_w])
  })
}
