import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import fc from 'fast-check'
import { type GapSource, shareGaps } from './counter-gaps.ts'
import { sumInverter } from './inverter-span.ts'
import type { PlantInverter, RawInverter } from './raw.ts'

const rated_kw = 100
const day_hours = 14
const inverter: PlantInverter = {
  inverter_id: 1,
  logger_id: 1,
  rated_ac_power_kw: rated_kw,
  nominal_efficiency_pct: 98,
  dc_capacity_kwp: 80,
  exchanged_ms: [],
  strings: [],
}

interface Day {
  /** At noon; the day is half a sine. */
  peak_kw: number
  step_s: number
  /** What the counter shows of the energy delivered, from its start. */
  shown(delivered_kwh: number, hour: number): number
  isHeard?: (hour: number) => boolean
}

/** A day from its first light to its last, and what was delivered in it. */
function readingsOf({ peak_kw, step_s, shown, isHeard = () => true }: Day) {
  const powerAt = (hour: number) => peak_kw * Math.max(0, Math.sin((Math.PI * hour) / day_hours))
  const readings: RawInverter[] = []
  let delivered_kwh = 0
  for (let at_s = 0; at_s <= day_hours * 3600; at_s += step_s) {
    const hour = at_s / 3600
    if (at_s > 0)
      delivered_kwh += ((powerAt(hour - step_s / 3600) + powerAt(hour)) / 2) * (step_s / 3600)
    if (!isHeard(hour)) continue
    readings.push({
      time_ms: at_s * 1000,
      state: 'mppt',
      ac_power_kw: powerAt(hour),
      dc_power_kw: null,
      energy_total_kwh: shown(delivered_kwh, hour),
      power_limit_pct: null,
    })
  }
  return { readings, delivered_kwh }
}

function sumsOf(day: Day) {
  const { readings, delivered_kwh } = readingsOf(day)
  const hours: GapSource[] = []
  const sources: (string | null)[] = []
  for (let start_ms = 0; start_ms < day_hours * hour_ms; start_ms += hour_ms) {
    const end_ms = start_ms + hour_ms
    const seen = readings.filter(
      ({ time_ms }) => time_ms >= start_ms - reach_ms && time_ms <= end_ms + reach_ms,
    )
    const measured = { readings: seen, ranges: [], sun: null, isDay: null, isAwake: null }
    const sums = sumInverter(inverter, measured, { start_ms, end_ms }).inverter
    if (sums === null) continue
    hours.push({ hour_at: new Date(start_ms), ...sums })
    sources.push(sums.energy_source)
  }
  const gaps = shareGaps(hours, inverter, null)
  const hours_kwh = hours.reduce((sum, { ac_energy_kwh }) => sum + ac_energy_kwh, 0)
  const gaps_kwh = gaps.reduce((sum, { energy_kwh }) => sum + energy_kwh, 0)
  return { delivered_kwh, hours, gaps, sources, total_kwh: hours_kwh + gaps_kwh }
}

const floorTo = (kwh: number, step: number) => Math.floor(kwh / step + 1e-9) * step
const near = (actual: number, expected: number, within: number) =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not ${expected}`)

test('a counter that stands still all day leaves the day to the power, and the hours say so', () => {
  for (const still_kwh of [51_234.56, 51_234, 0]) {
    for (const step_s of [5, 60, 300]) {
      const { delivered_kwh, sources, total_kwh } = sumsOf({
        peak_kw: 35.24,
        step_s,
        shown: () => still_kwh,
      })
      near(delivered_kwh, 314, 1)
      near(total_kwh, delivered_kwh, 0.02 * delivered_kwh)
      const by_power = sources.filter((source) => source === 'integrated_power')
      assert.ok(by_power.length >= day_hours - 2, sources.join())
    }
  }
})

test('a counter that stands still for a part of the day is left for that part alone', () => {
  // It goes on from where it stood: 20 minutes of the fourth hour, all of the next two.
  const stand = { from: 3 + 2 / 3, to: 6 }
  let missed_kwh = 0
  let at_stand_kwh = 0
  const day = sumsOf({
    peak_kw: 80,
    step_s: 60,
    shown(delivered_kwh, hour) {
      if (hour <= stand.from) at_stand_kwh = delivered_kwh
      if (hour <= stand.to) missed_kwh = Math.max(0, delivered_kwh - at_stand_kwh)
      return floorTo(7000 + delivered_kwh - missed_kwh, 0.01)
    },
  })
  near(day.total_kwh, day.delivered_kwh, 1)
  assert.deepEqual(day.sources.slice(2, 8), [
    'inverter_counter',
    'mixed',
    'integrated_power',
    'integrated_power',
    'inverter_counter',
    'inverter_counter',
  ])
  assert.deepEqual(
    day.gaps.map(({ energy_kwh }) => energy_kwh).filter((kwh) => kwh > 0.1),
    [],
  )
})

test('a coarse counter is trusted: its hours add up to its steps', () => {
  for (const step_kwh of [1, 10, 100]) {
    for (const peak_kw of [8, 35, 95]) {
      for (const step_s of [5, 60]) {
        const start_kwh = 51_300
        const { delivered_kwh, sources, total_kwh } = sumsOf({
          peak_kw,
          step_s,
          shown: (kwh) => start_kwh + floorTo(kwh, step_kwh),
        })
        near(total_kwh, floorTo(delivered_kwh, step_kwh), 1e-6)
        assert.deepEqual(new Set(sources), new Set(['inverter_counter']))
      }
    }
  }
})

test('a counter that is late is counted once', () => {
  for (const every_h of [1 / 12, 1 / 4, 1]) {
    for (const step_s of [5, 60, 300]) {
      let shown_kwh = 0
      let shown_at = 0
      const { delivered_kwh, total_kwh } = sumsOf({
        peak_kw: 60,
        step_s,
        shown(kwh, hour) {
          if (hour >= shown_at + every_h - 1e-9) [shown_kwh, shown_at] = [kwh, hour]
          return 7000 + floorTo(shown_kwh, 0.01)
        },
      })
      near(total_kwh, delivered_kwh, 0.02 * delivered_kwh)
    }
  }
})

test('a silence of a counter that stands still has no energy, rather than 0 kWh', () => {
  const isHeard = (hour: number) => hour < 5 || hour > 8
  // It stands from the second hour to the eleventh.
  let at_stand_kwh = 0
  const frozen = sumsOf({
    peak_kw: 60,
    step_s: 60,
    isHeard,
    shown(kwh, hour) {
      if (hour <= 2) at_stand_kwh = kwh
      return floorTo(7000 + (hour <= 11 ? Math.min(kwh, at_stand_kwh) : kwh - 400), 0.01)
    },
  })
  assert.deepEqual(frozen.gaps, [])
  assert.deepEqual(
    frozen.hours.map(({ hour_at }) => hour_at.getTime() / hour_ms).filter((at) => at > 5 && at < 8),
    [],
  )
})

test('a counter that catches up after hours is counted once', () => {
  // No inverter can deliver the rise at the end of the stand: all goes by power.
  for (const stand of [
    { from: 4.3, to: 8 + 14 / 60 },
    { from: 6.2, to: 9 },
  ]) {
    for (const step_s of [60, 300]) {
      let shown_kwh = 0
      const { delivered_kwh, total_kwh } = sumsOf({
        peak_kw: 60,
        step_s,
        shown(kwh, hour) {
          if (hour < stand.from || hour >= stand.to) shown_kwh = kwh
          return floorTo(7001.37 + shown_kwh, 0.01)
        },
      })
      near(total_kwh, delivered_kwh, 0.02 * delivered_kwh)
    }
  }
})

test('whenever and however often it stands still, a day is what was delivered', () => {
  // In minutes: doubles are drawn by their size, and nearly all are close to 0.
  const minute = fc.integer({ min: 0, max: day_hours * 60 })
  const Stand = fc.record({ from: minute, length: fc.integer({ min: 1, max: 300 }) })
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 100 }),
      fc.constantFrom(10, 60, 300),
      fc.constantFrom(0.01, 0.1),
      fc.array(Stand, { maxLength: 3 }),
      fc.boolean(),
      (peak_kw, step_s, step_kwh, stands, catches_up) => {
        let held_kwh: number | null = null
        let lost_kwh = 0
        const { delivered_kwh, total_kwh } = sumsOf({
          peak_kw,
          step_s,
          shown(kwh, hour) {
            const isDuring = ({ from, length }: { from: number; length: number }) =>
              hour * 60 >= from && hour * 60 < from + length
            if (stands.some(isDuring)) held_kwh ??= kwh - lost_kwh
            else {
              if (held_kwh !== null && !catches_up) lost_kwh = kwh - held_kwh
              held_kwh = null
            }
            // Never a round value, which would show a coarser step.
            return floorTo(7000 + (held_kwh ?? kwh - lost_kwh), step_kwh) + 0.003
          },
        })
        near(total_kwh, delivered_kwh, 0.02 * delivered_kwh + 5 * step_kwh + 5)
      },
    ),
    { numRuns: 150 },
  )
})
