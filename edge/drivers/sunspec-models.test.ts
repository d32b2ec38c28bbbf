/** Every model that a kind of device may have gives the same record: each value is another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyReading } from '@heliograph/domain/readings'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { busWith, combiner, identity, inverter, measurements, meter } from './fixtures/devices.ts'
import { sunspec } from './sunspec.ts'

/** Exact as floats and in steps of the scale factors below. */
const phases = { AphA: 11, AphB: 12, AphC: 13, PhVphA: 231, PhVphB: 232, PhVphC: 233 }
const phases_read = {
  current_l1_a: 11,
  current_l2_a: 12,
  current_l3_a: 13,
  voltage_l1_n_v: 231,
  voltage_l2_n_v: 232,
  voltage_l3_n_v: 233,
  voltage_l1_l2_v: 401,
  voltage_l2_l3_v: 402,
  voltage_l3_l1_v: 403,
}

const of_inverter = {
  ...phases,
  PPVphAB: 401,
  PPVphBC: 402,
  PPVphCA: 403,
  W: 61_200,
  VA: 62_500,
  VAr: -1500,
  Hz: 50.25,
  PF: -98.5,
  WH: 2_000_000,
  DCA: 102.5,
  DCV: 612.5,
  DCW: 62_800,
  TmpCab: 41.5,
  TmpSnk: 52.5,
  TmpTrns: 63.5,
  St: 5,
  StVnd: 512,
  Evt1: 2,
  EvtVnd1: 11,
  EvtVnd2: 12,
  EvtVnd3: 13,
  EvtVnd4: 14,
}
const scales_of_inverter = {
  A_SF: -1,
  V_SF: 0,
  W_SF: 1,
  VA_SF: 2,
  VAr_SF: 0,
  Hz_SF: -2,
  PF_SF: -1,
  WH_SF: 3,
  DCA_SF: -1,
  DCV_SF: -1,
  DCW_SF: 1,
  Tmp_SF: -1,
}
const inverter_read = {
  ...emptyReading('inverter'),
  ...phases_read,
  state: 'throttled',
  state_vendor_code: 512,
  ac_power_kw: 61.2,
  apparent_power_kva: 62.5,
  reactive_power_kvar: -1.5,
  frequency_hz: 50.25,
  power_factor: -0.985,
  energy_total_kwh: 2000,
  dc_current_a: 102.5,
  dc_voltage_v: 612.5,
  dc_power_kw: 62.8,
  cabinet_temperature_c: 41.5,
  heatsink_temperature_c: 52.5,
  transformer_temperature_c: 63.5,
  alarm_1: 2,
  alarm_2: 11,
  alarm_3: 12,
  alarm_4: 13,
  alarm_5: 14,
}

const scaled_inverter = { values: { ...of_inverter, ...scales_of_inverter } }
const inverters = {
  101: encode(models[101], scaled_inverter),
  102: encode(models[102], scaled_inverter),
  103: encode(models[103], scaled_inverter),
  111: encode(models[111], { values: of_inverter }),
  112: encode(models[112], { values: of_inverter }),
  113: encode(models[113], { values: of_inverter }),
}

for (const [model_id, image] of Object.entries(inverters)) {
  test(`an inverter of model ${model_id}`, async () => {
    assert.equal(image[0], Number(model_id))
    const device = await sunspec.openInverter(busWith(identity(), image), inverter)
    const { values, complaints } = await device.read()
    assert.deepEqual(complaints, [])
    assert.deepEqual(values.inverter, inverter_read)
    assert.deepEqual([values.strings, values.alarm_table], [null, 'sunspec-inverter'])
  })
}

const of_meter = {
  ...phases,
  W: -50_000,
  VA: 51_000,
  VAR: 1500,
  Hz: 50.25,
  TotWhExp: 3_000_000,
  TotWhImp: 1_000_000,
}
const scales_of_meter = {
  A_SF: -1,
  V_SF: 0,
  Hz_SF: -2,
  W_SF: 1,
  VA_SF: 1,
  VAR_SF: 0,
  PF_SF: -2,
  TotWh_SF: 3,
}
const meter_read = {
  ...phases_read,
  active_power_kw: 50,
  reactive_power_kvar: -1.5,
  apparent_power_kva: 51,
  power_factor: 0.5,
  frequency_hz: 50.25,
  energy_export_kwh: 3000,
  energy_import_kwh: 1000,
}

/** Model 201 alone of those with scale factors has these names. */
const lines = { PPVphAB: 401, PPVphBC: 402, PPVphCA: 403 }
const in_percent = { ...of_meter, ...scales_of_meter, PF: 50 }
const scaled_meter = { values: { ...in_percent, PhVphAB: 401, PhVphBC: 402, PhVphCA: 403 } }
const float_meter = { values: { ...of_meter, ...lines, PF: 0.5 } }
const meters = {
  201: encode(models[201], { values: { ...in_percent, ...lines } }),
  202: encode(models[202], scaled_meter),
  203: encode(models[203], scaled_meter),
  204: encode(models[204], scaled_meter),
  211: encode(models[211], float_meter),
  212: encode(models[212], float_meter),
  213: encode(models[213], float_meter),
  214: encode(models[214], float_meter),
}

for (const [model_id, image] of Object.entries(meters)) {
  test(`a meter of model ${model_id}, with export as positive`, async () => {
    assert.equal(image[0], Number(model_id))
    const bus = busWith(identity(), image)
    const importing = await sunspec.openMeter(bus, { ...meter, positive_power: 'import' })
    const { values, complaints } = await importing.read()
    assert.deepEqual(complaints, [])
    assert.deepEqual(values, meter_read)
    const exporting = (await (await sunspec.openMeter(bus, meter)).read()).values
    assert.deepEqual([exporting.active_power_kw, exporting.reactive_power_kvar], [-50, 1.5])
  })
}

const currents = { groups: [{ InDCA: 9.5 }, { InDCA: -0.25 }, { InDCA: 8 }] }
const shared_voltage = { DCV: 800, DCV_SF: 0 }
const combiners = {
  // Model 401 has one scale factor for the sum and for the strings.
  401: encode(models[401], { values: { ...shared_voltage, DCA_SF: -2 }, ...currents }),
  403: encode(models[403], { values: { ...shared_voltage, DCA_SF: 0, InDCA_SF: -2 }, ...currents }),
  404: encode(models[404], { values: { ...shared_voltage, DCA_SF: 0, InDCA_SF: -2 }, ...currents }),
}

for (const [model_id, image] of Object.entries(combiners)) {
  test(`the strings of model ${model_id}, in a combiner and in an inverter`, async () => {
    assert.equal(image[0], Number(model_id))
    const strings = { current_a: [9.5, -0.25, 8], voltage_v: [800, 800, 800] }
    const device = await sunspec.openCombiner(busWith(identity(), image), combiner)
    assert.deepEqual(await device.read(), { values: strings, complaints: [], missing: [] })

    const bus = busWith(identity(), measurements, image)
    const [group] = inverter.string_groups
    const three = { ...inverter, string_groups: [{ ...group!, strings: 3 }] }
    const { values } = await (await sunspec.openInverter(bus, three)).read()
    assert.deepEqual(values.strings, strings)
  })
}

test('the MPPTs of two models 160 are joined, each with its own scale factors', async () => {
  const first = encode(models[160], {
    values: { DCA_SF: -2, DCV_SF: -1, DCW_SF: 0, DCWH_SF: 0 },
    groups: [
      { DCA: 8.25, DCV: 612.5, DCW: 5053, DCWH: 1000, Tmp: 40 },
      { DCA: 8.5, DCV: 613.5, DCW: 5215, DCWH: 2000, Tmp: 41 },
    ],
  })
  const second = encode(models[160], {
    values: { DCA_SF: -1, DCV_SF: 0, DCW_SF: 1, DCWH_SF: 3 },
    groups: [{ DCA: 9.5, DCV: 614, DCW: 5830, DCWH: 3000, Tmp: 42 }],
  })
  const bus = busWith(identity(), measurements, first, second)
  const { values, complaints } = await (await sunspec.openInverter(bus, inverter)).read()
  assert.deepEqual(complaints, [])
  const { inverter: read } = values
  assert.deepEqual(read.mppt_current_a, [8.25, 8.5, 9.5])
  assert.deepEqual(read.mppt_voltage_v, [612.5, 613.5, 614])
  assert.deepEqual(read.mppt_power_kw, [5.053, 5.215, 5.83])
  assert.deepEqual(read.mppt_energy_total_kwh, [1, 2, 3])
  assert.deepEqual(read.mppt_temperature_c, [40, 41, 42])
  assert.equal(read.dc_power_kw, 5.053 + 5.215 + 5.83, 'the inverter does not tell it itself')
})

const totals = { A: 90, A_SF: -1, LLV: 690.5, LNV: 398.5, V_SF: -1, W: 50_000, W_SF: 1 }

for (const { name, ACType, line, neutral, current } of [
  {
    name: 'three phases',
    ACType: 2,
    line: [690.5, 690.5, 690.5],
    neutral: [398.5, 398.5, 398.5],
    current: [30, 30, 30],
  },
  {
    name: 'a split phase',
    ACType: 1,
    line: [690.5, null, null],
    neutral: [398.5, 398.5, null],
    current: [45, 45, null],
  },
  {
    name: 'a single phase',
    ACType: 0,
    line: [null, null, null],
    neutral: [398.5, null, null],
    current: [90, null, null],
  },
]) {
  test(`model 701 with totals only: ${name}`, async () => {
    const image = encode(models[701], { values: { ...totals, ACType } })
    const device = await sunspec.openInverter(busWith(identity(), image), inverter)
    const { inverter: read } = (await device.read()).values
    assert.deepEqual([read.voltage_l1_l2_v, read.voltage_l2_l3_v, read.voltage_l3_l1_v], line)
    assert.deepEqual([read.voltage_l1_n_v, read.voltage_l2_n_v, read.voltage_l3_n_v], neutral)
    assert.deepEqual([read.current_l1_a, read.current_l2_a, read.current_l3_a], current)
  })
}

test('model 701 with a measured phase is read by phase, without its totals', async () => {
  const values = { ...totals, ACType: 2, AL1: 31, VL2: 400 }
  const image = encode(models[701], { values })
  const device = await sunspec.openInverter(busWith(identity(), image), inverter)
  const { inverter: read } = (await device.read()).values
  assert.deepEqual([read.current_l1_a, read.current_l2_a, read.current_l3_a], [31, null, null])
  assert.deepEqual([read.voltage_l1_n_v, read.voltage_l2_n_v], [null, 400])
  assert.equal(read.voltage_l1_l2_v, 690.5)
})
