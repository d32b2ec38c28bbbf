import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { sampleWeights } from '../../telemetry/energy.ts'
import {
  addSamples,
  addSun,
  emptyHour,
  heldBy,
  type InverterSample,
  inverterSums,
} from './inverter-hour.ts'
import { ratingOf } from './inverter-span.ts'

const rating = ratingOf({ rated_ac_power_kw: 100, nominal_efficiency_pct: 97.5 })
const minute = 60_000

const sample = (given: Partial<InverterSample> = {}): InverterSample => ({
  is_daylight: given.light?.is_daylight ?? true,
  time_ms: 0,
  state: 'mppt',
  ac_power_kw: 80,
  dc_power_kw: 82,
  energy_total_kwh: null,
  power_limit_pct: null,
  light: { is_daylight: true, poa_w_m2: 800, temperature_factor: 0.9, expected_dc_kw: 84 },
  ...given,
})

/** An hour of one and the same instant, a sample a minute. */
function hourOf(given: Partial<InverterSample>) {
  const samples = Array.from({ length: 61 }, (_, nth) =>
    sample({ ...given, time_ms: nth * minute }),
  )
  const sums = emptyHour()
  const times = samples.map(({ time_ms }) => time_ms)
  addSamples(sums, samples, sampleWeights(times, { start_ms: 0, end_ms: 60 * minute }), rating)
  return sums
}

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`)

test('an hour of steady power', () => {
  const sums = hourOf({})
  near(sums.covered_s, 3600)
  near(sums.daylight_covered_s, 3600)
  near(sums.ac_energy_kwh, 80)
  near(sums.dc_energy_kwh, 82)
  near(sums.reference_kwh_m2, 0.8)
  near(sums.reference_ac_kwh, 80)
  near(sums.warm_reference_kwh_m2, 0.72)
  near(sums.reference_expected_kwh, rating.acPower(84))
  near(sums.conversion_expected_kwh, rating.acPower(82))
  near(sums.load_s[7]!, 3600)
  near(sums.load_ac_kwh[7]!, 80)
  near(sums.demanded_s, 3600)
  for (const name of ['down_s', 'clipped_s', 'curtailed_s', 'derated_s', 'fault_s'] as const) {
    assert.equal(sums[name], 0, name)
  }
  assert.equal(sums.energy_source, 'integrated_power')
  assert.equal(sums.peak_power_kw, 80)
})

test('each loss is booked to its cause: what lies above the rating is always clipped', () => {
  const losses = (given: Partial<InverterSample>) => {
    const { downtime_loss_kwh, clipping_loss_kwh, curtailment_loss_kwh, derating_loss_kwh } =
      hourOf(given)
    return { downtime_loss_kwh, clipping_loss_kwh, curtailment_loss_kwh, derating_loss_kwh }
  }
  const none = {
    downtime_loss_kwh: 0,
    clipping_loss_kwh: 0,
    curtailment_loss_kwh: 0,
    derating_loss_kwh: 0,
  }
  const bright = {
    is_daylight: true,
    poa_w_m2: 1000,
    temperature_factor: 1,
    expected_dc_kw: 120,
  }
  const equal = (actual: object, expected: object) => {
    for (const [name, value] of Object.entries(expected)) {
      near(actual[name as never] as number, value as number)
    }
  }
  const light = bright
  equal(losses({ ac_power_kw: 100, dc_power_kw: 102.6, light }), {
    ...none,
    clipping_loss_kwh: 120 * 0.975 - 100,
  })
  equal(losses({ ac_power_kw: 50, power_limit_pct: 50, light }), {
    ...none,
    curtailment_loss_kwh: 50,
    clipping_loss_kwh: 17,
  })
  equal(losses({ ac_power_kw: 0, state: 'fault', light }), { ...none, downtime_loss_kwh: 100 })
  equal(losses({ ac_power_kw: 60, state: 'throttled', light }), { ...none, derating_loss_kwh: 40 })
  // Curtailed to nothing is no outage; neither is a dim sky, nor the night.
  equal(losses({ ac_power_kw: 0, power_limit_pct: 0, light }), {
    ...none,
    curtailment_loss_kwh: 100,
    clipping_loss_kwh: 17,
  })
  equal(losses({ ac_power_kw: 0, light: { ...bright, poa_w_m2: 60 } }), none)
  equal(losses({ ac_power_kw: -0.1, light: { ...bright, is_daylight: false, poa_w_m2: 0 } }), none)
})

test('a limit that is not reached, and a rating that the sun does not reach, hold nothing', () => {
  assert.equal(heldBy(sample({ power_limit_pct: 90 }), rating), null)
  assert.equal(heldBy(sample({ power_limit_pct: 81 }), rating), 'curtailment')
  assert.equal(heldBy(sample({ ac_power_kw: 99 }), rating), null)
  assert.equal(heldBy(sample({ ac_power_kw: 99, light: null }), rating), 'rating')
  assert.equal(heldBy(sample({ ac_power_kw: null, power_limit_pct: 0 }), rating), null)
})

test('curtailed time is no time of clipping', () => {
  const light = { is_daylight: true, poa_w_m2: 1000, temperature_factor: 1, expected_dc_kw: 120 }
  const { clipped_s, curtailed_s, down_s } = hourOf({ ac_power_kw: 50, power_limit_pct: 50, light })
  assert.deepEqual([clipped_s, Math.round(curtailed_s), down_s], [0, 3600, 0])
})

test('what the night takes is kept apart', () => {
  const dark = { is_daylight: false, poa_w_m2: 0, temperature_factor: 1, expected_dc_kw: 0 }
  const sums = hourOf({ ac_power_kw: -0.05, dc_power_kw: 0, state: 'sleeping', light: dark })
  near(sums.night_consumption_kwh, 0.05)
  assert.equal(sums.ac_energy_kwh, 0)
  assert.equal(sums.daylight_covered_s, 0)
})

test('the sun counts while the inverter is silent', () => {
  const sums = emptyHour()
  const light = { is_daylight: true, poa_w_m2: 500, temperature_factor: 1, expected_dc_kw: 200 }
  addSun(sums, [light, light], [1800, 900], rating)
  near(sums.sun_covered_s, 2700)
  near(sums.insolation_kwh_m2, 0.375)
  near(sums.expected_energy_kwh, 75)
  assert.equal(sums.covered_s, 0)
})

test('hours add up to the day, whatever was measured when', () => {
  const kw = fc.option(fc.double({ min: -1, max: 110, noNaN: true }), { nil: null })
  const row = fc.record({
    step_s: fc.integer({ min: 1, max: 900 }),
    ac_power_kw: kw,
    dc_power_kw: kw,
    power_limit_pct: fc.constantFrom(null, 100, 60, 0),
    state: fc.constantFrom('mppt', 'throttled', 'fault', null),
  })
  const cut = fc.integer({ min: 1, max: 4 * 3_600_000 - 1 })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 80 }), cut, (rows, cut_ms) => {
      let time_ms = 0
      const samples = rows.map(({ step_s, ...values }) => {
        time_ms += step_s * 1000
        return sample({ ...values, time_ms })
      })
      const times = samples.map((each) => each.time_ms)
      const sumOf = (start_ms: number, end_ms: number) => {
        const sums = emptyHour()
        addSamples(sums, samples, sampleWeights(times, { start_ms, end_ms }), rating)
        return sums
      }
      const [whole, first, second] = [
        sumOf(0, 4 * 3_600_000),
        sumOf(0, cut_ms),
        sumOf(cut_ms, 4 * 3_600_000),
      ]
      for (const name of inverterSums) {
        const parts = first[name] + second[name]
        assert.ok(Math.abs(whole[name] - parts) < 1e-6, `${name}: ${whole[name]} ${parts}`)
      }
    }),
  )
})
