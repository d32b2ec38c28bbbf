import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { energySources, type LoggerHour } from '../rollups/logger-days.ts'
import { figuresOf } from './figures.ts'
import { energyMatrix } from './matrix.ts'
import { timezone_note } from './schemas.ts'

const start_ms = Date.UTC(2026, 5, 21)
const logger = { logger_id: 7, logger_name: 'South', dc_capacity_kwp: 80, inverter_count: 2 }

const kwh = fc.double({ min: 0, max: 5000, noNaN: true })
const seconds = fc.constantFrom(0, 1800, 3500, 7200)
const row = fc.record<LoggerHour>({
  inverter_count: fc.integer({ min: 1, max: 3 }),
  energy_kwh: fc.option(fc.oneof(kwh, fc.constant(0))),
  estimated_energy_kwh: kwh,
  energy_source: fc.option(fc.constantFrom(...energySources)),
  awake_covered_s: seconds,
  sun_covered_s: seconds,
  expected_energy_kwh: fc.option(kwh),
  curtailment_loss_kwh: fc.option(kwh),
})
const hours = fc.array(fc.option(row, { nil: undefined }), { minLength: 48, maxLength: 48 })

/** Nine floats for each hour, as the migration of `logger_days` says. */
function packed(rows: readonly (LoggerHour | undefined)[]): Buffer {
  const floats = rows.flatMap((hour, nth) =>
    hour === undefined
      ? []
      : [
          start_ms / hour_ms + nth,
          hour.energy_source === null ? 0 : 1 + energySources.indexOf(hour.energy_source),
          hour.inverter_count,
          hour.energy_kwh ?? Number.NaN,
          hour.estimated_energy_kwh,
          hour.awake_covered_s,
          hour.sun_covered_s,
          hour.expected_energy_kwh ?? Number.NaN,
          hour.curtailment_loss_kwh ?? Number.NaN,
        ],
  )
  const bytes = Buffer.alloc(8 * floats.length)
  for (const [nth, float] of floats.entries()) bytes.writeDoubleBE(float, 8 * nth)
  return bytes
}

test('the text says of each hour and day what their figures are', () => {
  const span = { start_ms, end_ms: start_ms + 2 * day_ms }
  fc.assert(
    fc.property(hours, fc.constantFrom(null, 0, 1800, 3600), (rows, awake_s) => {
      const now = { now_ms: start_ms + 30.5 * hour_ms, awake: () => awake_s }
      const days = new Map([[7, packed(rows)]])
      const { data, meta } = JSON.parse(String(energyMatrix(span, [logger], days, now).text))

      const known = new Map(
        rows.flatMap((hour, nth) =>
          hour === undefined ? [] : [[start_ms + nth * hour_ms, hour] as const],
        ),
      )
      const figures = (from_ms: number, length_ms: number) => {
        const bounds = { start_ms: from_ms, end_ms: from_ms + length_ms }
        return figuresOf([{ logger, rows: known }], bounds, now).figures
      }
      assert.equal(meta.count, 2)
      assert.equal(meta.timezone_note, timezone_note)
      for (const [day, { date, logger_id, total_kwh, peak_hour, ...item }] of data.entries()) {
        const day_at = start_ms + day * day_ms
        assert.equal(date, new Date(day_at).toISOString().slice(0, 10))
        assert.equal(logger_id, 7)
        const of_day = figures(day_at, day_ms)
        assert.equal(total_kwh, of_day.energy_kwh)
        assert.equal(item.completeness_pct, of_day.completeness_pct)
        assert.equal(item.is_partial, of_day.is_partial)
        assert.equal(item.energy_source, of_day.energy_source)
        assert.equal(item.estimated_energy_kwh, of_day.estimated_energy_kwh)
        const energies = rows.slice(24 * day, 24 * day + 24).map((hour) => hour?.energy_kwh ?? 0)
        const most = Math.max(...energies)
        assert.equal(peak_hour, most > 0 ? energies.indexOf(most) : null)
        const expected = Array.from({ length: 24 }, (_, hour) => {
          const hour_at = day_at + hour * hour_ms
          const { estimated_energy_kwh: _estimate, ...rest } = figures(hour_at, hour_ms)
          return { hour, start_at: new Date(hour_at).toISOString(), ...rest }
        })
        assert.deepEqual(item.hours, expected)
      }
    }),
    { numRuns: 50 },
  )
})
