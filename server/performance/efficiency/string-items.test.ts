import assert from 'node:assert/strict'
import test from 'node:test'
import { judgeStrings } from '../diagnostics/string-health.ts'
import { sumStrings } from '../diagnostics/string-sums.ts'
import { layoutOf } from '../rollups/inverter-span.ts'
import { comparedItems, efficiencyItems, healthItems } from './string-items.ts'

const minute = 60_000
const start_ms = Date.UTC(2026, 5, 21, 8)
const hours = 8

/** Strings of one inverter; `heard` is for how many of the hours each was measured. */
function judged(inverter_id: number, heard: readonly number[]) {
  const strings = heard.map((_, string_index) => ({
    inverter_id,
    string_index,
    mppt_index: string_index,
    connected: true,
    params_id: 1,
    dc_capacity_kwp: 10,
    azimuth_deg: 180,
    tilt_deg: 25,
    orientation_assumed: false,
  }))
  const layout = layoutOf(strings)
  const samples = Array.from({ length: hours * 60 + 1 }, (_, nth) => ({
    time_ms: start_ms + nth * minute,
    current_a: heard.map((share) => (nth <= share * 60 ? 8 + (nth % 7) / 100 : null)),
    voltage_v: heard.map(() => 800),
    expected_kw: null,
    poa_w_m2: 700,
    is_limited: false,
  }))
  const total = sumStrings(layout, samples, { start_ms, end_ms: start_ms + hours * 60 * minute })
  const days = [{ local_date: '2026-06-21', sums: total }]
  const verdicts = judgeStrings(layout, total, { days: [total] })
  return { inverter_id, inverter_name: 'I', logger_id: 1, strings, layout, total, days, verdicts }
}

const period = {
  start_at: new Date(start_ms),
  end_at: new Date(start_ms + hours * 60 * minute),
  is_running: false,
  daylight_s: hours * 3600,
}

test('what was measured for less than half of the day is no string that yields less', () => {
  const inverter = judged(1, [8, 8, 8, 8, 8, 3, 6])
  const items = efficiencyItems([inverter], period)
  const of = (string_index: number) => items.find((item) => item.string_index === string_index)!
  assert.deepEqual(
    [of(0).completeness_pct, of(0).excluded_reason, of(0).status],
    [100, null, 'healthy'],
  )
  assert.equal(of(0).rank! <= 5, true)
  assert.deepEqual(
    [of(5).completeness_pct, of(5).excluded_reason, of(5).energy_kwh, of(5).rank, of(5).status],
    [37.5, 'insufficient_data', null, null, 'no_data'],
  )
  // Measured for three quarters: it has a yield, and no rank among those with all.
  assert.equal(of(6).completeness_pct, 75)
  assert.ok(of(6).energy_kwh! > 30)
  assert.deepEqual([of(6).rank, of(6).z_score, of(6).deviation_from_median_pct], [null, null, null])
  assert.equal(of(6).status, 'healthy')
})

test('the matrix says nothing of what was heard too little in the period', () => {
  const inverter = judged(1, [8, 8, 8, 8, 8, 3])
  const matrix = healthItems([inverter], [], period)
  assert.deepEqual([matrix[0]!.status, matrix[0]!.completeness_pct], ['healthy', 100])
  const short = matrix[5]!
  assert.deepEqual(
    [short.status, short.excluded_reason, short.completeness_pct, short.health_score_pct],
    ['no_data', 'insufficient_data', 37.5, null],
  )
  assert.deepEqual([short.days_below_threshold, short.compared_with], [null, null])
  const longer = { ...period, daylight_s: 4 * hours * 3600 }
  assert.ok(healthItems([inverter], [], longer).every(({ status }) => status === 'no_data'))
  const night = { ...period, daylight_s: 0 }
  assert.ok(
    healthItems([inverter], [], night).every((item) => item.excluded_reason === 'no_daylight'),
  )
})

test('the series of a comparison says of each bucket when it begins and ends', () => {
  const inverter = judged(1, [8, 8])
  const hour = 60 * minute
  const bounds = (start_at: string, end_at: string, at: readonly string[]) => {
    const asked = { ...period, start_at: new Date(start_at), end_at: new Date(end_at) }
    const heard = at.map((hour_at) => ({ hour_at: new Date(hour_at), sums: inverter.total }))
    const [first] = comparedItems(inverter, heard, asked, 'Europe/Berlin')
    return first!.series.map((each) =>
      [each.start_at, each.end_at].map((instant) => instant.slice(5, 16)),
    )
  }
  const morning = ['2026-06-21T08:00Z', '2026-06-21T10:00Z']
  assert.deepEqual(bounds('2026-06-21T08:00Z', '2026-06-21T10:20Z', morning), [
    ['06-21T08:00', '06-21T09:00'],
    ['06-21T10:00', '06-21T10:20'],
  ])
  // Of nine days by day, however little was heard: midnight at the site is 22:00 UTC.
  assert.deepEqual(
    bounds('2026-06-13T05:00Z', '2026-06-22T05:00Z', [...morning, '2026-06-22T01:00Z']),
    [
      ['06-20T22:00', '06-21T22:00'],
      ['06-21T22:00', '06-22T05:00'],
    ],
  )
  assert.deepEqual(bounds('2026-06-13T05:00Z', '2026-06-22T05:00Z', ['2026-06-13T09:00Z']), [
    ['06-13T05:00', '06-13T22:00'],
  ])
  // A day of the change of the clocks has 25 hours.
  const autumn = '2026-10-25T09:00Z'
  const [[from, to] = []] = bounds('2026-10-10T00:00Z', '2026-10-27T00:00Z', [autumn])
  assert.equal(Date.parse(`2026-${to}Z`) - Date.parse(`2026-${from}Z`), 25 * hour)
})
