import { objectives } from '@heliograph/optimize/dispatch-problem'
import { type Static, Type } from 'typebox'
import { List } from '../../http/envelope.ts'
import * as field from '../../http/fields.ts'
import { id_max, Named } from '../../http/params.ts'
import { refusalCodes } from '../planning/refusal.ts'
import { ScheduleViolation } from '../schedule-plan.ts'
import { Schedule } from '../schedules.ts'

export const ScheduleId = field.Count('A schedule of the site.', {
  maximum: id_max,
  examples: [41],
})

/** Days ahead that can be planned; no price forecast covers later days. */
export const days_ahead_max = 2

export type OptimizeBody = Static<typeof OptimizeBody>
export const OptimizeBody = Named('BessOptimization', {
  target_date: Type.Optional(
    field.Text(
      'UTC day to plan. Defaults to today, of which only hours that have not begun are ' +
        `planned. At most ${days_ahead_max} days ahead.`,
      { format: 'date', examples: ['2026-06-22'] },
    ),
  ),
  objective: Type.Optional(
    field.OneOf(
      objectives,
      '`arbitrage`: highest net revenue, ageing included. `self_consumption`: least energy ' +
        'from the grid. `peak_shaving`: lowest peak power from the grid. `capacity_firming`: ' +
        'steadiest power at the connection. `combined`: highest net revenue, of which up to 2 % ' +
        'are traded for lower peaks. Among equal plans the one with the highest net revenue is ' +
        'chosen. Consumption behind the connection is forecast: see `inputs.consumption_kwh`.',
      { default: 'arbitrage' },
    ),
  ),
  soc_end_target_pct: Type.Optional(
    field.Percent(
      'Minimum state of charge at the end of the day, %. Defaults to that of the approved ' +
        'schedule of the day. Without one, a plan for revenue (`arbitrage`, `combined`) chooses ' +
        'the most profitable value by published and forecast prices of the next day, and any ' +
        'other plan aims for the value at the start of the day.',
      50,
    ),
  ),
  idle: Type.Optional(
    field.Flag(
      'Proposes the approved schedule of the day with zero power from now on, including the ' +
        'running hour, without an optimisation and without prices or readings. Approving the ' +
        'proposal stops the unit. Rejected with 409 `nothing_approved` when the day has no ' +
        'approved schedule, and with 422 when `soc_end_target_pct` is given. `objective` is ' +
        'ignored.',
      { default: false, examples: [true] },
    ),
  ),
})

export const RejectBody = Named('BessScheduleRejection', {
  reason: Type.Optional(field.Text('Reason for the rejection.', { maxLength: 500 })),
})

export const HourBody = Named('BessHourRevision', {
  power_kw: field.Num(
    'New target of the hour and of all its quarters, kW; positive discharges. Must be within ' +
      '`min_power_kw` and `max_power_kw` of the hour. Rounded to whole watts, as all powers of ' +
      'plans.',
    { minimum: -1e9, maximum: 1e9 },
  ),
  note: Type.Optional(field.Text('Reason for the change.', { maxLength: 500 })),
})

export const OptimizedAll = Named('BessOptimizations', {
  ...List(Schedule).properties,
  skipped: Type.Array(
    Named('SkippedUnit', {
      bess_id: Type.Integer({ examples: [2] }),
      code: Type.Enum([...refusalCodes]),
      message: Type.String(),
      details: Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Further error details as in `POST /bess/{bess_id}/optimize`, such as ' +
          '`missing_hours` or `bound_by`; may be empty.',
      }),
    }),
    { description: 'Units that were not planned, with the reason.' },
  ),
})

export type SkippedSchedule = Static<typeof SkippedSchedule>
const SkippedSchedule = Named('SkippedSchedule', {
  schedule_id: Type.Integer({ minimum: 1, examples: [42] }),
  code: field.OneOf(
    ['expired', 'unit_retired', 'export_limit', 'infeasible'],
    '`expired`: its day is over. `unit_retired`: its unit is out of service. `export_limit`: ' +
      'together with approved schedules it would exceed `export_plan_limit_kw`. `infeasible`: ' +
      'the unit cannot follow it from the state of charge at the end of the day before.',
  ),
  hour: field.CountOrNull('First hour concerned, UTC; null for reasons that concern no hour.', {
    maximum: 23,
    examples: [16],
  }),
  message: field.Text('Reason as a sentence.', 'The day 2026-06-20 is over.'),
  remedy: field.Text('What would make the schedule approvable.', {
    examples: ['Plan a later day: POST /bess/{bess_id}/optimize.'],
  }),
})

export type BrokenSchedule = Static<typeof BrokenSchedule>
const BrokenSchedule = Named('BrokenSchedule', {
  schedule_id: Type.Integer({ minimum: 1, examples: [43] }),
  bess_id: Type.Integer({ minimum: 1, examples: [1] }),
  target_date: field.Text('UTC day of the schedule.', { format: 'date', examples: ['2026-06-22'] }),
  constraint: ScheduleViolation.properties.constraint,
  hour: field.Count('First hour of the day that cannot be followed, UTC.', {
    maximum: 23,
    examples: [18],
  }),
  soc_start_pct: field.Percent(
    'State of charge at the start of its day after this approval, %.',
    34.3,
  ),
  previous_soc_start_pct: field.Percent(
    'State of charge at the start of its day before this approval, %.',
    50.1,
  ),
})

const BrokenSchedules = Type.Array(BrokenSchedule, {
  description:
    'Approved schedules of later days that their unit can no longer follow completely, since the ' +
    'day before now ends with another state of charge. They stay approved, and the edge follows ' +
    'them as far as possible; optimise those days again.',
})

export const ApprovedSchedule = Named('ApprovedBessSchedule', {
  ...Schedule.properties,
  broken_schedules: BrokenSchedules,
})

export const ApprovedAll = Named('BessApprovals', {
  approved: Type.Array(Type.Integer({ minimum: 1 }), {
    description: 'Ids of the approved schedules, by unit.',
  }),
  skipped: Type.Array(SkippedSchedule, {
    description: 'Proposals of the day that could not be approved, by id. They stay proposed.',
  }),
  broken_schedules: BrokenSchedules,
})
