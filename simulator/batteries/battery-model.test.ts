import assert from 'node:assert/strict'
import test from 'node:test'
import type { Battery } from '@heliograph/domain/battery'
import fc from 'fast-check'
import { containerBattery, smallBattery } from '../fixtures/battery.ts'
import { batteryFacts } from './battery-facts.ts'
import { advanceBattery, type BatteryAilments, storedEnergyOf } from './battery-model.ts'
import { batterySnapshot, cellsOf } from './battery-snapshot.ts'
import { type BatteryState, batteryModel, initialBattery } from './battery-state.ts'

const twoPcs: Battery = {
  ...smallBattery,
  pcs: [
    { ...smallBattery.pcs[0]!, rated_power_kw: 60 },
    { ...smallBattery.pcs[0]!, pcs_idx: 1, unit_id: 33, rated_power_kw: 40 },
  ],
}

/** What the bookkeeping says is stored now, if it was `before_kwh` at first. */
function bookedEnergy({ totals }: BatteryState, before_kwh: number): number {
  const { absorbed_kwh, injected_kwh, conversion_loss_kwh, heat_kwh } = totals
  const lost_kwh = conversion_loss_kwh + heat_kwh + totals.balancing_kwh + totals.faded_kwh
  return before_kwh + absorbed_kwh - injected_kwh - lost_kwh
}

const step = fc.record({
  setpoint_kw: fc.tuple(
    fc.double({ min: -80, max: 80, noNaN: true }),
    fc.option(fc.double({ min: -60, max: 60, noNaN: true })),
  ),
  minutes: fc.integer({ min: 1, max: 240 }),
  seconds: fc.constantFrom(1, 7, 60),
  ambient_c: fc.integer({ min: -25, max: 45 }),
  ailments: fc.constantFrom<BatteryAilments>(
    {},
    {},
    {},
    { failed_pcs: [1] },
    { contactors_open: true },
    { weak_cell: { cluster_idx: 1, index: 17 } },
    { hot_cell: { cluster_idx: 0, index: 3, temperature_c: 57 } },
  ),
})

const days = fc.record({
  chemistry: fc.constantFrom('lfp' as const, 'nmc' as const),
  soc_pct: fc.integer({ min: 0, max: 100 }),
  seed: fc.integer({ min: 1, max: 50 }),
  steps: fc.array(step, { minLength: 3, maxLength: 8 }),
})

test('energy is conserved, and all limits are met, at any setpoint', () => {
  fc.assert(
    fc.property(days, ({ chemistry, soc_pct, seed, steps }) => {
      const model = batteryModel({ ...twoPcs, chemistry }, seed)
      const state = initialBattery(model, { soc_pct })
      const { hard_v } = model.clusters[0]!.curve
      const before_kwh = storedEnergyOf(state)
      for (const { minutes, seconds, ...input } of steps) {
        for (let nth = 0; nth < (minutes * 60) / seconds; nth += 30) {
          const { dc_limits } = batterySnapshot(model, state)
          advanceBattery(model, state, { ...input, seconds: Math.min(10, seconds) })
          const { dc_current_a, clusters, pcs } = batterySnapshot(model, state)
          assert.ok(dc_current_a <= dc_limits.discharge_a + 1e-6, `${dc_current_a} A out`)
          assert.ok(-dc_current_a <= dc_limits.charge_a + 1e-6, `${dc_current_a} A in`)
          for (const { cell_voltage_v } of clusters) {
            assert.ok(cell_voltage_v.max <= hard_v.max, `${cell_voltage_v.max} V`)
            assert.ok(cell_voltage_v.min >= hard_v.min, `${cell_voltage_v.min} V`)
          }
          for (const [idx, { ac_power_kw }] of pcs.entries()) {
            assert.ok(Math.abs(ac_power_kw) <= twoPcs.pcs[idx]!.rated_power_kw * 1.001)
          }
          advanceBattery(model, state, { ...input, seconds: seconds * 29 })
          const difference_kwh = storedEnergyOf(state) - bookedEnergy(state, before_kwh)
          assert.ok(Math.abs(difference_kwh) < 1e-8, `${difference_kwh} kWh out of nowhere`)
        }
      }
    }),
    { numRuns: 25 },
  )
})

const at = (battery: Battery, soc_pct: number, temperature_c = 25) => {
  const model = batteryModel(battery, 1)
  return { model, state: initialBattery(model, { soc_pct, temperature_c }) }
}

test('a full discharge and charge at rated power have the round-trip efficiency of the data sheet', () => {
  const { model, state } = at(smallBattery, 50)
  const facts = batteryFacts(smallBattery)
  assert.ok(facts.roundtrip_efficiency_pct > 88 && facts.roundtrip_efficiency_pct < 95)
  const run = (power_kw: number) => {
    const stored_kwh = storedEnergyOf(state)
    const { injected_kwh, absorbed_kwh } = { ...state.totals }
    advanceBattery(model, state, { seconds: 900, setpoint_kw: [power_kw], ambient_c: 25 })
    const ac_kwh =
      state.totals.injected_kwh - injected_kwh - (state.totals.absorbed_kwh - absorbed_kwh)
    return { ac_kwh, stored_kwh: storedEnergyOf(state) - stored_kwh }
  }
  run(-100)
  const charged = run(-100)
  run(100)
  const discharged = run(100)
  const charge = charged.stored_kwh / -charged.ac_kwh
  const discharge = discharged.ac_kwh / -discharged.stored_kwh
  assert.ok(Math.abs(charge - facts.charge_efficiency) < 0.005, `${charge}`)
  assert.ok(Math.abs(discharge - facts.discharge_efficiency) < 0.005, `${discharge}`)
})

test('terminal power equals current times voltage, in both directions', () => {
  for (const power_kw of [90, -90]) {
    const { model, state } = at(smallBattery, 60)
    advanceBattery(model, state, { seconds: 60, setpoint_kw: [power_kw], ambient_c: 25 })
    advanceBattery(model, state, { seconds: 1, setpoint_kw: [power_kw], ambient_c: 25 })
    const { dc_power_kw, clusters } = batterySnapshot(model, state)
    const product_w = clusters.reduce((sum, { voltage_v: v, current_a: a }) => sum + v * a, 0)
    assert.ok(Math.abs(dc_power_kw * 1000 - product_w) < 1e-4 * Math.abs(product_w))
  }
})

test('the limits shrink near full and near empty, and end there', () => {
  const { curve } = batteryFacts(containerBattery)
  const by_soc = new Map(curve.map((point) => [point.soc_pct, point]))
  const rated = (kw: number) => kw > 0.99 * 1250 && kw <= 1250 + 1e-6
  assert.ok(rated(by_soc.get(50)!.max_charge_power_kw), 'charge at 50 %')
  assert.ok(rated(by_soc.get(50)!.max_discharge_power_kw), 'discharge at 50 %')
  assert.equal(by_soc.get(100)!.max_charge_power_kw, 0)
  assert.equal(by_soc.get(0)!.max_discharge_power_kw, 0)
  const low = curve.filter(({ soc_pct }) => soc_pct <= 8)
  const high = curve.filter(({ soc_pct }) => soc_pct >= 92)
  for (let nth = 1; nth < low.length; nth += 1) {
    assert.ok(low[nth]!.max_discharge_power_kw > low[nth - 1]!.max_discharge_power_kw)
  }
  for (let nth = 1; nth < high.length; nth += 1) {
    assert.ok(high[nth]!.max_charge_power_kw < high[nth - 1]!.max_charge_power_kw)
  }
})

test('frost stops charging, heat stops both', () => {
  const limitsAt = (temperature_c: number) => {
    const { model, state } = at(smallBattery, 50, temperature_c)
    return batterySnapshot(model, state).dc_limits
  }
  const mild = limitsAt(25)
  const frost = limitsAt(-2)
  assert.equal(frost.charge_a, 0)
  assert.ok(frost.discharge_a > 0.8 * mild.discharge_a)
  assert.ok(limitsAt(7).charge_a < 0.6 * mild.charge_a)
  const hot = limitsAt(51)
  assert.ok(hot.charge_a < 0.5 * mild.charge_a && hot.discharge_a < mild.discharge_a)
  assert.deepEqual([limitsAt(62).charge_a, limitsAt(62).discharge_a], [0, 0])
})

test('cells differ a little, and balancing lowers the highest', () => {
  const { model, state } = at(smallBattery, 50)
  const cells = cellsOf(model, state, 0)
  const spread_v = Math.max(...cells.voltage_v) - Math.min(...cells.voltage_v)
  assert.ok(spread_v > 0.0002 && spread_v < 0.02, `${spread_v} V`)
  const full = (seconds: number) =>
    advanceBattery(model, state, { seconds, setpoint_kw: [-100], ambient_c: 25 })
  full(3 * 3600)
  const spreadOf = () => {
    const { soc } = state.clusters[0]!
    return Math.max(...soc) - Math.min(...soc)
  }
  const before = spreadOf()
  assert.ok(state.clusters[0]!.is_bleeding.includes(1), 'no cell is balanced')
  full(6 * 3600)
  assert.ok(spreadOf() < 0.9 * before, `${spreadOf()} of ${before}`)
})

test('a restored state continues like the original', () => {
  const { model, state } = at(smallBattery, 40)
  const input = { seconds: 1800, setpoint_kw: [70], ambient_c: 10 }
  advanceBattery(model, state, input)
  const saved = JSON.parse(JSON.stringify(state)) as BatteryState
  advanceBattery(model, state, input)
  advanceBattery(model, saved, input)
  assert.deepEqual(saved, state)
})

test('a PCS follows its ramp, and a failed or disconnected one delivers nothing', () => {
  const { model, state } = at(smallBattery, 60)
  const told = (ailments: BatteryAilments, seconds = 1) =>
    advanceBattery(model, state, { seconds, setpoint_kw: [90], ambient_c: 20, ailments })
  const power = () => batterySnapshot(model, state).ac_power_kw
  told({})
  assert.ok(Math.abs(power()) < 0.1, 'it starts')
  for (let nth = 0; nth < 3; nth += 1) told({})
  const ramping = power()
  assert.ok(ramping > 30 && ramping < 70, `${ramping} kW on its way`)
  for (let nth = 0; nth < 10; nth += 1) told({})
  assert.ok(Math.abs(power() - 90) < 0.1, `${power()} kW`)
  told({ failed_pcs: [0] })
  assert.ok(Math.abs(power()) < 0.1)
  assert.equal(batterySnapshot(model, state).pcs[0]!.mode, 'fault')
  told({ contactors_open: true })
  told({ contactors_open: true })
  assert.equal(batterySnapshot(model, state).state, 'disconnected')
  assert.equal(batterySnapshot(model, state).pcs[0]!.mode, 'off')
  assert.deepEqual(batterySnapshot(model, state).dc_limits.discharge_kw, 0)
  told({}, 60)
  told({}, 60)
  assert.ok(Math.abs(power() - 90) < 0.1, 'closed again by way of the precharge')
})

test('a hot cell warns, derates and opens its cluster, and the other one continues', () => {
  const { model, state } = at(smallBattery, 50)
  const show = (temperature_c: number) => {
    const hot_cell = { cluster_idx: 0, index: 20, temperature_c }
    const input = { seconds: 10, setpoint_kw: [100], ambient_c: 20, ailments: { hot_cell } }
    for (let nth = 0; nth < 3; nth += 1) advanceBattery(model, state, input)
    return batterySnapshot(model, state)
  }
  const over_temperature_warning = 2 ** 2
  const over_temperature_alarm = 2 ** 1
  const heat = ({ event_word }: { event_word: number }) =>
    event_word & (over_temperature_warning | over_temperature_alarm)
  assert.equal(heat(show(30)), 0)
  assert.equal(heat(show(49)), over_temperature_warning)
  assert.equal(heat(show(46)), over_temperature_warning, 'hysteresis')
  assert.equal(heat(show(44)), 0)
  const derated = show(56)
  assert.equal(heat(derated), over_temperature_alarm)
  assert.ok(derated.ac_power_kw < 60, `${derated.ac_power_kw} kW`)
  const open = show(61)
  assert.equal(open.clusters[0]!.contactor, 'open')
  assert.equal(open.clusters[1]!.contactor, 'closed')
  assert.equal(open.clusters[0]!.current_a, 0)
  assert.ok(open.ac_power_kw > 20, `${open.ac_power_kw} kW of the other`)
})

test('a weak cell falls behind its cluster', () => {
  const { model, state } = at(smallBattery, 60)
  const weak_cell = { cluster_idx: 1, index: 17 }
  const input = { seconds: 4 * 3600, setpoint_kw: [null], ambient_c: 20, ailments: { weak_cell } }
  advanceBattery(model, state, input)
  const { soc } = state.clusters[1]!
  const others = soc.filter((_, index) => index !== 17)
  assert.ok(Math.min(...others) - soc[17]! > 0.05)
  advanceBattery(model, state, { ...input, seconds: 600, setpoint_kw: [100] })
  const { voltage_v } = cellsOf(model, state, 1)
  assert.equal(voltage_v.indexOf(Math.min(...voltage_v)), 17)
})

test('use warms it, the chiller cools it, frost starts the heater', () => {
  const { model, state } = at(smallBattery, 95, 20)
  advanceBattery(model, state, { seconds: 5400, setpoint_kw: [95], ambient_c: 30 })
  const used = batterySnapshot(model, state)
  const hottest = Math.max(...used.clusters.map(({ cell_temperature_c }) => cell_temperature_c.max))
  assert.ok(hottest > 23 && hottest < 33, `${hottest} °C`)
  assert.ok(used.auxiliary_power_kw > 0.3)
  const cold = at(smallBattery, 50, 18)
  const winter = { seconds: 86_400, setpoint_kw: [null], ambient_c: -20 }
  advanceBattery(cold.model, cold.state, winter)
  assert.ok(Math.min(...cold.state.clusters[0]!.module_temperature_c) > 13)
})
