import assert from 'node:assert/strict'
import test from 'node:test'
import { forecastHours, utcDatesOf } from './suggest.ts'

const at = (text: string) => Date.parse(`2026-06-${text}Z`)
const span = (from: string, to: string) => ({ start_ms: at(from), end_ms: at(to) })

/** Each step gives its number, and the next day a hundred more. */
function run(target_date: string, confidence: 'low' | 'high', resolution_minutes = 60) {
  const count = (24 * 60) / resolution_minutes
  const base = target_date === '2026-06-21' ? 0 : 100
  const p50_kw = Array.from({ length: count }, (_, nth) => base + nth)
  const p90_kw = p50_kw.map((kw) => kw * 2)
  const issued_at = new Date(`${target_date}T01:00:00Z`)
  return { target_date, confidence, resolution_minutes, issued_at, p10_kw: p50_kw, p50_kw, p90_kw }
}

test('the hours of a window over midnight, by the worse of its runs', () => {
  const both = span('21T22:00', '22T02:00')
  assert.deepEqual(utcDatesOf(both), ['2026-06-21', '2026-06-22'])
  assert.deepEqual(utcDatesOf(span('21T20:00', '22T00:00')), ['2026-06-21'])
  const found = forecastHours(both, [run('2026-06-21', 'high'), run('2026-06-22', 'low')])!
  assert.deepEqual(
    found.hours.map(({ p50_kw }) => p50_kw),
    [22, 23, 100, 101],
  )
  const { run_at, confidence, peak_p50_kw, peak_p90_kw, energy_p50_kwh } = found
  assert.deepEqual([run_at, confidence], ['2026-06-22T01:00:00.000Z', 'low'])
  assert.deepEqual([peak_p50_kw, peak_p90_kw, energy_p50_kwh], [101, 202, 246])
})

test('hours that begin at the half, of steps of a quarter', () => {
  const found = forecastHours(span('21T06:30', '21T08:00'), [run('2026-06-21', 'high', 15)])!
  // Steps 26 to 29, then 30 and 31.
  assert.deepEqual(
    found.hours.map(({ p50_kw }) => p50_kw),
    [27.5, 30.5],
  )
  assert.equal(found.energy_p50_kwh, 27.5 + 30.5 / 2)
})

test('a window that is not covered whole has none', () => {
  assert.equal(forecastHours(span('21T22:00', '22T02:00'), [run('2026-06-21', 'high')]), null)
  assert.equal(forecastHours(span('21T22:00', '21T23:00'), []), null)
})
