/** A day of a unit: approved plans, measured energy, prices, and causes of deviations. */
import { day_ms, hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { utcDayStart } from '@heliograph/domain/utc-day'
import { addedKwh } from '@heliograph/optimize/course'
import type { Unit as PlannedUnit } from '@heliograph/optimize/dispatch-problem'
import type { Queries } from '../storage/database.ts'
import { type CauseSpan, causeSpans, readEdgeReports } from './causes.ts'
import { type MarketedUnit, readUnitPrices, type UnitPrices } from './earnings.ts'
import {
  type Heard,
  readHeard,
  readUnitQuarters,
  type Span,
  type UnitQuarter,
} from './unit-energy.ts'

export interface UnitDay {
  unit: MarketedUnit
  /** Midnight UTC. */
  start_ms: number
  now_ms: number
  /** Quarter hours up to now; the running one is cut. */
  quarters: (UnitQuarter & Heard)[]
  plans: ApprovedPlan[]
  /** Prices of the whole day; null without a market. */
  prices: UnitPrices | null
  causes: CauseSpan[]
}

/** A schedule, in force from its approval until it is superseded. */
export interface ApprovedPlan {
  schedule_id: number
  approved_at: Date
  superseded_at: Date | null
  hours: readonly PlannedHour[]
  battery: PlannedUnit
}

interface PlannedHour {
  hour: number
  power_kw: number
  quarter_power_kw: readonly number[] | null
  soc_start_pct: number | null
  soc_end_pct: number | null
}

export async function readUnitDay(
  db: Queries,
  unit: MarketedUnit,
  { date, now }: { date: string; now: Date },
): Promise<UnitDay> {
  const start_ms = utcDayStart(Date.parse(date))
  const day = { start_ms, end_ms: start_ms + day_ms }
  const now_ms = now.getTime()
  const so_far = { start_ms, end_ms: Math.max(start_ms, Math.min(now_ms, day.end_ms)) }
  const [energies, heard, plans, prices, reports] = await Promise.all([
    readUnitQuarters(db, unit, so_far),
    readHeard(db, unit, so_far),
    readPlans(db, unit, date),
    readUnitPrices(db, unit, day),
    readEdgeReports(db, unit, day),
  ])
  const quarters = energies.map((quarter, nth) => ({ ...quarter, ...heard[nth]! }))
  const causes = causeSpans(reports, so_far.end_ms)
  return { unit, start_ms, now_ms, quarters, plans, prices, causes }
}

export function readPlans(
  db: Queries,
  { site_id, bess_id }: Pick<MarketedUnit, 'site_id' | 'bess_id'>,
  date: string,
): Promise<ApprovedPlan[]> {
  return db.query<ApprovedPlan>(
    `select schedule_id, approved_at, superseded_at, hours, problem -> 'unit' as battery
     from battery_schedules
     where site_id = $1 and bess_id = $2 and target_date = $3 and approved_at is not null
     order by approved_at`,
    [site_id, bess_id, date],
  )
}

/**
 * Mean power, kW, requested by the schedules in force in a span within a quarter hour; 0 for times
 * without one. Null where no schedule was in force at any time of the span.
 */
export function plannedPower(plans: readonly ApprovedPlan[], span: Span): number | null {
  let [in_force_ms, power_ms] = [0, 0]
  const hour = new Date(span.start_ms).getUTCHours()
  const quarter = Math.floor(span.start_ms / quarter_ms) % 4
  for (const { approved_at, superseded_at, hours } of plans) {
    const from_ms = Math.max(span.start_ms, approved_at.getTime())
    const to_ms = Math.min(span.end_ms, superseded_at?.getTime() ?? Infinity)
    const planned = hours.find((one) => one.hour === hour)
    if (to_ms <= from_ms || !planned) continue
    in_force_ms += to_ms - from_ms
    power_ms += (to_ms - from_ms) * (planned.quarter_power_kw?.[quarter] ?? planned.power_kw)
  }
  return in_force_ms === 0 ? null : power_ms / (span.end_ms - span.start_ms)
}

/**
 * State of charge planned for an instant by the schedule in force, interpolated by the power of the
 * quarter hours. Null without a schedule.
 */
export function plannedCharge(plans: readonly ApprovedPlan[], at_ms: number): number | null {
  const plan = plans.findLast(
    ({ approved_at, superseded_at }) =>
      approved_at.getTime() < at_ms && (superseded_at === null || superseded_at.getTime() >= at_ms),
  )
  const hour = new Date(at_ms - 1).getUTCHours()
  const planned = plan?.hours.find((one) => one.hour === hour)
  if (!plan || !planned) return null
  const { soc_start_pct, soc_end_pct, quarter_power_kw } = planned
  const into_ms = ((at_ms - 1) % hour_ms) + 1
  if (soc_end_pct === null || into_ms === hour_ms) return soc_end_pct
  if (soc_start_pct === null) return null
  if (quarter_power_kw === null) {
    return soc_start_pct + (into_ms / hour_ms) * (soc_end_pct - soc_start_pct)
  }
  const { battery } = plan
  return quarter_power_kw.reduce((soc_pct, power_kw, nth) => {
    const in_quarter_ms = Math.min(Math.max(into_ms - nth * quarter_ms, 0), quarter_ms)
    const added_kwh = addedKwh(battery, power_kw, in_quarter_ms / hour_ms)
    return soc_pct + (100 * added_kwh) / battery.capacity_kwh
  }, soc_start_pct)
}
