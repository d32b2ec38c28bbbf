import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeAlarms } from '@heliograph/domain/alarms/decode'
import { findAlarmTable } from '@heliograph/domain/alarms/tables'
import type { Pcs } from '@heliograph/domain/battery'
import fc from 'fast-check'
import { BusError, exceptionError } from '../bus/bus-error.ts'
import { driverOf } from './drivers.ts'
import { createMemoryBus } from './fixtures/memory-bus.ts'
import { profileOf } from './fixtures/profiles.ts'

const pcs: Pcs = {
  pcs_idx: 0,
  rated_power_kw: 30,
  connection: 'main',
  unit_id: 1,
  driver: 'sinexcel_pws',
}
const open = driverOf('sinexcel_pws').openPcs!

const text = (value: string) =>
  Array.from({ length: Math.ceil(value.length / 2) }, (_, nth) => {
    const [high, low] = [value.charCodeAt(2 * nth), value.charCodeAt(2 * nth + 1) || 0]
    return (high << 8) | low
  })

function deviceOf(values: Record<number, number | number[]> = {}) {
  const registers = new Uint16Array(400)
  const standing: Record<number, number | number[]> = {
    1: text('Sinexcel PWS2-30K'),
    17: text('S123456'),
    32: 0b100,
    104: 431,
    107: 5001,
    122: 0x1_0000 - 1234,
    132: 41,
    135: 0x1_0000 - 124,
    141: 0x1_0000 - 1250,
    142: 7123,
    143: 0x1_0000 - 175,
    327: 60,
  }
  for (const [address, words] of Object.entries({ ...standing, ...values })) {
    registers.set([words].flat(), Number(address))
  }
  return createMemoryBus({ 1: { base: 0, registers } })
}

const profile = profileOf('sinexcel_pws')
const part = profile.pcs!

test('every fault of the table has its bit in a register, and no mask hides it', () => {
  assert.ok(profile.sources?.length && profile.unknown?.length)
  const table = findAlarmTable(part.alarms!.table_id)
  assert.ok(table)
  for (const { alarm_word, bit, code } of table.rows) {
    const register = part.alarms!.words[alarm_word - 1]?.[Math.floor(bit / 16)]
    assert.ok(register, code)
    assert.ok(((register.mask ?? 0xffff) >> (bit % 16)) & 1, code)
  }
})

test('values are read in their units, positive when the battery discharges', async () => {
  const { identity, read } = await open(deviceOf(), pcs)
  assert.deepEqual(identity, {
    manufacturer: 'Sinexcel',
    model: 'Sinexcel PWS2-30K',
    serial_number: 'S123456',
    firmware_version: null,
  })
  const { values, complaints } = await read()
  assert.deepEqual(complaints, [])
  const told = Object.entries(values.pcs).filter(([, value]) => value !== null && value !== 0)
  assert.deepEqual(Object.fromEntries(told), {
    state: 'running',
    state_vendor_code: 4,
    ac_power_kw: -12.34,
    frequency_hz: 50.01,
    current_l1_a: 43.1,
    heatsink_temperature_c: 41,
    dc_power_kw: -12.5,
    dc_voltage_v: 712.3,
    dc_current_a: -17.5,
    setpoint_kw: -12.4,
  })
  assert.deepEqual(values.power, {
    setpoint_w: -12_400,
    discharge_max_w: 30_000,
    charge_max_w: 30_000,
    revert: null,
    is_remote: true,
  })
})

test('fault words match their table, and states are no alarms', async () => {
  const faults = { 32: 0b1001, 36: 1, 38: 0x0c01, 39: 1 << 5, 44: 1 << 5, 45: 2, 47: 1 }
  const { values } = await (await open(deviceOf(faults), pcs)).read()
  const { pcs: read, alarm_table } = values
  assert.equal(read.state, 'fault')
  const words = [read.alarm_1, read.alarm_2, read.alarm_3, read.alarm_4, read.alarm_5]
  const { alarms, unknown_bits } = decodeAlarms(findAlarmTable(alarm_table!)!, words)
  assert.deepEqual(unknown_bits, [])
  assert.deepEqual(
    alarms.map(({ code }) => code),
    [
      'AC_OVER_VOLTAGE_PROTECTION',
      'OUTPUT_OVER_LOAD_TOT',
      'SLAVE_LOST_ALARM',
      'EMS_COMMUNICATION_TIMEOUT',
      'DC_RELAY_SHORT_CIRCUIT',
      'DC_OC',
    ],
  )
})

test('a setpoint is written by function 6, towards zero, and read back', async () => {
  const bus = deviceOf()
  const control = (await open(bus, pcs)).control!
  assert.deepEqual(
    [control.settable(12_399), control.settable(-12_399), control.settable(-99)],
    [12_300, -12_300, 0],
  )
  assert.deepEqual([control.settable(1e9), control.settable(-1e9)], [30_000, -30_000])
  await control.writePower(-12_300)
  assert.deepEqual(bus.written, [{ address: 135, values: [0x1_0000 - 123], single: true }])
  assert.equal((await control.readPower()).setpoint_w, -12_300)
  await assert.rejects(control.writePower(-12_345), /cannot be set/)
  const late = control.writePower(0, () => false)
  await assert.rejects(late, ({ kind }: BusError) => kind === 'overtaken')
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: -40_000, max: 40_000 }), async (asked_w) => {
      const power_w = control.settable(asked_w)
      assert.ok(Math.abs(power_w) <= Math.abs(asked_w) && power_w * asked_w >= 0)
      assert.equal(control.settable(power_w), power_w)
      await control.writePower(power_w)
      assert.equal((await control.readPower()).setpoint_w, power_w)
    }),
  )
})

test('arming reports a device without a watchdog', async () => {
  assert.deepEqual(await (await open(deviceOf(), pcs)).control!.arm(), [])
  const faults = await (await open(deviceOf({ 327: 0 }), pcs)).control!.arm()
  assert.match(faults.join(), /EMS timeout: it goes on/)
})

test('another device at the same address is refused', async () => {
  const bus = deviceOf()
  const device = await open(bus, pcs)
  bus.before = () => {
    throw new BusError('timeout', 'no answer')
  }
  await assert.rejects(device.read(), /no answer/)
  bus.before = () => {}
  assert.equal((await device.read()).values.pcs.state, 'running')
  bus.before = () => {
    throw new BusError('timeout', 'no answer')
  }
  await assert.rejects(device.read(), /no answer/)
  bus.before = () => {}
  bus.units.get(1)!.registers.set(text('S999999'), 17)
  await assert.rejects(device.read(), /expected serial number S123456, found S999999/)
  assert.deepEqual(Object.keys(driverOf('sinexcel_pws')), ['profile', 'openPcs'])
})

test('without its setpoint register it is read, and not controlled', async () => {
  const bus = deviceOf()
  bus.before = (address, count) => {
    if (address <= 135 && address + count > 135) throw exceptionError(2)
  }
  const device = await open(bus, pcs)
  const { values, missing } = await device.read()
  const { address, name } = part.setpoint
  assert.deepEqual(missing, [`${name} (${address})`])
  assert.equal(values.pcs.dc_voltage_v, 712.3)
  assert.deepEqual([values.power, values.pcs.setpoint_kw, device.control], [null, null, null])
  bus.before = () => {
    throw new BusError('timeout', 'no answer')
  }
  await assert.rejects(device.read(), { kind: 'timeout' })
  bus.before = () => {}
  assert.equal((await device.read()).values.pcs.setpoint_kw, -12.4)
  assert.ok(device.control)
})
