import { clampReasons, controlTiers, DispatchReport } from '@heliograph/domain/dispatch'
import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { AlarmSeverity, AlarmSourceName, alarmSources, ClusterIdx } from '../alarms.ts'

const closed = ($id?: string) =>
  $id === undefined ? { additionalProperties: false } : { additionalProperties: false, $id }
const Count = (description: string) => Type.Integer({ minimum: 0, description })
const SomeKw = (description: string) => Nullable(Type.Number({ description }))
const Soc = Nullable(
  Type.Number({ minimum: 0, maximum: 100, description: 'State of charge at the time, %.' }),
)
const ScheduleId = Nullable(
  Type.Integer({ minimum: 1, description: 'See /bess/schedules/{schedule_id}.' }),
)

const FaultBit = {
  bit: Type.Integer({ minimum: 0, maximum: 31, description: '0 is the least significant.' }),
  code: Type.String({ description: '`alarm_1_bit_17` for a bit that no table explains.' }),
  name: Type.String(),
  severity: AlarmSeverity,
  asserted_since_at: Nullable(
    At('Since when the edge saw it set in two polls in a row; null where it did not say.'),
  ),
}

const FaultWord = Type.Object(
  {
    pcs_idx: Count('The PCS, from 0.'),
    word_index: Type.Integer({ minimum: 1, maximum: 5, description: '1 for `alarm_1`.' }),
    register: Nullable(
      Type.Integer({ description: 'Null: a word may be made of parts of several registers.' }),
    ),
    raw: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, description: 'As it was read.' }),
    hex: Type.String({ examples: ['0x00000080'] }),
    is_available: Type.Boolean({
      description: 'False for a value by which the device says that it has no such word.',
    }),
    bits: Type.Array(Type.Object(FaultBit, closed('PcsFaultBit')), {
      description: 'Those that are set, ascending.',
    }),
    table_id: Type.String({ description: 'The table that explains them.' }),
    table_version: Type.String(),
  },
  closed('PcsFaultWord'),
)

export type PcsFaults = Static<typeof PcsFaults>
export const PcsFaults = Type.Object(
  {
    measured_at: Nullable(
      At('Of the PCS that was read longest ago; null while none was ever read.'),
    ),
    words: Type.Array(FaultWord, { description: 'Those that were read, by PCS and index.' }),
    active: Type.Array(
      Type.Object(
        {
          pcs_idx: FaultWord.properties.pcs_idx,
          word_index: FaultWord.properties.word_index,
          ...FaultBit,
        },
        closed('PcsFault'),
      ),
      { description: 'All bits that are set.' },
    ),
    active_count: Count('Bits that are set.'),
    highest_severity: Nullable(AlarmSeverity),
    table_version: Nullable(
      Type.String({ description: 'Of the table of the first word; null without any.' }),
    ),
  },
  closed('PcsFaults'),
)

export type AlarmTransition = Static<typeof AlarmTransition>
export const AlarmTransition = Type.Object(
  {
    event_id: Type.Integer({ minimum: 1, description: 'Unique within the site.' }),
    code: Type.String({ description: 'As in /bess/{bess_id}/alarms/states.' }),
    name: Type.String({ description: 'What it is called: the same at all times, for one `code`.' }),
    message: Type.String({ description: 'What the edge said of it, for people.' }),
    source: AlarmSourceName,
    cluster_idx: ClusterIdx('The cluster; null for what is of none.'),
    pcs_idx: ClusterIdx('The PCS; null for what is of none.'),
    severity: AlarmSeverity,
    transition: Type.Enum(['set', 'cleared']),
    occurred_at: At('When the edge noticed it.'),
    received_at: At('When the server learned of it.'),
    duration_s: Nullable(
      Type.Number({
        minimum: 0,
        description: 'For how long it was set, once it is cleared; else null.',
      }),
    ),
    value: Nullable(
      Type.Number({ description: 'What the device said beside it, where it did; in `unit`.' }),
    ),
    unit: Nullable(Type.String()),
    soc_pct: Soc,
    power_kw: SomeKw('Power of the unit at the time; null where it was not read in the minute.'),
  },
  closed('BatteryAlarmTransition'),
)

const BySeverity = Type.Object(
  {
    info: Count('Of severity `info`.'),
    warning: Count('Of severity `warning`.'),
    major: Count('Of severity `major`.'),
    critical: Count('Of severity `critical`.'),
  },
  closed('BatteryAlarmsBySeverity'),
)

export type AlarmCounts = Static<typeof AlarmCounts>
export const AlarmCounts = Type.Object(
  {
    measured_at: Nullable(At('When the unit was read last; null if never.')),
    active: BySeverity,
    total_active: Count('Alarms that are set.'),
    last_24h: BySeverity,
    by_source: Type.Object(
      Object.fromEntries(
        alarmSources.map((source) => [source, Count('Alarms of it that are set.')]),
      ) as Record<(typeof alarmSources)[number], ReturnType<typeof Count>>,
      closed('BatteryAlarmsBySource'),
    ),
    unacknowledged: Count(
      'Alarms that are set and whose alert nobody acknowledged; those without an alert, too.',
    ),
  },
  closed('BatteryAlarmCounts'),
)

export type DispatchEntry = Static<typeof DispatchEntry>
export const DispatchEntry = Type.Object(
  {
    dispatch_id: Type.Integer({ minimum: 1, description: 'Unique within the site.' }),
    issued_at: At('When the edge decided on it.'),
    schedule_id: ScheduleId,
    hour: Nullable(
      Type.Integer({ minimum: 0, maximum: 23, description: 'Of the schedule, in UTC.' }),
    ),
    interval_start_at: Nullable(At('When the hour or quarter hour began that asks for it.')),
    source: Type.Enum([...DispatchReport.properties.source.enum], {
      description:
        'Who decided on it: a schedule, or an `operator` where a curtailment leaves less than the ' +
        'schedule asks for.',
    }),
    requested_power_kw: Type.Number({ description: 'Asked for; positive discharges.' }),
    clamped_power_kw: SomeKw(
      'What was left of it: all of it where nothing held it down. Null where the grid permit did, ' +
        'of which no figure is told; and in entries of earlier edges, where nothing did.',
    ),
    clamp_reason: Nullable(
      Type.Enum([...clampReasons], {
        description:
          'What held it down; null: nothing. `power_limit` is a limit of battery or PCS and, where ' +
          '`source` is `operator`, a curtailment.',
      }),
    ),
    sent_at: Nullable(At('When the edge began to tell the PCS.')),
    acknowledged_at: Nullable(
      At(
        'When it was first seen in each PCS, by what is read back after a write: of a ramp, its ' +
          'first step. As early as `issued_at` where it stood there before; null where it failed ' +
          'before that.',
      ),
    ),
    achieved_power_kw: SomeKw('Measured once the PCS had come to it; null before.'),
    achieved_at: Nullable(At('When it had.')),
    soc_pct: Soc,
    status: Type.Enum([...DispatchReport.properties.status.enum], {
      description:
        'How far it came. That is not taken back: a failure after it was `achieved` is an entry of ' +
        'its own, and so is what goes on after that.',
    }),
    failure_code: Nullable(Type.String({ description: 'Why it failed or expired.' })),
    latency_ms: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'From `issued_at` to `acknowledged_at`; null where it stood in the PCS before, so that ' +
          'nothing had to be told.',
      }),
    ),
  },
  closed('BatteryDispatch'),
)

export const Tier = Type.Enum([...controlTiers], {
  description:
    'Who decides, the highest first: `protection` of battery and PCS, the grid `permit`, an ' +
    '`operator`, the `dispatch` of approved schedules, an `optimizer`.',
  examples: ['protection'],
})

export type ControlEntry = Static<typeof ControlEntry>
export const ControlEntry = Type.Object(
  {
    log_id: Type.Integer({ minimum: 1, description: 'Unique within the site.' }),
    occurred_at: At('When the edge, or a person by the API, decided so.'),
    tier: Tier,
    actor: Type.String({
      description: 'The rule or the schedule that decided, or the name of the key or person.',
    }),
    action: Type.Enum([
      'setpoint',
      'hold',
      'stop',
      'start',
      'clamp',
      'release',
      'handover',
      'watchdog',
      'approve',
      'reject',
    ]),
    from_power_kw: SomeKw('Before; null where not known, or where the grid permit held it.'),
    to_power_kw: SomeKw(
      'From then on; null where not known, where the grid permit holds it, and while what it is ' +
        'told may tell of that.',
    ),
    reason_code: Type.String(),
    message: Type.String({ description: 'For people.' }),
    overrode_tier: Nullable(Tier),
    schedule_id: ScheduleId,
    alarm_code: Nullable(Type.String()),
    soc_pct: Soc,
    request_id: Nullable(
      Type.String({
        description: 'Of the request that approved or rejected a schedule; null of the edge.',
      }),
    ),
    success: Type.Boolean(),
  },
  closed('BatteryControlNote'),
)
