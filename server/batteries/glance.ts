/** Short form of a unit for the overview of a site. */
import type { Static } from 'typebox'
import { Closed } from '../http/fields.ts'
import { frame, frameOf } from '../plant/frame.ts'
import type { Situation } from '../plant/situation.ts'
import { served } from '../storage/records.ts'
import { BatteryNow } from './current.ts'
import type { LiveUnit } from './unit-store.ts'
import { BatteryUnit, operatingMode, unitStatus } from './units.ts'

const { bess_id, name, rated_energy_kwh, status, operating_mode } = BatteryUnit.properties
const { state, power_kw, setpoint_kw, soc_pct, alarm_count } = BatteryNow.properties

export type BatteryGlance = Static<typeof BatteryGlance>
export const BatteryGlance = Closed('BatteryGlance', {
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
})

const fields = Object.keys(BatteryGlance.properties)

/** A unit with the values of /bess/{bess_id} and /bess/{bess_id}/current. */
export const batteryGlance = ({ row, pcs, alarms }: LiveUnit, situation: Situation) =>
  served(fields, {
    ...row,
    ...frameOf(row, situation.poll.battery_s, situation.now),
    status: unitStatus({ row, pcs }, situation),
    operating_mode: operatingMode(row, situation.now),
    alarm_count: alarms.length,
  }) as BatteryGlance
