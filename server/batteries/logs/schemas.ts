import { clampReasons, controlTiers, DispatchReport } from '@heliograph/domain/dispatch'
import { type Static, Type } from 'typebox'
import {
  AtOrNull,
  Closed,
  Count,
  CountOrNull,
  Flag,
  FromZeroOrNull,
  Int,
  IntOrNull,
  Num,
  NumOrNull,
  OneOf,
  OneOfOrNull,
  PercentOrNull,
  Text,
  TextOrNull,
} from '../../http/fields.ts'
import { Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { AlarmSeverity, AlarmSourceName, alarmSources } from '../alarms.ts'

const Soc = PercentOrNull('State of charge at the time, %.')
const ScheduleId = IntOrNull('See /bess/schedules/{schedule_id}.', { minimum: 1 })

const FaultBit = {
  bit: Count('0 is the least significant.', { maximum: 31 }),
  code: Text('Code of the alarm; `alarm_1_bit_17` for a bit that is in no table.'),
  name: Type.String(),
  severity: AlarmSeverity,
  asserted_since_at: AtOrNull(
    'When the edge found it set in two consecutive polls; null where not reported.',
  ),
}

const FaultWord = Closed('PcsFaultWord', {
  pcs_idx: Count('The PCS, from 0.'),
  word_index: Int('1 for `alarm_1`.', { minimum: 1, maximum: 5 }),
  register: IntOrNull('Always null: a word may combine parts of several registers.'),
  raw: Count('Value as read.', { maximum: 2 ** 32 - 1 }),
  hex: Type.String({ examples: ['0x00000080'] }),
  is_available: Flag('False for the value by which the device marks the word as not available.'),
  bits: Type.Array(Closed('PcsFaultBit', FaultBit), {
    description: 'Bits that are set, ascending.',
  }),
  table_id: Text('Alarm table of the word.'),
  table_version: Type.String(),
})

export type PcsFaults = Static<typeof PcsFaults>
export const PcsFaults = Closed('PcsFaults', {
  measured_at: AtOrNull('Time of the oldest reading among the PCS; null if none was ever read.'),
  words: Type.Array(FaultWord, { description: 'Words that were read, by PCS and index.' }),
  active: Type.Array(
    Closed('PcsFault', {
      pcs_idx: FaultWord.properties.pcs_idx,
      word_index: FaultWord.properties.word_index,
      ...FaultBit,
    }),
    { description: 'All bits that are set.' },
  ),
  active_count: Count('Bits that are set.'),
  highest_severity: Nullable(AlarmSeverity),
  table_version: TextOrNull('Version of the table of the first word; null without words.'),
})

export type AlarmTransition = Static<typeof AlarmTransition>
export const AlarmTransition = Closed('BatteryAlarmTransition', {
  event_id: Int('Unique within the site.', { minimum: 1 }),
  code: Text('Code as in /bess/{bess_id}/alarms/states.'),
  name: Text('Name of the alarm; constant for a `code`.'),
  message: Text('Message of the edge.'),
  source: AlarmSourceName,
  cluster_idx: CountOrNull('The cluster; null for alarms of no cluster.'),
  pcs_idx: CountOrNull('The PCS; null for alarms of no PCS.'),
  severity: AlarmSeverity,
  transition: Type.Enum(['set', 'cleared']),
  occurred_at: At('When the edge detected it.'),
  received_at: At('When the server received it.'),
  duration_s: FromZeroOrNull('How long the alarm was set, s; null unless cleared.'),
  value: NumOrNull('Value reported with the alarm, in `unit`; null without one.'),
  unit: Nullable(Type.String()),
  soc_pct: Soc,
  power_kw: NumOrNull(
    'Power of the unit at the time, kW; null without a reading within the minute before.',
  ),
})

const BySeverity = Closed('BatteryAlarmsBySeverity', {
  info: Count('Of severity `info`.'),
  warning: Count('Of severity `warning`.'),
  major: Count('Of severity `major`.'),
  critical: Count('Of severity `critical`.'),
})

export type AlarmCounts = Static<typeof AlarmCounts>
export const AlarmCounts = Closed('BatteryAlarmCounts', {
  measured_at: AtOrNull('When the unit was last read; null if never.'),
  active: BySeverity,
  total_active: Count('Alarms that are set.'),
  last_24h: BySeverity,
  by_source: Closed(
    'BatteryAlarmsBySource',
    Object.fromEntries(
      alarmSources.map((source) => [source, Count('Set alarms of this source.')]),
    ) as Record<(typeof alarmSources)[number], ReturnType<typeof Count>>,
  ),
  unacknowledged: Count('Set alarms without an acknowledged alert.'),
})

export type DispatchEntry = Static<typeof DispatchEntry>
export const DispatchEntry = Closed('BatteryDispatch', {
  dispatch_id: Int('Unique within the site.', { minimum: 1 }),
  issued_at: At('When the edge issued the setpoint.'),
  schedule_id: ScheduleId,
  hour: CountOrNull('UTC hour of the schedule.', { maximum: 23 }),
  interval_start_at: AtOrNull('Start of the scheduled hour or quarter hour.'),
  source: OneOf(
    DispatchReport.properties.source.enum,
    'Source of the setpoint: a schedule, or an `operator` where a curtailment leaves less than ' +
      'the schedule requests.',
  ),
  requested_power_kw: Num('Requested power, kW; positive discharges.'),
  clamped_power_kw: NumOrNull(
    'Power after limits, kW. Null in entries of older edges where the grid permit limits it, or ' +
      'nothing does.',
  ),
  clamp_reason: OneOfOrNull(
    clampReasons,
    'What limits the power; null without a limit. `power_limit` is a limit of battery or PCS ' +
      'or, with `source` `operator`, a curtailment.',
  ),
  sent_at: AtOrNull('When the edge started to write it to the PCS.'),
  acknowledged_at: AtOrNull(
    'When every PCS first had the setpoint, by read-back; for a ramp, its first step. Equal to ' +
      '`issued_at` where the PCS had it before; null where it failed first.',
  ),
  achieved_power_kw: NumOrNull('Measured power once the setpoint was reached, kW; null before.'),
  achieved_at: AtOrNull('When the setpoint was reached.'),
  soc_pct: Soc,
  status: OneOf(
    DispatchReport.properties.status.enum,
    'Progress of the setpoint. A failure after `achieved` is an entry of its own, and so is the ' +
      'setpoint after that.',
  ),
  failure_code: TextOrNull('Reason why it failed or expired.'),
  latency_ms: IntOrNull(
    'From `issued_at` to `acknowledged_at`, ms; null where the PCS had the setpoint before and ' +
      'nothing was written.',
    { minimum: 1 },
  ),
})

export const Tier = OneOf(
  controlTiers,
  'Deciding tier, highest first: `protection` of battery and PCS, the grid `permit`, an ' +
    '`operator`, the `dispatch` of approved schedules, an `optimizer`.',
  { examples: ['protection'] },
)

export type ControlEntry = Static<typeof ControlEntry>
export const ControlEntry = Closed('BatteryControlNote', {
  log_id: Int('Unique within the site.', { minimum: 1 }),
  occurred_at: At('When the edge, or a key or person through the API, decided.'),
  tier: Tier,
  actor: Text('The deciding rule or schedule, or the name of the key or person.'),
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
  from_power_kw: NumOrNull('Power before, kW; null where unknown.'),
  to_power_kw: NumOrNull('Power after, kW; null where unknown.'),
  reason_code: Type.String(),
  message: Text('Description of the decision.'),
  overrode_tier: Nullable(Tier),
  schedule_id: ScheduleId,
  alarm_code: Nullable(Type.String()),
  soc_pct: Soc,
  request_id: TextOrNull(
    '`X-Request-Id` of the approval or rejection; null for entries of the edge.',
  ),
  success: Type.Boolean(),
})
