import assert from 'node:assert/strict'
import test from 'node:test'
import { history_plant, plantHistory } from './fixtures/plant-history.ts'
import { plantPhysics } from './plant-physics.ts'
import { productionFeatures, utcDay } from './production-features.ts'
import type { ProductionSample } from './production-samples.ts'

const from_ms = Date.UTC(2024, 4, 3)
const two_days = plantHistory({ from_ms, days: 2, seed: 3 })

function columnsOf(samples: readonly ProductionSample[]) {
  const physics = plantPhysics(
    history_plant,
    samples,
    samples.map(({ weather }) => weather),
  )
  const table = productionFeatures({ steps: samples, physics, dayOf: utcDay })
  assert.equal(table.rows, samples.length)
  return { physics, column: (name: string) => table.columns[table.names.indexOf(name)]! }
}

test('a step has features of its neighbours', () => {
  const { physics, column } = columnsOf(two_days)
  assert.equal(column('potential_before')[12], physics.potential_ratio[11])
  assert.equal(column('clear_index_after')[12], physics.clear_index[13])
  assert.equal(column('cloud_before_pct')[12], two_days[11]!.weather!.cloud_cover_pct)
  assert.ok(Number.isNaN(column('potential_before')[0]!))
  assert.ok(Number.isNaN(column('cloud_after_pct')[47]!))
})

test('no neighbours across a gap, or of another series', () => {
  const holed = [...two_days.slice(0, 12), ...two_days.slice(13)]
  assert.ok(Number.isNaN(columnsOf(holed).column('potential_before')[12]!))
  const twice = [...two_days, ...two_days]
  assert.ok(Number.isNaN(columnsOf(twice).column('cloud_before_pct')[48]!))
})

test('all steps of a day have its sums, in every series', () => {
  const { physics, column } = columnsOf([...two_days, ...two_days])
  const dayFrom = (row: number) =>
    [...physics.potential_ratio.slice(row, row + 24)].reduce(
      (sum, ratio) => sum + (Number.isNaN(ratio) ? 0 : ratio),
      0,
    )
  const [day, next] = [dayFrom(0), dayFrom(24)]
  assert.ok(day > 2 && Math.abs(day - next) > 1e-3)
  const sums = column('day_potential_h')
  for (const row of [0, 7, 23, 48, 60]) assert.ok(Math.abs(sums[row]! - day) < 1e-9, `row ${row}`)
  for (const row of [24, 47, 95]) assert.ok(Math.abs(sums[row]! - next) < 1e-9, `row ${row}`)
  const one = two_days.slice(0, 24)
  const twice = columnsOf([...one, ...one]).column('day_potential_h')
  assert.ok(Math.abs(twice[30]! - day) < 1e-9, 'two forecasts of a day are not added up')
})

test('a day has the same features alone and among others', () => {
  const days = columnsOf(two_days)
  const alone = columnsOf(two_days.slice(24))
  for (const name of ['potential_before', 'clear_index_after', 'cloud_before_pct'] as const) {
    assert.deepEqual(days.column(name).slice(24), alone.column(name), name)
  }
  assert.deepEqual(days.column('day_clear_index').slice(24), alone.column('day_clear_index'))
})

test('missing weather is NaN, not 0', () => {
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
