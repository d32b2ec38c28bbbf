import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, assertWithinRatio, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import { dewPoint, linkeTurbidity, monthlyTurbidity, precipitableWater } from './turbidity.ts'

testAgainstOracle('atmosphere', 'water in the air and turbidity', (row) => {
  const temperature_c = row.number('temp')
  const humidity = row.number('rh')
  const water_cm = row.number('pw_cm')
  assertWithinRatio(precipitableWater(temperature_c, humidity), water_cm, 1e-9, 'water')
  assertWithin(dewPoint(temperature_c, humidity), row.number('tdew'), 1e-9, 'dew point')
  const turbidity = linkeTurbidity(row.number('airmass_abs'), water_cm, row.number('aod_bb'))
  assertWithinRatio(turbidity, row.number('kasten96_lt'), 1e-9, 'turbidity')
})

test('any sensor value gives finite results in range', () => {
  const anything = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(anything, anything, anything, (a, b, c) => {
      assert.ok(precipitableWater(a, b) >= 0.1 && precipitableWater(a, b) < 40)
      assert.ok(Number.isFinite(dewPoint(a, b)))
      assert.ok(linkeTurbidity(a, Math.min(b, 1e6), Math.min(c, 1e6)) >= 0)
    }),
  )
})

test('saturated air is at its dew point, drier air above it', () => {
  fc.assert(
    fc.property(uniform(-45, 60), uniform(1, 99.9), (temperature_c, humidity) => {
      assertWithin(dewPoint(temperature_c, 100), temperature_c, 1e-9, 'saturated')
      assert.ok(dewPoint(temperature_c, humidity) < temperature_c)
      assert.equal(dewPoint(temperature_c, 103), dewPoint(temperature_c, 100))
    }),
  )
})

test('turbidity is near one for clean dry air and grows with water and aerosols', () => {
  assertWithin(linkeTurbidity(2, 0, 0), 1, 0.3, 'clean')
  assertWithin(linkeTurbidity(2, 1.5, 0.08), 3, 0.3, 'usual')
  assert.ok(linkeTurbidity(2, 2, 0.08) > linkeTurbidity(2, 1.5, 0.08))
  assert.ok(linkeTurbidity(2, 1.5, 0.1) > linkeTurbidity(2, 1.5, 0.08))
})

const monthly = [2.6, 2.9, 3.2, 3.5, 3.6, 3.7, 3.8, 3.7, 3.4, 3, 2.7, 2.5]

test('monthly values apply in the middle of their months and join over the new year', () => {
  assertWithin(monthlyTurbidity(monthly, Date.UTC(2023, 0, 16, 12)), 2.6, 1e-12, 'January')
  assertWithin(monthlyTurbidity(monthly, Date.UTC(2023, 5, 16)), 3.7, 1e-12, 'June')
  assertWithin(monthlyTurbidity(monthly, Date.UTC(2024, 1, 15, 12)), 2.9, 1e-12, 'leap February')
  assertWithin(monthlyTurbidity(monthly, Date.UTC(2024, 0, 1)), 2.55, 1e-12, 'new year')
  const before = monthlyTurbidity(monthly, Date.UTC(2024, 0, 1) - 1)
  assertWithin(before, monthlyTurbidity(monthly, Date.UTC(2024, 0, 1)), 1e-9, 'no step')
})

test('values between months are interpolated', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 4e12 }), (time_ms) => {
      const turbidity = monthlyTurbidity(monthly, time_ms)
      assert.ok(turbidity >= 2.5 && turbidity <= 3.8)
    }),
  )
})

test('eleven months, and an invalid time, are refused by name', () => {
  assert.throws(() => monthlyTurbidity(monthly.slice(1), 0), /monthly has 11 values, not 12/)
  assert.throws(() => monthlyTurbidity(monthly, Number.NaN), /time_ms is no date: NaN/)
})
