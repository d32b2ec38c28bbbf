import assert from 'node:assert/strict'
import test from 'node:test'
import { counterIncrease } from '@heliograph/domain/counter'
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import fc from 'fast-check'
import { type GapSource, type SunHeight, shareGaps } from './counter-gaps.ts'
import { emptyHour } from './inverter-hour.ts'
import { sumInverter } from './inverter-span.ts'
import type { PlantInverter, RawInverter } from './raw.ts'

const rated_kw = 100
const inverter: PlantInverter = {
  inverter_id: 1,
  logger_id: 1,
  rated_ac_power_kw: rated_kw,
  nominal_efficiency_pct: 98,
  dc_capacity_kwp: 80,
  exchanged_ms: [],
  strings: [],
}

/** Every hour that readings touch, each of what it sees, and the gaps between them. */
function energyOf(readings: readonly RawInverter[], sun: SunHeight = null) {
  const hours: GapSource[] = []
  const last_ms = readings.at(-1)?.time_ms ?? 0
  for (let start_ms = 0; start_ms <= last_ms; start_ms += hour_ms) {
    const end_ms = start_ms + hour_ms
    const seen = readings.filter(
      ({ time_ms }) => time_ms >= start_ms - reach_ms && time_ms <= end_ms + reach_ms,
    )
    const measured = { readings: seen, ranges: [], sun: null, isDay: null, isAwake: null }
    const sums = sumInverter(inverter, measured, { start_ms, end_ms }).inverter
    if (sums !== null) hours.push({ hour_at: new Date(start_ms), ...sums })
  }
  const gaps = shareGaps(hours, inverter, sun)
  const total = (list: readonly { kwh: number }[]) => list.reduce((sum, { kwh }) => sum + kwh, 0)
  return {
    hours,
    gaps,
    total_kwh:
      total(hours.map(({ ac_energy_kwh: kwh }) => ({ kwh }))) +
      total(gaps.map(({ energy_kwh: kwh }) => ({ kwh }))),
  }
}

const reading = (time_ms: number, given: Partial<RawInverter>): RawInverter => ({
  time_ms,
  state: null,
  ac_power_kw: null,
  dc_power_kw: null,
  energy_total_kwh: null,
  power_limit_pct: null,
  ...given,
})

const overflow_kwh = 2 ** 32 / 1000
const step = fc.record({
  step_s: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 10, max: 600 }) },
    { weight: 1, arbitrary: fc.integer({ min: 600, max: 6 * 3600 }) },
  ),
  kw: fc.double({ min: 0, max: rated_kw, noNaN: true }),
  is_counted: fc.boolean(),
  is_heard: fc.boolean(),
})

/** Readings of a device whose power is as given since the reading before. */
function readingsOf(
  steps: readonly {
    step_s: number
    kw: number
    is_counted: boolean
    is_heard: boolean
    reset?: boolean
  }[],
  start_kwh: number,
) {
  let time_ms = 0
  let count_kwh = start_kwh
  return steps.map(({ step_s, kw, is_counted, is_heard, reset }) => {
    time_ms += step_s * 1000
    count_kwh += (kw * step_s) / 3600
    if (count_kwh >= overflow_kwh) count_kwh -= overflow_kwh
    if (reset) count_kwh = 0
    return reading(time_ms, {
      energy_total_kwh: is_counted ? count_kwh : null,
      ac_power_kw: is_heard ? kw : null,
    })
  })
}

const countersOf = (readings: readonly RawInverter[]) =>
  readings.filter(({ energy_total_kwh }) => energy_total_kwh !== null)

test('hours and gaps add up to the rise of the counter, through holes and overflows', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 2, maxLength: 60 }),
      fc.constantFrom(0, 700, overflow_kwh - 60),
      fc.constantFrom(null, (time_ms: number) => Math.max(0, Math.sin(time_ms / 14_400_000))),
      (steps, start_kwh, sun) => {
        const silent = steps.map((each) => ({ ...each, is_heard: false }))
        const readings = readingsOf(silent, start_kwh)
        const [first, ...others] = countersOf(readings)
        let rise_kwh = 0
        let before = first
        for (const after of others) {
          const rise = counterIncrease(before!.energy_total_kwh!, after.energy_total_kwh!, {
            elapsed_s: (after.time_ms - before!.time_ms) / 1000,
            rated_kw,
          })
          // An overflow after so long a gap that two registers explain it tells nothing.
          fc.pre(rise !== null)
          rise_kwh += rise
          before = after
        }
        const { total_kwh } = energyOf(readings, sun)
        assert.ok(
          Math.abs(total_kwh - rise_kwh) <= 1e-6 * Math.max(1, rise_kwh),
          `${total_kwh} is not ${rise_kwh}`,
        )
      },
    ),
    { numRuns: 300 },
  )
})

test('no energy is counted twice or below zero, whatever is null and whenever it is reset', () => {
  const wild = fc.tuple(step, fc.integer({ min: 0, max: 15 })).map(([each, chance]) => ({
    ...each,
    reset: chance === 0,
  }))
  fc.assert(
    fc.property(fc.array(wild, { minLength: 2, maxLength: 60 }), (steps) => {
      const { hours, gaps, total_kwh } = energyOf(readingsOf(steps, 700))
      const all = [
        ...hours.map(({ ac_energy_kwh }) => ac_energy_kwh),
        ...gaps.map(({ energy_kwh }) => energy_kwh),
      ]
      assert.ok(all.every((kwh) => kwh >= 0))
      // Power is drawn as straight lines between samples: no more than twice the steps' own. A
      // reset in a long silence may look like an overflow: see `counterIncrease` for its bound.
      const rated_kwh = steps.reduce((sum, { step_s }) => sum + (rated_kw * step_s) / 3600, 0)
      const resets = steps.filter(({ reset }) => reset).length
      const most_kwh = resets === 0 ? rated_kwh : 1.1 * rated_kwh + resets
      assert.ok(total_kwh <= most_kwh + 1e-6, `${total_kwh} of ${most_kwh}`)
    }),
    { numRuns: 300 },
  )
})

test('where power was measured and the counter was not, the rest alone is shared out', () => {
  const readings = Array.from({ length: 6 * 60 }, (_, minute) =>
    reading(minute * minute_ms, {
      energy_total_kwh: minute < 80 || minute >= 280 ? 1000 + minute : null,
      ac_power_kw: minute < 100 || minute >= 160 ? 60 : null,
    }),
  )
  const { hours, gaps, total_kwh } = energyOf(readings)
  const gap_kwh = gaps.reduce((sum, { energy_kwh }) => sum + energy_kwh, 0)
  assert.ok(Math.abs(total_kwh - 359) < 1e-6, `${total_kwh}`)
  assert.ok(gap_kwh > 59 && gap_kwh < 62, `${gap_kwh}`)
  const by_hour = Map.groupBy(gaps, ({ hour_at }) => hour_at.getTime() / hour_ms)
  const kwh = [1, 2, 3].map((hour) => by_hour.get(hour)![0]!.energy_kwh)
  // Twenty minutes of the second hour are unknown, forty of the third, none after.
  assert.ok(Math.abs(kwh[0]! / gap_kwh - 1 / 3) < 0.02 && kwh[2]! < 0.01, `${kwh}`)
  assert.deepEqual(
    hours.map(({ hour_at }) => hour_at.getTime() / hour_ms),
    [0, 1, 2, 3, 4, 5],
  )
})

const edge = (hour: number, first: [number, number], last = first): GapSource => ({
  ...emptyHour(),
  hour_at: new Date(hour * hour_ms),
  counter_first_at: new Date(first[0] * minute_ms),
  counter_first_kwh: first[1],
  counter_last_at: new Date(last[0] * minute_ms),
  counter_last_kwh: last[1],
})

test('a gap goes by the expected energy, else by the height of the sun, else by time', () => {
  // Silent from 10:20 to 14:40.
  const before = edge(10, [610, 500], [620, 510])
  const after = edge(14, [880, 710], [890, 720])
  const lit = (hour: number, expected_energy_kwh: number): GapSource => ({
    ...emptyHour(),
    hour_at: new Date(hour * hour_ms),
    counter_first_at: null,
    sun_covered_s: 3600,
    expected_energy_kwh,
  })
  const shares = (hours: GapSource[], sun: SunHeight) =>
    shareGaps(hours, inverter, sun).map(({ energy_kwh }) => Math.round(energy_kwh * 10) / 10)
  assert.deepEqual(shares([before, after], null), [30.8, 46.2, 46.2, 46.2, 30.8])
  const noon = (time_ms: number) => (time_ms >= 12 * hour_ms && time_ms < 13 * hour_ms ? 1 : 0)
  assert.deepEqual(shares([before, after], noon), [0, 0, 200, 0, 0])
  const known = [
    { ...before, sun_covered_s: 3600, expected_energy_kwh: 60 },
    lit(11, 70),
    lit(12, 20),
    lit(13, 30),
    { ...after, sun_covered_s: 3600, expected_energy_kwh: 60 },
  ]
  // 40 of 200 kWh are expected each of the first and the last 40 minutes.
  assert.deepEqual(
    shares(known, () => 1),
    [40, 70, 20, 30, 40],
  )
  // With an hour of the sun unknown the expected energy says nothing of the others.
  assert.deepEqual(
    shares(known.toSpliced(2, 1), () => 1),
    [30.8, 46.2, 46.2, 46.2, 30.8],
  )
})

test('resets, long silences and near readings share nothing out', () => {
  const none = (...hours: GapSource[]) => assert.deepEqual(shareGaps(hours, inverter, null), [])
  none()
  none(edge(10, [610, 500]))
  none(edge(10, [610, 500]), edge(14, [880, 3]))
  none(edge(10, [645, 500]), edge(11, [665, 510]))
  none(edge(10, [610, 500]), edge(11, [660, 510]))
  none(edge(10, [610, 500]), edge(10 + 8 * 24, [610 + 8 * 1440, 510]))
  // A night of sleep: the counter says that nothing came.
  const night = shareGaps([edge(20, [1230, 500]), edge(28, [1700, 500])], inverter, null)
  assert.deepEqual(
    night.map(({ energy_kwh }) => energy_kwh),
    new Array(9).fill(0),
  )
})

test('between the counters of two devices no energy is shared out', () => {
  const hours = [edge(10, [610, 500]), edge(14, [880, 710])]
  const shared = (...minutes: number[]) => {
    const exchanged_ms = minutes.map((minute) => minute * minute_ms)
    return shareGaps(hours, { ...inverter, exchanged_ms }, null).length
  }
  assert.equal(shared(), 5)
  // An exchange at the last reading of the former device is one before the gap.
  assert.deepEqual([shared(610), shared(881)], [5, 5])
  assert.deepEqual([shared(611), shared(880), shared(700, 750)], [0, 0, 0])
})
