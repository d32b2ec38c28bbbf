/** Alarm words in the terms of each table that is in use at a site. */
import { type DecodedAlarms, decodeAlarms } from '@heliograph/domain/alarms/decode'
import { type AlarmTable, alarmCategories } from '@heliograph/domain/alarms/table'
import { severities } from '@heliograph/domain/link'
import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/params.ts'
import { noTable } from '../../plant/alarm-tables.ts'

const closed = { additionalProperties: false } as const
const word_max = 2 ** 32 - 1

export const AlarmWord = (nth: number) =>
  Type.Integer({
    minimum: 0,
    maximum: word_max,
    description: `\`alarm_${nth}\` of an inverter, a bit mask.`,
  })

const row = {
  table_id: Type.String({ description: 'The table that says so.' }),
  manufacturer: Type.String({ description: 'Whose words the table explains.' }),
  model_family: Nullable(Type.String()),
  alarm_word: Type.Integer({ minimum: 1, maximum: 5, description: '1 for `alarm_1`.' }),
  bit: Type.Integer({ minimum: 0, maximum: 31, description: '0 is the least significant.' }),
  code: Type.String(),
  name: Type.String(),
  description: Type.String(),
  severity: Type.Enum([...severities]),
  category: Type.Enum([...alarmCategories]),
  cause: Nullable(Type.String()),
  recommended_action: Nullable(Type.String()),
  auto_clears: Nullable(Type.Boolean({ description: 'Null where nothing says so.' })),
  stops_production: Nullable(Type.Boolean({ description: 'Null where nothing says so.' })),
  sunspec_event: Nullable(Type.String({ description: 'The SunSpec event that says the same.' })),
  table_version: Type.String({ description: 'Counts up when a row of the table changes.' }),
}

export type AlarmTableRow = Static<typeof AlarmTableRow>
export const AlarmTableRow = Type.Object(row, { ...closed, $id: 'AlarmTableRow' })

const Place = {
  table_id: Nullable(
    Type.String({ description: 'The table asked; null where no table is in use at the site.' }),
  ),
  word: Type.Integer({ minimum: 1, maximum: 5, description: '1 for `alarm_1`.' }),
}

export type AlarmDecoding = Static<typeof AlarmDecoding>
export const AlarmDecoding = Type.Object(
  {
    input: Type.Object(
      {
        alarm_1: Nullable(AlarmWord(1)),
        alarm_2: Nullable(AlarmWord(2)),
        alarm_3: Nullable(AlarmWord(3)),
        alarm_4: Nullable(AlarmWord(4)),
        alarm_5: Nullable(AlarmWord(5)),
      },
      { ...closed, description: 'The words as given; null for those that were not.' },
    ),
    tables: Type.Array(
      Type.Object(
        {
          table_id: Type.String(),
          manufacturer: Type.String(),
          model_family: Nullable(Type.String()),
          table_version: Type.String(),
        },
        closed,
      ),
      { description: 'The tables that decoded the words.' },
    ),
    alarms: Type.Array(
      Type.Object({ ...row, word: Place.word }, { ...closed, $id: 'DecodedAlarm' }),
      { description: 'Alarms set, by table, word and bit.' },
    ),
    unknown_bits: Type.Array(
      Type.Object(
        {
          ...Place,
          bit: Type.Integer({ minimum: 0, maximum: 31 }),
          mask: Type.Integer({ minimum: 1, description: 'The bit as a number.' }),
        },
        closed,
      ),
      { description: 'Bits set that the table does not explain.' },
    ),
    not_available: Type.Array(
      Type.Object({ ...Place, value: Type.Integer({ minimum: 0, maximum: word_max }) }, closed),
      { description: 'Words that in this table say that they hold no alarms, as given.' },
    ),
    highest_severity: Nullable(Type.Enum([...severities])),
  },
  { ...closed, $id: 'AlarmDecoding' },
)

interface AlarmWordsGiven {
  alarm_1?: number
  alarm_2?: number
  alarm_3?: number
  alarm_4?: number
  alarm_5?: number
}

/** Asks every table; where there is none every set bit is unknown. */
export function decodeByAll(tables: readonly AlarmTable[], given: AlarmWordsGiven): AlarmDecoding {
  const { alarm_1 = null, alarm_2 = null, alarm_3 = null, alarm_4 = null, alarm_5 = null } = given
  const words = [alarm_1, alarm_2, alarm_3, alarm_4, alarm_5]
  const decoded = (tables.length > 0 ? tables : [noTable]).map((table) => ({
    table_id: table === noTable ? null : table.table_id,
    ...decodeAlarms(table, words),
  }))
  return {
    input: { alarm_1, alarm_2, alarm_3, alarm_4, alarm_5 },
    tables: tables.map(({ table_id, manufacturer, model_family, table_version }) => ({
      table_id,
      manufacturer,
      model_family,
      table_version,
    })),
    alarms: decoded.flatMap(({ alarms }) => alarms),
    unknown_bits: decoded.flatMap(({ table_id, unknown_bits }) =>
      unknown_bits.map((bit) => ({ table_id, ...bit })),
    ),
    not_available: decoded.flatMap(({ table_id, not_available }) =>
      not_available.map((word) => ({ table_id, ...word })),
    ),
    highest_severity: highest(decoded),
  }
}

function highest(decoded: readonly DecodedAlarms[]): AlarmDecoding['highest_severity'] {
  return (
    severities.findLast((severity) => decoded.some((one) => one.highest_severity === severity)) ??
    null
  )
}
