import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Confusion } from './fixtures/confusion.ts'
import { type Defect, measuredPoints, string } from './fixtures/measured-string.ts'
import { type DiagnosedPoint, diagnoseString } from './iv-diagnosis.ts'

const defects: readonly [label: string, name: string, defect: Defect][] = [
  ['sound', 'normal', {}],
  ['7 % soiled', 'current_loss', { light_lost: 0.07 }],
  ['15 % soiled', 'current_loss', { light_lost: 0.15 }],
  ['2 substrings', 'voltage_loss', { substrings: 2 }],
  ['5 substrings', 'voltage_loss', { substrings: 5 }],
  ['7 ohm', 'series_resistance', { ohm: 7 }],
  ['4 substrings from 13 h', 'shading_or_mismatch', { substrings: 4, from_hour: 13 }],
  [
    '6 substrings at 40 % light from 13 h',
    'shading_or_mismatch',
    { substrings: 6, shade_light: 0.4, from_hour: 13 },
  ],
  ['25 % light from 13 h', 'shading_or_mismatch', { light_lost: 0.25, from_hour: 13 }],
  ['open', 'open', { ohm: 1e6 }],
]
const seeds = Array.from({ length: 4 }, (_, index) => 1000 + 17 * index)

function answer(points: readonly DiagnosedPoint[]): string {
  const { diagnosis, reason } = diagnoseString(string, points)
  return diagnosis ?? `(${reason})`
}

for (const [situation, circumstances] of [
  ['alone', {}],
  ['alone, clear sky', { clouds: 0 }],
  ['beside a sound string', { partner: {} }],
  ['curtailed from start to end', { limit: 0.5 }],
  ['curtailed from start to end, beside a sound string', { limit: 0.5, partner: {} }],
] as const) {
  test(`names what is wrong: ${situation}`, (t) => {
    const confusion = new Confusion()
    for (const [label, , own] of defects) {
      for (const seed of seeds) {
        confusion.add(label, answer(measuredPoints({ seed, own, ...circumstances })))
      }
    }
    confusion.print(t)
    for (const [label, name] of defects) {
      const share = confusion.share(label, name)
      assert.ok(share >= 3 / 4, `${label}: only ${share} are ${name}`)
    }
  })
}

test('a sound string is not blamed for its partner', (t) => {
  const confusion = new Confusion()
  for (const [nth, [, , partner]] of defects.entries()) {
    for (const seed of seeds) {
      const points = measuredPoints({ seed: seed + nth, own: {}, partner })
      confusion.add('partner known', answer(points))
      const alone = points.map(({ partner_currents_a: _, ...point }) => point)
      confusion.add('partner unknown', answer(alone))
    }
  }
  confusion.print(t)
  assert.equal(confusion.share('partner known', 'normal'), 1)
  assert.ok(confusion.share('partner unknown', 'normal') > 0.85)
})

test('strings of one MPPT with the same fault are both named', () => {
  const own: Defect = { substrings: 4 }
  for (const seed of seeds) {
    assert.equal(answer(measuredPoints({ seed, own, partner: own })), 'voltage_loss')
  }
})

test('says how much is lost', () => {
  const losses = (own: Defect) => diagnoseString(string, measuredPoints({ seed: 7, own }))
  const soiled = losses({ light_lost: 0.15 })
  assert.ok(Math.abs(soiled.current_loss_pct! - 15) < 2.5, `${soiled.current_loss_pct}`)
  assert.ok(Math.abs(soiled.voltage_loss_pct!) < 1.5, `${soiled.voltage_loss_pct}`)
  const bypassed = losses({ substrings: 5 })
  const true_pct = (100 * 5) / (3 * string.module_count)
  assert.ok(Math.abs(bypassed.voltage_loss_pct! - true_pct) < 1.5, `${bypassed.voltage_loss_pct}`)
  assert.ok(Math.abs(bypassed.current_loss_pct!) < 3, `${bypassed.current_loss_pct}`)
})

test('too few points in good light make no diagnosis', () => {
  const points = measuredPoints({ seed: 3, own: {} })
  const few = diagnoseString(string, points.slice(30, 41))
  assert.deepEqual([few.diagnosis, few.reason], [null, 'insufficient_data'])
  const dim = points.map((point) => ({ ...point, effective_irradiance_w_m2: 150 }))
  assert.equal(diagnoseString(string, dim).reason, 'insufficient_data')
  for (const flag of ['stale', 'missing', 'night', 'no_irradiance'] as const) {
    const flagged = points.map((point) => ({ ...point, flags: [flag] }))
    assert.equal(diagnoseString(string, flagged).reason, 'insufficient_data')
  }
  assert.equal(diagnoseString(string, []).reason, 'insufficient_data')
})

test('a string that gives far more than expected has the wrong expectation', () => {
  const points = measuredPoints({ seed: 3, own: { light_lost: -0.2 } })
  const { diagnosis, reason, confidence_pct } = diagnoseString(string, points)
  assert.deepEqual([diagnosis, reason, confidence_pct], [null, 'more_than_expected', null])
})

test('a string that has stopped is open, however much it gave before', () => {
  const points = measuredPoints({ seed: 3, own: {} }).map((point, index, { length }) =>
    index < length - 20 ? point : { ...point, measured_current_a: 0 },
  )
  assert.equal(answer(points), 'open')
  assert.equal(answer(points.toReversed()), 'open')
  const dead = points.map((point) => ({ ...point, measured_current_a: 0, measured_voltage_v: 0 }))
  assert.notEqual(answer(dead), 'normal')
})

test('whatever is wrong, the answer is a number or null', () => {
  const defect = fc.record({
    light_lost: fc.double({ min: -0.3, max: 1, noNaN: true }),
    substrings: fc.integer({ min: 0, max: 53 }),
    shade_light: fc.double({ min: 0.01, max: 1, noNaN: true }),
    ohm: fc.double({ min: 0, max: 1000, noNaN: true }),
    from_hour: fc.constantFrom(0, 10, 14),
  })
  fc.assert(
    fc.property(fc.nat(), defect, defect, (seed, own, partner) => {
      const diagnosis = diagnoseString(string, measuredPoints({ seed, own, partner }))
      const { current_loss_pct, voltage_loss_pct, confidence_pct } = diagnosis
      for (const value of [current_loss_pct, voltage_loss_pct, confidence_pct]) {
        assert.ok(value === null || Number.isFinite(value), `${value}`)
      }
      assert.equal(diagnosis.diagnosis === null, diagnosis.reason !== null)
    }),
    { numRuns: 20 },
  )
})
