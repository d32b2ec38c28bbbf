import assert from 'node:assert/strict'
import test from 'node:test'
import { powerFlow, socOf } from './power-flow.ts'

type Read = Parameters<typeof powerFlow>[0]

const read = (
  [ac_power_kw, export_power_kw, import_power_kw]: readonly (number | null)[],
  ...bess: readonly object[]
) => ({ status: { ac_power_kw, export_power_kw, import_power_kw }, bess }) as unknown as Read

const unit = (power_kw: number | null, more: object = {}) => ({
  power_kw,
  soc_pct: 50,
  rated_energy_kwh: 400,
  quality: 'good',
  ...more,
})

test('the consumption is what PV and batteries deliver and the grid does not take', () => {
  assert.deepEqual(powerFlow(read([300, 330, 0], unit(50))), {
    pv_kw: 300,
    battery_kw: 50,
    grid_kw: 330,
    consumption_kw: 20,
  })
  const night = powerFlow(read([-0.2, 0, 110], unit(-100)))
  assert.equal(night.grid_kw, -110)
  assert.ok(Math.abs(night.consumption_kw! - 9.8) < 1e-9)
})

test('a site without batteries has a battery power of 0', () => {
  assert.equal(powerFlow(read([100, 95, 0])).consumption_kw, 5)
})

test('unknown powers are not guessed', () => {
  assert.equal(powerFlow(read([100, null, null])).grid_kw, null)
  assert.equal(powerFlow(read([100, null, null])).consumption_kw, null)
  const stale = powerFlow(read([100, 90, 0], unit(20), unit(20, { quality: 'stale' })))
  assert.deepEqual([stale.battery_kw, stale.consumption_kw], [null, null])
})

test('readings some seconds apart give no negative consumption, contradicting ones give none', () => {
  assert.equal(powerFlow(read([100, 104, 0])).consumption_kw, 0)
  assert.equal(powerFlow(read([100, 140, 0])).consumption_kw, null)
})

test('the state of charge of several units is weighted by their energy', () => {
  const small = unit(0, { soc_pct: 80, rated_energy_kwh: 100 })
  assert.equal(socOf(read([0, 0, 0], unit(0), small)), 56)
  assert.equal(socOf(read([0, 0, 0], unit(0), unit(0, { soc_pct: null }))), null)
  assert.equal(socOf(read([0, 0, 0])), null)
})
