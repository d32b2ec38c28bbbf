/** Historical readings of units and their PCS as items of the API. */
import type { TObject } from 'typebox'
import type { Queries } from '../../storage/database.ts'
import { served } from '../../storage/records.ts'
import type { StoredReading } from '../../telemetry/blocks/store.ts'
import { countReadings, type DeviceHistory, spanOf, valuesOf } from '../../telemetry/history.ts'
import type { InstantItems } from '../../telemetry/instants.ts'
import { BatteryReading, batteryMeasured, flag, type MeasuredRow } from '../current.ts'
import { requireUnit, type UnitId } from '../earnings.ts'
import { PcsReading } from './pcs.ts'

const namesOf = ({ properties }: TObject) =>
  Object.keys(properties).filter((name) => name !== 'measured_at')

const measuredAt = ({ measured_at }: StoredReading) => new Date(measured_at).toISOString()

/** The energy left is that of the present operating window. */
type Window = Pick<
  MeasuredRow,
  'rated_energy_kwh' | 'usable_energy_kwh' | 'soc_min_pct' | 'soc_max_pct' | 'soc_reserve_pct'
>

/**
 * A unit as the source of a history.
 *
 * @throws ApiError not_found
 */
export async function unitItems(db: Queries, id: UnitId) {
  const { site_id, bess_id } = await requireUnit(db, id)
  const window = await db.queryOne<Window>(
    `select rated_energy_kwh, usable_energy_kwh, soc_min_pct, soc_max_pct, soc_reserve_pct
     from batteries where site_id = $1 and bess_id = $2`,
    [site_id, bess_id],
  )
  return {
    device_id: bess_id,
    names: namesOf(BatteryReading),
    changed: ['available_energy_kwh', 'energy_to_full_kwh', 'heartbeat_ok'],
    itemOf(reading: StoredReading) {
      const row = { ...window!, ...(reading as unknown as Omit<MeasuredRow, keyof Window>) }
      const item = { ...row, ...batteryMeasured(row), measured_at: measuredAt(reading) }
      return served(BatteryReading, item)
    },
  }
}

/**
 * The PCS of a unit as the source of a history.
 *
 * @throws ApiError not_found
 */
export async function pcsItems(db: Queries, id: UnitId) {
  const { bess_id } = await requireUnit(db, id)
  return {
    device_id: bess_id,
    key: 'pcs_idx',
    names: namesOf(PcsReading),
    changed: ['ac_breaker_closed', 'dc_contactor_closed'],
    itemOf: pcsItem,
  }
}

function pcsItem(reading: StoredReading) {
  const flagOf = (name: string) => flag(reading[name] as number | null)
  return served(PcsReading, {
    ...reading,
    measured_at: measuredAt(reading),
    ac_breaker_closed: flagOf('ac_breaker_closed'),
    dc_contactor_closed: flagOf('dc_contactor_closed'),
    local_remote: reading['control_place'],
  })
}

export const pcsInstants: InstantItems<DeviceHistory> = {
  columns: valuesOf('pcs'),
  itemsOf: (readings) => readings.map(pcsItem),
  countOf: (db, { window, ...device }) =>
    countReadings(db, 'pcs', { ...device, ...spanOf(window) }),
}
