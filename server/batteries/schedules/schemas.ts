import { type Static, Type } from 'typebox'
import { id_max, Nullable } from '../../http/params.ts'
import { refusalCodes } from '../planning/refusal.ts'
import { ScheduleViolation } from '../schedule-plan.ts'
import { Schedule, scheduleObjectives } from '../schedules.ts'

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

/** Days from today on that can be planned: of later ones nobody forecasts a price. */
export const days_ahead_max = 2

export const targetDate = Type.Optional(
  Type.String({
    format: 'date',
    description: 'The day, UTC; today where none is given.',
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
          'The day to plan, UTC; today where none is given: then its hours that have not begun. ' +
          `At most ${days_ahead_max} days ahead.`,
        examples: ['2026-06-22'],
      }),
    ),
    objective: Type.Optional(
      Type.Enum([...scheduleObjectives], {
        default: 'arbitrage',
        description:
          '`arbitrage`: the most money, ageing counted. `self_consumption`: the least energy ' +
          'from the grid. `peak_shaving`: the lowest highest power from the grid. ' +
          '`capacity_firming`: power at the connection as steady as can be. `combined`: the most ' +
          'money, of which up to 2 % are given for lower peaks. What is left equal goes by money. ' +
          'Consumption behind the connection counts as forecast: see `inputs.consumption_kwh`.',
      }),
    ),
    soc_end_target_pct: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description:
          'At least so much is left at the end of the day. Left out: as the approved schedule of ' +
          'the day has it. Else a plan for money (`arbitrage`, `combined`) leaves what earns the ' +
          'most with the prices known and forecast up to a day later, and any other as much as ' +
          'the day began with, as far as can be.',
        examples: [50],
      }),
    ),
    idle: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Nothing is optimised: the approved schedule of the day is proposed with no power from ' +
          'now on, the running hour included, whatever is known of prices and of the unit. ' +
          'Approving that stops the unit. `nothing_approved` where nothing is. `objective` does ' +
          'not matter then, and there is no `soc_end_target_pct`.',
        examples: [true],
      }),
    ),
  },
  { ...closed, $id: 'BessOptimization' },
)

export const RejectBody = Type.Object(
  {
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'For those who read it.' })),
  },
  { ...closed, $id: 'BessScheduleRejection' },
)

export const HourBody = Type.Object(
  {
    power_kw: Type.Number({
      minimum: -1e9,
      maximum: 1e9,
      description:
        'The new target of the hour, all of its quarters alike; positive discharges. Within ' +
        '`min_power_kw` and `max_power_kw` of the hour, which are whole watts as all powers of ' +
        'plans are: what has more than three decimals is rounded to the watt.',
    }),
    note: Type.Optional(
      Type.String({ maxLength: 500, description: 'Why, for those who read it.' }),
    ),
  },
  { ...closed, $id: 'BessHourRevision' },
)

export const OptimizedAll = Type.Object(
  {
    data: Type.Array(Schedule, { description: 'One for each unit that was planned.' }),
    meta: Type.Object({ count: Type.Integer({ minimum: 0 }) }, closed),
    skipped: Type.Array(
      Type.Object(
        {
          bess_id: Type.Integer({ examples: [2] }),
          code: Type.Enum([...refusalCodes]),
          message: Type.String(),
          details: Type.Record(Type.String(), Type.Unknown(), {
            description:
              'What the error of `POST /bess/{bess_id}/optimize` says of it beside that, such as ' +
              '`missing_hours` or `bound_by`; empty where there is nothing to say.',
          }),
        },
        { ...closed, $id: 'SkippedUnit' },
      ),
      { description: 'All other units of the site, and why; empty where each was planned.' },
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
        'with what is approved it would feed in more than `export_plan_limit_kw`. `infeasible`: ' +
        'the unit cannot follow it from where the day before ends now.',
    }),
    hour: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 23,
        description: 'The first hour in which; null where it is no hour that keeps it back.',
        examples: [16],
      }),
    ),
    message: Type.String({
      description: 'Why, in a sentence.',
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
      description: 'Its day, UTC.',
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
      description: 'State of charge that its day begins with now, %.',
      examples: [34.3],
    }),
    previous_soc_start_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'State of charge that its day began with before this approval, %.',
      examples: [50.1],
    }),
  },
  { ...closed, $id: 'BrokenSchedule' },
)

const BrokenSchedules = Type.Array(BrokenSchedule, {
  description:
    'Approved schedules of later days that their unit cannot follow whole any more, since its day ' +
    'before is approved to end with another state of charge. They stay approved, and the edge ' +
    'follows them as far as it can: optimise their days again. Empty where none is broken.',
})

export const ApprovedSchedule = Type.Object(
  { ...Schedule.properties, broken_schedules: BrokenSchedules },
  { ...closed, $id: 'ApprovedBessSchedule' },
)

export const ApprovedAll = Type.Object(
  {
    approved: Type.Array(Type.Integer({ minimum: 1 }), {
      description: 'Ids of schedules, by unit.',
    }),
    skipped: Type.Array(SkippedSchedule, {
      description:
        'Proposed ones of the day that could not be, by id. They stay proposed; empty where all ' +
        'were approved.',
    }),
    broken_schedules: BrokenSchedules,
  },
  { ...closed, $id: 'BessApprovals' },
)
