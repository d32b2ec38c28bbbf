/** A plant that is started for the first time has a past, and goes on from it without a jump. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { bessReading } from './batteries/battery-readings.ts'
import { batterySnapshot } from './batteries/battery-snapshot.ts'
import { batteryModel } from './batteries/battery-state.ts'
import { batteryPast } from './batteries/past.ts'
import { openState } from './state-file.ts'
import { weatherAt } from './weather.ts'

const parsed = parseSiteFile(readFileSync(new URL('demo/site.yaml', import.meta.url), 'utf8'))
assert.ok('site' in parsed)
const { site } = parsed
const seed = 7
const now_ms = Date.UTC(2026, 10, 23, 17, 30)
const year_h = 8766
const state = openState(null, { site, seed, now_ms })

test('counters of inverters match their yield since commissioning', () => {
  const energies = Object.values(state.first.inverters).map(({ ac_kwh }) => Math.round(ac_kwh))
  assert.equal(new Set(energies).size, energies.length, energies.join(' '))
  const years = (now_ms - Date.parse('2024-05-01')) / 3_600_000 / year_h
  for (const { inverter_id, rated_ac_power_kw } of site.loggers.flatMap((one) => one.inverters)) {
    const { ac_kwh, mppt_kwh } = state.first.inverters[inverter_id]!
    const full_load_h = ac_kwh / rated_ac_power_kw / years
    assert.ok(full_load_h > 1200 && full_load_h < 2200, `${inverter_id}: ${full_load_h} h a year`)
    const dc_kwh = mppt_kwh.reduce((sum, kwh) => sum + kwh, 0)
    assert.ok(dc_kwh > ac_kwh && dc_kwh < 1.1 * ac_kwh, `${inverter_id}: ${dc_kwh} ${ac_kwh}`)
  }
  const { export_kwh } = state.first
  const sum_kwh = energies.reduce((sum, kwh) => sum + kwh, 0)
  assert.ok(export_kwh < sum_kwh && export_kwh > 0.95 * sum_kwh, `${export_kwh} of ${sum_kwh}`)
})

test('batteries begin at the temperatures of the end of their history', () => {
  const place = { ...site, elevation_m: site.elevation_m ?? 0, east_m: 0 }
  const ambient_c = (at_ms: number) => weatherAt(seed, at_ms, place).ambient_temperature_c
  const past = [...batteryPast(site, { seed, end_ms: now_ms, days: 10, ambient_c }).values()].at(
    -1,
  )!
  for (const [nth, battery] of site.batteries!.entries()) {
    const model = batteryModel(battery, seed)
    const snapshot = batterySnapshot(model, state.batteries[battery.bess_id]!.battery)
    const live = bessReading({ model, snapshot, setpoint_kw: battery.pcs.map(() => null) }, now_ms)
    const ended = past.bess[nth]!
    for (const name of ['cell_temperature_max_c', 'cell_temperature_min_c'] as const) {
      const jump_c = live[name]! - ended[name]!
      assert.ok(Math.abs(jump_c) < 0.1, `${name}: ${ended[name]} to ${live[name]}`)
    }
    const ambient = past.pcs.find(({ bess_id }) => bess_id === battery.bess_id)!
    assert.ok(Math.abs(snapshot.ambient_temperature_c - ambient.ambient_temperature_c!) < 0.1)
  }
})
