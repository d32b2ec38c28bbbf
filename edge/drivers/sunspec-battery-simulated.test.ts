/** The driver against the simulated battery, which was written apart from it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Battery } from '@heliograph/domain/battery'
import { createBatteries, initialUnits } from '../../simulator/batteries/batteries.ts'
import { bmsUnits } from '../../simulator/devices/sunspec-battery.ts'
import { pcsUnit } from '../../simulator/devices/sunspec-pcs.ts'
import { Refusal } from '../../simulator/devices/unit.ts'
import { BusError, exceptionError } from '../bus/bus-error.ts'
import { siteOf } from '../fixtures/sites.ts'
import type { Bus } from './driver.ts'
import { battery as example } from './fixtures/batteries.ts'
import { sunspec } from './sunspec.ts'

const battery: Battery = {
  ...example,
  rated_energy_kwh: 200,
  rated_charge_power_kw: 100,
  rated_discharge_power_kw: 100,
  cluster_count: 2,
  modules_per_cluster: 2,
  cells_per_module: 16,
  pcs: [{ ...example.pcs[0]!, rated_power_kw: 100 }],
}

/** Its units on one bus, and time that passes when told so. */
function simulated(of: Battery) {
  let now_ms = Date.parse('2026-06-01T10:00:00Z')
  const site = siteOf([], { batteries: [of] })
  const states = initialUnits(site, { seed: 1, time_ms: now_ms })
  const { units } = createBatteries(site, states, {
    seed: 1,
    now_ms: () => now_ms,
    faults: () => [],
    ambient_c: () => 20,
  })
  const grid = () => ({ frequency_hz: 50, voltage_ratio: 1 })
  const devices = units.flatMap((unit) => [
    ...bmsUnits(unit),
    ...of.pcs.map((pcs) => pcsUnit(unit, pcs, grid)),
  ])
  const asked = { requests: 0 }
  const at = async <Of>(unit_id: number, ask: (device: (typeof devices)[number]) => Of) => {
    const device = devices.find((one) => one.unit_id === unit_id)
    if (!device) throw new BusError('timeout', 'no answer')
    try {
      return ask(device)
    } catch (error) {
      if (error instanceof Refusal) throw exceptionError(error.modbusErrorCode)
      throw error
    }
  }
  const bus: Bus = {
    readHoldingRegisters(unit_id, address, count) {
      asked.requests += 1
      return at(unit_id, (device) => device.read(address, count))
    },
    readInputRegisters: () => Promise.reject(exceptionError(1)),
    writeRegisters: (unit_id, address, values) =>
      at(unit_id, (device) => device.write(address, [...values])),
    close: async () => {},
  }
  const pass = (seconds: number) => {
    now_ms += seconds * 1000
  }
  return { bus, pass, asked }
}

const untimed = 'model 124: no timer of the device ends its setpoint when the edge falls silent'

for (const [model, unarmed] of [
  ['704', []],
  ['124', [untimed]],
] as const) {
  test(`by model ${model}, it charges and discharges as its readings say`, async () => {
    const of = { ...battery, model: `Simulated ${model}` }
    const { bus, pass } = simulated(of)
    const bms = await sunspec.openBattery!(bus, of)
    const device = await sunspec.openPcs!(bus, of.pcs[0]!)
    const control = device.control!
    assert.deepEqual(await control.arm(), unarmed)
    const soc = async () => (await bms.read()).values.battery.soc_pct!
    for (const power_w of [-40_000, 30_000]) {
      await control.writePower(control.settable(power_w))
      const before_pct = await soc()
      for (let second = 0; second < 120; second += 10) {
        await control.writePower(control.settable(power_w))
        await control.beat()
        await bms.beat()
        pass(10)
      }
      const { values, complaints } = await device.read()
      assert.deepEqual(complaints, [])
      assert.equal(values.power?.setpoint_w, power_w)
      const { ac_power_kw, dc_power_kw, setpoint_kw } = values.pcs
      assert.ok(Math.abs(ac_power_kw! - power_w / 1000) < 1, `${ac_power_kw} kW`)
      assert.equal(Math.sign(dc_power_kw!), Math.sign(power_w))
      assert.equal(setpoint_kw, power_w / 1000)
      const { battery: read } = (await bms.read()).values
      assert.equal(read.state, power_w < 0 ? 'charging' : 'discharging')
      assert.equal(Math.sign(read.power_kw!), Math.sign(power_w))
      assert.equal(Math.sign(read.soc_pct! - before_pct), -Math.sign(power_w))
    }
  })
}

test('without another write it falls back to 0 W', async () => {
  const { bus, pass } = simulated(battery)
  const { control } = await sunspec.openPcs!(bus, battery.pcs[0]!)
  await control!.writePower(50_000)
  const { revert } = await control!.readPower()
  assert.deepEqual(revert, { in_ms: 30_000, to_w: 0 })
  pass(control!.traits.stops_after_ms! / 1000 + 5)
  assert.equal((await control!.readPower()).setpoint_w, 0)
})

test('its clusters and cells agree with the battery as a whole', async () => {
  const clusters = [11, 12].map((unit_id, nth) => ({
    connection: 'main',
    unit_id,
    first_cluster_idx: nth,
  }))
  const spread = { ...battery, bms: { ...battery.bms, clusters } }
  for (const one of [battery, spread]) {
    const { bus, pass } = simulated(one)
    pass(3600)
    const bank = (await (await sunspec.openBattery!(bus, one)).read()).values.battery
    const told = (await (await sunspec.openClusters!(bus, one)).read()).values.clusters
    assert.deepEqual(
      told.map(({ cluster_idx }) => cluster_idx),
      [0, 1],
    )
    const device = await sunspec.openCells!(bus, one)
    for (const cluster of told) {
      const { values } = await device.read()
      assert.equal(values.cluster_idx, cluster.cluster_idx)
      const voltages = values.cell_voltage_mv!.map((voltage) => voltage!)
      assert.equal(voltages.length, 32)
      assert.ok(Math.abs(Math.min(...voltages) - cluster.cell_voltage_min_mv!) <= 1)
      assert.ok(Math.abs(Math.max(...voltages) - cluster.cell_voltage_max_mv!) <= 1)
      const lowest = voltages.indexOf(Math.min(...voltages))
      assert.equal(cluster.cell_voltage_min_module_idx, Math.floor(lowest / 16))
      assert.ok(bank.cell_voltage_min_mv! <= cluster.cell_voltage_min_mv! + 1)
    }
  }
})
