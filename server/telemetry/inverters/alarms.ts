/** Alarm words decoded by alarm tables. */
import { decodeAlarms } from '@heliograph/domain/alarms/decode'
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
  table_id: Type.String({ description: 'The alarm table of this row.' }),
  manufacturer: Type.String({ description: 'The manufacturer of the devices.' }),
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
  auto_clears: Nullable(Type.Boolean({ description: 'Null if not documented.' })),
  stops_production: Nullable(Type.Boolean({ description: 'Null if not documented.' })),
  sunspec_event: Nullable(Type.String({ description: 'The equivalent SunSpec event.' })),
  table_version: Type.String({ description: 'Increases when a row of the table changes.' }),
}

export const AlarmTableRow = Type.Object(row, { ...closed, $id: 'AlarmTableRow' })

const Place = {
  table_id: Nullable(
    Type.String({ description: 'The alarm table; null when no table is in use at the site.' }),
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
      { ...closed, description: 'The words of the request; null for words not given.' },
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
      { description: 'Set bits that the table does not list.' },
    ),
    not_available: Type.Array(
      Type.Object({ ...Place, value: Type.Integer({ minimum: 0, maximum: word_max }) }, closed),
      { description: 'Words whose value means "not available" in this table.' },
    ),
    highest_severity: Nullable(Type.Enum([...severities])),
  },
  { ...closed, $id: 'AlarmDecoding' },
)

type WordName = 'alarm_1' | 'alarm_2' | 'alarm_3' | 'alarm_4' | 'alarm_5'

/** Decodes by every table; without tables every set bit is unknown. */
export function decodeByAll(
  tables: readonly AlarmTable[],
  given: { [Word in WordName]?: number },
): AlarmDecoding {
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
    highest_severity:
      severities.findLast((severity) => decoded.some((one) => one.highest_severity === severity)) ??
      null,
  }
}
