/** Batteries within the plant: at its meter, in its state file, and behind its sockets. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import type { Connection, Site } from '@heliograph/domain/site'
import { decode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import modbus from 'modbus-serial'
import { freePort } from '../../test/end-to-end/programs.ts'
import { initialCounters } from '../counters.ts'
import { meterModel } from '../devices/sunspec.ts'
import { misplacedFaults, parseFault } from '../faults.ts'
import { smallBattery } from '../fixtures/battery.ts'
import { smallSite } from '../fixtures/site.ts'
import { serveModbus } from '../modbus.ts'
import { createPlant } from '../plant.ts'
import { createSimulation } from '../site.ts'
import { openState, saveState } from '../state-file.ts'

const site: Site = { ...smallSite, batteries: [smallBattery] }
const noon_ms = Date.parse('2026-06-20T11:00:00Z')

function plantAt(start_ms: number) {
  let now_ms = start_ms
  const clock = { now: () => new Date(now_ms) }
  const counters = initialCounters(site, start_ms)
  const plant = createPlant(createSimulation(site, 3), counters, { clock })
  return {
    plant,
    pass(seconds: number) {
      now_ms += seconds * 1000
      return plant.snapshot()
    },
  }
}

const command = (power_kw: number) => ({ is_enabled: true, setpoint_w: power_kw * 1000 })

test('the meter of the plant measures battery and PV together', () => {
  const { plant, pass } = plantAt(noon_ms)
  const [unit] = plant.batteries.units
  unit!.tellPcs(0, command(-80))
  const charging = pass(60)
  const alone_kw = plant.simulation.at(charging.time_ms).export_power_kw
  const { ac_power_kw, auxiliary_power_kw } = unit!.snapshot()
  assert.ok(Math.abs(ac_power_kw + 80) < 0.1)
  const sum_kw = alone_kw + ac_power_kw - auxiliary_power_kw
  assert.ok(Math.abs(charging.export_power_kw - sum_kw) < 1e-9)
  const image = meterModel(site, charging, plant.counters)
  const { values } = decode(models[203], image)
  assert.ok(Math.abs(values.W! / 1000 - sum_kw) < 0.02)
})

test('the counters of the meter include all energy of the battery, observed or not', () => {
  const { plant, pass } = plantAt(noon_ms - 12 * hour_ms)
  const { counters } = plant
  const [unit] = plant.batteries.units
  const before = { ...counters }
  unit!.tellPcs(0, command(50))
  pass(1800)
  pass(1)
  pass(30)
  const { totals } = unit!.snapshot()
  const moved_kwh = totals.injected_kwh - totals.absorbed_kwh - totals.auxiliary_kwh
  assert.ok(moved_kwh > 20, `${moved_kwh} kWh`)
  const alone = createPlant(createSimulation(smallSite, 3), initialCounters(smallSite, noon_ms), {
    clock: { now: () => new Date(noon_ms) },
  })
  const night_kw = alone.simulation.at(noon_ms - 12 * hour_ms).export_power_kw
  const net_kwh = counters.export_kwh - before.export_kwh - counters.import_kwh + before.import_kwh
  const expected_kwh = moved_kwh + (night_kw * 1831) / 3600
  assert.ok(Math.abs(net_kwh - expected_kwh) < 0.01, `${net_kwh}, not ${expected_kwh} kWh`)
})

test('the state file restores a battery, and a new one starts fresh', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'state.json')
  const old = openState(file, { site: smallSite, seed: 3, now_ms: noon_ms })
  assert.deepEqual(old.batteries, {})
  const state = openState(file, { site, seed: 3, now_ms: noon_ms })
  const { clusters } = state.batteries[1]!.battery
  clusters[1]!.soc[7] = 0.123456789
  saveState(file, state)
  const again = openState(file, { site, seed: 3, now_ms: noon_ms + hour_ms })
  assert.deepEqual(again.batteries, state.batteries)
})

test('a fault of a missing device is reported', () => {
  const misplaced = (text: string) => misplacedFaults(site, [parseFault(text)])
  assert.deepEqual(misplaced('pcs_fault:1/0'), [])
  assert.deepEqual(misplaced('cell_weak:1/1-3-12'), [])
  assert.deepEqual(misplaced('silent_device:field/31'), [])
  assert.deepEqual(misplaced('pcs_fault:1/1'), ['pcs_fault: the site has no PCS 1/1'])
  assert.deepEqual(misplaced('bms_silent:2'), ['bms_silent: the site has no battery 2'])
  assert.deepEqual(misplaced('cell_weak:1/2-0-0'), ['cell_weak: the site has no cell 1/2-0-0'])
  for (const text of ['pcs_fault:1', 'soc_jump:1', 'cell_weak:1/3', 'bms_silent:1/0']) {
    assert.throws(() => parseFault(text), /is no fault/, text)
  }
})

async function served(t: TestContext) {
  const port = await freePort()
  const field = { ...smallSite.connections[0]!, port } as Connection
  const clock = { now: () => new Date(noon_ms) }
  const here = { ...site, connections: [field] }
  const plant = createPlant(createSimulation(here, 3), initialCounters(here, noon_ms), { clock })
  const { close } = await serveModbus(plant, { debug() {}, warn() {} })
  t.after(close)
  const master = new modbus.default()
  await master.connectTCP('127.0.0.1', { port })
  t.after(() => new Promise<void>((resolve) => master.close(() => resolve())))
  return master
}

test('a master reads and commands it over its socket', async (t) => {
  const master = await served(t)
  master.setID(31)
  const bank = await master.readHoldingRegisters(40_070, 64)
  const { values } = decode(models[802], Uint16Array.from(bank.data))
  assert.equal(values.State, 4)
  assert.ok(Math.abs(values.SoC! - 50) < 1)
  master.setID(32)
  const { data } = await master.readHoldingRegisters(40_070, 2)
  assert.deepEqual(data, [701, 153])
  const controls = 40_070 + 155 + 52
  await master.writeRegisters(controls + 22, [1, 1, 0, 25_000])
  const told = await master.readHoldingRegisters(controls, 67)
  assert.equal(decode(models[704], Uint16Array.from(told.data)).values.WSet, 25_000)
  await assert.rejects(master.writeRegisters(controls + 24, [100, 0]), /Illegal data value/)
})
