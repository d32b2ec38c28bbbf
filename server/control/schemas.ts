import { type Static, Type } from 'typebox'
import { id_max, ignoredUnless, Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import {
  CurtailmentRow,
  group_id_example,
  limitModes,
  rowScopes,
  rowStatuses,
  statusRule,
} from './curtailment-row.ts'

const closed = { additionalProperties: false } as const

/** Longest immediate command, by the specification. */
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
          description: 'The plant. Required with scope `logger`; ignored with scope `site`.',
          examples: [2],
        }),
      ),
    ),
  ),
  limit_mode: Type.Enum([...limitModes], {
    description:
      '`percent`: of the rated power of each plant. `kw`: for all plants together, split in ' +
      'proportion to rated power.',
  }),
  limit_value: Type.Number({
    exclusiveMinimum: 0,
    description:
      'In % or kW by `limit_mode`. Rounded down to whole watts for each plant. A limit above the ' +
      'rated power of a plant has no effect.',
  }),
}

export type WindowBody = Static<typeof WindowBody>
export const WindowBody = Type.Object(
  {
    ...limit,
    start_at: At('Start. A start in the past takes effect at once.'),
    end_at: At('End. Must be later than `start_at` and than now; there is no maximum length.'),
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
          description: 'Defaults to 7 days, or until the release before that.',
          examples: [90],
        }),
      ),
    ),
  },
  { ...closed, $id: 'CurtailmentImmediate' },
)

const GroupStatus = Type.Enum([...rowStatuses], {
  description: `The first of \`releasing\`, \`active\`, \`scheduled\`, \`failed\`, \`completed\`, \`cancelled\` that one of its rows has. Statuses of rows: ${statusRule}`,
})

export type CurtailmentGroup = Static<typeof CurtailmentGroup>
export const CurtailmentGroup = Type.Object(
  {
    group_id: Type.String({
      description: 'Identifies the command for its release.',
      examples: [group_id_example],
    }),
    status: GroupStatus,
    scope: Type.Enum([...rowScopes]),
    limit_mode: Type.Enum([...limitModes]),
    limit_value: Type.Number({ description: 'As requested, in % or kW by `limit_mode`.' }),
    site_max_power_kw: Nullable(
      Type.Number({ description: 'Sum of the limits of all rows, kW; null with scope `logger`.' }),
    ),
    hold_until_at: Nullable(
      At('End of an immediate command unless it is released before; null for a window.'),
    ),
    schedules: Type.Array(CurtailmentRow, { description: 'One row for each plant.' }),
    warnings: Type.Array(Type.String(), {
      description:
        '`logger_offline`: no edge is connected; the command is applied once one is. ' +
        '`overlaps_group:<group_id>`: another command limits one of the plants at the same time, ' +
        'and the lowest limit applies; the first hundred such commands.',
    }),
    skipped: Type.Array(
      Type.Object(
        {
          logger_id: Type.Integer({ examples: [4] }),
          reason: Type.Enum(['retired'], { description: '`retired`: no longer in service.' }),
        },
        { ...closed, $id: 'SkippedPlant' },
      ),
      { description: 'Plants of the site that got no row.' },
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
      description: 'Rows whose plant is restored, as confirmed by read-back.',
    }),
    pending_restore_count: Type.Integer({
      minimum: 0,
      description: 'Rows with status `releasing`: not confirmed by the edge yet.',
    }),
  },
  { ...closed, $id: 'CurtailmentRelease' },
)
