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
  code: Type.String({
    description: 'Code of the alarm; `alarm_1_bit_17` for a bit that is in no table.',
  }),
  name: Type.String(),
  severity: AlarmSeverity,
  asserted_since_at: Nullable(
    At('When the edge found it set in two consecutive polls; null where not reported.'),
  ),
}

const FaultWord = Type.Object(
  {
    pcs_idx: Count('The PCS, from 0.'),
    word_index: Type.Integer({ minimum: 1, maximum: 5, description: '1 for `alarm_1`.' }),
    register: Nullable(
      Type.Integer({ description: 'Always null: a word may combine parts of several registers.' }),
    ),
    raw: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, description: 'Value as read.' }),
    hex: Type.String({ examples: ['0x00000080'] }),
    is_available: Type.Boolean({
      description: 'False for the value by which the device marks the word as not available.',
    }),
    bits: Type.Array(Type.Object(FaultBit, closed('PcsFaultBit')), {
      description: 'Bits that are set, ascending.',
    }),
    table_id: Type.String({ description: 'Alarm table of the word.' }),
    table_version: Type.String(),
  },
  closed('PcsFaultWord'),
)

export type PcsFaults = Static<typeof PcsFaults>
export const PcsFaults = Type.Object(
  {
    measured_at: Nullable(
      At('Time of the oldest reading among the PCS; null if none was ever read.'),
    ),
    words: Type.Array(FaultWord, { description: 'Words that were read, by PCS and index.' }),
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
      Type.String({ description: 'Version of the table of the first word; null without words.' }),
    ),
  },
  closed('PcsFaults'),
)

export type AlarmTransition = Static<typeof AlarmTransition>
export const AlarmTransition = Type.Object(
  {
    event_id: Type.Integer({ minimum: 1, description: 'Unique within the site.' }),
    code: Type.String({ description: 'Code as in /bess/{bess_id}/alarms/states.' }),
    name: Type.String({ description: 'Name of the alarm; constant for a `code`.' }),
    message: Type.String({ description: 'Message of the edge.' }),
    source: AlarmSourceName,
    cluster_idx: ClusterIdx('The cluster; null for alarms of no cluster.'),
    pcs_idx: ClusterIdx('The PCS; null for alarms of no PCS.'),
    severity: AlarmSeverity,
    transition: Type.Enum(['set', 'cleared']),
    occurred_at: At('When the edge detected it.'),
    received_at: At('When the server received it.'),
    duration_s: Nullable(
      Type.Number({
        minimum: 0,
        description: 'How long the alarm was set, s; null unless cleared.',
      }),
    ),
    value: Nullable(
      Type.Number({ description: 'Value reported with the alarm, in `unit`; null without one.' }),
    ),
    unit: Nullable(Type.String()),
    soc_pct: Soc,
    power_kw: SomeKw(
      'Power of the unit at the time, kW; null without a reading within the minute before.',
    ),
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
    measured_at: Nullable(At('When the unit was last read; null if never.')),
    active: BySeverity,
    total_active: Count('Alarms that are set.'),
    last_24h: BySeverity,
    by_source: Type.Object(
      Object.fromEntries(
        alarmSources.map((source) => [source, Count('Set alarms of this source.')]),
      ) as Record<(typeof alarmSources)[number], ReturnType<typeof Count>>,
      closed('BatteryAlarmsBySource'),
    ),
    unacknowledged: Count('Set alarms without an acknowledged alert.'),
  },
  closed('BatteryAlarmCounts'),
)

export type DispatchEntry = Static<typeof DispatchEntry>
export const DispatchEntry = Type.Object(
  {
    dispatch_id: Type.Integer({ minimum: 1, description: 'Unique within the site.' }),
    issued_at: At('When the edge issued the setpoint.'),
    schedule_id: ScheduleId,
    hour: Nullable(
      Type.Integer({ minimum: 0, maximum: 23, description: 'UTC hour of the schedule.' }),
    ),
    interval_start_at: Nullable(At('Start of the scheduled hour or quarter hour.')),
    source: Type.Enum([...DispatchReport.properties.source.enum], {
      description:
        'Source of the setpoint: a schedule, or an `operator` where a curtailment leaves less than ' +
        'the schedule requests.',
    }),
    requested_power_kw: Type.Number({ description: 'Requested power, kW; positive discharges.' }),
    clamped_power_kw: SomeKw(
      'Power after limits, kW. Null in entries of older edges where the grid permit limits it, or ' +
        'nothing does.',
    ),
    clamp_reason: Nullable(
      Type.Enum([...clampReasons], {
        description:
          'What limits the power; null without a limit. `power_limit` is a limit of battery or PCS ' +
          'or, with `source` `operator`, a curtailment.',
      }),
    ),
    sent_at: Nullable(At('When the edge started to write it to the PCS.')),
    acknowledged_at: Nullable(
      At(
        'When every PCS first had the setpoint, by read-back; for a ramp, its first step. Equal to ' +
          '`issued_at` where the PCS had it before; null where it failed first.',
      ),
    ),
    achieved_power_kw: SomeKw('Measured power once the setpoint was reached, kW; null before.'),
    achieved_at: Nullable(At('When the setpoint was reached.')),
    soc_pct: Soc,
    status: Type.Enum([...DispatchReport.properties.status.enum], {
      description:
        'Progress of the setpoint. A failure after `achieved` is an entry of its own, and so is the ' +
        'setpoint after that.',
    }),
    failure_code: Nullable(Type.String({ description: 'Reason why it failed or expired.' })),
    latency_ms: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'From `issued_at` to `acknowledged_at`, ms; null where the PCS had the setpoint before and ' +
          'nothing was written.',
      }),
    ),
  },
  closed('BatteryDispatch'),
)

export const Tier = Type.Enum([...controlTiers], {
  description:
    'Deciding tier, highest first: `protection` of battery and PCS, the grid `permit`, an ' +
    '`operator`, the `dispatch` of approved schedules, an `optimizer`.',
  examples: ['protection'],
})

export type ControlEntry = Static<typeof ControlEntry>
export const ControlEntry = Type.Object(
  {
    log_id: Type.Integer({ minimum: 1, description: 'Unique within the site.' }),
    occurred_at: At('When the edge, or a key or person through the API, decided.'),
    tier: Tier,
    actor: Type.String({
      description: 'The deciding rule or schedule, or the name of the key or person.',
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
    from_power_kw: SomeKw('Power before, kW; null where unknown.'),
    to_power_kw: SomeKw('Power after, kW; null where unknown.'),
    reason_code: Type.String(),
    message: Type.String({ description: 'Description of the decision.' }),
    overrode_tier: Nullable(Tier),
    schedule_id: ScheduleId,
    alarm_code: Nullable(Type.String()),
    soc_pct: Soc,
    request_id: Nullable(
      Type.String({
        description: '`X-Request-Id` of the approval or rejection; null for entries of the edge.',
      }),
    ),
    success: Type.Boolean(),
  },
  closed('BatteryControlNote'),
)
