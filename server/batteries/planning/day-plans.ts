/** The plans of all units of a site for a day. */
import type { Queries } from '../../storage/database.ts'
import { type ScheduleHours, type StoredSchedule, scheduleHoursIn } from '../schedules.ts'
import { unitsBeside } from './others.ts'
import { type PlanSite, readPlanSite, readUnits, type UnitRow } from './plan-units.ts'
import { type Beside, besideOthers } from './present.ts'

export interface DayPlans {
  units: UnitRow[]
  site: PlanSite
  /** Schedules by unit. */
  proposed: ReadonlyMap<number, ScheduleHours>
  approved: ReadonlyMap<number, ScheduleHours>
}

export async function readDayPlans(
  db: Queries,
  { site_id, date }: { site_id: string; date: string },
): Promise<DayPlans> {
  const byUnit = async (state: 'approved' | 'proposed') => {
    const found = await scheduleHoursIn(db, { site_id, date, state })
    return new Map(found.map((schedule) => [schedule.bess_id, schedule]))
  }
  return {
    units: await readUnits(db, site_id),
    site: await readPlanSite(db, site_id),
    proposed: await byUnit('proposed'),
    approved: await byUnit('approved'),
  }
}

/** The plans of the other units of a connection, as found by `planOf`. */
export function besideOf(
  { units, site }: Pick<DayPlans, 'units' | 'site'>,
  bess_id: number,
  planOf: (bess_id: number) => Pick<ScheduleHours, 'hours'> | undefined,
): Beside {
  const { export_plan_limit_kw: export_limit_kw } = site
  const logger_id = units.find((unit) => unit.bess_id === bess_id)?.logger_id ?? null
  const connection_logger_id = export_limit_kw === null ? logger_id : null
  const others = unitsBeside(units, { bess_id, connection_logger_id }).flatMap((unit) => {
    return planOf(unit.bess_id) ?? []
  })
  return { export_limit_kw, others }
}

/** An open proposal next to the newest plan of every other unit, proposed or approved. */
export function amongNewest(plans: DayPlans, row: StoredSchedule, now: Date): StoredSchedule {
  return besideOthers(row, newestBeside(plans, row.bess_id), now)
}

const newestBeside = (plans: DayPlans, bess_id: number): Beside =>
  besideOf(plans, bess_id, (other) => plans.proposed.get(other) ?? plans.approved.get(other))
