/** The effect of the curtailment rows in force on the site. */

import { significant } from '@heliograph/domain/significant'
import type { Static } from 'typebox'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import { isStale } from '../plant/frame.ts'
import type { InverterRow } from '../plant/inverter.ts'
import type { LoggerRow } from '../plant/logger.ts'
import type { Polled } from '../plant/situation.ts'

export type CurtailmentNow = Static<typeof CurtailmentNow>
export const CurtailmentNow = Named('CurtailmentNow', {
  active_count: field.Count('Number of rows of /curtailment in force.', 1),
  limit_kw: field.FromZeroOrNull(
    'Sum of the limits of the plants, kW; plants without a limit count with their rated ' +
      'power. Null when no row is in force.',
    1040,
  ),
  curtailed_now_kw: field.FromZeroOrNull(
    'Available minus delivered power of the inverters of the limited plants, kW. Covers only ' +
      'inverters that report their available power, so the true value may be higher. Null when ' +
      'no row is in force or no inverter reports it.',
    57.4,
  ),
})

/** @param readings those of devices in service */
export function curtailmentNow(
  readings: { loggers: readonly LoggerRow[]; inverters: readonly InverterRow[] },
  { now, poll }: Polled,
): CurtailmentNow {
  const { loggers, inverters } = readings
  const limited = loggers.filter(({ power_limit_kw }) => power_limit_kw !== null)
  if (limited.length === 0) return { active_count: 0, limit_kw: null, curtailed_now_kw: null }
  const limited_ids = new Set(limited.map(({ logger_id }) => logger_id))
  const curtailed_kw = inverters.flatMap((inverter) => {
    const { logger_id, measured_at, available_power_kw, ac_power_kw } = inverter
    const counts = limited_ids.has(logger_id) && !isStale(measured_at, poll.inverter_s, now)
    if (!counts || available_power_kw === null || ac_power_kw === null) return []
    return [Math.max(0, available_power_kw - ac_power_kw)]
  })
  return {
    active_count: limited.reduce((count, { active_row_count }) => count + active_row_count, 0),
    limit_kw: sumOf(loggers.map((logger) => logger.power_limit_kw ?? logger.rated_power_kw)),
    curtailed_now_kw: curtailed_kw.length > 0 ? sumOf(curtailed_kw) : null,
  }
}

const sumOf = (powers: readonly number[]) => significant(powers.reduce((a, b) => a + b, 0))
