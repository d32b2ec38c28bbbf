/** A unit in a few words, for a look at the whole site. */
import { type Static, Type } from 'typebox'
import { frame, frameOf } from '../plant/frame.ts'
import type { Situation } from '../plant/situation.ts'
import { BatteryNow } from './current.ts'
import type { LiveUnit } from './unit-store.ts'
import { BatteryUnit, operatingMode, unitStatus } from './units.ts'

const { bess_id, name, rated_energy_kwh, status, operating_mode } = BatteryUnit.properties
const { state, power_kw, setpoint_kw, soc_pct, alarm_count } = BatteryNow.properties

export type BatteryGlance = Static<typeof BatteryGlance>
export const BatteryGlance = Type.Object(
  {
    bess_id,
    name,
    rated_energy_kwh,
    status,
    operating_mode,
    ...frame,
    state,
    power_kw,
    setpoint_kw,
    soc_pct,
    alarm_count,
  },
  { additionalProperties: false, $id: 'BatteryGlance' },
)

/** As /bess/{bess_id} and /bess/{bess_id}/current have it. */
export function batteryGlance({ row, pcs, alarms }: LiveUnit, situation: Situation): BatteryGlance {
  const { now, poll } = situation
  return {
    bess_id: row.bess_id,
    name: row.name,
    rated_energy_kwh: row.rated_energy_kwh,
    status: unitStatus({ row, pcs }, situation),
    operating_mode: operatingMode(row, now),
    ...frameOf(row, poll.battery_s, now),
    state: row.state,
    power_kw: row.power_kw,
    setpoint_kw: row.setpoint_kw,
    soc_pct: row.soc_pct,
    alarm_count: alarms.length,
  }
}
