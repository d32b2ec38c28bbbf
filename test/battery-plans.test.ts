/** What the optimiser plans, the simulated battery does: cells, losses and limits of its own. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { quarter_ms } from '@heliograph/domain/durations'
import { planDispatch } from '@heliograph/optimize/dispatch'
import { limitAt, type Period, type Unit } from '@heliograph/optimize/dispatch-problem'
import { loadSolver } from '@heliograph/optimize/solver'
import { batteryFacts } from '@heliograph/simulator/batteries/battery-facts'
import { advanceBattery } from '@heliograph/simulator/batteries/battery-model'
import { batterySnapshot } from '@heliograph/simulator/batteries/battery-snapshot'
import { batteryModel, initialBattery } from '@heliograph/simulator/batteries/battery-state'
import { smallBattery as battery } from '@heliograph/simulator/fixtures/battery'

const highs = await loadSolver()
const soc_start_pct = 40
const facts = batteryFacts(battery)

const curve = (...points: [soc_pct: number, power_kw: number][]) =>
  points.map(([soc_pct, power_kw]) => ({ soc_pct, power_kw }))

const unit: Unit = {
  bess_id: 1,
  capacity_kwh: battery.rated_energy_kwh,
  soc_start_pct,
  soc_min_pct: battery.soc_min_pct,
  soc_max_pct: battery.soc_max_pct,
  soc_end_pct: soc_start_pct,
  // As a datasheet would have them; below what the simulated battery can, as is checked.
  charge_limits: curve([0, 100], [91.5, 100], [100, 0]),
  discharge_limits: curve([0, 0], [8.5, 100], [100, 100]),
  charge_efficiency: facts.charge_efficiency,
  discharge_efficiency: facts.discharge_efficiency,
  degradation_cost_per_mwh: 2,
  cycles_max: null,
}

/** Two waves and noise: several full cycles of the window in a day. */
function periodsOf(seed: number): Period[] {
  return Array.from({ length: 96 }, (_, nth) => {
    const noise = Math.sin(seed * 12.9898 + nth * 78.233) * 43_758.5453
    const price = 60 + 50 * Math.sin((nth / 96) * 4 * Math.PI + seed) + 30 * (noise % 1)
    const [start_ms, end_ms] = [nth * quarter_ms, (nth + 1) * quarter_ms]
    return { start_ms, end_ms, price, pv_kw: 0, load_kw: 0 }
  })
}

test('the limits that plans go by are below those of the battery', () => {
  for (const { soc_pct, max_charge_power_kw, max_discharge_power_kw } of facts.curve) {
    assert.ok(limitAt(unit.charge_limits, soc_pct) <= max_charge_power_kw + 1e-9, `${soc_pct} %`)
    assert.ok(
      limitAt(unit.discharge_limits, soc_pct) <= max_discharge_power_kw + 1e-9,
      `${soc_pct} %`,
    )
  }
})

for (const seed of [1, 2, 3, 4]) {
  test(`a day of quarter hours is followed, seed ${seed}`, () => {
    const plan = planDispatch(highs, {
      objective: 'arbitrage',
      periods: periodsOf(seed),
      units: [unit],
      export_limit_kw: null,
      import_limit_kw: null,
    })
    assert.equal(plan.status, 'optimal')
    const { power_kw, soc_pct } = plan.units[0]!
    const moved_kwh = power_kw.reduce((sum, power) => sum + Math.abs(power) / 4, 0)
    assert.ok(moved_kwh > 2 * battery.rated_energy_kwh, `${moved_kwh} kWh`)
    const model = batteryModel(battery, seed)
    const state = initialBattery(model, { soc_pct: soc_start_pct, temperature_c: 25 })
    let [short_kwh, strays_pct] = [0, 0]
    power_kw.forEach((planned_kw, nth) => {
      const before = { ...batterySnapshot(model, state).totals }
      for (let second = 0; second < 900; second += 10) {
        advanceBattery(model, state, { seconds: 10, setpoint_kw: [planned_kw], ambient_c: 25 })
      }
      const now = batterySnapshot(model, state)
      const passed_kwh =
        now.totals.injected_kwh -
        before.injected_kwh -
        (now.totals.absorbed_kwh - before.absorbed_kwh)
      short_kwh += Math.abs(passed_kwh - planned_kw / 4)
      strays_pct = Math.max(strays_pct, Math.abs(now.soc_pct - soc_pct[nth]!))
      assert.ok(now.clusters.every(({ alarm_levels }) => alarm_levels.every((level) => level < 2)))
    })
    const told = `${(100 * short_kwh) / moved_kwh} % not followed, charge off by ${strays_pct} %`
    assert.ok(short_kwh <= 0.01 * moved_kwh && strays_pct <= 2, told)
  })
}
