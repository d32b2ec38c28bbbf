/** The makers' simulated devices over real sockets, read and limited by the edge's own drivers. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import type { Inverter, Logger, Meter, Site } from '@heliograph/domain/site'
import { checkSite } from '@heliograph/domain/site-check'
import { openBus } from '../edge/bus/bus.ts'
import { driverOf } from '../edge/drivers/drivers.ts'
import { openProfiles } from '../edge/drivers/own-profiles.ts'
import { freePort } from '../test/end-to-end/programs.ts'
import { initialCounters } from './counters.ts'
import type { Fault } from './faults.ts'
import { smallSite } from './fixtures/site.ts'
import { serveModbus } from './modbus.ts'
import { createPlant } from './plant.ts'
import { createSimulation } from './site.ts'

const noon_ms = Date.parse('2026-06-20T11:00:00Z')
const model = smallSite.loggers[0]!.inverters[0]!

const inverters = (['huawei_sun2000', 'sungrow_sg', 'sma', 'sunspec'] as const).map(
  (driver, nth): Inverter => ({
    ...model,
    driver,
    inverter_id: nth + 1,
    unit_id: nth + 1,
    name: driver,
  }),
)
const huaweis = [11, 12].map(
  (id): Inverter => ({
    ...model,
    driver: 'huawei_sun2000',
    inverter_id: id,
    unit_id: id,
    name: `${id}`,
  }),
)
const own_profile = `identity: { manufacturer: Acme, family: Meter }
meter:
  positive_power: import
  readings:
    active_power_kw: { address: 10, name: P, type: f32, unit: W }
    energy_export_kwh: { address: 12, name: E-, type: u32, unit: kWh, scale: 0.01 }
`

const loggers: Logger[] = [
  { logger_id: 1, name: 'Makers', rated_power_kw: 132, inverters },
  {
    logger_id: 2,
    name: 'Controlled',
    rated_power_kw: 66,
    inverters: huaweis,
    controller: { connection: 'field', unit_id: 0, driver: 'huawei_smartlogger' },
  },
]

const meter: Meter = {
  meter_id: 1,
  name: 'Grid',
  role: 'grid_connection',
  connection: 'field',
  unit_id: 99,
  driver: './my-meter.yaml',
}

async function served(t: TestContext, faults: Fault[] = []) {
  const field = {
    ...smallSite.connections[0]!,
    port: await freePort(),
  } as Site['connections'][number]
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-simulated-'))
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'my-meter.yaml'), own_profile)
  const site: Site = { ...smallSite, connections: [field], loggers, meters: [meter] }
  assert.deepEqual(checkSite(site), [])
  const now = { ms: noon_ms }
  const counters = initialCounters(site, noon_ms)
  const clock = { now: () => new Date(now.ms) }
  const plant = createPlant(createSimulation(site, 3), counters, { clock, faults })
  const { close } = await serveModbus(plant, { debug() {}, warn() {} }, dir)
  const bus = openBus(field, { timers: systemTimers, random: () => 0.5 })
  t.after(async () => {
    await bus.close()
    await close()
  })
  const powerOf = (id: number) =>
    plant.snapshot().inverters.find(({ inverter_id }) => inverter_id === id)!.ac_power_kw
  return { bus, plant, now, powerOf, dir }
}

for (const inverter of inverters) {
  test(`${inverter.driver}: its measurements are read, and it follows its limit`, async (t) => {
    const { bus, now, powerOf } = await served(t)
    const device = await driverOf(inverter.driver).openInverter!(bus, inverter)
    const { values } = await device.read()
    const before_kw = powerOf(inverter.inverter_id)
    assert.ok(before_kw > 12, `${before_kw} kW is too little to be limited`)
    assert.ok(Math.abs(values.inverter.ac_power_kw! - before_kw) < 0.01)
    const limit_w = device.control!.settable(11_000)
    await device.control!.writeLimit(limit_w)
    now.ms += 20_000
    const after = await device.read()
    assert.equal(after.values.limit?.limit_w, limit_w)
    assert.equal(after.values.inverter.state, 'throttled')
    assert.ok(powerOf(inverter.inverter_id) <= limit_w / 1000 + 1e-9)
    assert.ok(after.values.inverter.ac_power_kw! > 10.7)
    const others = inverters.filter((one) => one !== inverter)
    assert.ok(others.every(({ inverter_id }) => powerOf(inverter_id) > 12))
  })
}

test('a SmartLogger accepts a command at once and lowers its plant later', async (t) => {
  const { bus, now, powerOf } = await served(t)
  const device = await driverOf('huawei_smartlogger').openController!(bus, loggers[1]!)
  const { control } = device
  await control!.writeLimit(control!.settable(13_500))
  now.ms += 1000
  assert.equal((await device.read()).values.limit?.limit_w, 66_000)
  now.ms += 1000
  assert.equal((await device.read()).values.limit?.limit_w, 13_200)
  now.ms += 20_000
  const { values } = await device.read()
  assert.ok(values.active_power_kw! <= 13.2 && values.active_power_kw! > 12.9)
  assert.ok(huaweis.every(({ inverter_id }) => powerOf(inverter_id) <= 6.6 + 1e-9))
  assert.ok(powerOf(1) > 12, 'the other plant is not its own')
})

test('an inverter behind a controller follows the lower of two limits', async (t) => {
  const { bus, now, powerOf } = await served(t)
  const controller = await driverOf('huawei_smartlogger').openController!(bus, loggers[1]!)
  const device = await driverOf('huawei_sun2000').openInverter!(bus, huaweis[0]!)
  await device.control!.writeLimit(5000)
  await controller.control!.writeLimit(13_200)
  now.ms += 2000
  await controller.read()
  now.ms += 20_000
  await controller.read()
  assert.ok(powerOf(11) <= 5 + 1e-9)
  assert.ok(powerOf(12) <= 6.6 + 1e-9 && powerOf(12) > 6)
})

test('the limit of a Huawei ends by its timer', async (t) => {
  const { bus, now, powerOf } = await served(t)
  const [inverter] = inverters as [Inverter]
  const device = await driverOf('huawei_sun2000').openInverter!(bus, inverter)
  await device.control!.writeLimit(8000)
  await bus.writeRegisters(1, 42_019, [0, 60])
  now.ms += 30_000
  await device.read()
  assert.ok(powerOf(1) <= 8 + 1e-9)
  now.ms += 30_000
  assert.equal((await device.read()).values.limit?.limit_w, null)
  now.ms += 20_000
  assert.ok(powerOf(1) > 12)
})

test('a restarted inverter has lost its limit', async (t) => {
  const { bus, now } = await served(t, [{ kind: 'forgets_limit', inverter_id: 3, every_s: 3600 }])
  const device = await driverOf('sma').openInverter!(bus, inverters[2]!)
  await device.control!.writeLimit(8000)
  assert.equal((await device.control!.readLimit()).limit_w, 8000)
  now.ms = noon_ms + 3_600_000 + 31_000
  assert.equal((await device.control!.readLimit()).limit_w, 33_000)
})

test('missing registers, such as input registers, are refused', async (t) => {
  const { bus } = await served(t)
  await assert.rejects(bus.readInputRegisters(4, 40_000, 2), /illegal function/)
  await assert.rejects(bus.readHoldingRegisters(2, 4989, 1), /illegal data address/)
  await assert.rejects(bus.writeRegisters(2, 5006, [7]), /illegal data value/)
  await assert.rejects(bus.writeRegisters(1, 30_073, [0, 1]), /illegal data address/)
})

test('a meter by a profile beside the site file is served and read', async (t) => {
  const { bus, plant, dir } = await served(t)
  const driver = openProfiles(dir).driverOf(meter.driver)
  const { values } = await (await driver.openMeter!(bus, meter)).read()
  const { export_power_kw } = plant.snapshot()
  assert.ok(export_power_kw > 10)
  assert.ok(Math.abs(values.active_power_kw! - export_power_kw) < 0.001)
  assert.ok(Math.abs(values.energy_export_kwh! - plant.counters.export_kwh) <= 0.01)
  assert.equal(values.frequency_hz, null)

  const reversed = { ...meter, positive_power: 'export' as const }
  const turned = await (await driver.openMeter!(bus, reversed)).read()
  assert.equal(turned.values.active_power_kw, 0 - values.active_power_kw!)
  assert.equal(turned.values.energy_import_kwh, values.energy_export_kwh)
})
