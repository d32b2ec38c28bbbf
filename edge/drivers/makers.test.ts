/** The traps of each maker's devices, each against a simulated device that sets them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Logger } from '@heliograph/domain/site'
import { huaweiSmartLogger as loggerDevice } from '../../simulator/devices/huawei-smartlogger.ts'
import { huaweiSun2000 as huaweiDevice } from '../../simulator/devices/huawei-sun2000.ts'
import { falls_back, sma as smaDevice } from '../../simulator/devices/sma.ts'
import { sungrowSg as sungrowDevice } from '../../simulator/devices/sungrow-sg.ts'
import { exceptionError } from '../bus/bus-error.ts'
import { driverOf } from './drivers.ts'
import { createRegisterBus } from './fixtures/register-bus.ts'
import { inverter, noon } from './fixtures/register-devices.ts'

async function opened<State>(
  driver: string,
  device: Parameters<typeof createRegisterBus<State, typeof noon>>[0],
  of = inverter,
) {
  const bus = createRegisterBus(device, noon)
  const found = await driverOf(driver).openInverter!(bus, of)
  const { control } = found
  assert.ok(control)
  return { bus, found, control }
}

const huawei = () => opened('huawei_sun2000', huaweiDevice(inverter))
const sungrow = () => opened('sungrow_sg', sungrowDevice(inverter))
const sma = () => opened('sma', smaDevice(inverter))

const pmax_w = 36_630

test('Huawei: states of curve operation, off-grid operation and stops are known', async () => {
  const states = { 1025: 'mppt', 1029: 'mppt', 515: 'mppt', 780: 'off', 2560: 'mppt' }
  for (const [code, state] of Object.entries(states)) {
    const { bus, found } = await huawei()
    const { readHoldingRegisters } = bus
    bus.readHoldingRegisters = async (unit_id, address, count) => {
      const words = await readHoldingRegisters(unit_id, address, count)
      return words.map((word, nth) => (address + nth === 32_089 ? Number(code) : word))
    }
    const { inverter: read } = (await found.read()).values
    assert.deepEqual([read.state, read.state_vendor_code], [state, Number(code)])
  }
})

test('Huawei: an external limit in percent is relative to Pn, and is read', async () => {
  const { bus, control, found } = await huawei()
  bus.state = { ...bus.state, command: 40_125, value: 505 }
  assert.deepEqual(await control.readLimit(), {
    limit_w: 16_817,
    static_max_w: pmax_w,
    revert: null,
  })
  const { values } = await found.read()
  assert.equal(values.limit?.limit_w, 16_817)
  assert.equal(values.inverter.power_limit_pct, 16_817 / 366.3)
})

test('Huawei: a command with an undocumented scale counts as no limit', async () => {
  const { bus, control } = await huawei()
  bus.state = { ...bus.state, command: 40_120, value: 100 }
  assert.equal((await control.readLimit()).limit_w, null)
})

test('Huawei: a limit with a timer leads to Pmax, and is made permanent', async () => {
  const { bus, control } = await huawei()
  bus.state = { ...bus.state, valid_s: 60 }
  assert.equal((await control.readLimit()).revert, null, 'there is no limit that could end')
  await control.writeLimit(10_000)
  bus.state = { ...bus.state, valid_s: 60 }
  assert.deepEqual((await control.readLimit()).revert, { in_ms: 0, to_w: pmax_w })
  await control.arm(20_000)
  assert.equal(bus.state.valid_s, 0)
  bus.state = { ...bus.state, valid_s: 60 }
  await control.writeLimit(9000)
  assert.equal(bus.state.valid_s, 0)
  bus.now_ms += 120_000
  assert.equal(bus.limit_w(), 9000)
})

test('Huawei: a duration that cannot be set is reported', async () => {
  const { bus, control } = await huawei()
  bus.state = { ...bus.state, valid_s: 60 }
  const { writeRegisters } = bus
  bus.writeRegisters = async (unit_id, address, values) => {
    if (address === 42_019) throw exceptionError(2)
    await writeRegisters(unit_id, address, values)
  }
  const [complaint] = await control.arm(20_000)
  assert.match(complaint ?? '', /valid duration ends the limit and cannot be set/)
})

test('Huawei: the fail-safe limit is lowered to the share, never raised', async () => {
  const { bus, control } = await huawei()
  assert.deepEqual(await control.arm(12_000), [])
  assert.equal(bus.state.fail_safe_w, 12_000)
  assert.deepEqual(await control.arm(30_000), [])
  assert.equal(bus.state.fail_safe_w, 12_000)
})

test('Huawei: it is limited without the optional registers', async () => {
  const { bus, found, control } = await huawei()
  bus.refused.add(42_405)
  await found.read()
  assert.deepEqual(await control.arm(12_000), [])
  await control.writeLimit(8000)
  assert.equal(bus.limit_w(), 8000)
})

test('Huawei: strings are read in their order, missing ones are null', async () => {
  const three = { ...inverter, string_groups: [{ ...inverter.string_groups[0]!, strings: 3 }] }
  const { found } = await opened('huawei_sun2000', huaweiDevice(inverter), three)
  const { values } = await found.read()
  assert.deepEqual(values.strings?.current_a, [17.4, 17.1, null])
  assert.equal(values.alarm_table, 'huawei-sun2000')
  assert.equal(values.inverter.alarm_1, 0)
})

test('Sungrow: without a limit it delivers a tenth above its nominal power', async () => {
  const { control } = await sungrow()
  const { limit_w, static_max_w } = await control.readLimit()
  assert.deepEqual([limit_w, static_max_w], [null, pmax_w])
  assert.equal(control.settable(50_000), 33_300)
})

test('Sungrow: limits between 0 and 30 % become 0', async () => {
  const { control } = await sungrow()
  const of_nominal = (pct: number) => control.settable(Math.floor((33_300 * pct) / 100))
  assert.deepEqual(
    [of_nominal(30), of_nominal(29.9), of_nominal(1), of_nominal(0)],
    [9990, 0, 0, 0],
  )
  assert.equal(control.traits.min_limit_w, 9990)
})

test('Sungrow: the limit is switched on once, never off', async () => {
  const { bus, control } = await sungrow()
  for (const wanted_w of [20_000, 0, 33_300, 50_000]) {
    await control.writeLimit(control.settable(wanted_w))
  }
  const switched = bus.written.filter(({ address }) => address === 5006)
  assert.deepEqual(switched, [{ address: 5006, values: [0xaa] }])
  assert.deepEqual(bus.state, { is_on: true, setting: 1000 })
})

test('Sungrow: temperature and limit share an address in two tables', async () => {
  const { found, control } = await sungrow()
  await control.writeLimit(control.settable(16_650))
  const { values } = await found.read()
  assert.equal(values.inverter.cabinet_temperature_c, -4.5)
  assert.equal(values.limit?.limit_w, 16_650)
})

test('SMA: a setpoint applies only while control by communication is active', async () => {
  const { bus, control } = await sma()
  await bus.writeRegisters(3, 40_149, [0, 5000])
  assert.equal(bus.limit_w(), null)
  await bus.writeRegisters(3, 40_151, [0, 802])
  assert.equal(bus.limit_w(), 33_300)
  await control.writeLimit(5000)
  assert.equal(bus.limit_w(), 5000)
})

test('SMA: another operating mode is reported, and counts as not limited', async () => {
  const { bus, control } = await sma()
  bus.state = { ...bus.state, operating_mode: 1078 }
  assert.match((await control.arm(33_300)).join(), /not 1079/)
  await control.writeLimit(5000)
  assert.equal((await control.readLimit()).limit_w, 33_300)
})

test('SMA: keeping the last value is safe with any fallback', async () => {
  const { bus, control } = await sma()
  assert.deepEqual(await control.arm(1000), [])
  assert.equal(bus.state.fallback, 10_000)
})

test('SMA: a fallback is lowered to the share, ends lower limits, and is reported', async () => {
  const { bus, control } = await sma()
  bus.state = { ...bus.state, fallback_mode: falls_back }
  const complaints = await control.arm(10_000)
  assert.equal(bus.state.fallback, 3003)
  assert.equal(complaints.length, 1)
  assert.match(complaints.join(), /end by themselves/)
  assert.doesNotMatch(complaints.join(), /\d{4,} ?W|10000|3003/)
  await control.writeLimit(4000)
  assert.deepEqual((await control.readLimit()).revert, { in_ms: 0, to_w: 10_000 })
  bus.now_ms += 400_000
  assert.ok(bus.limit_w()! <= 10_000)
})

test('SMA: the higher of two fallbacks counts, and one behind the Grid Guard code is reported', async () => {
  const { bus, control } = await sma()
  bus.state = { ...bus.state, fallback_mode: falls_back, fallback: 1000, fallback_w: 20_000 }
  const complaints = await control.arm(10_000)
  assert.match(
    complaints.join(),
    /FlbWSpt\) is above the share of the device and cannot be lowered/,
  )
  await control.writeLimit(2000)
  assert.deepEqual((await control.readLimit()).revert, { in_ms: 0, to_w: 20_000 })
  bus.now_ms += 400_000
  assert.equal(bus.limit_w(), 20_000)
})

test('SMA: a fallback above the share that cannot be lowered is reported', async () => {
  const { bus, control } = await sma()
  bus.state = { ...bus.state, fallback_mode: falls_back }
  const { writeRegisters } = bus
  bus.writeRegisters = async (unit_id, address, values) => {
    // As without the Grid Guard code: taken without a word, and not done.
    if (address !== 41_197) await writeRegisters(unit_id, address, values)
  }
  assert.match((await control.arm(10_000)).join(), /cannot be lowered/)
})

test('SMA: an unknown fallback mode is reported, and counts as unlimited', async () => {
  const { bus, control } = await sma()
  bus.state = { ...bus.state, fallback_mode: 9999 }
  assert.match((await control.arm(10_000)).join(), /no code that is known/)
  await control.writeLimit(4000)
  assert.deepEqual((await control.readLimit()).revert, { in_ms: 0, to_w: 33_300 })
})

test('an invalid limit is refused, and a driver opens only what its profile describes', async () => {
  const { control, bus } = await sma()
  for (const wrong of [-1, 0.5, Number.NaN]) {
    await assert.rejects(control.writeLimit(wrong), RangeError)
  }
  assert.deepEqual(bus.written, [])
  assert.deepEqual(Object.keys(driverOf('sma')), ['profile', 'openInverter'])
})

const plant: Logger = {
  logger_id: 1,
  name: 'Plant',
  rated_power_kw: 66.6,
  controller: { connection: 'main', unit_id: 0, driver: 'huawei_smartlogger' },
  inverters: [inverter, { ...inverter, inverter_id: 8, unit_id: 4, max_ac_power_kw: 36.63 }],
}

async function smartLogger(delay_ms = 3000) {
  const bus = createRegisterBus(loggerDevice(plant, { delay_ms }), { plant_power_kw: 41.2 })
  const found = await driverOf('huawei_smartlogger').openController!(bus, plant)
  assert.ok(found.control)
  return { bus, found, control: found.control }
}

test('SmartLogger: the applied limit counts, not the stored one', async () => {
  const { bus, control, found } = await smartLogger()
  assert.deepEqual(await control.readLimit(), {
    limit_w: 66_600,
    static_max_w: 69_930,
    revert: null,
  })
  await control.writeLimit(control.settable(20_000))
  assert.equal((await control.readLimit()).limit_w, 66_600)
  bus.now_ms += 3000
  const { values } = await found.read()
  assert.equal(values.limit?.limit_w, 19_980)
  assert.equal(bus.limit_w(), 19_980)
  assert.equal(values.active_power_kw, 41.2)
})

test('SmartLogger: only whole percentages are set, as only they can be read back', async () => {
  const { bus, control } = await smartLogger(0)
  for (let wanted_w = 0; wanted_w <= 70_000; wanted_w += 377) {
    const limit_w = control.settable(wanted_w)
    assert.ok(limit_w <= wanted_w)
    await control.writeLimit(limit_w)
    assert.equal((await control.readLimit()).limit_w, limit_w)
    assert.ok((bus.limit_w() ?? 66_600) <= limit_w)
  }
  const written = bus.written.map(({ address, values }) => [address, values[0]! % 10])
  assert.ok(written.every(([address, rest]) => address === 40_428 && rest === 0))
})

test('SmartLogger: another control authority is named', async () => {
  const { bus, found, control } = await smartLogger(0)
  bus.state = { ...bus.state, mode: 6 }
  assert.equal((await found.read()).values.foreign_control, 'export limitation')
  await control.writeLimit(control.settable(20_000))
  assert.equal(bus.state.mode, 4)
  assert.equal((await found.read()).values.foreign_control, null)
})

test('SmartLogger: alarms that an older version lacks are unknown, not clear', async () => {
  const { found } = await smartLogger(0)
  const { values, missing } = await found.read()
  assert.deepEqual(values.alarms, {
    table: 'huawei-smartlogger',
    words: { alarm_1: 0, alarm_2: null, alarm_3: null },
  })
  assert.deepEqual(missing, [])
})

test('SmartLogger: after communication loss its control is renewed', async () => {
  const { bus, found, control } = await smartLogger()
  await found.read()
  assert.equal(found.control, control)
  bus.is_silent = true
  await assert.rejects(found.read(), /no answer/)
  assert.equal(found.control, control)
  bus.is_silent = false
  await found.read()
  assert.ok(found.control && found.control !== control)
})

test('SmartLogger: clock, start, stop and reset are never written', async () => {
  const { bus, found, control } = await smartLogger(0)
  const asked: [number, number][] = []
  const { readHoldingRegisters } = bus
  bus.readHoldingRegisters = (unit_id, address, count) => {
    asked.push([address, address + count])
    return readHoldingRegisters(unit_id, address, count)
  }
  await control.arm(1000)
  await found.read()
  const forbidden = [42_017, 40_200, 40_205, 40_723, 40_725]
  const touched = forbidden.filter((at) => asked.some(([from, to]) => at >= from && at < to))
  assert.deepEqual([touched, bus.written], [[], []])
})

test('SmartLogger: a plant without a controller, and a controller without inverters', async () => {
  const { bus } = await smartLogger()
  const { controller: _, ...without } = plant
  const smart_logger = driverOf('huawei_smartlogger')
  await assert.rejects(smart_logger.openController!(bus, without), /has no controller/)
  assert.equal(smart_logger.openInverter, undefined)
})
