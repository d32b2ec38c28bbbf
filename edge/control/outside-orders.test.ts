import assert from 'node:assert/strict'
import test from 'node:test'
import { open_end_at } from '@heliograph/domain/curtailment'
import {
  type ControlledSite,
  controlledSite,
  rowOf,
  start_at,
} from '../fixtures/controlled-site.ts'
import type { ControlStore } from './control-store.ts'
import { memoryControlStore } from './fixtures/memory-stores.ts'
import { OutsideOrders } from './outside-orders.ts'

let last_id = 0
const newOrderId = () => {
  last_id += 1
  return `00000000-0000-4000-8000-${String(last_id).padStart(12, '0')}`
}

function ordersAt(site: ControlledSite): OutsideOrders {
  return new OutsideOrders({
    clock: site.clock,
    newOrderId,
    controller: {
      take: (rows) => site.controller.take(rows),
      fromOutside: (source) => site.controller.fromOutside(source),
    },
  })
}

const sumOf = (site: ControlledSite) =>
  site.limits().reduce<number>((sum_w, limit_w) => sum_w + (limit_w ?? 100_000), 0)
const plant1 = (max_power_kw: number | null) => [{ logger_id: 1, max_power_kw }]

/** 300 kW of inverters under a permit of 200 kW. */
async function steadySite(store?: ControlStore): Promise<ControlledSite> {
  const site = await controlledSite(store ? { store } : {})
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 199_800)
  return site
}

test('a plant follows an order from outside, and the next order of its source', async () => {
  const site = await steadySite()
  const orders = ordersAt(site)
  await orders.set('grid_operator', plant1(90))
  await site.clock.advance(10_000)
  assert.equal(sumOf(site), 90_000)
  await orders.set('grid_operator', plant1(150))
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 150_000)
  assert.deepEqual(orders.limitsOf('grid_operator'), new Map([[1, 150]]))
  const [first, second] = [...site.newest.values()]
  assert.equal(first!.row.released_at, start_at + 70_000)
  assert.notEqual(first!.restored_at, null)
  assert.equal(second!.row.source, 'grid_operator')
  assert.equal(second!.row.end_at, open_end_at)
  assert.equal(second!.row.released_at, null)
  assert.notEqual(second!.verified_at, null)
})

test('an order above the permit raises nothing above it', async () => {
  const site = await steadySite()
  await ordersAt(site).set('grid_operator', plant1(290))
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 199_800)
  assert.ok(site.peak_w <= 300_000)
})

test('of all orders the lowest is in force, and none ends that of another source', async () => {
  const site = await steadySite()
  const orders = ordersAt(site)
  await orders.set('grid_operator', plant1(90))
  await orders.set('digital_input', plant1(60))
  const command = rowOf(30)
  await site.controller.hear([command])
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 30_000)
  await site.controller.hear([{ ...command, released_at: start_at + 120_000 }])
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 60_000)
  await orders.set('digital_input', plant1(null))
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 90_000)
  await orders.set('grid_operator', plant1(null))
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 199_800)
})

test('the same order again is no other order', async () => {
  const site = await steadySite()
  const orders = ordersAt(site)
  await orders.set('grid_operator', plant1(90))
  await orders.set('grid_operator', plant1(90))
  await site.clock.advance(10_000)
  assert.equal(site.newest.size, 1)
})

test('an order is durable when it is confirmed, and a restart goes on with it', async () => {
  const store = memoryControlStore()
  const { saveRows } = store
  const disk = Promise.withResolvers<void>()
  const site = await steadySite(store)
  store.saveRows = async (rows) => {
    await disk.promise
    await saveRows(rows)
  }
  const orders = ordersAt(site)
  let is_confirmed = false
  const setting = orders.set('grid_operator', plant1(90)).then(() => {
    is_confirmed = true
  })
  await site.clock.advance(10_000)
  assert.equal(is_confirmed, false)
  assert.equal(sumOf(site), 90_000)
  disk.resolve()
  await setting
  assert.equal(store.rows.length, 1)
  site.restart()
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 90_000)
  assert.deepEqual(orders.limitsOf('grid_operator'), new Map([[1, 90]]))
})

test('an order that cannot be stored is not confirmed, and is obeyed', async () => {
  const store = memoryControlStore()
  const site = await steadySite({
    ...store,
    rows: [],
    devices: store.devices,
    saveRows: async () => {
      throw new Error('no space left')
    },
  })
  await assert.rejects(ordersAt(site).set('grid_operator', plant1(90)), /no space left/)
  await site.clock.advance(10_000)
  assert.equal(sumOf(site), 90_000)
  assert.equal(site.newest.size, 0)
})

test('no clock begins or ends an order from outside', async () => {
  for (const jump_ms of [-86_400_000, 400 * 86_400_000]) {
    const site = await steadySite()
    await ordersAt(site).set('grid_operator', plant1(90))
    site.clock.step(jump_ms)
    await site.clock.advance(120_000)
    assert.equal(sumOf(site), 90_000)
  }
})

test('the server ends no order from outside, and brings back none that has ended', async () => {
  const site = await steadySite()
  const orders = ordersAt(site)
  await orders.set('grid_operator', plant1(90))
  const [row] = site.controller.fromOutside('grid_operator')
  await site.controller.hear([{ ...row!, released_at: start_at + 60_000 }])
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 90_000)
  await orders.set('grid_operator', plant1(null))
  // Long after it was forgotten.
  await site.clock.advance(1_200_000)
  await site.controller.hear([row!])
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 199_800)
})

test('orders that the edge has lost come back with the server', async () => {
  const row = {
    ...rowOf(90, { end_at: open_end_at }),
    source: 'grid_operator' as const,
  }
  let is_lost = true
  const store = memoryControlStore()
  const site = await controlledSite({
    store: {
      ...store,
      rows: [],
      devices: store.devices,
      get is_rows_lost() {
        return is_lost
      },
      async saveRows() {
        is_lost = false
      },
    },
  })
  await assert.rejects(ordersAt(site).set('digital_input', plant1(250)), /lost/)
  await site.controller.hear([row])
  await site.clock.advance(60_000)
  assert.equal(sumOf(site), 90_000)
  assert.deepEqual(ordersAt(site).limitsOf('grid_operator'), new Map([[1, 90]]))
})
