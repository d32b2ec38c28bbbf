/** What the demo's site.yaml says of its battery is what the simulated one does. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { batteryFacts } from '../batteries/battery-facts.ts'
import { advanceBattery } from '../batteries/battery-model.ts'
import { batterySnapshot } from '../batteries/battery-snapshot.ts'
import { batteryModel, initialBattery } from '../batteries/battery-state.ts'

const file = parseSiteFile(readFileSync(new URL('site.yaml', import.meta.url), 'utf8'))
assert.ok('site' in file)
const battery = file.site.batteries![0]!
const told_pct = battery.roundtrip_efficiency_pct!

test('its efficiency is that of the simulated battery at rated power, grid to grid', () => {
  const { roundtrip_efficiency_pct } = batteryFacts(battery)
  assert.equal(told_pct, Math.round(10 * roundtrip_efficiency_pct) / 10)
})

/** Of the file, on straight lines between its points. */
function curveAt(soc_pct: number): { charge_kw: number; discharge_kw: number } {
  const points = battery.power_curve!
  const end = points.findIndex((point) => point.soc_pct >= soc_pct)
  const [from, to] = [points[Math.max(0, end - 1)]!, points[end]!]
  const ratio = from === to ? 0 : (soc_pct - from.soc_pct) / (to.soc_pct - from.soc_pct)
  const between = (name: 'max_charge_power_kw' | 'max_discharge_power_kw') =>
    from[name] + ratio * (to[name] - from[name])
  return {
    charge_kw: between('max_charge_power_kw'),
    discharge_kw: between('max_discharge_power_kw'),
  }
}

for (const seed of [1, 2, 3, 20261]) {
  test(`its curve is within the power of the simulated battery, seed ${seed}`, () => {
    const model = batteryModel(battery, seed)
    for (let soc_pct = 0; soc_pct <= 100; soc_pct += 0.5) {
      const now = batterySnapshot(model, initialBattery(model, { soc_pct, temperature_c: 25 }))
      const { charge_kw, discharge_kw } = curveAt(soc_pct)
      const short_kw = Math.max(
        charge_kw - now.max_charge_power_kw,
        discharge_kw - now.max_discharge_power_kw,
      )
      assert.ok(short_kw <= 1e-9, `${short_kw} kW too much at ${soc_pct} %`)
      // Nor is it so much less that nobody could plan by it.
      assert.ok(now.max_charge_power_kw - charge_kw < 0.1 * battery.rated_charge_power_kw)
      assert.ok(now.max_discharge_power_kw - discharge_kw < 0.1 * battery.rated_discharge_power_kw)
    }
  })
}

test('a cycle at rated power, by the counters of its PCS, has that efficiency', () => {
  const model = batteryModel(battery, 1)
  const state = initialBattery(model, { soc_pct: 50, temperature_c: 25 })
  const { rated_charge_power_kw, rated_discharge_power_kw } = battery
  /** Until it holds so much, to the second, and with it the counters of the way. */
  const run = (power_kw: number, to_pct: number) => {
    const { injected_kwh, absorbed_kwh } = { ...state.totals }
    const isThere = () => (batterySnapshot(model, state).soc_pct - to_pct) * power_kw <= 0
    while (!isThere()) {
      advanceBattery(model, state, { seconds: 5, setpoint_kw: [power_kw], ambient_c: 20 })
    }
    return {
      out_kwh: state.totals.injected_kwh - injected_kwh,
      in_kwh: state.totals.absorbed_kwh - absorbed_kwh,
    }
  }
  run(rated_discharge_power_kw, 20)
  const { in_kwh } = run(-rated_charge_power_kw, 80)
  const { out_kwh } = run(rated_discharge_power_kw, 20)
  const measured_pct = (100 * out_kwh) / in_kwh
  assert.ok(Math.abs(measured_pct - told_pct) < 0.1, `${measured_pct} %`)
})
