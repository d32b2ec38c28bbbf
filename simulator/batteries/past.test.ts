import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import type { Site } from '@heliograph/domain/site'
import { smallBattery } from '../fixtures/battery.ts'
import { smallSite } from '../fixtures/site.ts'
import { initialUnits } from './batteries.ts'
import { batteryPast, livedUnits } from './past.ts'

const site: Site = { ...smallSite, batteries: [smallBattery] }
const seed = 7
const end_ms = Date.UTC(2026, 5, 21, 9, 30)
const days = 4
const pastOf = () => batteryPast(site, { seed, end_ms, days, ambient_c: () => 18 })
const past = pastOf()
const minutes = [...past]
const readings = minutes.map(([, { bess }]) => bess[0]!)

test('a reading a minute, up to the start of the live battery', () => {
  assert.equal(minutes.length, days * 1440)
  assert.equal(minutes[0]![0], end_ms - days * day_ms)
  for (const [time_ms, { bess, pcs }] of minutes) {
    assert.deepEqual([bess[0]!.measured_at, bess.length], [time_ms, 1])
    assert.equal(pcs.length, smallBattery.pcs.length)
  }
})

test('it is charged and discharged every day, within its window', () => {
  const { rated_energy_kwh, soc_min_pct, soc_max_pct } = smallBattery
  for (const { soc_pct } of readings) assert.ok(soc_pct! > soc_min_pct && soc_pct! < soc_max_pct)
  // From one noon to the next: the last day is led to where the live one begins.
  for (let day = 0; day < days - 1; day += 1) {
    const [first, last] = [readings[day * 1440]!, readings[(day + 1) * 1440]!]
    const charged_kwh = last.charged_total_kwh! - first.charged_total_kwh!
    const discharged_kwh = last.discharged_total_kwh! - first.discharged_total_kwh!
    assert.ok(charged_kwh > 0.25 * rated_energy_kwh && charged_kwh < rated_energy_kwh)
    assert.ok(discharged_kwh > 0.25 * rated_energy_kwh && discharged_kwh < rated_energy_kwh)
  }
  assert.ok(readings.some(({ state }) => state === 'charging'))
  assert.ok(readings.some(({ state }) => state === 'discharging'))
})

test('its power equals the rise of its counters', () => {
  readings.reduce((before, after) => {
    const net_kwh =
      after.discharged_total_kwh! -
      before.discharged_total_kwh! -
      (after.charged_total_kwh! - before.charged_total_kwh!)
    assert.ok(Math.abs(net_kwh * 60 - after.power_kw!) < 1e-6)
    return after
  })
})

test('it ends in the state of the live battery: half full, with its counters', () => {
  const begun = livedUnits(site, initialUnits(site, { seed, time_ms: end_ms }), seed)
  const { totals } = begun[smallBattery.bess_id]!.battery
  const last = readings.at(-1)!
  const minute_kwh = smallBattery.rated_charge_power_kw / 60
  for (const [end_kwh, first_kwh] of [
    [last.charged_total_kwh!, totals.absorbed_kwh],
    [last.discharged_total_kwh!, totals.injected_kwh],
  ] as const) {
    assert.ok(end_kwh <= first_kwh && first_kwh - end_kwh < minute_kwh, `${end_kwh} ${first_kwh}`)
  }
  assert.ok(Math.abs(last.soc_pct! - 50) < 1, `${last.soc_pct} %`)
  assert.equal(last.soh_pct, 100)
})

test('history is deterministic, so that an interrupted import can continue', () => {
  assert.deepEqual([...pastOf()], minutes)
})
