import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { LinkEvent } from '@heliograph/domain/link'
import type { LoggerReading, ReadingKind } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import { pino } from 'pino'
import { Conditions } from './conditions.ts'
import type { Bus } from './drivers/driver.ts'
import { battery } from './drivers/fixtures/batteries.ts'
import { fakeBus, fakeDriver } from './fixtures/driver.ts'
import { address, inverterOf, siteOf } from './fixtures/sites.ts'
import { virtualClock } from './fixtures/virtual-clock.ts'
import { nextDue, onGrid } from './grid.ts'
import { Loop } from './loop.ts'
import { PlantClock } from './plant-clock.ts'

const log = pino({ level: 'silent' })

async function loopOf(t: TestContext, path?: string) {
  const clock = virtualClock('2026-06-01T10:00:00.500Z')
  const driver = fakeDriver(clock)
  const dir = path ?? mkdtempSync(join(tmpdir(), 'heliograph-loop-'))
  if (!path) t.after(() => rmSync(dir, { recursive: true, force: true }))
  const conditions = await Conditions.open(join(dir, 'conditions.json'))
  const readings: { kind: ReadingKind; reading: Record<string, unknown> }[] = []
  const events: LinkEvent[] = []
  const polls: string[] = []
  const buses: string[] = []
  const loop = new Loop({
    openBus(connection): Bus {
      buses.push(`open ${connection.connection_id}`)
      return { ...fakeBus, close: async () => void buses.push(`close ${connection.connection_id}`) }
    },
    driverOf: () => driver,
    recorder: {
      reading: (kind, reading) => readings.push({ kind, reading: { ...reading } }),
      event: (event) => event && events.push(event),
      tell: () => {},
    },
    conditions,
    stamps: new PlantClock({ clock, stopwatch: clock }),
    clock,
    stopwatch: clock,
    timers: clock,
    log,
    onStatusChange: () => {},
    onPoll: (kind, result) => polls.push(`${kind} ${result}`),
  })
  const of = <T = Record<string, unknown>>(kind: ReadingKind, id?: number) =>
    readings
      .filter((r) => r.kind === kind && (id === undefined || Object.values(r.reading).includes(id)))
      .map(({ reading }) => reading as T)
  const told = () => events.map(({ code, edge, source_id }) => `${source_id} ${code} ${edge}`)
  return { clock, driver, conditions, loop, of, events, told, polls, buses, dir }
}

const second = (time: unknown) => new Date(time as number).toISOString().slice(11, 23)

test('devices are read on a grid that does not drift', async (t) => {
  const { clock, loop, of } = await loopOf(t)
  await loop.apply(siteOf([inverterOf(1)], { poll: { inverter_s: 1 } }))
  await clock.advance(3600_000)
  const times = of('inverter').map(({ measured_at }) => second(measured_at))
  assert.equal(times.length, 3600)
  // Finding the device takes one answer, reading it another.
  assert.deepEqual(times.slice(0, 2), ['10:00:01.040', '10:00:02.020'])
  assert.equal(times.at(-1), '11:00:00.020')
})

test('a step of the clock costs no more than an interval', async () => {
  const clock = virtualClock('2026-06-01T10:00:00.500Z')
  let ticks = 0
  const stop = onGrid({ clock, timers: clock }, { interval_ms: 5000, phase_ms: 0 }, () => {
    ticks += 1
  })
  for (const step_ms of [-3_600_000, 3_600_000, -7, 7, 86_400_000]) {
    clock.step(step_ms)
    const before = ticks
    await clock.advance(60_000)
    assert.ok(ticks - before >= 11 && ticks - before <= 13, `${step_ms}: ${ticks - before}`)
  }
  stop()
  const grid = { interval_ms: 1000, phase_ms: 0 }
  assert.equal(nextDue(4999, grid, 5000), 6000)
  assert.equal(nextDue(5000, grid, 5000), 6000)
})

test('instants that passed while the program was busy are counted', async () => {
  const clock = virtualClock('2026-06-01T10:00:00.500Z')
  const passed: number[] = []
  const stop = onGrid({ clock, timers: clock }, { interval_ms: 1000, phase_ms: 0 }, (count) => {
    passed.push(count)
  })
  await clock.advance(3000)
  clock.step(6000)
  await clock.advance(3000)
  stop()
  assert.equal(
    passed.reduce((sum, count) => sum + count, 0),
    6,
  )
})

test('a silent and a slow device hold up nobody, and polls never pile up', async (t) => {
  const { clock, driver, loop, of, polls } = await loopOf(t)
  driver.deviceAt(2).is_silent = true
  driver.deviceAt(2).answers_after_ms = 2000
  driver.deviceAt(3).answers_after_ms = 2500
  await loop.apply(
    siteOf(
      [1, 2, 3].map((id) => inverterOf(id)),
      { poll: { inverter_s: 1 } },
    ),
  )
  await clock.advance(60_000)
  assert.equal(of('inverter', 1).length, 60)
  assert.equal(of('inverter', 2).length, 0)
  const slow = of('inverter', 3).length
  assert.ok(slow >= 18 && slow <= 20, `${slow} readings of the slow one`)
  assert.ok(polls.filter((poll) => poll === 'inverter skipped').length > 35)
  assert.equal(loop.status().find(({ id }) => id === '3')?.comm_state, 'connected')
})

test('a device that is gone is told once, looked for, and told when it is back', async (t) => {
  const { clock, driver, loop, of, told } = await loopOf(t)
  await loop.apply(siteOf([inverterOf(1), inverterOf(2)]))
  assert.deepEqual(
    loop.status().map((s) => s.comm_state),
    ['unknown', 'unknown'],
  )
  await clock.advance(20_000)
  driver.deviceAt(1).is_silent = true
  await clock.advance(10_000)
  assert.deepEqual(told(), [], 'two misses are none')
  await clock.advance(600_000)
  assert.deepEqual(told(), ['1 device_offline rising'])
  const [gone] = loop.status()
  assert.equal(gone?.comm_state, 'disconnected')
  assert.match(gone?.error ?? '', /no answer/)
  assert.equal(of<LoggerReading & Record<string, unknown>>('logger').at(-1)?.inverters_online, 1)
  driver.deviceAt(1).is_silent = false
  await clock.advance(35_000)
  assert.deepEqual(told(), ['1 device_offline rising', '1 device_offline falling'])
  assert.equal(loop.status()[0]?.comm_state, 'connected')
  assert.equal(driver.deviceAt(1).opened, 2)
})

test('a device that was exchanged is noticed, also over a restart', async (t) => {
  const first = await loopOf(t)
  await first.loop.apply(siteOf([inverterOf(1)]))
  await first.clock.advance(20_000)
  assert.deepEqual(first.told(), [])
  await first.conditions.save(first.conditions.snapshot()!, { epoch: 'e', seq: 1 })
  const second_run = await loopOf(t, first.dir)
  second_run.driver.deviceAt(1).identity.serial_number = 'SN9'
  await second_run.loop.apply(siteOf([inverterOf(1)]))
  await second_run.clock.advance(20_000)
  assert.deepEqual(second_run.told(), ['1 device_identity_changed once'])
  assert.match(second_run.events[0]!.message, /serial_number SN1 is now SN9/)
})

test('a device that is silent since the start is the one that was here before', async (t) => {
  const first = await loopOf(t)
  await first.loop.apply(siteOf([inverterOf(1)]))
  await first.clock.advance(20_000)
  await first.conditions.save(first.conditions.snapshot()!, { epoch: 'e', seq: 1 })
  const second_run = await loopOf(t, first.dir)
  second_run.driver.deviceAt(1).is_silent = true
  await second_run.loop.apply(siteOf([inverterOf(1)]))
  await second_run.clock.advance(60_000)
  const [silent] = second_run.loop.status()
  assert.equal(silent?.comm_state, 'disconnected')
  assert.equal(silent?.identity?.serial_number, 'SN1')
})

test('alarm bits rise and fall, after two polls, and not twice over a restart', async (t) => {
  const first = await loopOf(t)
  const { driver, clock, told } = first
  await first.loop.apply(siteOf([inverterOf(1)]))
  driver.deviceAt(1).values = { alarm_1: 0 }
  await clock.advance(15_000)
  driver.deviceAt(1).values = { alarm_1: 0b1 }
  await clock.advance(5000)
  driver.deviceAt(1).values = { alarm_1: 0b10 }
  await clock.advance(5000)
  assert.deepEqual(told(), [], 'a bit seen once is not believed')
  await clock.advance(60_000)
  assert.deepEqual(told(), ['1 alarm:sunspec-inverter:1:1 rising'])
  assert.equal(first.events[0]?.details?.['alarm_word'], 1)
  driver.deviceAt(1).values = { alarm_1: null }
  await clock.advance(60_000)
  assert.equal(told().length, 1, 'a word that is not known tells nothing')
  await first.conditions.save(first.conditions.snapshot()!, { epoch: 'e', seq: 1 })

  const again = await loopOf(t, first.dir)
  again.driver.deviceAt(1).values = { alarm_1: 0b100 }
  await again.loop.apply(siteOf([inverterOf(1)]))
  await again.clock.advance(30_000)
  assert.deepEqual(again.told(), [
    '1 alarm:sunspec-inverter:1:2 rising',
    '1 alarm:sunspec-inverter:1:1 falling',
  ])
  again.driver.deviceAt(1).values = { alarm_1: 0 }
  await again.clock.advance(30_000)
  assert.deepEqual(again.told().slice(2), ['1 alarm:sunspec-inverter:1:2 falling'])
})

test('nonsense is told once per point, until it has made sense for a while', async (t) => {
  const { clock, driver, loop, told } = await loopOf(t)
  const device = driver.deviceAt(1)
  await loop.apply(siteOf([inverterOf(1)]))
  for (let nth = 0; nth < 20; nth += 1) {
    device.complaints = nth % 2 ? [] : [{ point: '103[0].W', reason: 'scale factor 40' }]
    await clock.advance(5000)
  }
  assert.deepEqual(told(), ['1 nonsense_value:103_0_.w rising'])
  device.complaints = []
  await clock.advance(70_000)
  assert.deepEqual(told().slice(1), ['1 nonsense_value:103_0_.w falling'])
})

test('the plant is composed from what is fresh', async (t) => {
  const { clock, driver, loop, of } = await loopOf(t)
  const station = { station_id: 1, name: 'S', ...address, unit_id: 100, instruments: [] }
  const site = siteOf([inverterOf(1), inverterOf(2)])
  site.loggers[0]!.stations = [station]
  driver.deviceAt(1).values = { ac_power_kw: 30, energy_total_kwh: 100 }
  driver.deviceAt(2).values = { ac_power_kw: 40, energy_total_kwh: 50 }
  driver.deviceAt(100).values = { poa_irradiance_w_m2: 700 }
  await loop.apply(site)
  await clock.advance(30_000)
  const last = of<LoggerReading & Record<string, unknown>>('logger').at(-1)!
  assert.equal(second(last.measured_at), '10:00:21.000')
  assert.deepEqual(
    [last.ac_power_kw, last.energy_total_kwh, last.poa_irradiance_w_m2, last.quality],
    [70, 150, 700, 'good'],
  )
  driver.deviceAt(2).is_silent = true
  await clock.advance(30_000)
  const less = of<LoggerReading & Record<string, unknown>>('logger').at(-1)!
  assert.deepEqual(
    [less.ac_power_kw, less.energy_total_kwh, less.quality, less.inverters_online],
    [30, null, 'suspect', 1],
  )
})

test('a plant whose devices are all gone has no readings until one is back', async (t) => {
  const { clock, driver, loop, of } = await loopOf(t)
  await loop.apply(siteOf([inverterOf(1), inverterOf(2)]))
  await clock.advance(30_000)
  const count = of('logger').length
  assert.ok(count > 0)
  for (const id of [1, 2]) driver.deviceAt(id).is_silent = true
  // By its instants the newest reading of each would be one of the future.
  clock.step(-3_600_000)
  await clock.advance(30_000)
  const count_gone = of('logger').length
  await clock.advance(1_200_000)
  assert.equal(of('logger').length, count_gone)
  driver.deviceAt(2).is_silent = false
  await clock.advance(60_000)
  assert.ok(of('logger').length > count_gone)
  const last = of<LoggerReading & Record<string, unknown>>('logger').at(-1)!
  assert.deepEqual([last.inverters_online, last.inverters_total], [1, 2])
})

test('while the clock is not trusted every reading is suspect, and none is at one instant', async (t) => {
  const { clock, driver, loop, of } = await loopOf(t)
  const station = { station_id: 1, name: 'S', ...address, unit_id: 100, instruments: [] }
  const meter = {
    meter_id: 1,
    name: 'M',
    role: 'grid_connection',
    ...address,
    unit_id: 90,
  } as const
  const site = siteOf([inverterOf(1)], { meters: [meter] })
  site.loggers[0]!.stations = [station]
  driver.deviceAt(1).strings = { current_a: Array(12).fill(5), voltage_v: null }
  await loop.apply(site)
  await clock.advance(60_000)
  const kinds = ['inverter', 'string', 'weather', 'meter', 'logger'] as const
  const counts = kinds.map((kind) => of(kind).length)
  clock.step(-120_000)
  await clock.advance(120_000)
  for (const [nth, kind] of kinds.entries()) {
    const readings = of<{ measured_at: number; quality: string }>(kind)
    const instants = readings.map(({ measured_at }) => measured_at)
    assert.equal(new Set(instants).size, instants.length, kind)
    assert.deepEqual(
      instants,
      instants.toSorted((a, b) => a - b),
    )
    const trusted = readings.flatMap(({ quality }, at) => (quality === 'good' ? [at] : []))
    assert.equal(trusted.at(-1), counts[nth]! - 1, kind)
    assert.ok(readings.length >= 2 * counts[nth]!, kind)
  }
})

test('combiners and the inverter give the strings between them', async (t) => {
  const { clock, driver, loop, of } = await loopOf(t)
  const combiner = {
    combiner_id: 'box',
    first_string_index: 0,
    string_count: 4,
    ...address,
    unit_id: 50,
  }
  driver.deviceAt(1).values = { mppt_voltage_v: [600, 610, 620, 630, 640, 650] }
  driver.deviceAt(1).strings = { current_a: Array(12).fill(5), voltage_v: null }
  driver.deviceAt(50).values = { current_a: [1, 2, null, 0], voltage_v: [null, null, null, 599] }
  await loop.apply(siteOf([inverterOf(1, { combiners: [combiner] })]))
  await clock.advance(20_000)
  const row = (first: number) => of('string').findLast((r) => r['first_string_index'] === first)
  assert.deepEqual(row(0)?.['current_a'], [1, 2, null, 0])
  assert.deepEqual(row(0)?.['voltage_v'], [600, 600, 610, 599])
  assert.deepEqual(row(4)?.['current_a'], Array(8).fill(5))
  assert.deepEqual(row(4)?.['voltage_v'], [620, 620, 630, 630, 640, 640, 650, 650])
})

test('a changed site is polled without a break for what stayed the same', async (t) => {
  const { clock, driver, loop, of, told, buses } = await loopOf(t)
  const other = {
    connection_id: 'b',
    protocol: 'modbus_tcp',
    host: '127.0.0.1',
    port: 503,
  } as const
  const connections = [...siteOf([]).connections, other]
  const before = [inverterOf(1), inverterOf(2), inverterOf(3, { connection: 'b' })]
  await loop.apply(siteOf(before, { connections }))
  driver.deviceAt(2).is_silent = true
  await clock.advance(60_000)
  assert.deepEqual(told(), ['2 device_offline rising'])
  const moved: Site['connections'] = [connections[0]!, { ...other, port: 504 }]
  const after = [inverterOf(1), inverterOf(3, { connection: 'b' }), inverterOf(4)]
  await loop.apply(siteOf(after, { connections: moved }))
  await clock.advance(20_000)
  assert.deepEqual(told().slice(1), ['2 device_offline falling'])
  assert.deepEqual(buses, ['open a', 'open b', 'close b', 'open b'])
  assert.deepEqual(
    [1, 3, 4].map((id) => driver.deviceAt(id).opened),
    [1, 2, 1],
  )
  assert.equal(of('inverter', 4).length, 4)
  assert.deepEqual(
    loop.status().map(({ id }) => id),
    ['1', '3', '4'],
  )
  await loop.stop()
  const count = of('inverter').length
  await clock.advance(60_000)
  assert.equal(of('inverter').length, count)
})

test('what holds of a cluster ends with its battery, not before', async (t) => {
  const { loop, conditions, told } = await loopOf(t)
  const cluster = { source_kind: 'bess', source_id: '7.cluster.2' } as const
  const alarm = { ...cluster, code: 'alarm:sunspec-string-804:1:1', severity: 'major' } as const
  conditions.rise(alarm, { at: 1, message: 'Overtemperature' })
  const [connection] = siteOf([]).connections
  const connections = [{ ...connection!, connection_id: 'main' }]
  await loop.apply(siteOf([], { connections, batteries: [battery] }))
  assert.deepEqual(told(), [])
  await loop.apply(siteOf([]))
  assert.deepEqual(told(), [`7.cluster.2 ${alarm.code} falling`])
  await loop.stop()
})
