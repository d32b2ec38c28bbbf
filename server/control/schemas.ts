import { type Static, Type } from 'typebox'
import { id_max, ignoredUnless, Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import {
  CurtailmentRow,
  limitModes,
  rowScopes,
  rowStatuses,
  statusRule,
} from './curtailment-row.ts'

const closed = { additionalProperties: false } as const

/** The bound of the specification on what is held without an end. */
export const hold_minutes_max = 10_080

const limit = {
  scope: Type.Enum([...rowScopes], {
    description: '`site`: every plant in service; `logger`: one plant.',
  }),
  logger_id: Type.Optional(
    ignoredUnless(
      { scope: 'logger' },
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: id_max,
          description:
            'The plant. Required with scope `logger`; ignored, whatever it holds, with scope `site`.',
          examples: [2],
        }),
      ),
    ),
  ),
  limit_mode: Type.Enum([...limitModes], {
    description:
      '`percent`: of the rated power of each plant; `kw`: of all of them together, split in ' +
      'proportion to rated power.',
  }),
  limit_value: Type.Number({
    exclusiveMinimum: 0,
    description:
      'In % or kW by `limit_mode`. Rounded down to whole watts for each plant; what lies above ' +
      'the rated power of a plant reduces nothing.',
  }),
}

export type WindowBody = Static<typeof WindowBody>
export const WindowBody = Type.Object(
  {
    ...limit,
    start_at: At('From when on; where that is past, at once.'),
    end_at: At('Until when; later than `start_at` and than now. However long.'),
  },
  { ...closed, $id: 'CurtailmentWindow' },
)

export type ImmediateBody = Static<typeof ImmediateBody>
export const ImmediateBody = Type.Object(
  {
    ...limit,
    duration_minutes: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: hold_minutes_max,
          description: 'Null or left out: until it is released, at most 7 days.',
          examples: [90],
        }),
      ),
    ),
  },
  { ...closed, $id: 'CurtailmentImmediate' },
)

const GroupStatus = Type.Enum([...rowStatuses], {
  description: `Of its rows, the first of: \`releasing\`, \`active\`, \`scheduled\`, \`failed\`, \`completed\`, \`cancelled\`. Of a row ${statusRule}`,
})

export type CurtailmentGroup = Static<typeof CurtailmentGroup>
export const CurtailmentGroup = Type.Object(
  {
    group_id: Type.String({ description: 'What it is released by.' }),
    status: GroupStatus,
    scope: Type.Enum([...rowScopes]),
    limit_mode: Type.Enum([...limitModes]),
    limit_value: Type.Number({ description: 'As asked, in % or kW by `limit_mode`.' }),
    site_max_power_kw: Nullable(
      Type.Number({ description: 'Sum of the rows of a site, kW; null with scope `logger`.' }),
    ),
    hold_until_at: Nullable(
      At('When an immediate one ends unless it is released before; null of a window.'),
    ),
    schedules: Type.Array(CurtailmentRow, { description: 'One row for each plant.' }),
    warnings: Type.Array(Type.String(), {
      description:
        '`logger_offline`: no edge is connected; it carries this out as soon as it is. ' +
        '`overlaps_group:<group_id>`: another limits one of the plants at the same time, the ' +
        'lowest holds; the first hundred of them.',
    }),
    skipped: Type.Array(
      Type.Object(
        {
          logger_id: Type.Integer({ examples: [4] }),
          reason: Type.Enum(['retired'], { description: '`retired`: no longer in service.' }),
        },
        { ...closed, $id: 'SkippedPlant' },
      ),
      { description: 'Plants of the site that have no row.' },
    ),
  },
  { ...closed, $id: 'CurtailmentGroup' },
)

export type CurtailmentRelease = Static<typeof CurtailmentRelease>
export const CurtailmentRelease = Type.Object(
  {
    group_id: Type.String(),
    status: GroupStatus,
    schedules: Type.Array(CurtailmentRow),
    restored_count: Type.Integer({
      minimum: 0,
      description: 'Rows whose release the edge has proved by read-back.',
    }),
    pending_restore_count: Type.Integer({
      minimum: 0,
      description: 'Rows that the edge may have and whose release it has not confirmed.',
    }),
  },
  { ...closed, $id: 'CurtailmentRelease' },
)
