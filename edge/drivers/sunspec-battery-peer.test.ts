/** The driver against a SunSpec battery that another implementation of Modbus serves. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Battery, Pcs } from '@heliograph/domain/battery'
import { systemTimers } from '@heliograph/domain/clock'
import { openBus } from '../bus/bus.ts'
import { battery as example } from './fixtures/batteries.ts'
import { sunspec } from './sunspec.ts'

const python = '/usr/bin/python3'
const hasPeer = spawnSync(python, ['-c', 'import pymodbus.server.async_io']).status === 0
const skip = hasPeer ? false : `no pymodbus for ${python}: apt-get install python3-pymodbus`

const pcs: Pcs = { ...example.pcs[0]!, rated_power_kw: 900 }
const battery: Battery = {
  ...example,
  rated_energy_kwh: 1664,
  rated_charge_power_kw: 800,
  rated_discharge_power_kw: 800,
  cluster_count: 2,
  modules_per_cluster: 3,
  cells_per_module: 16,
}

async function openPeer(t: TestContext) {
  const script = fileURLToPath(new URL('fixtures/serve-battery.py', import.meta.url))
  const peer = spawn(python, [script])
  const lines = createInterface(peer.stdout)[Symbol.asyncIterator]()
  const port = Number((await lines.next()).value)
  const bus = openBus(
    { connection_id: 'main', protocol: 'modbus_tcp', host: '127.0.0.1', port },
    { timers: systemTimers, random: () => 0 },
  )
  t.after(async () => {
    await bus.close()
    peer.stdin.end()
    peer.kill()
    await once(peer, 'exit')
  })
  const ask = async (line: string): Promise<number[]> => {
    peer.stdin.write(`${line}\n`)
    return JSON.parse(String((await lines.next()).value))
  }
  return { bus, ask }
}

test('a battery served by pymodbus is read to the cell', { skip }, async (t) => {
  const { bus, ask } = await openPeer(t)
  const device = await sunspec.openBattery!(bus, battery)
  assert.equal(device.identity.serial_number, 'BATT-1')
  const { values, complaints } = await device.read()
  assert.deepEqual(
    complaints.map(({ point }) => point),
    ['802.EvtVnd1'],
    'a word whose highest bit is set says nothing',
  )
  const { alarm_table, heartbeat, is_remote } = values
  assert.deepEqual([alarm_table, heartbeat, is_remote], ['sunspec-battery-802', 100, true])
  const told = Object.entries(values.battery).filter(([, value]) => value !== null)
  assert.deepEqual(Object.fromEntries(told), {
    state: 'charging',
    state_vendor_code: 512,
    power_kw: -200.09,
    soc_pct: 73.1,
    soh_pct: 98,
    available_energy_kwh: 0.731 * 1664,
    energy_to_full_kwh: ((97 - 73.1) / 100) * 1664,
    dc_voltage_v: 1331.2,
    dc_current_a: -150.3,
    max_charge_power_kw: 332.8,
    max_discharge_power_kw: 346.112,
    max_charge_current_a: 250,
    max_discharge_current_a: 260,
    cycle_count: 612,
    cell_voltage_min_mv: 3290,
    cell_voltage_max_mv: 3371,
    cell_voltage_avg_mv: 3333,
    cell_temperature_min_c: -1.5,
    cell_temperature_max_c: 31.2,
    cell_temperature_avg_c: 15.1,
    cell_voltage_min_cluster_idx: 0,
    cell_voltage_min_module_idx: 1,
    cell_voltage_max_cluster_idx: 1,
    cell_voltage_max_module_idx: 2,
    cell_temperature_min_cluster_idx: 0,
    cell_temperature_min_module_idx: 2,
    cell_temperature_max_cluster_idx: 1,
    cell_temperature_max_module_idx: 0,
    contactor_state: 'closed',
    control_place: 'remote',
    alarm_1: 2 ** 2 + 2 ** 19,
    alarm_2: 0,
    alarm_4: 5,
  })

  const clusters = await (await sunspec.openClusters!(bus, battery)).read()
  assert.deepEqual(clusters.complaints, [])
  assert.deepEqual(
    clusters.values.clusters.map((one) => [
      one.cluster_idx,
      one.state,
      one.soc_pct,
      one.voltage_v,
      one.current_a,
      one.cell_temperature_min_c,
      one.cycle_count,
      one.alarm_1,
      one.alarm_2,
    ]),
    [
      [0, 'charging', 73.01, 1331.1, -75.1, -2, 601, 0, null],
      [1, 'charging', 73.02, 1331.2, -75.2, -2, 602, 2 ** 17, null],
    ],
  )

  const cells = await sunspec.openCells!(bus, battery)
  for (const cluster_idx of [0, 1, 0]) {
    const read = (await cells.read()).values
    assert.equal(read.cluster_idx, cluster_idx)
    const numbers = Array.from({ length: 48 }, (_, place) => ({
      string: cluster_idx + 1,
      module: Math.floor(place / 16) + 1,
      cell: place % 16,
    }))
    assert.deepEqual(
      read.cell_voltage_mv,
      numbers.map(({ string, module, cell }) => 3000 + 100 * string + 20 * module + cell),
    )
    assert.deepEqual(
      read.cell_temperature_c,
      numbers.map(({ cell }) => (cell - 20) / 10),
    )
    assert.deepEqual(
      read.cell_balancing,
      numbers.map(({ cell }) => Number(cell === 5)),
    )
    assert.deepEqual(read.module_voltage_v, [53.25, 53.25, 53.25])
  }

  const setup = (await (await sunspec.openSetup!(bus, battery)).read()).values
  assert.deepEqual(
    [setup.rated_energy_kwh, setup.soc_min_pct, setup.soc_max_pct, setup.soc_reserve_pct],
    [1664, 3, 97, 10],
  )

  await ask('tick')
  assert.equal((await device.read()).values.heartbeat, 101)
  await device.beat()
  assert.deepEqual(await ask('dump 1 802 19 1'), [8])
})

test('a PCS served by pymodbus is read and commanded', { skip }, async (t) => {
  const { bus, ask } = await openPeer(t)
  const device = await sunspec.openPcs!(bus, pcs)
  const { pcs: read, ...rest } = (await device.read()).values
  assert.deepEqual(rest, {
    alarm_table: 'sunspec-701',
    heartbeat: 41,
    power: {
      setpoint_w: null,
      discharge_max_w: 820_000,
      charge_max_w: 750_000,
      revert: null,
      is_remote: true,
    },
  })
  const told = Object.entries(read).filter(([, value]) => value !== null)
  assert.deepEqual(Object.fromEntries(told), {
    state: 'running',
    grid_mode: 'on_grid',
    ac_power_kw: -205.5,
    reactive_power_kvar: -3,
    apparent_power_kva: 206.1,
    power_factor: -0.997,
    frequency_hz: 49.998,
    // The peer serves an average voltage (LLV) and a total current (A), and no phase apart.
    voltage_l1_l2_v: 690.5,
    voltage_l2_l3_v: 690.5,
    voltage_l3_l1_v: 690.5,
    current_l1_a: -171.9 / 3,
    current_l2_a: -171.9 / 3,
    current_l3_a: -171.9 / 3,
    dc_voltage_v: 1331.2,
    dc_current_a: -150.3,
    dc_power_kw: -200.1,
    max_charge_power_kw: 800,
    max_discharge_power_kw: 850,
    energy_injected_total_kwh: 123_456,
    energy_absorbed_total_kwh: 234_567,
    cabinet_temperature_c: 40.2,
    heatsink_temperature_c: 55.3,
    igbt_temperature_c: 70.4,
    ambient_temperature_c: 25.1,
    ac_breaker_closed: 1,
    throttle_source: 0,
    control_place: 'remote',
    alarm_1: 2 ** 16,
  })

  const control = device.control!
  assert.deepEqual(await control.arm(), [])
  // What it falls back to, 0 W after 30 s, and no setpoint yet.
  assert.deepEqual(await ask('dump 2 704 22 11'), [0, 0, 0, 0, 0, 0, 0x8000, 0x8000, 1, 0, 30])
  assert.equal(control.settable(-123_456), -123_400)
  await control.writePower(-123_400)
  assert.deepEqual(await ask('dump 2 704 22 4'), [1, 1, 0xffff, 0x1_0000 - 1234])
  const { setpoint_w, revert } = await control.readPower()
  assert.deepEqual([setpoint_w, revert], [-123_400, { in_ms: 0, to_w: 0 }])
  assert.equal((await device.read()).values.pcs.setpoint_kw, -123.4)

  await ask('tick')
  assert.equal((await device.read()).values.heartbeat, 42)
  await control.beat()
  await control.beat()
  assert.deepEqual(await ask('dump 2 715 5 2'), [1, 1])
})
