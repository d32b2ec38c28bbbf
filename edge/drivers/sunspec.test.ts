import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Station } from '@heliograph/domain/site'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import {
  address,
  busWith,
  combiner,
  controls,
  identity,
  inverter,
  measurements,
  mppts,
  status,
} from './fixtures/devices.ts'
import { sunspec } from './sunspec.ts'

test('an inverter is read as an inverter reading', async () => {
  const bus = busWith(identity(), measurements, status, controls(1), mppts)
  const device = await sunspec.openInverter(bus, inverter)
  assert.deepEqual(device.identity, {
    manufacturer: 'Acme',
    model: 'X100',
    serial_number: 'SN-1',
    firmware_version: '1.2',
  })
  const { values, complaints } = await device.read()
  assert.deepEqual(complaints, [])
  assert.equal(values.alarm_table, 'sunspec-inverter')
  assert.deepEqual(values.inverter, {
    state: 'throttled',
    state_vendor_code: 512,
    ac_power_kw: 61.2,
    reactive_power_kvar: -0.1,
    apparent_power_kva: null,
    power_factor: -0.985,
    frequency_hz: 50.01,
    voltage_l1_l2_v: null,
    voltage_l2_l3_v: null,
    voltage_l3_l1_v: null,
    voltage_l1_n_v: null,
    voltage_l2_n_v: null,
    voltage_l3_n_v: null,
    current_l1_a: null,
    current_l2_a: null,
    current_l3_a: null,
    dc_power_kw: 4.904,
    dc_voltage_v: 612.3,
    dc_current_a: null,
    energy_total_kwh: 1234.567,
    cabinet_temperature_c: -4.5,
    heatsink_temperature_c: null,
    transformer_temperature_c: null,
    insulation_resistance_kohm: 2,
    available_power_kw: 70,
    power_limit_pct: 61.5,
    limited_by: null,
    alarm_1: 2,
    alarm_2: 11,
    alarm_3: 12,
    alarm_4: 13,
    alarm_5: 14,
    mppt_voltage_v: [612.3, 20.1],
    mppt_current_a: [8.01, 0],
    mppt_power_kw: [4.904, 0],
    mppt_temperature_c: [40, null],
    mppt_energy_total_kwh: [1, null],
  })
  assert.deepEqual(values.strings, { current_a: [8.01, 0], voltage_v: [612.3, 20.1] })
})

test('a disabled limit is no limit', async () => {
  const device = await sunspec.openInverter(
    busWith(identity(), measurements, controls(0)),
    inverter,
  )
  assert.equal((await device.read()).values.inverter.power_limit_pct, null)
})

test('the newer family has other state numbers and one alarm word', async () => {
  const bus = busWith(
    identity(),
    encode(models[701], {
      values: {
        W: 50_000,
        W_SF: 1,
        PF: 0.98,
        PF_SF: -3,
        InvSt: 4,
        Alrm: 128,
        TotWhInj: 2 ** 40,
        TotWh_SF: 0,
      },
    }),
    encode(models[704], { values: { WMaxLimPctEna: 1, WMaxLimPct: 70, WMaxLimPct_SF: 0 } }),
    encode(models[714], {
      values: { DCA_SF: -1, DCV_SF: 0, DCW_SF: 1 },
      groups: [
        { PrtTyp: 0, DCA: 10.5, DCV: 700, DCW: 7350 },
        { PrtTyp: 1, DCA: 3, DCV: 800, DCW: 2400 },
      ],
    }),
  )
  const { values } = await (await sunspec.openInverter(bus, inverter)).read()
  const read = values.inverter
  assert.deepEqual(
    [read.state, read.alarm_1, read.alarm_2, read.power_factor, read.power_limit_pct],
    ['throttled', 128, null, 0.98, 70],
  )
  assert.equal(read.energy_total_kwh, 2 ** 40 / 1000)
  assert.deepEqual(read.mppt_current_a, [10.5], 'the port of the battery is not an MPPT')
  assert.equal(values.alarm_table, 'sunspec-701')
})

test('combiners give the currents of their strings, and their common voltage', async () => {
  const bus = busWith(
    identity(),
    encode(models[403], {
      values: { InDCA_SF: -2, DCV: 800, DCV_SF: 0 },
      groups: [{ InDCA: 9.5 }, { InDCA: -0.02 }],
    }),
    encode(models[404], {
      values: { InDCA_SF: -1, InDCV_SF: 0, DCV: 790, DCV_SF: 0 },
      groups: [{ InDCA: 9.4, InDCV: 795 }, { InDCA: 9.1 }],
    }),
  )
  const device = await sunspec.openCombiner(bus, combiner)
  const { values, complaints } = await device.read()
  assert.deepEqual(values, { current_a: [9.5, -0.02, 9.4], voltage_v: [800, 800, 795] })
  assert.deepEqual(complaints, [])
  const larger = await sunspec.openCombiner(bus, { ...combiner, string_count: 5 })
  const answer = await larger.read()
  assert.deepEqual(answer.values.current_a, [9.5, -0.02, 9.4, 9.1, null])
  assert.match(answer.complaints[0]?.reason ?? '', /5 strings are expected.* 4 inputs/)
})

test('strings of an inverter with separate combiners are null', async () => {
  const bus = busWith(identity(), measurements, mppts)
  const device = await sunspec.openInverter(bus, { ...inverter, combiners: [combiner] })
  assert.equal((await device.read()).values.strings, null)
})

const instrument = (sensor_id: string, quantity: string, point: string) =>
  ({
    sensor_id,
    name: sensor_id,
    type: 'pyranometer',
    quantity,
    point,
  }) as Station['instruments'][0]

test('a station gives its instruments in their order, and their averages', async () => {
  const bus = busWith(
    identity(),
    encode(models[302], { values: {}, groups: [{ POAI: 800 }, { POAI: 820, GHI: 700 }] }),
    encode(models[303], { values: {}, groups: [{ TmpBOM: 45.5 }] }),
    encode(models[303], { values: {}, groups: [{ TmpBOM: 47.5 }] }),
    encode(models[307], { values: { TmpAmb: 21.3, WndDir: 350, RH: 40 } }),
    encode(models[307], { values: { WndDir: 20 } }),
  )
  const device = await sunspec.openStation(bus, {
    ...address,
    station_id: 1,
    name: 'Mast',
    instruments: [
      instrument('p1', 'poa_irradiance_w_m2', '302[0].POAI'),
      instrument('p2', 'poa_irradiance_w_m2', '302[1].POAI'),
      instrument('p3', 'poa_irradiance_w_m2', '302[2].POAI'),
      instrument('t1', 'module_temperature_c', '303[0].TmpBOM'),
      instrument('t2', 'module_temperature_c', '303[1].TmpBOM'),
      instrument('a', 'ambient_temperature_c', '307[0].TmpAmb'),
      instrument('d1', 'wind_direction_deg', '307[0].WndDir'),
      instrument('d2', 'wind_direction_deg', '307[1].WndDir'),
      instrument('g', 'pressure_hpa', '307[0].Pres'),
    ],
  })
  const { values, complaints } = await device.read()
  assert.deepEqual(values.instrument_values, [800, 820, null, 45.5, 47.5, 21.3, 350, 20, null])
  assert.deepEqual(
    [values.poa_irradiance_w_m2, values.module_temperature_c, values.ambient_temperature_c],
    [810, 46.5, 21.3],
  )
  assert.ok(Math.abs(values.wind_direction_deg! - 5) < 1e-9)
  assert.deepEqual([values.pressure_hpa, values.ghi_w_m2], [null, null])
  assert.deepEqual(complaints, [{ point: '302[2].POAI', reason: 'the station has no such sensor' }])
})

test('an instrument at an unknown point is refused', async () => {
  for (const point of ['302[0].TmpBOM', '103[0].W', '302.POAI']) {
    const station: Station = {
      ...address,
      station_id: 1,
      name: 'Mast',
      instruments: [instrument('p1', 'poa_irradiance_w_m2', point)],
    }
    const opening = sunspec.openStation(busWith(identity()), station)
    await assert.rejects(opening, /instrument p1: a met station has no point/)
  }
})

test('implausible values are null with a complaint', async () => {
  const registers = Uint16Array.from(measurements)
  registers[15] = 4 // W_SF: 6120 becomes 61 MW at an inverter of 100 kW
  registers[17] = 99 // Hz_SF
  const { values, complaints } = await (
    await sunspec.openInverter(busWith(identity(), registers), inverter)
  ).read()
  assert.deepEqual([values.inverter.ac_power_kw, values.inverter.frequency_hz], [null, null])
  const points = complaints.map(({ point }) => point)
  assert.ok(points.includes('ac_power_kw'))
  assert.ok(points.includes('103.Hz'))
  assert.equal(values.inverter.energy_total_kwh, 1234.567)
})

test('a model of all ones has no values', async () => {
  const ones = (model: Uint16Array) => Uint16Array.from(model, (word, i) => (i < 2 ? word : 0xffff))
  const bus = busWith(identity(), ones(measurements), status, ones(mppts))
  const { values, complaints } = await (await sunspec.openInverter(bus, inverter)).read()
  const { ac_power_kw, power_factor, state, alarm_1, mppt_power_kw } = values.inverter
  assert.deepEqual([ac_power_kw, power_factor, state, alarm_1], [null, null, null, null])
  assert.ok((mppt_power_kw ?? []).every((value) => value === null))
  assert.equal(values.inverter.available_power_kw, 70)
  assert.equal(
    values.alarm_table,
    'sunspec-inverter',
    'what alarms there were is not known, no more',
  )
  assert.deepEqual(complaints, [
    { point: '103', reason: 'all its bits are set' },
    { point: '160', reason: 'all its bits are set' },
  ])
})
