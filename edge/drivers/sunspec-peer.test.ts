/** The driver against SunSpec devices that another implementation of Modbus serves. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemTimers } from '@heliograph/domain/clock'
import type { Inverter, Station } from '@heliograph/domain/site'
import { openBus } from '../bus/bus.ts'
import type { Bus } from './driver.ts'
import { sunspec } from './sunspec.ts'

const python = '/usr/bin/python3'
const hasPeer = spawnSync(python, ['-c', 'import pymodbus.server.async_io']).status === 0
const skip = hasPeer ? false : `no pymodbus for ${python}: apt-get install python3-pymodbus`

const at = (unit_id: number) => ({ connection: 'main', unit_id, driver: 'sunspec' }) as const
const inverter = (unit_id: number): Inverter => ({
  ...at(unit_id),
  inverter_id: unit_id,
  name: `Inverter ${unit_id}`,
  rated_ac_power_kw: 110,
  string_groups: [
    {
      strings: 4,
      strings_per_mppt: 2,
      module_count: 20,
      params_id: 1,
      azimuth_deg: 180,
      tilt_deg: 25,
    },
  ],
})

async function openPeer(t: TestContext, protocol: 'modbus_tcp' | 'rtu_over_tcp'): Promise<Bus> {
  const script = fileURLToPath(new URL('fixtures/serve-sunspec.py', import.meta.url))
  const peer = spawn(python, [script, protocol])
  const [port] = await once(peer.stdout, 'data')
  const bus = openBus(
    { connection_id: 'main', protocol, host: '127.0.0.1', port: Number(port) },
    { timers: systemTimers, random: () => 0 },
  )
  t.after(async () => {
    await bus.close()
    peer.kill()
    await once(peer, 'exit')
  })
  return bus
}

test('devices served by pymodbus are read', { skip }, async (t) => {
  const bus = await openPeer(t, 'modbus_tcp')

  await t.test('an inverter with scale factors', async () => {
    const device = await sunspec.openInverter(bus, { ...inverter(1), serial_number: 'PEER-1' })
    assert.deepEqual(device.identity, {
      manufacturer: 'Peer',
      model: 'P-103',
      serial_number: 'PEER-1',
      firmware_version: '3.1',
    })
    const { values, complaints } = await device.read()
    const points = complaints.map(({ point }) => point)
    assert.deepEqual(points, ['160.module[0].DCW', '160.module[1].DCW'], 'their scale is missing')
    assert.equal(values.strings, null)
    assert.deepEqual(values.inverter, {
      state: 'mppt',
      state_vendor_code: 512,
      ac_power_kw: 98.76,
      reactive_power_kvar: -1.5,
      apparent_power_kva: 99,
      power_factor: 0.998,
      frequency_hz: 50.02,
      voltage_l1_l2_v: 400.1,
      voltage_l2_l3_v: 400.2,
      voltage_l3_l1_v: 399.9,
      voltage_l1_n_v: 231,
      voltage_l2_n_v: 230.9,
      voltage_l3_n_v: 231.1,
      current_l1_a: 48.1,
      current_l2_a: 48.1,
      current_l3_a: 48.1,
      dc_power_kw: 100.11,
      dc_voltage_v: 654.3,
      dc_current_a: 153,
      energy_total_kwh: 123456.789,
      cabinet_temperature_c: 45.5,
      heatsink_temperature_c: 51.2,
      transformer_temperature_c: null,
      insulation_resistance_kohm: 1250,
      available_power_kw: 105,
      power_limit_pct: null,
      limited_by: null,
      alarm_1: 128,
      alarm_2: 2 ** 30,
      alarm_3: null,
      alarm_4: null,
      alarm_5: 3,
      mppt_voltage_v: [654.3, 654.4],
      mppt_current_a: [8.01, 7.99],
      mppt_power_kw: [null, null],
      mppt_temperature_c: [40, null],
      mppt_energy_total_kwh: [1, null],
    })
  })

  await t.test('an inverter in floats, at another base address', async () => {
    const { values, complaints } = await (await sunspec.openInverter(bus, inverter(2))).read()
    const { inverter: read } = values
    assert.deepEqual(complaints, [])
    assert.deepEqual(
      [read.state, read.ac_power_kw, read.reactive_power_kvar, read.power_factor],
      ['throttled', 98.7655, -1.5, 0.995],
    )
    assert.deepEqual(
      [read.cabinet_temperature_c, read.heatsink_temperature_c, read.transformer_temperature_c],
      [45.5, null, null],
    )
  })

  await t.test('a met station', async () => {
    const instrument = (quantity: string, point: string) =>
      ({ sensor_id: point, name: point, type: 'all_in_one', quantity, point }) as const
    const { values } = await (
      await sunspec.openStation(bus, {
        ...at(3),
        station_id: 1,
        name: 'Mast',
        instruments: [
          instrument('poa_irradiance_w_m2', '302[0].POAI'),
          instrument('poa_irradiance_w_m2', '302[1].POAI'),
          instrument('module_temperature_c', '303[0].TmpBOM'),
          instrument('ambient_temperature_c', '307[0].TmpAmb'),
          instrument('pressure_hpa', '307[0].Pres'),
          instrument('rain_mm', '307[0].Rain'),
        ] as Station['instruments'],
      })
    ).read()
    assert.deepEqual(values.instrument_values, [812, 815, -2.1, 21.3, 1013, 12])
    assert.equal(values.poa_irradiance_w_m2, 813.5)
  })

  await t.test('a meter, at base address 0', async () => {
    const meter = { ...at(4), meter_id: 1, name: 'Meter', role: 'grid_connection' } as const
    const device = await sunspec.openMeter(bus, { ...meter, positive_power: 'import' })
    const { values, complaints } = await device.read()
    assert.deepEqual(complaints, [])
    assert.deepEqual(
      [values.active_power_kw, values.reactive_power_kvar, values.apparent_power_kva],
      [60, -2.5, 61],
    )
    assert.deepEqual([values.energy_export_kwh, values.energy_import_kwh], [7e6, 12_345])
    assert.deepEqual([values.power_factor, values.voltage_l1_l2_v], [-0.9836, 400])
  })
})

for (const protocol of ['modbus_tcp', 'rtu_over_tcp'] as const) {
  test(`a limit is written to pymodbus, ${protocol}`, { skip }, async (t) => {
    const bus = await openPeer(t, protocol)
    const device = await sunspec.openInverter(bus, inverter(5))
    const control = device.control!
    const found = { limit_w: 55_000, static_max_w: 110_000, revert: null }
    assert.deepEqual((await device.read()).values.limit, found)
    assert.deepEqual(await control.arm(70_000), [])
    await control.writeLimit(33_333)
    assert.deepEqual(await control.readLimit(), { ...found, limit_w: 33_330 })
    const percent_at = 40_002 + 67 + 52 + 32 + 5
    await bus.writeRegisters(5, percent_at, [200], { single: true })
    assert.deepEqual(await control.readLimit(), { ...found, limit_w: 22_000 })
    assert.deepEqual(
      [...(await bus.readHoldingRegisters(5, percent_at, 5))],
      [200, 65535, 0, 65535, 1],
    )
  })
}

test('devices are the same in frames of RTU over TCP', { skip }, async (t) => {
  const bus = await openPeer(t, 'rtu_over_tcp')
  const device = await sunspec.openInverter(bus, { ...inverter(1), serial_number: 'PEER-1' })
  assert.equal(device.identity.model, 'P-103')
  const { inverter: read } = (await device.read()).values
  assert.deepEqual(
    [read.state, read.ac_power_kw, read.energy_total_kwh, read.available_power_kw],
    ['mppt', 98.76, 123456.789, 105],
  )
  assert.deepEqual([read.mppt_current_a, read.alarm_2], [[8.01, 7.99], 2 ** 30])

  const [floats, again] = await Promise.all([
    sunspec.openInverter(bus, inverter(2)).then((found) => found.read()),
    device.read(),
  ])
  assert.equal(floats.values.inverter.ac_power_kw, 98.7655)
  assert.deepEqual(again.values.inverter, read, 'two units take turns on the line')
  await assert.rejects(
    sunspec.openInverter(bus, inverter(4)),
    /is no inverter: it has models 1, 203/,
  )
})
