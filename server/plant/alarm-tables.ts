/** The alarm tables that decode the alarm words of a site's inverters. */
import type { AlarmRow, AlarmTable } from '@heliograph/domain/alarms/table'
import { alarmTables, findAlarmTable } from '@heliograph/domain/alarms/tables'

/** By driver: its tables in order; a bit missing in one table is looked up in the next. */
const tablesByDriver: Readonly<Record<string, readonly string[]>> = {
  sunspec: ['sunspec-inverter', 'sunspec-701'],
  huawei_sun2000: ['huawei-sun2000'],
  csi_ktl_ct: ['csi-ktl-ct'],
  solis_hybrid: ['solis-hybrid'],
  sofar_g3: ['sofar-g3'],
}

export interface AlarmingDevice {
  driver: string
  manufacturer: string | null
}

/**
 * The table for the alarm words of a driver: its first table, completed by rows of its other tables
 * for bits missing there. Null for an unknown driver.
 */
export function alarmTableOf({ driver }: Pick<AlarmingDevice, 'driver'>): AlarmTable | null {
  return wholeTables.get(driver) ?? null
}

const wholeTables: ReadonlyMap<string, AlarmTable> = new Map(
  Object.entries(tablesByDriver).map(([driver, ids]) => [
    driver,
    ids.map((table_id) => findAlarmTable(table_id)!).reduce(completed),
  ]),
)

function completed(table: AlarmTable, { rows }: AlarmTable): AlarmTable {
  const placeOf = ({ alarm_word, bit }: AlarmRow) => `${alarm_word}.${bit}`
  const known = new Set(table.rows.map(placeOf))
  return { ...table, rows: [...table.rows, ...rows.filter((row) => !known.has(placeOf(row)))] }
}

/** Tables of the alarm words of inverters. */
export const lookedUpTables: readonly AlarmTable[] = alarmTables.filter(
  ({ alarm_source }) => alarm_source === undefined,
)

/** Tables of the drivers and of the manufacturers, whose own alarm words operators look up. */
export function alarmTablesOf(devices: readonly AlarmingDevice[]): AlarmTable[] {
  const by_driver = new Set(devices.flatMap(({ driver }) => tablesByDriver[driver] ?? []))
  const makers = devices.flatMap(({ manufacturer }) => manufacturer?.toLowerCase() ?? [])
  const isMade = ({ manufacturer }: AlarmTable) =>
    makers.some((maker) => maker.includes(firstWord(manufacturer)))
  return lookedUpTables.filter((table) => by_driver.has(table.table_id) || isMade(table))
}

/** Devices report manufacturers differently: `Huawei`, `HUAWEI TECHNOLOGIES`. */
const firstWord = (name: string) => name.toLowerCase().split(/[^a-z0-9]+/)[0]!

/** An empty table: every set bit is unknown. */
export const noTable: AlarmTable = {
  table_id: 'none',
  manufacturer: 'none',
  model_family: null,
  table_version: '1',
  word_bits: 32,
  not_available: 'all_bits',
  severity_by: 'heliograph',
  source: 'none',
  rows: [],
}
