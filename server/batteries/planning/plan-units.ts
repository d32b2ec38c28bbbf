/** The units of a site for planning: inventory and state of charge. */
import type { Battery } from '@heliograph/domain/battery'
import { rounded } from '@heliograph/domain/significant'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { limitAt, type Unit } from '@heliograph/optimize/dispatch-problem'
import { ageInSeconds, iso, isStale } from '../../plant/frame.ts'
import type { SiteFacts } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import type { UnitFacts } from '../unit-store.ts'
import { capacityOf } from '../units.ts'
import { Refusal } from './refusal.ts'

export interface UnitRow extends UnitFacts {
  is_retired: boolean
  measured_at: Date | null
  soc_pct: number | null
  soh_pct: number | null
  discharged_total_kwh: number | null
}

export const readUnits = (db: Queries, site_id: string): Promise<UnitRow[]> =>
  db.query<UnitRow>(
    `select b.*, b.retired_at is not null as is_retired,
       l.measured_at, l.soc_pct::float8 as soc_pct, l.soh_pct::float8 as soh_pct,
       l.discharged_total_kwh
     from batteries b left join bess_latest l on l.site_id = b.site_id and l.bess_id = b.bess_id
     where b.site_id = $1 order by b.bess_id`,
    [site_id],
  )

/** Present state of charge, %; null where unknown. */
export function knownSoc(unit: UnitRow, { poll }: SiteFacts, now: Date): number | null {
  const poll_s = poll?.battery_s ?? defaultPollIntervals.battery_s
  if (unit.soc_pct === null || isStale(unit.measured_at, poll_s, now)) return null
  return rounded(Math.min(100, Math.max(0, unit.soc_pct)), 3)
}

/** @throws {Refusal} where the present state of charge is unknown */
export function presentSoc(unit: UnitRow, site: SiteFacts, now: Date): number {
  const soc_pct = knownSoc(unit, site, now)
  if (soc_pct !== null) return soc_pct
  const { measured_at } = unit
  throw new Refusal('telemetry_stale', 'the present state of charge of the unit is unknown', {
    measured_at: iso(measured_at),
    age_s: measured_at && Math.round(ageInSeconds(measured_at, now)),
  })
}

/**
 * Default round-trip efficiency from grid to grid, %, by NREL's Annual Technology Baseline
 * (lithium) and PNNL-33283 (lead acid, flow). Answers that use it have `efficiency_is_assumed`.
 */
const usual_efficiency_pct: Record<Battery['chemistry'], number> = {
  lfp: 85,
  nmc: 85,
  nca: 85,
  lto: 85,
  sodium_ion: 77,
  lead_acid: 77,
  flow: 65,
  other: 77,
}

export const efficiencyOf = (unit: UnitRow): number =>
  unit.roundtrip_efficiency_pct ?? usual_efficiency_pct[unit.chemistry]

/** Energy of a full cycle, kWh: the capacity within the operating window. */
export const usableOf = (unit: UnitRow): number =>
  (capacityOf(unit) * (unit.soc_max_pct - unit.soc_min_pct)) / 100

/** State of charge after energy was added, within the window unless it is already outside, %. */
export function socAfter(
  {
    soc_min_pct,
    soc_max_pct,
    capacity_kwh,
  }: Pick<Unit, 'soc_min_pct' | 'soc_max_pct' | 'capacity_kwh'>,
  now_pct: number,
  added_kwh: number,
): number {
  const then_pct = now_pct + (100 * added_kwh) / capacity_kwh
  const [low, high] = [Math.min(soc_min_pct, now_pct), Math.max(soc_max_pct, now_pct)]
  return Math.min(high, Math.max(low, then_pct))
}

export type UnitLimits = Omit<Unit, 'soc_start_pct' | 'soc_end_pct' | 'cycles_max'>

/** @throws {Refusal} where reserve or power leave no usable operating window */
export function unitLimits(row: UnitRow, degradation_cost_per_mwh: number): UnitLimits {
  const soc_min_pct = Math.max(row.soc_min_pct, row.soc_reserve_pct ?? 0)
  if (soc_min_pct >= row.soc_max_pct) {
    throw new Refusal('no_usable_window', 'the reserve leaves no operating window of the unit')
  }
  const pcs_kw = row.pcs.reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0)
  const limits = (way: 'charge' | 'discharge') => {
    const most_kw = Math.min(row[`rated_${way}_power_kw`], pcs_kw)
    const curve = row.power_curve?.map((point) => ({
      soc_pct: point.soc_pct,
      power_kw: Math.min(most_kw, point[`max_${way}_power_kw`]),
    }))
    return curve ?? [{ soc_pct: 0, power_kw: most_kw }]
  }
  const [charge_limits, discharge_limits] = [limits('charge'), limits('discharge')]
  const is_stuck =
    limitAt(charge_limits, soc_min_pct) === 0 || limitAt(discharge_limits, row.soc_max_pct) === 0
  if (is_stuck)
    throw new Refusal('no_usable_window', 'the unit has no power at an end of its operating window')
  const one_way = Math.sqrt(efficiencyOf(row) / 100)
  return {
    bess_id: row.bess_id,
    capacity_kwh: capacityOf(row),
    soc_min_pct,
    soc_max_pct: row.soc_max_pct,
    charge_limits,
    discharge_limits,
    charge_efficiency: one_way,
    discharge_efficiency: one_way,
    degradation_cost_per_mwh,
  }
}
