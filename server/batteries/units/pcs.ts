/** The power conversion systems (PCS) of a unit: newest readings and their sums. */
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { Named } from '../../http/params.ts'
import { sumAll } from '../../plant/energy-today.ts'
import { ageInSeconds, frame, frameOf, iso, isStale, liveQualities } from '../../plant/frame.ts'
import { measured, readingFrame } from '../../plant/quantities.ts'
import type { Polled } from '../../plant/situation.ts'
import { served } from '../../storage/records.ts'
import { flag, oldestOf } from '../current.ts'
import type { PcsRow } from '../unit-store.ts'

const PcsIdx = field.Count('The power conversion system within the unit, counted from 0.')

const { control_place, alarm_1, alarm_2, alarm_3, alarm_4, alarm_5, ...columns } = measured('pcs')

const pcsMeasured = {
  ...columns,
  state: { ...columns.state, examples: ['running'] },
  dc_current_a: field.NumOrNull('DC current, A; positive is discharging.', 69.4),
  dc_power_kw: field.NumOrNull('DC power, kW; positive is discharging.', 50),
  ac_breaker_closed: field.FlagOrNull('Whether the breaker to the grid is closed.', true),
  dc_contactor_closed: field.FlagOrNull('Whether the contactor to the battery is closed.', true),
  local_remote: control_place,
}

export const PcsReading = Named('PcsReading', {
  measured_at: readingFrame.measured_at,
  pcs_idx: PcsIdx,
  quality: readingFrame.quality,
  ...pcsMeasured,
})

const PcsNow = Named('PcsNow', {
  pcs_idx: PcsIdx,
  rated_power_kw: field.Num('Rated power, kW; from 0.', 100),
  ...frame,
  ...pcsMeasured,
  efficiency_pct: field.NumOrNull(
    'Output power as a percentage of input power; null below 2 % of rated power.',
    97.2,
  ),
})

export type UnitPcs = Static<typeof UnitPcs>
export const UnitPcs = Named('UnitPcs', {
  bess_id: field.Int('The unit.', 1),
  measured_at: field.AtOrNull('Time of the oldest reading in the sums; null without any.'),
  age_s: field.FromZeroOrNull('Seconds since `measured_at`.', 2.4),
  quality: field.OneOf(
    liveQualities,
    '`good`: all PCS are in the sums, with good readings; `suspect`: some are not; `stale`: ' +
      'none is; `missing`: nothing was ever measured.',
  ),
  pcs_count: field.Count('Power conversion systems of the unit.', 2),
  ac_power_kw: field.NumOrNull(
    'Sum over those with a fresh reading, kW; positive towards the grid.',
    97.2,
  ),
  reactive_power_kvar: field.NumOrNull(
    'Sum over those in `ac_power_kw`, kvar; positive is injected; null unless each reports it.',
  ),
  dc_power_kw: field.NumOrNull('Likewise, kW; positive is discharging.', 100),
  max_charge_power_kw: field.NumOrNull(
    'Sum of the charging limits reported by the PCS, likewise, kW.',
    200,
  ),
  max_discharge_power_kw: field.NumOrNull(
    'Sum of the discharging limits reported by the PCS, likewise, kW.',
    200,
  ),
  pcs: Type.Array(PcsNow, { description: 'Each PCS, by index.' }),
})

export function unitPcs(bess_id: number, rows: readonly PcsRow[], { now, poll }: Polled): UnitPcs {
  const fresh = rows.filter(({ measured_at }) => !isStale(measured_at, poll.battery_s, now))
  const oldest_at = oldestOf(fresh)
  const powered = fresh.filter(({ ac_power_kw }) => ac_power_kw !== null)
  const sum = (of: (row: PcsRow) => number | null) => sumAll(powered.map(of))
  return {
    bess_id,
    measured_at: iso(oldest_at),
    age_s: oldest_at && ageInSeconds(oldest_at, now),
    quality: qualityOf(rows, fresh),
    pcs_count: rows.length,
    ac_power_kw: sum((row) => row.ac_power_kw),
    reactive_power_kvar: sum((row) => row.reactive_power_kvar),
    dc_power_kw: sum((row) => row.dc_power_kw),
    max_charge_power_kw: sum((row) => row.max_charge_power_kw),
    max_discharge_power_kw: sum((row) => row.max_discharge_power_kw),
    pcs: rows.map((row) => pcsNow(row, { now, poll })),
  }
}

function qualityOf(rows: readonly PcsRow[], fresh: readonly PcsRow[]): UnitPcs['quality'] {
  if (rows.every(({ measured_at }) => measured_at === null)) return 'missing'
  if (fresh.length === 0) return 'stale'
  const is_whole = fresh.length === rows.length && fresh.every(({ quality }) => quality === 'good')
  return is_whole ? 'good' : 'suspect'
}

const pcsNow = (row: PcsRow, { now, poll }: Polled) =>
  served(PcsNow, {
    ...row,
    ...frameOf(row, poll.battery_s, now),
    efficiency_pct: efficiencyOf(row),
    ac_breaker_closed: flag(row.ac_breaker_closed),
    dc_contactor_closed: flag(row.dc_contactor_closed),
    local_remote: row.control_place,
  })

/** Below this load the quotient is noise. */
const efficiency_load_ratio_min = 0.02

function efficiencyOf({ ac_power_kw, dc_power_kw, rated_power_kw }: PcsRow): number | null {
  if (ac_power_kw === null || dc_power_kw === null) return null
  const [out_kw, in_kw] =
    dc_power_kw > 0 ? [ac_power_kw, dc_power_kw] : [-dc_power_kw, -ac_power_kw]
  if (out_kw < 0 || in_kw < efficiency_load_ratio_min * rated_power_kw) return null
  return significant((100 * out_kw) / in_kw)
}
