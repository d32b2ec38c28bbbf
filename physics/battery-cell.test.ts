import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type BatteryCell,
  type CellState,
  cellResistance,
  currentAtPower,
  deliverablePower,
  heatPower,
  openCircuitVoltage,
  socAfter,
  storedPower,
  terminalVoltage,
} from './battery-cell.ts'
import { assertWithin } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'

const cell = fc.record<BatteryCell>({
  chemistry: fc.constantFrom('lfp', 'nmc'),
  capacity_ah: uniform(2, 600),
  resistance_ohm: fc.oneof(uniform(1e-4, 0.1), fc.constant(0)),
  coulombic_efficiency_ratio: uniform(0.9, 1),
  entropy_v_per_k: uniform(-5e-4, 5e-4),
})
const state = fc.record<CellState>({
  soc_ratio: uniform(0, 1),
  temperature_c: uniform(-30, 70),
})
const current = uniform(-500, 500)

const lfp: BatteryCell = {
  chemistry: 'lfp',
  capacity_ah: 280,
  resistance_ohm: 5e-4,
  coulombic_efficiency_ratio: 0.999,
  entropy_v_per_k: 0,
}
const nmc: BatteryCell = { ...lfp, chemistry: 'nmc' }
const at = (soc_ratio: number, temperature_c = 25): CellState => ({ soc_ratio, temperature_c })

test('the voltage at rest rises with the state of charge, between the values of the papers', () => {
  for (const [given, soc_ratio, voltage_v] of [
    [lfp, 0, 2.286],
    [lfp, 0.5, 3.2995],
    [lfp, 0.9, 3.3425],
    [lfp, 1, 3.5305],
    [nmc, 0, 3.238],
    [nmc, 0.5, 3.694],
    [nmc, 1, 4.127],
  ] as const) {
    assertWithin(openCircuitVoltage(given, at(soc_ratio)), voltage_v, 6e-4, given.chemistry)
  }
  for (const given of [lfp, nmc]) {
    let before = 0
    for (let step = 0; step <= 2000; step += 1) {
      const voltage_v = openCircuitVoltage(given, at(step / 2000))
      assert.ok(voltage_v > before, `${given.chemistry} at ${step / 2000}`)
      before = voltage_v
    }
    assert.equal(openCircuitVoltage(given, at(1.3)), before)
  }
})

test('the resistance is the given one at half charge and 25 °C, higher in the cold', () => {
  for (const given of [lfp, nmc]) {
    assertWithin(cellResistance(given, at(0.5)), given.resistance_ohm, 1e-18, 'reference')
    assert.ok(cellResistance(given, at(0.5, 15)) > cellResistance(given, at(0.5, 25)))
    for (const beyond_c of [-40, 90]) {
      const held = cellResistance(given, at(0.5, Math.min(40, Math.max(10, beyond_c))))
      assert.equal(cellResistance(given, at(0.5, beyond_c)), held)
    }
  }
  assert.ok(cellResistance(lfp, at(0)) > cellResistance(lfp, at(0.5)))
  // By a separate evaluation: 0.149, 0.139 and 0.144 are of the paper, with 1800 K.
  for (const [soc_ratio, temperature_c, ratio] of [
    [0.1, 25, 1.0719],
    [0.5, 15, 1.2331],
    [0.9, 40, 0.7758],
  ] as const) {
    const resistance_ohm = cellResistance(lfp, at(soc_ratio, temperature_c))
    assertWithin(resistance_ohm / lfp.resistance_ohm, ratio, 1e-4, `lfp at ${temperature_c}`)
  }
  assertWithin(cellResistance(nmc, at(0, 5)), 5e-4 * 1.376887, 1e-9, 'empty and cold')
})

test('energy put in is stored or becomes heat', () => {
  fc.assert(
    fc.property(cell, state, current, (given, now, current_a) => {
      const taken_w = -current_a * terminalVoltage(given, now, current_a)
      const balance_w = storedPower(given, now, current_a) + heatPower(given, now, current_a)
      assertWithin(balance_w, taken_w, 1e-9 * (1 + Math.abs(taken_w)), 'balance')
      const without = { ...given, entropy_v_per_k: 0 }
      assert.ok(heatPower(without, now, current_a) >= -1e-9, 'without reaction heat, only losses')
    }),
  )
})

test('the energy of a charge is that of the curve, and returns less its losses', () => {
  const hour_s = 3600
  for (const given of [lfp, nmc]) {
    const steps = 2000
    const current_a = given.capacity_ah / 2
    const run = (from_soc: number, amperes: number) => {
      let soc_ratio = from_soc
      const sum = { terminal_wh: 0, stored_wh: 0, heat_wh: 0 }
      for (let step = 0; step < steps; step += 1) {
        const dt_h = 1 / steps
        const now = at(soc_ratio)
        sum.terminal_wh += -amperes * terminalVoltage(given, now, amperes) * dt_h
        sum.stored_wh += storedPower(given, now, amperes) * dt_h
        sum.heat_wh += heatPower(given, now, amperes) * dt_h
        soc_ratio = socAfter(given, now, amperes, dt_h * hour_s)
      }
      return { ...sum, soc_ratio }
    }
    const charge = run(0.25, -current_a)
    assertWithin(charge.soc_ratio, 0.25 + 0.5 * 0.999, 1e-9, 'charge kept')
    assertWithin(charge.terminal_wh, charge.stored_wh + charge.heat_wh, 1e-9, 'charging')
    const discharge = run(charge.soc_ratio, current_a)
    assertWithin(discharge.soc_ratio, 0.25 - 0.5 * 0.001, 1e-9, 'charge drawn')
    assertWithin(discharge.terminal_wh, discharge.stored_wh + discharge.heat_wh, 1e-9, 'drawing')
    const round_trip = -discharge.terminal_wh / charge.terminal_wh
    assert.ok(round_trip > 0.9 && round_trip < 0.999, `${round_trip}`)
  }
})

test('the current at a power gives that power back', () => {
  fc.assert(
    fc.property(cell, state, uniform(-2, 1), (given, now, share) => {
      const most_w = Math.min(1e4, deliverablePower(given, now))
      const power_w = share * most_w
      const current_a = currentAtPower(given, now, power_w)
      assert.ok(current_a !== null)
      const back_w = current_a * terminalVoltage(given, now, current_a)
      assertWithin(back_w, power_w, 1e-9 * most_w, 'power')
      assert.ok(Math.sign(current_a) === Math.sign(power_w))
    }),
  )
  // Whose last bit is rounded up.
  const cold = { ...lfp, resistance_ohm: 0.012924644218299999, entropy_v_per_k: -0.000420209306 }
  const most_w = deliverablePower(cold, at(0, 11.063515899999999))
  assert.ok(currentAtPower(cold, at(0, 11.063515899999999), most_w)! > 0)
  assert.equal(currentAtPower(lfp, at(0.5), 1.0001 * deliverablePower(lfp, at(0.5))), null)
  assert.equal(currentAtPower({ ...lfp, resistance_ohm: 0 }, at(0.5), 1e12)! > 0, true)
})

test('the state of charge stays within 0 and 1', () => {
  fc.assert(
    fc.property(cell, state, current, (given, now, current_a) => {
      const after = socAfter(given, now, current_a, 36_000)
      assert.ok(after >= 0 && after <= 1)
      assert.ok(current_a > 0 ? after <= now.soc_ratio : after >= now.soc_ratio)
    }),
  )
})

test('a temperature moves the voltage at rest by the entropy', () => {
  const given = { ...nmc, entropy_v_per_k: -1e-4 }
  const off_v = openCircuitVoltage(given, at(0.5, 45)) - openCircuitVoltage(given, at(0.5, 25))
  assertWithin(off_v, -2e-3, 1e-12, 'entropy')
  // Discharging, this reaction gives off heat beyond its losses.
  const losses_w = 100 * 100 * cellResistance(given, at(0.5))
  assertWithin(heatPower(given, at(0.5), 100) - losses_w, 298.15 * 1e-4 * 100, 1e-9, 'reaction')
})
