import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Battery } from '@heliograph/domain/battery'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { BusError } from '../bus/bus-error.ts'
import {
  bank,
  battery,
  cellVoltage,
  module,
  string,
  strings,
  stringsWithCells,
  unit,
} from './fixtures/batteries.ts'
import { createMemoryBus } from './fixtures/memory-bus.ts'
import { sunspec } from './sunspec.ts'

const openBattery = sunspec.openBattery!
const openClusters = sunspec.openClusters!
const openCells = sunspec.openCells!
const openSetup = sunspec.openSetup!

const busOf = (...parts: Uint16Array[]) => createMemoryBus({ 1: unit(...parts) })

test('a bank is read, positive when it discharges', async () => {
  const device = await openBattery(busOf(bank(), strings(3)), battery)
  const { values, complaints } = await device.read()
  assert.deepEqual(complaints, [])
  const { battery: read, ...rest } = values
  assert.deepEqual(rest, { alarm_table: 'sunspec-battery-802', heartbeat: 11, is_remote: true })
  assert.deepEqual(read, {
    state: 'discharging',
    state_vendor_code: null,
    power_kw: 160.4,
    setpoint_kw: null,
    soc_pct: 62.5,
    soh_pct: 97,
    available_energy_kwh: 625,
    energy_to_full_kwh: 355,
    dc_voltage_v: 1331.2,
    dc_current_a: 120.5,
    max_charge_power_kw: 399.36,
    max_discharge_power_kw: 465.92,
    max_charge_current_a: 300,
    max_discharge_current_a: 350,
    charged_total_kwh: null,
    discharged_total_kwh: null,
    cycle_count: 412,
    cell_voltage_min_mv: 3281,
    cell_voltage_max_mv: 3345,
    cell_voltage_avg_mv: 3320,
    cell_temperature_min_c: 22,
    cell_temperature_max_c: 31.5,
    cell_temperature_avg_c: 26.5,
    cell_voltage_min_cluster_idx: 0,
    cell_voltage_min_module_idx: 1,
    cell_voltage_max_cluster_idx: 2,
    cell_voltage_max_module_idx: 3,
    cell_temperature_min_cluster_idx: 0,
    cell_temperature_min_module_idx: 3,
    cell_temperature_max_cluster_idx: 1,
    cell_temperature_max_module_idx: 0,
    insulation_resistance_kohm: null,
    ambient_temperature_c: null,
    coolant_temperature_c: null,
    contactor_state: 'closed',
    fire_system_state: null,
    control_place: 'remote',
    heartbeat_ok: null,
    alarm_1: 4,
    alarm_2: 0,
    alarm_3: 9,
    alarm_4: null,
  })
})

test('signs follow positive_current of the site file', async () => {
  const turned: Battery = { ...battery, bms: { ...battery.bms, positive_current: 'charge' } }
  const bus = busOf(bank({ ChaSt: null }), strings(3), string(1))
  const { battery: read } = (await (await openBattery(bus, turned)).read()).values
  assert.deepEqual([read.power_kw, read.dc_current_a, read.state], [-160.4, -120.5, 'charging'])
  const { clusters } = (await (await openClusters(bus, turned)).read()).values
  assert.deepEqual(
    clusters.map(({ current_a, state }) => [current_a, state]),
    [
      [-40.2, 'charging'],
      [-40.1, 'charging'],
      [-40.2, 'charging'],
    ],
  )
})

test('values that are not implemented are null, impossible ones null with a complaint', async () => {
  const nothing = { AChaMax: null, V: null, W: null, SoH: null, Hb: null, CellVMaxStr: null }
  const bus = busOf(bank({ ...nothing, SoC: 300, CellVMinStr: 9, Evt1: null, State: 42 }))
  const { values, complaints } = await (await openBattery(bus, battery)).read()
  const { battery: read, heartbeat } = values
  assert.deepEqual(
    [read.dc_voltage_v, read.power_kw, read.soh_pct, heartbeat, read.alarm_1],
    [null, null, null, null, null],
  )
  assert.deepEqual(
    [read.soc_pct, read.available_energy_kwh, read.energy_to_full_kwh],
    [null, null, null],
  )
  assert.deepEqual(
    [read.cell_voltage_min_cluster_idx, read.cell_voltage_max_cluster_idx],
    [null, null],
  )
  assert.equal(read.max_charge_power_kw, 500, 'the nameplate is left')
  assert.equal(read.state, 'unknown')
  assert.deepEqual(
    complaints.map(({ point }) => point),
    ['soc_pct', 'cell_voltage_min_cluster_idx'],
  )
})

test('a current limit of zero is a power limit of zero, also without a voltage', async () => {
  const nothing = { AChaMax: 0, ADisChaMax: 0, V: null }
  const device = await openBattery(busOf(bank(nothing), strings(3)), battery)
  const { battery: read } = (await device.read()).values
  assert.deepEqual([read.max_charge_power_kw, read.max_discharge_power_kw], [0, 0])
})

test('scale factors are read with each reading', async () => {
  const bus = busOf(bank())
  const device = await openBattery(bus, battery)
  const image = bus.units.get(1)!.registers
  image.set(bank({ SoC: 62, SoC_SF: 0, W: 1604, W_SF: -1 }), 70)
  const { battery: read } = (await device.read()).values
  assert.deepEqual([read.soc_pct, read.power_kw], [62, 1.604])
})

test('the power allowed by the cells may be many times that of their PCS', async () => {
  const small = { ...battery, rated_charge_power_kw: 50, rated_discharge_power_kw: 50 }
  const { values, complaints } = await (await openBattery(busOf(bank()), small)).read()
  const { max_charge_power_kw, max_discharge_power_kw } = values.battery
  assert.deepEqual([max_charge_power_kw, max_discharge_power_kw], [399.36, 465.92])
  assert.deepEqual(complaints, [])
  const wrong = bank({ WChaRteMax: null, WDisChaRteMax: null, AChaMax: 30_000, AMax_SF: 0 })
  const answer = await (await openBattery(busOf(wrong), battery)).read()
  assert.equal(answer.values.battery.max_charge_power_kw, null, 'in two minutes they would be full')
})

test('a battery with models 713 and 124 only reports their values', async () => {
  const capacity = encode(models[713], {
    values: { WHRtg: 900_000, WHAvail: 450_000, WH_SF: 2, SoC: 50, Pct_SF: 0 },
  })
  const storage = encode(models[124], {
    values: { WChaMax: 250_000, WChaMax_SF: 1, ChaSt: 6, ChaState: 49, ChaState_SF: 0 },
  })
  const bus = busOf(storage, capacity)
  const { values } = await (await openBattery(bus, battery)).read()
  const { battery: read } = values
  assert.deepEqual(
    [read.soc_pct, read.available_energy_kwh, read.state, read.max_charge_power_kw],
    [50, 450, 'holding', 250],
  )
  assert.deepEqual([values.alarm_table, values.heartbeat, values.is_remote], [null, null, null])
})

test('a unit without a battery is refused with its models', async () => {
  const bus = busOf(encode(models[701], { values: {} }))
  await assert.rejects(openBattery(bus, battery), /no battery: it has models 1, 701/)
  await assert.rejects(openCells(bus, battery), /no battery: it has models 1, 701/)
})

test('the heartbeat counts on from its value, and wraps', async () => {
  const bus = busOf(bank({ CtrlHb: 0xfffd }))
  const device = await openBattery(bus, battery)
  await device.beat()
  await device.beat()
  const address = 40_070 + 19
  assert.deepEqual(bus.written, [
    { address, values: [0xfffe], single: false },
    { address, values: [0], single: false },
  ])
  const mute = busOf(bank({ CtrlHb: null }))
  await (await openBattery(mute, battery)).beat()
  assert.deepEqual(mute.written, [])
})

test('a setup has ratings, window, reserve and their registers', async () => {
  const { values } = await (await openSetup(busOf(bank()), battery)).read()
  const { raw_registers, protection, ...rest } = values
  assert.deepEqual(rest, {
    rated_energy_kwh: 1000,
    rated_charge_power_kw: 500,
    rated_discharge_power_kw: 500,
    rated_capacity_ah: 1000,
    soc_min_pct: 2,
    soc_max_pct: 98,
    soc_reserve_pct: 10,
    ramp_rate_kw_s: null,
    heartbeat_timeout_s: null,
    bms_firmware: '1.2',
  })
  assert.deepEqual(
    protection.map(({ parameter, trip_value, level }) => [parameter, trip_value, level]),
    [
      ['soc_low', 2, 'level_1'],
      ['soc_high', 98, 'level_1'],
    ],
  )
  const reserve = raw_registers.find(({ name }) => name === '802.SoCRsvMin')
  assert.deepEqual(reserve, { address: 40_080, name: '802.SoCRsvMin', value: 10, unit: '%WHRtg' })
})

test('clusters are read from 804, the others from 803', async () => {
  const open = { St: 1, ConFail: 6, A: 0, Evt1: 1 << 20, EvtVnd1: 3, CellVMin: null }
  const bus = busOf(bank(), strings(3), string(2, open))
  const { values, complaints } = await (await openClusters(bus, battery)).read()
  assert.deepEqual(complaints, [])
  assert.equal(values.alarm_table, 'sunspec-string-804')
  const [first, second] = values.clusters
  assert.deepEqual(
    values.clusters.map(({ cluster_idx, soc_pct, voltage_v }) => [cluster_idx, soc_pct, voltage_v]),
    [
      [0, 60, null],
      [1, 60.5, 1330.1],
      [2, 62, null],
    ],
  )
  assert.deepEqual(
    [first?.state, first?.cell_voltage_max_mv, first?.cell_voltage_max_module_idx],
    ['discharging', 3340, 3],
  )
  const { state, connection_failure, alarm_1, alarm_2 } = second!
  assert.deepEqual(
    [state, connection_failure, alarm_1, alarm_2],
    ['fault', 'contactor', 2 ** 20, 3],
  )
  assert.deepEqual(
    [second?.cell_voltage_min_mv, second?.positive_contactor_closed, second?.cycle_count],
    [null, null, 412],
  )
})

test('cells are read cluster after cluster, each at its place, in valid requests', async () => {
  const bus = busOf(bank(), strings(3), ...stringsWithCells(1, 3))
  const device = await openCells(bus, battery)
  const seen: number[] = []
  for (const _ of [1, 2, 3, 4]) {
    bus.asked.splice(0)
    const { values, complaints } = await device.read()
    assert.deepEqual(complaints, [])
    seen.push(values.cluster_idx)
    const { cluster_idx, cell_voltage_mv, cell_balancing, cell_temperature_c } = values
    assert.equal(cell_voltage_mv?.length, 4 * 52)
    for (const place of [0, 51, 52, 207]) {
      const expected = cellVoltage(cluster_idx, Math.floor(place / 52), place % 52) * 1000
      assert.ok(Math.abs(cell_voltage_mv![place]! - expected) < 1e-9, `cell ${place}`)
    }
    assert.deepEqual([cell_balancing![0], cell_balancing![1]], [0, 1])
    assert.deepEqual([cell_temperature_c![0], cell_temperature_c![207]], [20.1, 20.4])
    assert.deepEqual(values.module_voltage_v, [172.6, 172.6, 172.6, 172.6])
    assert.deepEqual(values.module_soh_pct, [null, null, null, null])
    // A module takes three requests, and one for its scale factors after them.
    assert.ok(bus.asked.length <= 4 * 4, `${bus.asked.length} requests`)
    assert.ok(bus.asked.every(([, , count]) => count <= 125))
  }
  assert.deepEqual(seen, [0, 1, 2, 0])
})

test('missing modules are null, and cells beyond the site file are left out', async () => {
  const sensors: Battery = { ...battery, temperature_sensors_per_module: 2 }
  const parts = [module(1, 2, 60), module(1, 9), module(8, 1)]
  const { values } = await (await openCells(busOf(bank(), ...parts), sensors)).read()
  const { cell_voltage_mv, cell_temperature_c, cluster_idx } = values
  assert.equal(cluster_idx, 0)
  assert.equal(cell_voltage_mv?.length, 4 * 52)
  assert.equal(cell_voltage_mv?.filter((value) => value !== null).length, 52)
  assert.deepEqual([cell_voltage_mv?.[51], cell_voltage_mv?.[52]], [null, 3060])
  const none = [null, null]
  assert.deepEqual(cell_temperature_c, [...none, 20.2, 20.2, ...none, ...none])
})

test('the chain of a unit is walked once for all its readers', async () => {
  const bus = busOf(bank(), strings(3), ...stringsWithCells(1, 3))
  await openBattery(bus, battery)
  const walked = bus.asked.length
  const together = await Promise.all([openClusters(bus, battery), openSetup(bus, battery)])
  assert.equal(together.length, 2)
  // Whether it is still the same device, each asks once.
  assert.equal(bus.asked.length, walked + 2)
})

test('a replaced battery is found again; communication loss is no replacement', async () => {
  const bus = busOf(bank(), ...stringsWithCells(1, 1))
  const [device, cells] = [await openBattery(bus, battery), await openCells(bus, battery)]
  bus.before = () => {
    throw new BusError('timeout', 'no answer')
  }
  await assert.rejects(device.read(), /no answer/)
  bus.before = () => {}
  const asked = bus.asked.length
  await device.read()
  assert.equal(bus.asked.length, asked + 2, 'its identity and its registers')

  bus.units.set(1, unit(strings(2), bank({ SoC: 20 }), ...stringsWithCells(2, 2)))
  await assert.rejects(device.read(), /no longer at/)
  assert.equal((await device.read()).values.battery.soc_pct, 20)
  await assert.rejects(cells.read(), /no longer at/)
  assert.equal((await cells.read()).values.cluster_idx, 1)
})

const onUnits: Battery = {
  ...battery,
  bms: {
    ...battery.bms,
    clusters: [11, 12, 13].map((unit_id, nth) => ({
      connection: 'main',
      unit_id,
      first_cluster_idx: nth,
    })),
  },
}

test('with clusters on separate units, an offline one leaves the others', async () => {
  const bus = createMemoryBus({
    1: unit(bank(), strings(3)),
    11: unit(...stringsWithCells(1, 1)),
    13: unit(...stringsWithCells(1, 1)),
  })
  const clusters = await openClusters(bus, onUnits)
  const indices = async () =>
    (await clusters.read()).values.clusters.map(({ cluster_idx }) => cluster_idx)
  assert.deepEqual(await indices(), [0, 2])
  const cells = await openCells(bus, onUnits)
  const next = async () => (await cells.read()).values.cluster_idx
  assert.deepEqual([await next(), await next(), await next()], [0, 2, 0])
  bus.units.set(12, unit(...stringsWithCells(1, 1)))
  assert.deepEqual(await indices(), [0, 1, 2])
  assert.deepEqual([await next(), await next(), await next()], [1, 2, 0])
  for (const unit_id of [11, 12, 13]) bus.units.delete(unit_id)
  await assert.rejects(clusters.read(), /no answer/)
  await assert.rejects(cells.read(), /no answer/)
})

test('a unit of hundreds of models is read without too long or repeated requests', async () => {
  const large: Battery = {
    ...battery,
    cluster_count: 20,
    modules_per_cluster: 20,
    cells_per_module: 24,
    // Behind 40000 there is no room for so many.
    bms: { ...battery.bms, base_address: 0 },
  }
  const parts = Array.from({ length: 400 }, (_, nth) =>
    module(1 + Math.floor(nth / 20), 1 + (nth % 20), 24),
  )
  const bus = createMemoryBus({ 1: { ...unit(bank(), ...parts), base: 0 } })
  const cells = await openCells(bus, large)
  const opening = bus.asked.splice(0)
  assert.ok(opening.length < 2 * 405, `${opening.length} requests: a header and an index each`)
  assert.equal(new Set(opening.map(String)).size, opening.length)
  let measured = 0
  for (let nth = 0; nth < 20; nth += 1) {
    const { values } = await cells.read()
    measured += values.cell_voltage_mv!.filter((value) => value !== null).length
  }
  assert.equal(measured, 20 * 20 * 24)
  assert.ok(bus.asked.every(([, , count]) => count >= 1 && count <= 125))
})
