/** The newest alarm words of a unit, its PCS and its clusters. */
import type { AlarmWords } from '@heliograph/domain/alarms/decode'
import type { AlarmTable } from '@heliograph/domain/alarms/table'
import { findAlarmTable } from '@heliograph/domain/alarms/tables'
import type { BatterySetup } from '@heliograph/domain/battery'
import type { BessReading } from '@heliograph/domain/readings'
import { alarmTableOf, noTable } from '../plant/alarm-tables.ts'
import type { Queries } from '../storage/database.ts'
import type { Place } from './conditions.ts'

export interface AlarmedPart extends Place {
  alarm_source: 'bms' | 'cluster' | 'pcs'
  measured_at: Date
  table: AlarmTable
  words: AlarmWords
}

export type Measures = Partial<
  Record<(typeof measures)[number], number | null> & Pick<BessReading, 'fire_system_state'>
>

const measures = [
  'power_kw',
  'soc_pct',
  'dc_voltage_v',
  'dc_current_a',
  'cell_voltage_min_mv',
  'cell_voltage_max_mv',
  'cell_temperature_min_c',
  'cell_temperature_max_c',
  'insulation_resistance_kohm',
  'heartbeat_ok',
] as const

export type Protection = BatterySetup['protection']

export interface UnitWords {
  measured_at: Date | null
  /** The unit (if ever read), its PCS and its clusters, by index. */
  parts: AlarmedPart[]
  measured: Measures
  protection: Protection
}

interface Words {
  alarm_1: number | null
  alarm_2: number | null
  alarm_3?: number | null
  alarm_4?: number | null
  alarm_5?: number | null
}

interface UnitRow extends Words, Measures {
  measured_at: Date | null
  protection: Protection | null
}

export async function readWords(db: Queries, site_id: string, bess_id: number): Promise<UnitWords> {
  const values = [site_id, bess_id]
  const [[unit], pcs, clusters] = await Promise.all([
    db.query<UnitRow>(unitWords, values),
    readPcsWords(db, site_id, bess_id),
    db.query<Words & { cluster_idx: number; measured_at: Date }>(clusterWords, values),
  ])
  const { measured_at = null, protection, ...measured } = unit ?? ({} as Partial<UnitRow>)
  const whole =
    unit && measured_at !== null ? [partOf({ ...unit, measured_at }, tables.unit, {})] : []
  return {
    measured_at,
    parts: [
      ...whole,
      ...pcs,
      ...clusters.map((row) => partOf(row, tables.cluster, { cluster_idx: row.cluster_idx })),
    ],
    measured,
    protection: protection ?? [],
  }
}

export async function readPcsWords(
  db: Queries,
  site_id: string,
  bess_id: number,
): Promise<AlarmedPart[]> {
  const rows = await db.query<Words & { pcs_idx: number; measured_at: Date; driver: string }>(
    pcsWords,
    [site_id, bess_id],
  )
  return rows.map((row) => partOf(row, pcsTable(row.driver), { pcs_idx: row.pcs_idx }))
}

const tables = {
  unit: findAlarmTable('sunspec-battery-802')!,
  cluster: findAlarmTable('sunspec-string-804')!,
}

/** The driver of a maker has the name of its alarm table. */
const pcsTable = (driver: string): AlarmTable =>
  alarmTableOf({ driver }) ?? findAlarmTable(driver.replaceAll('_', '-')) ?? noTable

function partOf(
  row: Words & { measured_at: Date },
  table: AlarmTable,
  place: Partial<Place>,
): AlarmedPart {
  const { alarm_1, alarm_2, alarm_3 = null, alarm_4 = null, alarm_5 = null } = row
  const words = [alarm_1, alarm_2, alarm_3, alarm_4, alarm_5]
  const { pcs_idx = null, cluster_idx = null } = place
  const alarm_source = pcs_idx !== null ? 'pcs' : cluster_idx !== null ? 'cluster' : 'bms'
  return { measured_at: row.measured_at, table, words, alarm_source, pcs_idx, cluster_idx }
}

const unitWords = {
  name: 'battery_unit_words',
  text: `
    select l.measured_at, l.alarm_1, l.alarm_2, l.alarm_3, l.alarm_4, l.fire_system_state,
           ${measures.map((name) => `l.${name}`).join(', ')}, s.setup -> 'protection' as protection
    from batteries b
    left join bess_latest l on l.site_id = b.site_id and l.bess_id = b.bess_id
    left join battery_setups s on s.site_id = b.site_id and s.bess_id = b.bess_id
    where b.site_id = $1 and b.bess_id = $2`,
}

const pcsWords = {
  name: 'battery_pcs_words',
  text: `
    select l.pcs_idx, l.measured_at, p.driver, l.alarm_1, l.alarm_2, l.alarm_3, l.alarm_4, l.alarm_5
    from batteries b
    cross join lateral jsonb_to_recordset(b.pcs) as p (pcs_idx int, driver text)
    join pcs_latest l
      on l.site_id = b.site_id and l.bess_id = b.bess_id and l.pcs_idx = p.pcs_idx
    where b.site_id = $1 and b.bess_id = $2
    order by l.pcs_idx`,
}

const clusterWords = {
  name: 'battery_cluster_words',
  text: `
    select l.cluster_idx, l.measured_at, l.alarm_1, l.alarm_2
    from batteries b
    join cluster_latest l
      on l.site_id = b.site_id and l.bess_id = b.bess_id and l.cluster_idx < b.cluster_count
    where b.site_id = $1 and b.bess_id = $2
    order by l.cluster_idx`,
}
