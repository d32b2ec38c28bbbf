/** Plans of the other units of a connection. Pure. */
import { hour_ms } from '@heliograph/domain/durations'
import type { Period } from '@heliograph/optimize/dispatch-problem'
import type { StoredHour } from '../schedule-hours.ts'
import type { ScheduleHours } from '../schedules.ts'
import { powersOf, utcHour } from './day-hours.ts'

interface Connected {
  bess_id: number
  logger_id: number | null
  is_retired: boolean
}

/**
 * The other units in service behind the connection of a unit: those of its plant, or all of the
 * site where `connection_logger_id` is null.
 */
export function unitsBeside<Row extends Connected>(
  units: readonly Row[],
  { bess_id, connection_logger_id }: { bess_id: number; connection_logger_id: number | null },
): Row[] {
  return units.filter((unit) => {
    const is_here = connection_logger_id === null || unit.logger_id === connection_logger_id
    return is_here && unit.bess_id !== bess_id && !unit.is_retired
  })
}

/** Sum of the power of schedules in each period, kW. */
export function sumOver(
  periods: readonly Period[],
  planned: readonly Pick<ScheduleHours, 'hours'>[],
): number[] {
  const all = planned.map(({ hours }) => meanPowers(hours, periods))
  return periods.map((_, nth) => all.reduce((sum, powers) => sum + powers[nth]!, 0))
}

function meanPowers(hours: readonly StoredHour[], periods: readonly Period[]): number[] {
  const of_periods = powersOf(hours, { periods })
  return periods.map(({ start_ms, end_ms }, nth) =>
    end_ms - start_ms === hour_ms ? hours[utcHour(start_ms)]!.power_kw : of_periods[nth]!,
  )
}
