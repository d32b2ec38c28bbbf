import { objectives } from '@heliograph/optimize/dispatch-problem'
import { type Static, Type } from 'typebox'
import { id_max, Nullable } from '../../http/params.ts'
import { refusalCodes } from '../planning/refusal.ts'
import { ScheduleViolation } from '../schedule-plan.ts'
import { Schedule } from '../schedules.ts'

const closed = { additionalProperties: false } as const

export const BessId = Type.Integer({
  minimum: 0,
  maximum: id_max,
  description: 'A battery unit of the site.',
  examples: [1],
})
export const ScheduleId = Type.Integer({
  minimum: 0,
  maximum: id_max,
  description: 'A schedule of the site.',
  examples: [41],
})

/** Days ahead that can be planned; no price forecast covers later days. */
export const days_ahead_max = 2

export const targetDate = Type.Optional(
  Type.String({
    format: 'date',
    description: 'UTC day. Defaults to today.',
    examples: ['2026-06-21'],
  }),
)

export type OptimizeBody = Static<typeof OptimizeBody>
export const OptimizeBody = Type.Object(
  {
    target_date: Type.Optional(
      Type.String({
        format: 'date',
        description:
          'UTC day to plan. Defaults to today, of which only hours that have not begun are ' +
          `planned. At most ${days_ahead_max} days ahead.`,
        examples: ['2026-06-22'],
      }),
    ),
    objective: Type.Optional(
      Type.Enum([...objectives], {
        default: 'arbitrage',
        description:
          '`arbitrage`: highest net revenue, ageing included. `self_consumption`: least energy ' +
          'from the grid. `peak_shaving`: lowest peak power from the grid. `capacity_firming`: ' +
          'steadiest power at the connection. `combined`: highest net revenue, of which up to 2 % ' +
          'are traded for lower peaks. Among equal plans the one with the highest net revenue is ' +
          'chosen. Consumption behind the connection is forecast: see `inputs.consumption_kwh`.',
      }),
    ),
    soc_end_target_pct: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description:
          'Minimum state of charge at the end of the day, %. Defaults to that of the approved ' +
          'schedule of the day. Without one, a plan for revenue (`arbitrage`, `combined`) chooses ' +
          'the most profitable value by published and forecast prices of the next day, and any ' +
          'other plan aims for the value at the start of the day.',
        examples: [50],
      }),
    ),
    idle: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Proposes the approved schedule of the day with zero power from now on, including the ' +
          'running hour, without an optimisation and without prices or readings. Approving the ' +
          'proposal stops the unit. Rejected with 409 `nothing_approved` when the day has no ' +
          'approved schedule, and with 422 when `soc_end_target_pct` is given. `objective` is ' +
          'ignored.',
        examples: [true],
      }),
    ),
  },
  { ...closed, $id: 'BessOptimization' },
)

export const RejectBody = Type.Object(
  {
    reason: Type.Optional(
      Type.String({ maxLength: 500, description: 'Reason for the rejection.' }),
    ),
  },
  { ...closed, $id: 'BessScheduleRejection' },
)

export const HourBody = Type.Object(
  {
    power_kw: Type.Number({
      minimum: -1e9,
      maximum: 1e9,
      description:
        'New target of the hour and of all its quarters, kW; positive discharges. Must be within ' +
        '`min_power_kw` and `max_power_kw` of the hour. Rounded to whole watts, as all powers of ' +
        'plans.',
    }),
    note: Type.Optional(Type.String({ maxLength: 500, description: 'Reason for the change.' })),
  },
  { ...closed, $id: 'BessHourRevision' },
)

export const OptimizedAll = Type.Object(
  {
    data: Type.Array(Schedule, { description: 'Proposed schedules, one for each planned unit.' }),
    meta: Type.Object({ count: Type.Integer({ minimum: 0 }) }, closed),
    skipped: Type.Array(
      Type.Object(
        {
          bess_id: Type.Integer({ examples: [2] }),
          code: Type.Enum([...refusalCodes]),
          message: Type.String(),
          details: Type.Record(Type.String(), Type.Unknown(), {
            description:
              'Further error details as in `POST /bess/{bess_id}/optimize`, such as ' +
              '`missing_hours` or `bound_by`; may be empty.',
          }),
        },
        { ...closed, $id: 'SkippedUnit' },
      ),
      { description: 'Units that were not planned, with the reason.' },
    ),
  },
  { ...closed, $id: 'BessOptimizations' },
)

export type SkippedSchedule = Static<typeof SkippedSchedule>
const SkippedSchedule = Type.Object(
  {
    schedule_id: Type.Integer({ minimum: 1, examples: [42] }),
    code: Type.Enum(['expired', 'unit_retired', 'export_limit', 'infeasible'], {
      description:
        '`expired`: its day is over. `unit_retired`: its unit is out of service. `export_limit`: ' +
        'together with approved schedules it would exceed `export_plan_limit_kw`. `infeasible`: ' +
        'the unit cannot follow it from the state of charge at the end of the day before.',
    }),
    hour: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 23,
        description: 'First hour concerned, UTC; null for reasons that concern no hour.',
        examples: [16],
      }),
    ),
    message: Type.String({
      description: 'Reason as a sentence.',
      examples: ['The day 2026-06-20 is over.'],
    }),
    remedy: Type.String({
      description: 'What would make the schedule approvable.',
      examples: ['Plan a later day: POST /bess/{bess_id}/optimize.'],
    }),
  },
  { ...closed, $id: 'SkippedSchedule' },
)

export type BrokenSchedule = Static<typeof BrokenSchedule>
const BrokenSchedule = Type.Object(
  {
    schedule_id: Type.Integer({ minimum: 1, examples: [43] }),
    bess_id: Type.Integer({ minimum: 1, examples: [1] }),
    target_date: Type.String({
      format: 'date',
      description: 'UTC day of the schedule.',
      examples: ['2026-06-22'],
    }),
    constraint: ScheduleViolation.properties.constraint,
    hour: Type.Integer({
      minimum: 0,
      maximum: 23,
      description: 'First hour of the day that cannot be followed, UTC.',
      examples: [18],
    }),
    soc_start_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'State of charge at the start of its day after this approval, %.',
      examples: [34.3],
    }),
    previous_soc_start_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'State of charge at the start of its day before this approval, %.',
      examples: [50.1],
    }),
  },
  { ...closed, $id: 'BrokenSchedule' },
)

const BrokenSchedules = Type.Array(BrokenSchedule, {
  description:
    'Approved schedules of later days that their unit can no longer follow completely, since the ' +
    'day before now ends with another state of charge. They stay approved, and the edge follows ' +
    'them as far as possible; optimise those days again.',
})

export const ApprovedSchedule = Type.Object(
  { ...Schedule.properties, broken_schedules: BrokenSchedules },
  { ...closed, $id: 'ApprovedBessSchedule' },
)

export const ApprovedAll = Type.Object(
  {
    approved: Type.Array(Type.Integer({ minimum: 1 }), {
      description: 'Ids of the approved schedules, by unit.',
    }),
    skipped: Type.Array(SkippedSchedule, {
      description: 'Proposals of the day that could not be approved, by id. They stay proposed.',
    }),
    broken_schedules: BrokenSchedules,
  },
  { ...closed, $id: 'BessApprovals' },
)
