/** The SunSpec driver sets limits at simulated inverters, over real sockets. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import type { Connection, Inverter } from '@heliograph/domain/site'
import { openBus } from '@heliograph/edge/bus/bus'
import { sunspec } from '@heliograph/edge/drivers/sunspec'
import { initialCounters } from '@heliograph/simulator/counters'
import { parseFault } from '@heliograph/simulator/faults'
import { smallSite } from '@heliograph/simulator/fixtures/site'
import { serveModbus } from '@heliograph/simulator/modbus'
import { createPlant } from '@heliograph/simulator/plant'
import { createSimulation } from '@heliograph/simulator/site'
import { freePort } from './end-to-end/programs.ts'

const silent = { debug() {}, warn() {} }
const noon_ms = Date.parse('2026-06-20T11:00:00Z')

/** At noon, when each of the two inverters of 33 kW delivers more than half of that. */
async function scene(
  t: TestContext,
  { model, faults = [] }: { model?: string; faults?: string[] },
) {
  const field = { ...smallSite.connections[0]!, port: await freePort() } as Connection
  const [logger] = smallSite.loggers
  const inverters = logger!.inverters.map((one) => (model === undefined ? one : { ...one, model }))
  const site = { ...smallSite, connections: [field], loggers: [{ ...logger!, inverters }] }
  const time = { now: new Date(noon_ms) }
  const counters = initialCounters(site, noon_ms)
  const plant = createPlant(createSimulation(site, 3), counters, {
    clock: { now: () => time.now },
    faults: faults.map(parseFault),
  })
  const served = await serveModbus(plant, silent)
  const bus = openBus(field, { timers: systemTimers, random: () => 0.5 })
  t.after(async () => {
    await bus.close()
    await served.close()
  })
  const pass = (seconds: number) => {
    time.now = new Date(time.now.getTime() + seconds * 1000)
  }
  const open = (inverter: Inverter = inverters[0]!) => sunspec.openInverter(bus, inverter)
  return { bus, plant, pass, open, inverters }
}

for (const model of [undefined, 'Simulated 704']) {
  test(`${model ?? 'model 123'}: a limit is set, obeyed, read back and lifted`, async (t) => {
    const { pass, open, plant } = await scene(t, model === undefined ? {} : { model })
    const device = await open()
    const control = device.control!
    const before = (await device.read()).values
    const free = { limit_w: null, static_max_w: 33_000, revert: null }
    assert.deepEqual(before.limit, free)
    assert.ok(before.inverter.ac_power_kw! > 16)
    assert.deepEqual(await control.arm(30_000), [])
    assert.deepEqual(await control.readLimit(), free)

    const limit_w = control.settable(10_000)
    await control.writeLimit(10_000)
    assert.deepEqual(await control.readLimit(), { ...free, limit_w })
    pass(15)
    const { inverter, limit } = (await device.read()).values
    assert.equal(limit?.limit_w, limit_w)
    assert.equal(inverter.state, 'throttled')
    assert.ok(Math.abs(inverter.ac_power_kw! - limit_w / 1000) < 0.02, `${inverter.ac_power_kw}`)
    assert.ok(inverter.available_power_kw! > 16)
    assert.ok(plant.snapshot().inverters[1]!.ac_power_kw > 16, 'the other one is not touched')

    await control.writeLimit(33_000)
    pass(15)
    const after = (await device.read()).values
    assert.deepEqual(after.limit, { ...free, limit_w: 33_000 })
    assert.ok(after.inverter.ac_power_kw! > 16)
  })
}

test('a timer that another master left is told, and arming ends it', async (t) => {
  const { bus, pass, open } = await scene(t, {})
  const device = await open()
  await device.control!.writeLimit(10_000)
  await bus.writeRegisters(1, await addressOf(bus, 123, 7), [60])
  const { limit_w, revert } = await device.control!.readLimit()
  assert.deepEqual(revert, { in_ms: 0, to_w: 33_000 })
  assert.deepEqual(await device.control!.arm(30_000), [])
  pass(120)
  const stays = { limit_w, static_max_w: 33_000, revert: null }
  assert.deepEqual(await device.control!.readLimit(), stays)
})

test('a ceiling above the rating comes down, and percent are of the new one', async (t) => {
  const { bus, open, inverters } = await scene(t, {})
  const device = await open({ ...inverters[0]!, rated_ac_power_kw: 30 })
  assert.deepEqual(await device.control!.arm(20_000), [])
  await device.control!.writeLimit(15_000)
  const { limit_w, static_max_w } = await device.control!.readLimit()
  assert.deepEqual([limit_w, static_max_w], [15_000, 30_000])
  const again = await open({ ...inverters[0]!, rated_ac_power_kw: 33 })
  await again.control!.arm(20_000)
  assert.equal((await again.control!.readLimit()).static_max_w, 30_000, 'and never up again')
  await assert.rejects(bus.writeRegisters(1, await addressOf(bus, 121, 2), [65_000]), {
    exception_code: 3,
  })
})

test('what cannot be written is refused', async (t) => {
  const { bus } = await scene(t, {})
  const percent_at = await addressOf(bus, 123, 5)
  const refused: [unit_id: number, address: number, values: number[], code: number][] = [
    [1, 40_000, [1], 2],
    [1, 100, [1], 2],
    [1, percent_at - 1, [1], 2],
    [1, percent_at, [500, 0], 2],
    [1, percent_at, [1001], 3],
    [1, percent_at + 4, [2], 3],
    [200, percent_at, [500], 2],
    [9, percent_at, [500], 11],
  ]
  for (const [unit_id, address, values, exception_code] of refused) {
    const writing = bus.writeRegisters(unit_id, address, values)
    await assert.rejects(writing, { exception_code }, `${unit_id} ${address} ${values}`)
  }
  await bus.writeRegisters(1, percent_at, [400], { single: true })
  assert.deepEqual([...(await bus.readHoldingRegisters(1, percent_at, 1))], [400])
})

test('an inverter that starts anew is away, and has lost its limit', async (t) => {
  const { pass, open, plant } = await scene(t, { faults: ['forgets_limit:1=600'] })
  const device = await open()
  await device.control!.writeLimit(10_000)
  pass(600)
  assert.equal(plant.limits.isAway(1), true)
  pass(31)
  assert.equal((await device.read()).values.limit?.limit_w, null)
})

/** Of a register of a model, found by walking the chain. */
async function addressOf(bus: ReturnType<typeof openBus>, model_id: number, offset: number) {
  let address = 40_002
  for (;;) {
    const [id = 0xffff, length = 0] = await bus.readHoldingRegisters(1, address, 2)
    if (id === model_id) return address + offset
    assert.notEqual(id, 0xffff, `no model ${model_id}`)
    address += length + 2
  }
}
