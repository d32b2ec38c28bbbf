import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { id_max, ignoredUnless, Named } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import {
  CurtailmentRow,
  group_id_example,
  limitModes,
  rowScopes,
  rowStatuses,
  statusRule,
} from './curtailment-row.ts'

/** Longest immediate command, by the specification. */
export const hold_minutes_max = 10_080

export const limitFields = {
  scope: field.OneOf(rowScopes, '`site`: every plant in service; `logger`: one plant.'),
  logger_id: Type.Optional(
    ignoredUnless(
      { scope: 'logger' },
      field.CountOrNull('The plant. Required with scope `logger`; ignored with scope `site`.', {
        maximum: id_max,
        examples: [2],
      }),
    ),
  ),
  limit_mode: field.OneOf(
    limitModes,
    '`percent`: of the rated power of each plant. `kw`: for all plants together, split in ' +
      'proportion to rated power.',
  ),
  limit_value: field.Num(
    'In % or kW by `limit_mode`. Rounded down to whole watts for each plant. A limit above the ' +
      'rated power of a plant has no effect.',
    { exclusiveMinimum: 0 },
  ),
}

export type WindowBody = Static<typeof WindowBody>
export const WindowBody = Named('CurtailmentWindow', {
  ...limitFields,
  start_at: At('Start. A start in the past takes effect at once.'),
  end_at: At('End. Must be later than `start_at` and than now; there is no maximum length.'),
})

export type ImmediateBody = Static<typeof ImmediateBody>
export const ImmediateBody = Named('CurtailmentImmediate', {
  ...limitFields,
  duration_minutes: Type.Optional(
    field.IntOrNull('Defaults to 7 days, or until the release before that.', {
      minimum: 1,
      maximum: hold_minutes_max,
      examples: [90],
    }),
  ),
})

const GroupStatus = field.OneOf(
  rowStatuses,
  `The first of \`releasing\`, \`active\`, \`scheduled\`, \`failed\`, \`completed\`, \`cancelled\` that one of its rows has. Statuses of rows: ${statusRule}`,
)

export type CurtailmentGroup = Static<typeof CurtailmentGroup>
export const CurtailmentGroup = Named('CurtailmentGroup', {
  group_id: field.Text('Identifies the command for its release.', group_id_example),
  status: GroupStatus,
  scope: Type.Enum([...rowScopes]),
  limit_mode: Type.Enum([...limitModes]),
  limit_value: field.Num('As requested, in % or kW by `limit_mode`.', 240),
  site_max_power_kw: field.NumOrNull(
    'Sum of the limits of all rows, kW; null with scope `logger`.',
  ),
  hold_until_at: field.AtOrNull(
    'End of an immediate command unless it is released before; null for a window.',
  ),
  schedules: Type.Array(CurtailmentRow, { description: 'One row for each plant.' }),
  warnings: Type.Array(Type.String(), {
    description:
      '`logger_offline`: no edge is connected; the command is applied once one is. ' +
      '`no_permit_entry:<logger_id>`: the edge has no permit for the plant; the command lowers it, ' +
      'and neither its end nor its release raises it again (`raise_refused`) until the permit ' +
      'file at the plant has an entry for it. `below_lowest_limit:<logger_id>`: the share of a ' +
      'device of the plant is below the lowest limit that it follows, by its driver or `limit` ' +
      'of `site.yaml`; it is set to 0 and `observed_limit_kw` has what the plant may then deliver. ' +
      '`overlaps_group:<group_id>`: another command limits one of the plants at the same time, ' +
      'and the lowest limit applies; the first hundred such commands.',
  }),
  skipped: Type.Array(
    Named('SkippedPlant', {
      logger_id: Type.Integer({ examples: [4] }),
      reason: field.OneOf(['retired'], '`retired`: no longer in service.'),
    }),
    { description: 'Plants of the site that got no row.' },
  ),
})

export type CurtailmentRelease = Static<typeof CurtailmentRelease>
export const CurtailmentRelease = Named('CurtailmentRelease', {
  group_id: Type.String(),
  status: GroupStatus,
  schedules: Type.Array(CurtailmentRow),
  restored_count: field.Count('Rows whose plant is restored, as confirmed by read-back.', 1),
  pending_restore_count: field.Count(
    'Rows with status `releasing`: not confirmed by the edge yet.',
  ),
})
