/** History says of a simulated battery what the edge reads of the same one. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Bus } from '@heliograph/edge/drivers/driver'
import { sunspec } from '@heliograph/edge/drivers/sunspec'
import { createBatteries, initialUnits } from '@heliograph/simulator/batteries/batteries'
import { bessReading, onGrid, pcsReadings } from '@heliograph/simulator/batteries/battery-readings'
import { bmsUnits } from '@heliograph/simulator/devices/sunspec-battery'
import { pcsUnit } from '@heliograph/simulator/devices/sunspec-pcs'
import { smallBattery } from '@heliograph/simulator/fixtures/battery'
import { smallSite } from '@heliograph/simulator/fixtures/site'

const grid = { frequency_hz: 49.98, voltage_ratio: 1.01 }
const begin_ms = Date.parse('2026-06-01T10:00:00Z')
const battery = { ...smallBattery, model: 'Simulated battery' }
const [pcs] = battery.pcs as [(typeof battery.pcs)[number]]

/** Half an hour after it was told a power, on a bus. */
function told(power_kw: number) {
  let now_ms = begin_ms
  const site = { ...smallSite, batteries: [battery] }
  const states = initialUnits(site, { seed: 1, time_ms: begin_ms })
  const { units } = createBatteries(site, states, {
    seed: 1,
    now_ms: () => now_ms,
    faults: () => [],
    ambient_c: () => 20,
  })
  const [unit] = units as [(typeof units)[number]]
  const devices = [...bmsUnits(unit), pcsUnit(unit, pcs, () => grid)]
  const bus: Bus = {
    async readHoldingRegisters(unit_id, address, count) {
      return devices.find((one) => one.unit_id === unit_id)!.read(address, count)
    },
    readInputRegisters: () => Promise.reject(new Error('not asked for')),
    writeRegisters: () => Promise.reject(new Error('not asked for')),
    close: async () => {},
  }
  const told = { is_enabled: true, setpoint_w: 1000 * power_kw }
  unit.tellPcs(pcs.pcs_idx, told)
  now_ms += 1_800_000
  return { unit, bus }
}

type Values = Readonly<Record<string, unknown>>

/** What registers round away: a percent of a percent, and their smallest steps. */
function assertAlike(history: Values, read: Values, but: readonly string[]): void {
  for (const [name, value] of Object.entries(read)) {
    const here = history[name]
    if (but.includes(name)) continue
    if (typeof value !== 'number' || typeof here !== 'number') {
      assert.equal(here, value, name)
      continue
    }
    const step = name.endsWith('_kwh') ? 0.05 : 0.11
    const apart = Math.abs(here - value)
    assert.ok(apart <= step + 0.002 * Math.abs(value), `${name}: ${here}, read ${value}`)
  }
}

for (const power_kw of [60, -60]) {
  test(`told ${power_kw} kW, it is in history as it is read`, async () => {
    const { unit, bus } = told(power_kw)
    const { model } = unit
    const now = { model, snapshot: unit.snapshot(), setpoint_kw: [power_kw] }
    const bms = await sunspec.openBattery!(bus, battery)
    const converter = await sunspec.openPcs!(bus, pcs)
    const bess = bessReading(now, 0)
    // Of the PCS, and of more than one reading; and cycles, which are told in whole ones.
    const others = ['power_kw', 'setpoint_kw', 'charged_total_kwh', 'discharged_total_kwh']
    const coarse = ['heartbeat_ok', 'cycle_count']
    assertAlike({ ...bess }, { ...(await bms.read()).values.battery }, [...others, ...coarse])
    const [reading] = pcsReadings(now, 0)
    const { values } = await converter.read()
    assertAlike({ ...onGrid(reading!, grid) }, { ...values.pcs }, [])
    for (const [name, of_pcs] of [
      ['power_kw', 'ac_power_kw'],
      ['charged_total_kwh', 'energy_absorbed_total_kwh'],
      ['discharged_total_kwh', 'energy_injected_total_kwh'],
    ] as const) {
      assert.equal(bess[name], reading![of_pcs], name)
    }
  })
}
