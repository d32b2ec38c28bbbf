import assert from 'node:assert/strict'
import test from 'node:test'
import {
  batteryQuantities,
  inverterQuantities,
  mpptQuantities,
  plantQuantities,
  stringQuantities,
  unitOf,
} from './quantities.ts'

test('every quantity of a device has the unit that ends its name', () => {
  const all = [
    ...plantQuantities,
    ...inverterQuantities,
    ...batteryQuantities,
    ...mpptQuantities(2),
    ...stringQuantities,
  ]
  assert.deepEqual(
    all.filter(({ unit }) => unit === ''),
    [],
  )
  assert.deepEqual(
    ['cell_voltage_max_mv', 'dc_voltage_v', 'wind_speed_m_s', 'energy_total_kwh', null].map(unitOf),
    ['mV', 'V', 'm/s', 'kWh', ''],
  )
})
