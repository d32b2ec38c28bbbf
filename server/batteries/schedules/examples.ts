import { hour_ms } from '@heliograph/domain/durations'
import { exampleOf } from '../../http/example.ts'
import { lockedHour, totalsOf, withPowers } from '../planning/day-hours.ts'
import { approvedParts, revised } from '../planning/revise.ts'
import type { StoredHour } from '../schedule-plan.ts'
import { SchedulePlan } from '../schedule-plan.ts'
import { type Schedule, type StoredProblem, type StoredSchedule, scheduleOf } from '../schedules.ts'

const target_date = '2026-06-21'
const day = Date.parse(target_date)
const proposed_at = new Date('2026-06-20T13:10:00.000Z')
const decided_at = new Date('2026-06-20T13:25:00.000Z')

/** A summer's day: cheap at noon, dear in the evening. */
const prices = [
  82, 78, 75, 74, 76, 88, 96, 90, 64, 38, 16, 4, -2, -6, 2, 18, 44, 76, 108, 132, 126, 112, 98, 88,
]
const powers = prices.map((_, hour) => (hour >= 11 && hour <= 13 ? -90 : hour === 19 ? 180 : 0))

const problem: StoredProblem = {
  objective: 'arbitrage',
  periods: prices.map((price, hour) => ({
    start_ms: day + hour * hour_ms,
    end_ms: day + (hour + 1) * hour_ms,
    price,
    pv_kw: 0,
    load_kw: 0,
  })),
  export_limit_kw: null,
  import_limit_kw: null,
  unit: {
    bess_id: 1,
    capacity_kwh: 392,
    soc_start_pct: 30,
    soc_min_pct: 10,
    soc_max_pct: 95,
    soc_end_pct: null,
    charge_limits: [{ soc_pct: 0, power_kw: 200 }],
    discharge_limits: [{ soc_pct: 0, power_kw: 200 }],
    charge_efficiency: 0.94,
    discharge_efficiency: 0.94,
    degradation_cost_per_mwh: 8,
    cycles_max: 1.4,
  },
  others_kw: prices.map(() => 0),
  usable_kwh: 352.8,
}

const blank = prices.map(
  (price_per_mwh, hour): StoredHour => ({
    ...lockedHour(hour, day + hour * hour_ms, null),
    price_per_mwh,
    price_status: 'published',
    expected_amount: 0,
  }),
)
const { hours } = withPowers(blank, problem, powers)

const stored: StoredSchedule = {
  schedule_id: 41,
  bess_id: 1,
  target_date,
  state: 'proposed',
  version: 1,
  objective: 'arbitrage',
  created_at: proposed_at,
  created_by: 'control room',
  approved_at: null,
  approved_by: null,
  rejected_at: null,
  rejected_by: null,
  reject_reason: null,
  superseded_at: null,
  superseded_by: null,
  problem,
  hours,
  dispatched: null,
  plan: exampleOf(SchedulePlan, {
    optimizer: { version: '1.15', solve_ms: 6.4 },
    inputs: {
      planned_from_at: blank[0]!.start_at,
      market_code: 'DE-LU',
      price_source: 'entsoe',
      price_step_min: 60,
      soc_start_pct: 30,
      soc_end_target_pct: 30,
      soc_min_pct: 10,
      soc_max_pct: 95,
      capacity_kwh: 392,
      efficiency_pct: 88.36,
      degradation_cost_per_mwh: 8,
    },
    totals: totalsOf(hours, problem, { currency: 'EUR' }),
    constraint_violations: [],
  }),
}

const edit = { hour: 19, power_kw: 80, note: 'Less wear.', by: 'control room', now: decided_at }
const found = revised(stored, edit)

export const scheduleExample: Schedule = scheduleOf(stored, proposed_at)

export const editedExample: Schedule = scheduleOf(
  { ...stored, version: 2, ...(found.is === 'revised' ? found.parts : {}) },
  decided_at,
)

export const approvedExample: Schedule = scheduleOf(
  {
    ...stored,
    state: 'approved',
    version: 2,
    approved_at: decided_at,
    approved_by: 'control room',
    ...approvedParts(stored, { replaced: null, soc_pct: null, now: decided_at }),
  },
  decided_at,
)

export const rejectedExample: Schedule = scheduleOf(
  {
    ...stored,
    state: 'rejected',
    version: 2,
    rejected_at: decided_at,
    rejected_by: 'control room',
    reject_reason: 'The unit is to be serviced.',
  },
  decided_at,
)
