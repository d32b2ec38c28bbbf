/** A logger: one plant of the site, with its latest measurements. */
import type { LoggerReading, Quality } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { LocationId, LoggerId, Nullable } from '../http/params.ts'
import {
  edgeCommRule,
  edgeCommState,
  edgeCommStates,
  type InverterVitals,
  loggerStatuses,
  loggerStatusRule,
} from './communication.ts'
import { type DayCounter, energyToday, energyTodayOf, energyTodaySum } from './energy-today.ts'
import { At, frame, frameOf, inventoried, iso } from './frame.ts'
import { loggerStatus } from './health.ts'
import { perPeak } from './inverter.ts'
import { orientationOf, orientations } from './orientation.ts'
import { measured } from './quantities.ts'
import type { Situation } from './situation.ts'

const closed = { additionalProperties: false } as const
const Count = (description: string) => Type.Integer({ minimum: 0, description })

export type Logger = Static<typeof Logger>
export const Logger = Type.Object(
  {
    logger_id: LoggerId,
    name: Type.String(),
    plant_code: Nullable(Type.String()),
    location_id: Nullable(LocationId),
    status: Type.Enum([...loggerStatuses], { description: loggerStatusRule }),
    comm_state: Type.Enum([...edgeCommStates], { description: edgeCommRule }),
    last_seen_at: Nullable(At('When the edge agent that serves the logger was last seen.')),
    last_data_at: Nullable(At('The latest reading of the logger or of any of its inverters.')),
    rated_power_kw: Type.Number({
      description: 'Rated AC power, kW: the basis of limits in percent and of splitting limits.',
    }),
    dc_capacity_kwp: Type.Number({ description: 'DC capacity of the panels at STC, kWp.' }),
    dc_ac_ratio: Type.Number({ description: '`dc_capacity_kwp` by `rated_power_kw`.' }),
    inverter_count: Count('Inverters in service.'),
    string_count: Count('Connected strings in service.'),
    module_count: Count('Panels of these strings.'),
    azimuth_deg: Nullable(
      Type.Number({ description: 'Degrees clockwise from north; null if its strings differ.' }),
    ),
    tilt_deg: Nullable(
      Type.Number({ description: 'Degrees from the horizontal; null if its strings differ.' }),
    ),
    orientation: Nullable(Type.Enum([...orientations])),
    commissioned_date: Nullable(Type.String({ format: 'date' })),
    guaranteed_yield_kwh_kwp: Nullable(
      Type.Number({ description: 'Guaranteed yield per year, kWh/kWp.' }),
    ),
    agent_version: Nullable(Type.String({ description: 'Version of the edge agent.' })),
    sampling_interval_s: Type.Number({ description: 'Poll interval of its inverters, s.' }),
    clock_offset_ms: Nullable(
      Type.Integer({ description: 'Clock of the edge minus clock of the server, ms.' }),
    ),
    buffer_depth_frames: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'Frames in the journal of the edge that are not yet delivered.',
      }),
    ),
    buffer_oldest_at: Nullable(At('The oldest undelivered frame.')),
    ...frame,
    ...measured('logger'),
    curtailment_active: Type.Boolean({
      description: 'Whether a row of /curtailment is in force for the plant.',
    }),
    power_limit_kw: Nullable(
      Type.Number({
        minimum: 0,
        description: 'Lowest limit of the rows in force, kW; null without one.',
      }),
    ),
    limit_pct_of_rated: Nullable(
      Type.Number({ minimum: 0, description: '`power_limit_kw` by `rated_power_kw`, %.' }),
    ),
    ...energyToday,
    energy_today_inverter_count: Count('Inverters whose energy is in `energy_today_kwh`.'),
    specific_yield_today_kwh_kwp: Nullable(
      Type.Number({
        minimum: 0,
        description: '`energy_today_kwh` by the DC capacity of the inverters in it.',
      }),
    ),
    ...inventoried,
  },
  { ...closed, $id: 'Logger' },
)

type Values = Omit<LoggerReading, 'logger_id' | 'measured_at' | 'quality'>

export interface LoggerRow extends Values {
  logger_id: number
  name: string
  plant_code: string | null
  location_id: number | null
  rated_power_kw: number
  dc_capacity_kwp: number
  commissioned_date: string | null
  guaranteed_yield_kwh_kwp: number | null
  created_at: Date
  updated_at: Date
  retired_at: Date | null
  measured_at: Date | null
  received_at: Date | null
  quality: Quality | null
  data_at: Date | null
  inverter_count: number
  string_count: number
  module_count: number
  azimuth_min_deg: number | null
  azimuth_max_deg: number | null
  tilt_min_deg: number | null
  tilt_max_deg: number | null
  /** Lowest limit and number of the curtailment rows in force. */
  power_limit_kw: number | null
  active_row_count: number
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
  const {
    data_at,
    azimuth_min_deg: _azimuth_min,
    azimuth_max_deg: _azimuth_max,
    tilt_min_deg: _tilt_min,
    tilt_max_deg: _tilt_max,
    active_row_count,
    ...own
  } = row
  return {
    ...own,
    ...frameOf(row, situation.poll.logger_s, situation.now),
    status: loggerStatus(row, inverters, situation),
    comm_state: edge ? edgeCommState(edge, situation.now) : 'unknown',
    last_seen_at: iso(edge?.last_seen_at ?? null),
    last_data_at: iso(data_at),
    dc_ac_ratio: row.dc_capacity_kwp / row.rated_power_kw,
    ...facing(row),
    agent_version: edge?.agent_version ?? null,
    sampling_interval_s: situation.poll.inverter_s,
    clock_offset_ms: edge?.clock_offset_ms ?? null,
    buffer_depth_frames: edge?.journal_depth_frames ?? null,
    buffer_oldest_at: iso(edge?.journal_oldest_at ?? null),
    curtailment_active: active_row_count > 0,
    limit_pct_of_rated:
      row.power_limit_kw && significant((100 * row.power_limit_kw) / row.rated_power_kw),
    ...energyOf(inverters, situation),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    retired_at: iso(row.retired_at),
  }
}

function facing(row: LoggerRow): Pick<Logger, 'azimuth_deg' | 'tilt_deg' | 'orientation'> {
  const { azimuth_min_deg, azimuth_max_deg, tilt_min_deg, tilt_max_deg } = row
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
