import { type AnnouncedFacts, siteFacts } from '../../plant/site-facts.ts'
import type { Queries } from '../../storage/database.ts'
import { type ScheduleHours, type StoredSchedule, scheduleHoursIn } from '../schedules.ts'
import type { HourPlan } from './day-hours.ts'
import { readUnits, type UnitRow } from './plan-units.ts'
import { type Beside, besideOthers } from './present.ts'

export interface DayPlans {
  units: UnitRow[]
  site: AnnouncedFacts
  proposed: ReadonlyMap<number, ScheduleHours>
  approved: ReadonlyMap<number, ScheduleHours>
}

interface SiteDay {
  site_id: string
  date: string
}

export async function readDayPlans(db: Queries, day: SiteDay): Promise<DayPlans> {
  return {
    units: await readUnits(db, day.site_id),
    site: await siteFacts(db, day.site_id),
    proposed: await plansByUnit(db, day, 'proposed'),
    approved: await plansByUnit(db, day, 'approved'),
  }
}

export async function plansByUnit(
  db: Queries,
  { site_id, date }: SiteDay,
  state: 'approved' | 'proposed',
): Promise<Map<number, ScheduleHours>> {
  const found = await scheduleHoursIn(db, { site_id, date, state })
  return new Map(found.map((schedule) => [schedule.bess_id, schedule]))
}

/** The plant of the connection of a unit; null for the connection of the site. */
export const connectionOf = (
  { export_plan_limit_kw }: Pick<AnnouncedFacts, 'export_plan_limit_kw'>,
  logger_id: number | null,
) => (export_plan_limit_kw === null ? logger_id : null)

/**
 * The plans, as found by `planOf`, of the other units in service behind the connection of a unit:
 * those of its plant, or all of the site.
 */
export function besideOf(
  { units, site }: Pick<DayPlans, 'units' | 'site'>,
  bess_id: number,
  planOf: (bess_id: number) => HourPlan | undefined,
): Beside {
  const own = units.find((unit) => unit.bess_id === bess_id)
  const logger_id = connectionOf(site, own?.logger_id ?? null)
  const others = units.filter((unit) => {
    const is_here = logger_id === null || unit.logger_id === logger_id
    return is_here && unit.bess_id !== bess_id && !unit.is_retired
  })
  return {
    export_limit_kw: site.export_plan_limit_kw,
    others: others.flatMap((unit) => planOf(unit.bess_id) ?? []),
  }
}

/** An open proposal next to the newest plan of every other unit, proposed or approved. */
export function amongNewest(plans: DayPlans, row: StoredSchedule, now: Date): StoredSchedule {
  const { proposed, approved } = plans
  const beside = besideOf(plans, row.bess_id, (other) => proposed.get(other) ?? approved.get(other))
  return besideOthers(row, beside, now).row
}
