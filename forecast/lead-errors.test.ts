import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { forecastAtLead } from './fixtures/forecast-at-lead.ts'
import { history_plant, plantHistory } from './fixtures/plant-history.ts'
import { fitLeadErrors, type LeadErrors, published_lead_errors } from './lead-errors.ts'
import { fitPhysicalErrors, predictPhysical, published_errors } from './physical-forecast.ts'
import { utcDay } from './production-features.ts'
import { quantile_levels } from './production-forecast.ts'
import type { ProductionSample } from './production-samples.ts'

const days = 30
/** Hours ahead: of the next hours, tomorrow, the day after, and the last of what is forecast. */
const leads_h = [1, 24, 48, 66] as const
const sites = [
  { seed: 20261, start_ms: Date.UTC(2026, 9, 23) },
  { seed: 20261, start_ms: Date.UTC(2026, 5, 1) },
  { seed: 1, start_ms: Date.UTC(2026, 2, 1) },
  { seed: 7, start_ms: Date.UTC(2026, 7, 1) },
]

/** Thirty days to fit and the thirty that follow, each at every lead. */
const pasts = sites.map(({ seed, start_ms }) => {
  const from_ms = start_ms - days * day_ms
  const all = plantHistory({ from_ms, days: 2 * days, seed })
  const atLead = forecastAtLead(history_plant, seed)
  const series = leads_h.map((lead_h) => atLead(all, lead_h))
  const part = (isOf: (sample: ProductionSample) => boolean) =>
    series.map((samples) => samples.filter(isOf))
  return {
    seen: part((sample) => sample.start_ms < start_ms),
    coming: part((sample) => sample.start_ms >= start_ms),
  }
})

/** How many of a hundred daylight hours at a lead lie from P10 to P90, of all sites. */
function coverage(lead: number, errorsOf: (past: (typeof pasts)[0]) => LeadErrors): number {
  let [within, count] = [0, 0]
  for (const past of pasts) {
    const errors = errorsOf(past)
    for (const of_day of Map.groupBy(past.coming[lead]!, utcDay).values()) {
      for (const [nth, point] of predictPhysical(history_plant, of_day, errors).points.entries()) {
        const actual = of_day[nth]!.available_kwh!
        // Twilight is nearly certain at any lead.
        if (point.is_night || point.poa_irradiance_w_m2! < 20) continue
        count += 1
        if (actual >= point.p10_kw && actual <= point.p90_kw) within += 1
      }
    }
  }
  return (100 * within) / count
}

test('four of five hours lie from P10 to P90 at any lead time', () => {
  const fitted = new Map(
    pasts.map((past) => [past, fitLeadErrors(past.seen.flat(), history_plant)]),
  )
  for (const [lead, lead_h] of leads_h.entries()) {
    const found = coverage(lead, (past) => fitted.get(past)!)
    assert.ok(found >= 75 && found <= 85, `${found.toFixed(1)} % at ${lead_h} h`)
  }
  // Errors of the next hours, taken for those of days ahead, promise too much.
  const near = coverage(2, ({ seen }) => {
    const errors = fitPhysicalErrors(seen[0]!, history_plant)
    return () => errors
  })
  assert.ok(near < 77, `${near.toFixed(1)} %`)
})

const [p10, p50, p90] = [0.1, 0.5, 0.9].map((level) => quantile_levels.indexOf(level))
const spread = (errors: LeadErrors, lead_h: number) => {
  const ratios = errors(lead_h).high_sun.by_clear_index[1]!
  return { above: ratios[p90!]! - ratios[p50!]!, below: ratios[p50!]! - ratios[p10!]! }
}

test('lead times without data are as wide as the nearest, or wider', () => {
  const day_ahead = fitLeadErrors(pasts[0]!.seen[1]!, history_plant)
  assert.deepEqual(day_ahead(3), day_ahead(30))
  const [tomorrow, later, last] = [30, 48, 66].map((lead_h) => spread(day_ahead, lead_h).above)
  assert.ok(Math.abs(later! / tomorrow! - 1.24) < 1e-9)
  assert.ok(Math.abs(last! / later! - 1.24) < 1e-9)
  // Without samples, and with samples of no weather, they are the published ones.
  const unknown = pasts[0]!.seen[0]!.map((sample) => ({
    ...sample,
    weather: null,
    lead_time_h: 0,
  }))
  for (const errors of [published_lead_errors, fitLeadErrors([], history_plant)]) {
    assert.deepEqual(errors(24), published_errors)
  }
  const blind = fitLeadErrors(unknown, history_plant)
  assert.deepEqual(spread(blind, 24), spread(published_lead_errors, 24))
  assert.deepEqual(
    blind(24).high_sun.without_weather,
    fitPhysicalErrors(unknown, history_plant).high_sun.without_weather,
  )
})

test('a forecast in two series counts once', () => {
  const samples = pasts[0]!.seen[1]!
  assert.deepEqual(
    fitLeadErrors([...samples, ...samples], history_plant)(24),
    fitLeadErrors(samples, history_plant)(24),
  )
})
