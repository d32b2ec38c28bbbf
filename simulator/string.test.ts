/** Each ailment of a string shows the signature by which a diagnosis knows it. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { type Fault, parseFault } from './faults.ts'
import { dayWith } from './fixtures/days.ts'
import { smallSite } from './fixtures/site.ts'
import { bestVoltage, openVoltage, powerAtVoltage } from './mppt.ts'
import { obstacleOf, shadowRatio } from './shade.ts'
import { createSimulation } from './site.ts'
import { litBestVoltages, litOpenVoltage, litString, type StringModel, sound } from './string.ts'

const seed = 11
const roomy = structuredClone(smallSite)
for (const inverter of roomy.loggers[0]!.inverters) inverter.rated_ac_power_kw = 60
const simulation = createSimulation(roomy, seed)
const midnight = dayWith(seed, 'clear')
const noon = midnight + 670 * minute_ms

/** The inverter whose strings 0 and 1 share an MPPT, as 2 and 3 do. */
function inverterAt(time_ms: number, ...texts: string[]) {
  const one = simulation.at(time_ms, texts.map(parseFault)).inverters[0]!
  return {
    ...one,
    string_power_w: one.string_current_a.map(
      (current_a, nth) => current_a * one.mppt_voltage_v[Math.floor(nth / 2)]!,
    ),
  }
}

const ratios = (with_it: readonly number[], without: readonly number[]) =>
  with_it.map((value, nth) => value / without[nth]!)

function near(value: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(value - expected) <= tolerance, `${what}: ${value}, not ${expected}`)
}

const before = inverterAt(noon)

test('healthy strings differ little, and deliver nearly their rating', () => {
  const mean_w = before.string_power_w.reduce((sum, power) => sum + power, 0) / 4
  for (const power_w of before.string_power_w) near(power_w / mean_w, 1, 0.03, 'string of its mean')
  assert.ok(mean_w > 0.75 * 24 * 454.84 && mean_w < 24 * 454.84, `${mean_w} W`)
})

test('a soiled string loses current and hardly any voltage', () => {
  const after = inverterAt(noon, 'soiled_string:1/1=0.12')
  const [partner, soiled, ...others] = ratios(after.string_current_a, before.string_current_a)
  near(soiled!, 0.88, 0.01, 'current of the soiled string')
  near(partner!, 1, 0.01, 'current of its partner')
  near(after.mppt_voltage_v[0]! / before.mppt_voltage_v[0]!, 1, 0.005, 'voltage')
  assert.deepEqual(others, [1, 1])
})

test('bypassed substrings reduce voltage, also that of the parallel string', () => {
  const after = inverterAt(noon, 'bypassed_substring:1/1=6')
  const [partner, bypassed, ...others] = ratios(after.string_power_w, before.string_power_w)
  const voltage = after.mppt_voltage_v[0]! / before.mppt_voltage_v[0]!
  assert.ok(voltage > 66 / 72 && voltage < 0.99, `voltage ${voltage}`)
  assert.ok(bypassed! < 0.95 && bypassed! > 0.75, `bypassed ${bypassed}`)
  assert.ok(partner! < 0.995 && partner! > bypassed!, `partner ${partner}`)
  assert.deepEqual(others, [1, 1])
  // What tells the two apart, at their one voltage: the bypassed string has less current.
  assert.ok(after.string_current_a[1]! < 0.95 * after.string_current_a[0]!)
})

test('a resistance reduces the voltage', () => {
  const after = inverterAt(noon, 'resistive_string:1/1=8')
  const [partner, resistive] = ratios(after.string_power_w, before.string_power_w)
  const lost_ratio = (8 * before.string_current_a[1]!) / before.mppt_voltage_v[0]!
  assert.ok(1 - resistive! > 0.5 * lost_ratio && 1 - resistive! < 2.5 * lost_ratio, `${resistive}`)
  assert.ok(partner! < 1 && partner! > resistive!, `partner ${partner}`)
})

test('a low shunt costs more power with less light', () => {
  const dawn = midnight + 320 * minute_ms
  const lost = (time_ms: number) => {
    const [sound_w, leaky_w] = [
      inverterAt(time_ms).string_power_w[1]!,
      inverterAt(time_ms, 'degraded_string:1/1=40').string_power_w[1]!,
    ]
    return 1 - leaky_w / sound_w
  }
  assert.ok(lost(noon) > 0.05 && lost(noon) < 0.3, `${lost(noon)} at noon`)
  assert.ok(lost(dawn) > 1.5 * lost(noon), `${lost(dawn)} at dawn`)
})

test('an open string has no current, its parallel string is unchanged', () => {
  const after = inverterAt(noon, 'open_string:1/1')
  const [partner, open] = ratios(after.string_current_a, before.string_current_a)
  assert.equal(open, 0)
  near(partner!, 1, 0.005, 'partner')
})

test('a shaded string loses power only while the sun is behind the obstacle', () => {
  const shaded = Array.from({ length: 48 }, (_, nth) => midnight + nth * 30 * minute_ms).filter(
    (time_ms) => inverterAt(time_ms).dc_power_kw > 0,
  )
  const losses = shaded.map((time_ms) => {
    const sound_w = inverterAt(time_ms).string_power_w[1]!
    return 1 - inverterAt(time_ms, 'shaded_string:1/1').string_power_w[1]! / sound_w
  })
  const hours = losses.filter((loss) => loss > 0.02).length / 2
  assert.ok(hours >= 0.5 && hours <= 5, `${hours} h in the shade`)
  assert.ok(losses.filter((loss) => loss === 0).length / 2 > 6)
  assert.ok(Math.max(...losses) > 0.15, `${Math.max(...losses)} at the most`)
})

test('the obstacle is on the path of the sun, on the side that the string faces', () => {
  for (const [azimuth_deg, from, to] of [
    [90, 135, 150],
    [270, 210, 225],
  ] as const) {
    const at = obstacleOf(1, 7, { surface: { azimuth_deg, tilt_deg: 10 }, latitude: 48 })
    assert.ok(at.azimuth_deg >= from && at.azimuth_deg <= to, `${at.azimuth_deg}`)
  }
  const obstacle = obstacleOf(1, 7, { surface: { azimuth_deg: 180, tilt_deg: 25 }, latitude: 48 })
  const seen = (azimuth_deg: number, apparent_elevation_deg: number) =>
    shadowRatio(obstacle, { azimuth_deg, apparent_elevation_deg })
  assert.equal(seen(obstacle.azimuth_deg, 30), 0.35)
  assert.equal(seen(obstacle.azimuth_deg, 70), 0)
  assert.equal(seen(obstacle.azimuth_deg + 23, 30), 0)
  assert.equal(seen(obstacle.azimuth_deg, -1), 0)
})

const model: StringModel = {
  string_index: 0,
  mppt_index: 0,
  module: { ...smallSite.panel_models[0]! } as StringModel['module'],
  module_count: 24,
  connected: true,
  surface: 0,
  mismatch_ratio: 1,
  lasting_soiling_ratio: 0,
  soiling_ratio_per_day: 0,
  degradation_ratio_per_year: 0.005,
  wiring_ohm: 0,
  obstacle: { azimuth_deg: 150, half_width_deg: 20, height_deg: 60 },
}
const around = {
  surfaces: [
    { effective_irradiance_w_m2: 900, shaded_irradiance_w_m2: 110, cell_temperature_c: 45 },
  ],
  sun: { azimuth_deg: 150, apparent_elevation_deg: 40 },
  dust_days: 0,
  years_in_use: 0,
}

test('a partially shaded string has two maxima, the one of fewer modules higher', () => {
  const lit = litString(model, { ...sound, is_shaded: true }, around)
  const peaks_v = litBestVoltages(lit)
  assert.equal(peaks_v.length, 2)
  const [wide_w, narrow_w] = peaks_v.map((voltage_v) => powerAtVoltage([lit], voltage_v))
  assert.ok(narrow_w! > 2 * wide_w!, `${narrow_w} W, ${wide_w} W`)
  const whole = litString(model, sound, around)
  near(peaks_v[1]! / litBestVoltages(whole)[0]!, 0.65, 0.04, 'voltage of the lit part')
  near(litOpenVoltage(lit) / litOpenVoltage(whole), 0.98, 0.02, 'open circuit voltage')
})

test('ten years cost five percent of the current', () => {
  const power = (years_in_use: number) => {
    const lit = litString(model, sound, { ...around, years_in_use })
    return powerAtVoltage([lit], litBestVoltages(lit)[0]!)
  }
  near(power(10) / power(0), 0.95, 0.005, 'power')
})

const texts = fc.oneof(
  fc.constant('open_string:1/I'),
  fc.constant('shaded_string:1/I'),
  fc.double({ min: 0.01, max: 0.9, noNaN: true }).map((loss) => `soiled_string:1/I=${loss}`),
  fc.integer({ min: 1, max: 71 }).map((count) => `bypassed_substring:1/I=${count}`),
  fc.double({ min: 0.01, max: 99, noNaN: true }).map((ohm) => `resistive_string:1/I=${ohm}`),
  fc.double({ min: 1, max: 999, noNaN: true }).map((ohm) => `degraded_string:1/I=${ohm}`),
)
const faulty = fc
  .tuple(texts, fc.integer({ min: 0, max: 3 }))
  .map(([text, index]): Fault => parseFault(text.replace('I', String(index))))

test('a fault never adds power', () => {
  const limit: Fault = { kind: 'limit', inverter_id: 1, limit_pct: 45 }
  fc.assert(
    fc.property(
      fc.array(faulty, { maxLength: 3 }),
      faulty,
      fc.integer({ min: 0, max: 1439 }),
      fc.boolean(),
      (few, more, minute, is_limited) => {
        const some = is_limited ? [...few, limit] : few
        const at = midnight + minute * minute_ms
        const without = simulation.at(at, some).inverters[0]!
        const with_it = simulation.at(at, [...some, more]).inverters[0]!
        // To this the tracker finds its point, and the limit is held.
        const tolerance_kw = 7e-4 * without.dc_power_kw + 1e-9
        assert.ok(with_it.dc_power_kw <= without.dc_power_kw + tolerance_kw)
        assert.ok(with_it.ac_power_kw <= without.ac_power_kw + tolerance_kw)
        assert.ok(with_it.string_current_a.every((current_a) => current_a >= 0))
      },
    ),
    { numRuns: 150 },
  )
})

test('the MPPT finds the best common voltage', () => {
  const ailment = fc.record({
    is_open: fc.constant(false),
    is_shaded: fc.boolean(),
    soiling_loss_ratio: fc.constantFrom(0, 0.03, 0.1, 0.3, 0.6),
    bypassed_substrings: fc.integer({ min: 0, max: 30 }),
    resistance_ohm: fc.integer({ min: 0, max: 20 }),
    shunt_ohm: fc.constantFrom(15, 40, 150, 1000),
  })
  fc.assert(
    fc.property(fc.array(ailment, { minLength: 1, maxLength: 3 }), (ailments) => {
      const strings = ailments.map((one) => litString(model, one, around))
      const found_w = powerAtVoltage(strings, bestVoltage(strings))
      const highest_v = openVoltage(strings)
      for (let step = 1; step < 400; step += 1) {
        const power_w = powerAtVoltage(strings, (highest_v * step) / 400)
        assert.ok(power_w <= found_w * (1 + 5e-4), `${power_w} W above ${found_w} W`)
      }
    }),
    { numRuns: 100 },
  )
})
