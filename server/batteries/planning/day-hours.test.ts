import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import type { StoredHour } from '../schedule-plan.ts'
import type { StoredProblem, StoredSchedule } from '../schedules.ts'
import { powersOf, spanOf, totalsOf, withPowers } from './day-hours.ts'
import { revised } from './revise.ts'

const day = Date.parse('2026-06-21')
const now = new Date(day - hour_ms)
const iso = (ms: number) => new Date(ms).toISOString()

interface Setting {
  minutes: 15 | 60
  first_hour: number
  soc_start_pct: number
  soc_end_pct: number | null
  export_limit_kw: number | null
  price: number[]
}

/** A unit of 400 kWh whose power is less near full and near empty; nothing is done yet. */
function proposal(setting: Setting): StoredSchedule {
  const { minutes, first_hour, price } = setting
  const step_ms = minutes * 60_000
  const from_ms = day + first_hour * hour_ms
  const count = ((24 - first_hour) * 60) / minutes
  const periods = Array.from({ length: count }, (_, nth) => ({
    start_ms: from_ms + nth * step_ms,
    end_ms: from_ms + (nth + 1) * step_ms,
    price: price[nth % price.length]!,
    pv_kw: nth % 7 === 3 ? 90 : 0,
    load_kw: 0,
  }))
  const problem: StoredProblem = {
    objective: 'arbitrage',
    periods,
    import_limit_kw: null,
    usable_kwh: 360,
    export_limit_kw: setting.export_limit_kw,
    unit: {
      bess_id: 1,
      capacity_kwh: 400,
      soc_min_pct: 5,
      soc_max_pct: 95,
      soc_start_pct: setting.soc_start_pct,
      soc_end_pct: setting.soc_end_pct,
      charge_limits: [
        { soc_pct: 80, power_kw: 200 },
        { soc_pct: 100, power_kw: 20 },
      ],
      discharge_limits: [
        { soc_pct: 0, power_kw: 40 },
        { soc_pct: 20, power_kw: 200 },
      ],
      charge_efficiency: 0.95,
      discharge_efficiency: 0.93,
      degradation_cost_per_mwh: 5,
      cycles_max: 2,
    },
    others_kw: periods.map((_, nth) => (nth % 5 === 0 ? 60 : -20)),
  }
  const blank = Array.from({ length: 24 }, (_, hour): StoredHour => {
    const quarters = { quarter_power_kw: null, soc_start_pct: null, soc_end_pct: null }
    const span = { start_at: iso(day + hour * hour_ms), end_at: iso(day + (hour + 1) * hour_ms) }
    return {
      hour,
      ...span,
      power_kw: 0,
      ...quarters,
      price_per_mwh: 50,
      pv_forecast_kw: 0,
      expected_amount: 0,
      min_power_kw: 0,
      max_power_kw: 0,
      original_power_kw: null,
      edited_by: null,
      edited_at: null,
      edit_note: null,
    }
  })
  const { hours } = withPowers(
    blank,
    problem,
    periods.map(() => 0),
  )
  const totals = totalsOf(hours, problem, { currency: 'EUR' })
  const optimizer = { solver_status: 'optimal', gap_pct: 0 }
  return { problem, hours, plan: { totals, optimizer } } as unknown as StoredSchedule
}

const setting = fc.record({
  minutes: fc.constantFrom(15 as const, 60 as const),
  first_hour: fc.constantFrom(0, 9, 22),
  soc_start_pct: fc.double({ min: 5, max: 95, noNaN: true }),
  soc_end_pct: fc.constantFrom(null, 5),
  export_limit_kw: fc.constantFrom(null, 120),
  price: fc.array(fc.double({ min: -80, max: 300, noNaN: true }), { minLength: 3, maxLength: 9 }),
})

const revisions = fc.array(
  fc.record({ hour: fc.nat(23), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  { minLength: 1, maxLength: 10 },
)

test('every value of a band can be followed, whatever was revised before; none beyond it', () => {
  const property = fc.property(setting, revisions, (given, steps) => {
    let schedule = proposal(given)
    for (const { hour, share } of steps) {
      const { min_power_kw: low, max_power_kw: high } = schedule.hours[hour]!
      const revise = (power_kw: number) =>
        revised(schedule, { hour, power_kw, note: null, by: 'a test', now })
      if (spanOf(schedule.problem, hour) === null) {
        assert.equal(revise(0).is, 'locked')
        continue
      }
      for (const beyond of [low - 0.01, high + 0.01]) assert.equal(revise(beyond).is, 'outside')
      const found = revise(low + share * (high - low))
      assert.equal(found.is, 'revised', JSON.stringify(found))
      if (found.is === 'revised') schedule = { ...schedule, ...found.parts }
      assertSound(schedule)
    }
  })
  fc.assert(property, { numRuns: 60 })
})

function assertSound({ hours, problem, plan }: StoredSchedule) {
  const { soc_min_pct, soc_max_pct } = problem.unit
  for (const hour of hours) {
    assert.ok(hour.min_power_kw <= hour.power_kw && hour.power_kw <= hour.max_power_kw)
    if (hour.soc_end_pct === null) continue
    assert.ok(hour.soc_end_pct >= soc_min_pct - 0.01 && hour.soc_end_pct <= soc_max_pct + 0.01)
  }
  for (const [nth, power_kw] of powersOf(hours, problem).entries()) {
    const { pv_kw } = problem.periods[nth]!
    const fed_in_kw = pv_kw + problem.others_kw[nth]! + power_kw
    if (power_kw > 0) assert.ok(fed_in_kw <= (problem.export_limit_kw ?? Infinity) + 0.01)
  }
  const { totals } = plan
  const sum = hours.reduce((total, { expected_amount }) => total + expected_amount!, 0)
  const net = sum - totals.expected_degradation_amount!
  assert.ok(Math.abs(totals.expected_net_amount! - net) < 1e-6)
}
