import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { type CounterSample, roundtripEfficiency } from './roundtrip.ts'

const rated = {
  rated_charge_power_kw: 200,
  rated_discharge_power_kw: 200,
  usable_energy_kwh: 360,
  exchanged_ms: [],
}

/** A unit that charges and discharges so much each day at this efficiency of either way. */
function samplesOf(
  days: readonly { charged_kwh: number; taken_kwh: number }[],
  one_way: number,
): CounterSample[] {
  let now = {
    measured_ms: 0,
    charged_total_kwh: 1000,
    discharged_total_kwh: 900,
    stored_kwh: 5000,
  }
  return [
    now,
    ...days.map(({ charged_kwh, taken_kwh }) => {
      now = {
        measured_ms: now.measured_ms + day_ms,
        charged_total_kwh: now.charged_total_kwh + charged_kwh,
        discharged_total_kwh: now.discharged_total_kwh + taken_kwh * one_way,
        stored_kwh: now.stored_kwh + charged_kwh * one_way - taken_kwh,
      }
      return now
    }),
  ]
}

const near = (actual: number | null, expected: number) =>
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-6, `${actual} for ${expected}`)

test('the efficiency comes out, whatever is held at the end', () => {
  const energy_kwh = fc.integer({ min: 0, max: 800 })
  const days = fc.array(fc.record({ charged_kwh: energy_kwh, taken_kwh: energy_kwh }), {
    minLength: 1,
    maxLength: 30,
  })
  fc.assert(
    fc.property(days, fc.double({ min: 0.7, max: 0.999, noNaN: true }), (each, one_way) => {
      const charged_kwh = each.reduce((sum, day) => sum + day.charged_kwh, 0)
      const found = roundtripEfficiency([{ ...rated, samples: samplesOf(each, one_way) }])
      if (charged_kwh < rated.usable_energy_kwh) assert.equal(found, null)
      else near(found, 100 * one_way ** 2)
    }),
  )
})

test('a reset of a counter leaves out its span alone', () => {
  const samples = samplesOf(
    Array.from({ length: 10 }, () => ({ charged_kwh: 400, taken_kwh: 380 })),
    0.95,
  )
  const reset = samples.map((sample, nth) =>
    nth < 5 ? sample : { ...sample, charged_total_kwh: sample.charged_total_kwh - 2900 },
  )
  near(roundtripEfficiency([{ ...rated, samples: reset }]), 100 * 0.95 ** 2)
})

test('units count by what they move, and those that say nothing not at all', () => {
  const days = Array.from({ length: 5 }, () => ({ charged_kwh: 400, taken_kwh: 380 }))
  const of = (one_way: number) => ({ ...rated, samples: samplesOf(days, one_way) })
  const silent = { ...rated, samples: [] }
  near(roundtripEfficiency([of(0.9), silent]), 81)
  const both = roundtripEfficiency([of(0.9), of(1)])
  assert.ok(both !== null && both > 85 && both < 95, `${both}`)
})

test('nothing is made of nothing, nor above what there can be', () => {
  assert.equal(roundtripEfficiency([]), null)
  assert.equal(roundtripEfficiency([{ ...rated, samples: samplesOf([], 0.9) }]), null)
  const more = [
    { measured_ms: 0, charged_total_kwh: 0, discharged_total_kwh: 0, stored_kwh: 0 },
    { measured_ms: day_ms, charged_total_kwh: 400, discharged_total_kwh: 410, stored_kwh: 0 },
  ]
  assert.equal(roundtripEfficiency([{ ...rated, samples: more }]), null)
})
