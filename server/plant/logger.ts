/** A logger: one plant of the site, with its latest measurements. */

import type { Quality } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { LocationId, LoggerId, Named, Nullable } from '../http/params.ts'
import { type Stored, served } from '../storage/records.ts'
import {
  edgeCommRule,
  edgeCommState,
  edgeCommStates,
  type InverterVitals,
  loggerStatuses,
  loggerStatusRule,
} from './communication.ts'
import { type DayCounter, energyToday, energyTodayOf, energyTodaySum } from './energy-today.ts'
import { frame, frameOf, inventoried } from './frame.ts'
import { loggerStatus } from './health.ts'
import { perPeak } from './inverter.ts'
import { orientationOf, orientations } from './orientation.ts'
import { measured } from './quantities.ts'
import type { Situation } from './situation.ts'

export type Logger = Static<typeof Logger>
export const Logger = Named('Logger', {
  logger_id: LoggerId,
  name: Type.String({ examples: ['East plant'] }),
  plant_code: Nullable(Type.String({ examples: ['E'] })),
  location_id: Nullable(LocationId),
  status: field.OneOf(loggerStatuses, loggerStatusRule),
  comm_state: field.OneOf(edgeCommStates, edgeCommRule),
  last_seen_at: field.AtOrNull(
    'When the edge agent that serves the logger was last seen.',
    '2026-06-21T10:00:04.000Z',
  ),
  last_data_at: field.AtOrNull(
    'The latest reading of the logger or any of its inverters.',
    '2026-06-21T10:00:05.000Z',
  ),
  rated_power_kw: field.Num(
    'Rated AC power, kW: the basis of limits in percent and of splitting limits.',
    400,
  ),
  dc_capacity_kwp: field.Num('DC capacity of the panels at STC, kWp.', 524),
  dc_ac_ratio: field.Num('`dc_capacity_kwp` by `rated_power_kw`.', 1.31),
  inverter_count: field.Count('Inverters in service.', 4),
  string_count: field.Count('Connected strings in service.', 48),
  module_count: field.Count('Panels of these strings.', 1152),
  azimuth_deg: field.NumOrNull('Degrees clockwise from north; null if its strings differ.', 95),
  tilt_deg: field.NumOrNull('Degrees from the horizontal; null if its strings differ.', 15),
  orientation: Nullable(Type.Enum([...orientations], { examples: ['east'] })),
  commissioned_date: Nullable(Type.String({ format: 'date', examples: ['2024-05-01'] })),
  guaranteed_yield_kwh_kwp: field.NumOrNull('Guaranteed yield per year, kWh/kWp.', 980),
  agent_version: field.TextOrNull('Version of the edge agent.', '0.1.0'),
  sampling_interval_s: field.Num('Poll interval of its inverters, s.', 5),
  clock_offset_ms: field.IntOrNull('Clock of the edge minus clock of the server, ms.', 12),
  buffer_depth_frames: field.CountOrNull(
    'Frames in the journal of the edge that are not yet delivered.',
    0,
  ),
  buffer_oldest_at: field.AtOrNull('The oldest undelivered frame.'),
  ...frame,
  ...measured('logger'),
  curtailment_active: field.Flag('Whether a row of /curtailment is in force for the plant.', true),
  power_limit_kw: field.FromZeroOrNull(
    'Lowest limit of the rows in force, kW; null without one.',
    240,
  ),
  limit_pct_of_rated: field.FromZeroOrNull('`power_limit_kw` by `rated_power_kw`, %.', 60),
  ...energyToday,
  energy_today_inverter_count: field.Count('Inverters whose energy is in `energy_today_kwh`.', 4),
  specific_yield_today_kwh_kwp: field.FromZeroOrNull(
    '`energy_today_kwh` by the DC capacity of the inverters in it.',
    2.37,
  ),
  ...inventoried,
})

/** Fields that are computed from the row, its inverters and its edge. */
type Computed =
  | keyof ReturnType<typeof facing>
  | keyof ReturnType<typeof energyOf>
  | keyof ReturnType<typeof reportedBy>
  | 'age_s'
  | 'quality'
  | 'status'
  | 'last_data_at'
  | 'dc_ac_ratio'
  | 'sampling_interval_s'
  | 'curtailment_active'
  | 'limit_pct_of_rated'

export interface LoggerRow extends Stored<Omit<Logger, Computed>>, Facing {
  quality: Quality | null
  data_at: Date | null
  /** Number of the curtailment rows in force, whose lowest limit is `power_limit_kw`. */
  active_row_count: number
}

/** The range of orientations of the strings; null without strings. */
interface Facing {
  azimuth_min_deg: number | null
  azimuth_max_deg: number | null
  tilt_min_deg: number | null
  tilt_max_deg: number | null
}

/** The edge agent of the site that was last seen most recently. */
export interface EdgeRow {
  last_seen_at: Date | null
  agent_version: string | null
  clock_offset_ms: number | null
  journal_depth_frames: number | null
  journal_oldest_at: Date | null
}

/** The fields of an inverter that enter the status and the sums of its logger. */
interface InverterOfLogger extends InverterVitals, DayCounter {
  dc_capacity_kwp: number
}

/** @param inverters those of this logger in service */
export function loggerRecord(
  row: LoggerRow,
  { inverters, edge }: { inverters: readonly InverterOfLogger[]; edge: EdgeRow | null },
  situation: Situation,
): Logger {
  return served(Logger, {
    ...row,
    ...frameOf(row, situation.poll.logger_s, situation.now),
    ...reportedBy(edge, situation),
    status: loggerStatus(row, inverters, situation),
    last_data_at: row.data_at,
    dc_ac_ratio: row.dc_capacity_kwp / row.rated_power_kw,
    ...facing(row),
    sampling_interval_s: situation.poll.inverter_s,
    curtailment_active: row.active_row_count > 0,
    limit_pct_of_rated:
      row.power_limit_kw && significant((100 * row.power_limit_kw) / row.rated_power_kw),
    ...energyOf(inverters, situation),
  })
}

const reportedBy = (edge: EdgeRow | null, { now }: Situation) => ({
  comm_state: edge ? edgeCommState(edge, now) : ('unknown' as const),
  last_seen_at: edge?.last_seen_at ?? null,
  agent_version: edge?.agent_version ?? null,
  clock_offset_ms: edge?.clock_offset_ms ?? null,
  buffer_depth_frames: edge?.journal_depth_frames ?? null,
  buffer_oldest_at: edge?.journal_oldest_at ?? null,
})

function facing({
  azimuth_min_deg,
  azimuth_max_deg,
  tilt_min_deg,
  tilt_max_deg,
}: Facing): Pick<Logger, 'azimuth_deg' | 'tilt_deg' | 'orientation'> {
  if (azimuth_min_deg === null || tilt_min_deg === null) {
    return { azimuth_deg: null, tilt_deg: null, orientation: null }
  }
  const azimuth_deg = azimuth_min_deg === azimuth_max_deg ? azimuth_min_deg : null
  const tilt_deg = tilt_min_deg === tilt_max_deg ? tilt_min_deg : null
  const is_one = azimuth_deg !== null && tilt_deg !== null
  return {
    azimuth_deg,
    tilt_deg,
    orientation: is_one ? orientationOf(azimuth_deg, tilt_deg) : 'mixed',
  }
}

/** Energy and yield over the inverters whose energy is known. */
export function energyOf(inverters: readonly InverterOfLogger[], situation: Situation) {
  const known = inverters
    .map((inverter) => ({
      ...energyTodayOf(inverter, situation.day_start_at),
      capacity_kwp: inverter.dc_capacity_kwp,
    }))
    .filter(({ energy_today_kwh }) => energy_today_kwh !== null)
  const sum = energyTodaySum(known)
  const capacity_kwp = known.reduce((sum_kwp, one) => sum_kwp + one.capacity_kwp, 0)
  return {
    ...sum,
    energy_today_inverter_count: known.length,
    specific_yield_today_kwh_kwp: perPeak(sum.energy_today_kwh, capacity_kwp),
  }
}
