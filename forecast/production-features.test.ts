import assert from 'node:assert/strict'
import test from 'node:test'
import { history_plant, plantHistory } from './fixtures/plant-history.ts'
import { plantPhysics } from './plant-physics.ts'
import { productionFeatures } from './production-features.ts'
import type { ProductionSample } from './production-samples.ts'

const from_ms = Date.UTC(2024, 4, 3)
const two_days = plantHistory({ from_ms, days: 2, seed: 3 })

function columnsOf(samples: readonly ProductionSample[]) {
  const weather = samples.map((sample) => sample.weather)
  const physics = plantPhysics(history_plant, samples, weather)
  const table = productionFeatures({
    plant: history_plant,
    steps: samples,
    weather,
    lead_time_h: samples.map(({ lead_time_h }) => lead_time_h),
    physics,
  })
  assert.equal(table.rows, samples.length)
  return { physics, column: (name: string) => table.columns[table.names.indexOf(name)]! }
}

test('a step sees the steps beside it', () => {
  const { physics, column } = columnsOf(two_days)
  assert.equal(column('potential_before')[12], physics.potential_ratio[11])
  assert.equal(column('clear_index_after')[12], physics.clear_index[13])
  assert.equal(column('cloud_before_pct')[12], two_days[11]!.weather!.cloud_cover_pct)
  assert.ok(Number.isNaN(column('potential_before')[0]!))
  assert.ok(Number.isNaN(column('cloud_after_pct')[47]!))
})

test('it sees nothing across a hole, nor in another series', () => {
  const holed = [...two_days.slice(0, 12), ...two_days.slice(13)]
  assert.ok(Number.isNaN(columnsOf(holed).column('potential_before')[12]!))
  const twice = [...two_days, ...two_days]
  assert.ok(Number.isNaN(columnsOf(twice).column('cloud_before_pct')[48]!))
})

test('all steps of a solar day carry its sums, whichever the series', () => {
  const { physics, column } = columnsOf([...two_days, ...two_days])
  // The sun of 24.75 degrees east begins its day at 22:21 UTC.
  const day = [...physics.potential_ratio.slice(23, 46)].reduce((sum, ratio) => sum + ratio, 0)
  assert.ok(day > 2)
  for (const row of [23, 30, 45, 71, 90]) {
    assert.ok(Math.abs(column('day_potential_h')[row]! - day) < 1e-9, `row ${row}`)
  }
  assert.ok(Math.abs(column('day_potential_h')[12]! - day) > 1e-3, 'the day before is another')
  const one = two_days.slice(23, 46)
  const twice = columnsOf([...one, ...one]).column('day_potential_h')
  assert.ok(Math.abs(twice[30]! - day) < 1e-9, 'two forecasts of a day are not added up')
})

test('what the weather does not have is missing, not 0', () => {
  const bare = two_days.map((sample, i) =>
    i === 12 ? { ...sample, weather: null } : { ...sample, weather: { ...sample.weather! } },
  )
  bare[13]!.weather!.ghi_spread_w_m2 = 40
  const { column } = columnsOf(bare)
  for (const name of ['physical', 'ghi_w_m2', 'cloud_pct', 'temperature_c', 'diffuse']) {
    assert.ok(Number.isNaN(column(name)[12]!), name)
    assert.ok(!Number.isNaN(column(name)[13]!), name)
  }
  assert.ok(column('clear')[12]! > 0)
  assert.ok(Number.isNaN(column('ghi_spread_w_m2')[12]!))
  assert.equal(column('ghi_spread_w_m2')[13], 40)
})
