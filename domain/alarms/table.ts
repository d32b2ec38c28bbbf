/**
 * Alarm tables: the meaning of each bit of a device's alarm words. A driver maps words of its
 * device to `alarm_1` to `alarm_5` and names the table that decodes them.
 *
 * Codes, positions and causes come from the manufacturer; a field is `null` if its documents do not
 * give it. Names, descriptions, categories and the nearest SunSpec event are ours.
 */
import type { Severity } from '../link.ts'

export const alarmCategories = [
  'dc',
  'ac_grid',
  'insulation',
  'temperature',
  'internal',
  'communication',
  'arc',
  'fan',
  'battery',
  'other',
] as const
type AlarmCategory = (typeof alarmCategories)[number]

const alarmSources = ['bms', 'cluster', 'pcs', 'controller'] as const
type AlarmSource = (typeof alarmSources)[number]

export const alarm_words_max = 5

export interface AlarmRow {
  table_id: string
  manufacturer: string
  model_family: string | null
  /** From 1: the number in `alarm_1` to `alarm_5`. */
  alarm_word: number
  /** From 0, the least significant. */
  bit: number
  code: string
  name: string
  description: string
  severity: Severity
  category: AlarmCategory
  cause: string | null
  recommended_action: string | null
  auto_clears: boolean | null
  stops_production: boolean | null
  /** Evt1 symbol of SunSpec models 101 to 113 with the same meaning, if any. */
  sunspec_event: string | null
  /**
   * Batteries only: 1 is a pre-alarm, 2 (first level) limits or stops, 3 (second level) opens the
   * contactors. Absent for alarms that are no protection.
   */
  protection_level?: 1 | 2 | 3
  /** Batteries only: the alarm reduces the power that the unit can deliver or take. */
  affects_power?: boolean
  /** Batteries only: stays until it is reset. Absent if its documents do not say. */
  latching?: boolean
  table_version: string
}

export interface AlarmTable {
  table_id: string
  manufacturer: string
  model_family: string | null
  /** Incremented whenever a row of the table changes. */
  table_version: string
  word_bits: 16 | 32
  /** Mark of a word that is not available: all bits set, or (SunSpec bitfields) the highest bit. */
  not_available: 'all_bits' | 'highest_bit'
  /** Source of the severities: ours if the manufacturer gives none. */
  severity_by: 'manufacturer' | 'heliograph'
  source: string
  alarm_source?: AlarmSource
  rows: readonly AlarmRow[]
}

type Head = Omit<AlarmTable, 'rows'>

type Described = 'bit' | 'code' | 'severity' | 'category' | 'name' | 'description'
type Known = Partial<Omit<AlarmRow, Described | 'alarm_word' | 'table_version' | keyof Head>>

export type Alarm = Pick<AlarmRow, Described> & { known?: Known }

/** Writes an alarm of one severity: bit, code, category, name, description, other known facts. */
export const graded =
  (severity: Severity) =>
  (
    bit: number,
    code: string,
    category: AlarmCategory,
    [name, description, known = {}]: readonly [name: string, description: string, known?: Known],
  ): Alarm => ({ bit, code, severity, category, name, description, known })

/** Builds a table from the alarms of its words, in the order of the words. */
export function alarmTable(head: Head, words: readonly (readonly Alarm[])[]): AlarmTable {
  const { table_id, manufacturer, model_family, table_version } = head
  const rows = words.flatMap((alarms, index) =>
    alarms.map(
      ({ known, ...alarm }): AlarmRow => ({
        table_id,
        manufacturer,
        model_family,
        alarm_word: index + 1,
        ...alarm,
        cause: null,
        recommended_action: null,
        auto_clears: null,
        stops_production: null,
        sunspec_event: null,
        ...known,
        table_version,
      }),
    ),
  )
  return { ...head, rows }
}
