/**
 * Alarm tables: what each bit of a device's alarm words means. A driver says which words of its
 * device become `alarm_1` to `alarm_5`, and names the table that decodes them.
 *
 * Codes, positions and causes are the manufacturer's facts; a field is `null` where its documents
 * do not say. Names and descriptions, categories and the nearest SunSpec event are ours.
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

/** Which part of a battery an alarm comes from. */
const alarmSources = ['bms', 'cluster', 'pcs'] as const
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
  /** The Evt1 symbol of SunSpec models 101 to 113 that says the same, where one does. */
  sunspec_event: string | null
  /**
   * Of batteries: how far a protection has come. 1 is the pre-alarm; 2, the first level, limits or
   * stops; 3, the second, separates. Absent for what is no protection.
   */
  protection_level?: 1 | 2 | 3
  /** Of batteries: the unit may not deliver or take what it otherwise could. */
  affects_power?: boolean
  /** Of batteries: stays until someone resets it; absent where its documents do not say. */
  latching?: boolean
  table_version: string
}

export interface AlarmTable {
  table_id: string
  manufacturer: string
  model_family: string | null
  /** Counts up whenever a row of the table changes. */
  table_version: string
  word_bits: 16 | 32
  /**
   * How a word says that it is not available, which is no set of alarms: every bit is set, or, in
   * SunSpec bitfields, the most significant one is, whatever the others are.
   */
  not_available: 'all_bits' | 'highest_bit'
  /** Who graded the alarms; where the manufacturer gives no severities, they are ours. */
  severity_by: 'manufacturer' | 'heliograph'
  /** The document that the rows come from. */
  source: string
  /** Of tables that are of batteries alone. */
  alarm_source?: AlarmSource
  rows: readonly AlarmRow[]
}

type Head = Omit<AlarmTable, 'rows'>

type Unsaid =
  | 'cause'
  | 'recommended_action'
  | 'auto_clears'
  | 'stops_production'
  | 'sunspec_event'
  | 'protection_level'
  | 'affects_power'
  | 'latching'

/** One bit as the files of the tables write it: the alarm, what it means, what else is known. */
export type Alarm = readonly [
  alarm: Pick<AlarmRow, 'bit' | 'code' | 'severity' | 'category'>,
  name: string,
  description: string,
  known?: Partial<Pick<AlarmRow, Unsaid>>,
]

/** Builds a table from the alarms of its words, in the order of the words. */
export function alarmTable(head: Head, words: readonly (readonly Alarm[])[]): AlarmTable {
  const { table_id, manufacturer, model_family, table_version } = head
  const rows = words.flatMap((alarms, index) =>
    alarms.map(
      ([alarm, name, description, known]): AlarmRow => ({
        table_id,
        manufacturer,
        model_family,
        alarm_word: index + 1,
        ...alarm,
        name,
        description,
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
