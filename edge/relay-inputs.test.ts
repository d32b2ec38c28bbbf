import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import type { LinkEvent } from '@heliograph/domain/link'
import type { RelayInputs } from '@heliograph/domain/relay-inputs'
import { pino } from 'pino'
import { Conditions } from './conditions.ts'
import { OutsideOrders } from './control/outside-orders.ts'
import type { Bus } from './drivers/driver.ts'
import { controlledSite } from './fixtures/controlled-site.ts'
import { fakeBus } from './fixtures/driver.ts'
import { inverterOf, siteOf } from './fixtures/sites.ts'
import { RelayWatch } from './relay-inputs.ts'

const four_contacts: RelayInputs = {
  connection: 'a',
  unit_id: 9,
  table: 'input',
  register: 4,
  inputs: [
    { bit: 0, limit_pct: 100 },
    { bit: 1, limit_pct: 60 },
    { bit: 2, limit_pct: 30 },
    { bit: 3, limit_pct: 0 },
  ],
}

async function receiver(more: Partial<RelayInputs> = {}) {
  const plant = await controlledSite()
  const { clock } = plant
  const module = { bits: 0, is_silent: false }
  const read = async (unit_id: number, register: number) => {
    assert.deepEqual([unit_id, register], [9, 4])
    if (module.is_silent) throw new Error('no answer')
    return Uint16Array.of(module.bits)
  }
  const bus: Bus = { ...fakeBus, readInputRegisters: read }
  const events: LinkEvent[] = []
  const watch = new RelayWatch({
    clock,
    timers: clock,
    log: pino({ level: 'silent' }),
    conditions: await Conditions.open('/nonexistent/conditions.json'),
    source: { source_kind: 'edge', source_id: 'demo' },
    orders: new OutsideOrders({ clock, newOrderId: randomUUID, controller: plant.controller }),
    busOf: () => null,
    openBus: () => bus,
    onEvent: (event) => void (event && events.push(event)),
  })
  const inverters = [1, 2, 3].map((inverter_id) => inverterOf(inverter_id))
  const loggers = [{ logger_id: 1, name: 'L', rated_power_kw: 300, inverters }]
  await watch.apply(siteOf(inverters, { loggers, relay_inputs: { ...four_contacts, ...more } }))
  const orders = () => plant.controller.fromOutside('digital_input').map((row) => row.max_power_kw)
  const set = async (bits: number, for_ms = 3000) => {
    module.bits = bits
    await clock.advance(for_ms)
    return orders()
  }
  return { plant, module, events, set, orders }
}

test('a closed contact orders its limit, the lowest of several, and none lifts it', async () => {
  const { plant, set } = await receiver()
  await plant.clock.advance(60_000)
  assert.deepEqual(await set(0b0100), [90])
  await plant.clock.advance(10_000)
  assert.deepEqual(plant.limits(), [30_000, 30_000, 30_000])
  assert.deepEqual(await set(0b0010), [180])
  assert.deepEqual(await set(0b1010), [0])
  assert.deepEqual(await set(0b0001), [])
  assert.deepEqual(await set(0b0100), [90])
  assert.deepEqual(await set(0), [])
})

test('a contact that bounces orders nothing', async () => {
  const { set, orders } = await receiver()
  for (let nth = 0; nth < 5; nth += 1) {
    await set(0b1000, 1000)
    await set(0, 1000)
  }
  assert.deepEqual(orders(), [])
})

test('contacts that open when they order, and a limit while all are open', async () => {
  const { set } = await receiver({ inverted: true, open_limit_pct: 60 })
  assert.deepEqual(await set(0b1011), [90])
  assert.deepEqual(await set(0b1111), [180])
})

test('a silent module is reported, and its last order holds', async () => {
  const { plant, module, events, set, orders } = await receiver()
  await set(0b0100)
  module.is_silent = true
  await plant.clock.advance(600_000)
  assert.deepEqual(orders(), [90])
  assert.deepEqual(
    events.map(({ code, edge }) => `${code} ${edge}`),
    ['relay_inputs_silent rising'],
  )
  module.is_silent = false
  await plant.clock.advance(5000)
  assert.equal(events.at(-1)!.edge, 'falling')
})

test('a silent module falls back to what the site file says, until it answers', async () => {
  const { plant, module, set, orders } = await receiver({
    fallback: { after_s: 60, limit_pct: 0 },
  })
  await set(0b0100)
  module.is_silent = true
  await plant.clock.advance(58_000)
  assert.deepEqual(orders(), [90])
  await plant.clock.advance(5000)
  assert.deepEqual(orders(), [0])
  module.is_silent = false
  await plant.clock.advance(3000)
  assert.deepEqual(orders(), [90])
})
