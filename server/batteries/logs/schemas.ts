import { clampReasons, controlTiers, DispatchReport } from '@heliograph/domain/dispatch'
import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { Named, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { AlarmSeverity, AlarmSourceName, alarmSources } from '../alarms.ts'

const Soc = field.PercentOrNull('State of charge at the time, %.')
const ScheduleId = field.IntOrNull('See /bess/schedules/{schedule_id}.', { minimum: 1 })

const FaultBit = {
  bit: field.Count('0 is the least significant.', { maximum: 31 }),
  code: field.Text('Code of the alarm; `alarm_1_bit_17` for a bit that is in no table.'),
  name: Type.String(),
  severity: AlarmSeverity,
  asserted_since_at: field.AtOrNull(
    'When the edge found it set in two consecutive polls; null where not reported.',
  ),
}

const FaultWord = Named('PcsFaultWord', {
  pcs_idx: field.Count('The PCS, from 0.'),
  word_index: field.Int('1 for `alarm_1`.', { minimum: 1, maximum: 5 }),
  register: field.IntOrNull('Always null: a word may combine parts of several registers.'),
  raw: field.Count('Value as read.', { maximum: 2 ** 32 - 1 }),
  hex: Type.String({ examples: ['0x00000080'] }),
  is_available: field.Flag(
    'False for the value by which the device marks the word as not available.',
  ),
  bits: Type.Array(Named('PcsFaultBit', FaultBit), {
    description: 'Bits that are set, ascending.',
  }),
  table_id: field.Text('Alarm table of the word.'),
  table_version: Type.String(),
})

export type PcsFaults = Static<typeof PcsFaults>
export const PcsFaults = Named('PcsFaults', {
  measured_at: field.AtOrNull(
    'Time of the oldest reading among the PCS; null if none was ever read.',
  ),
  words: Type.Array(FaultWord, { description: 'Words that were read, by PCS and index.' }),
  active: Type.Array(
    Named('PcsFault', {
      pcs_idx: FaultWord.properties.pcs_idx,
      word_index: FaultWord.properties.word_index,
      ...FaultBit,
    }),
    { description: 'All bits that are set.' },
  ),
  active_count: field.Count('Bits that are set.'),
  highest_severity: Nullable(AlarmSeverity),
  table_version: field.TextOrNull('Version of the table of the first word; null without words.'),
})

export type AlarmTransition = Static<typeof AlarmTransition>
export const AlarmTransition = Named('BatteryAlarmTransition', {
  event_id: field.Int('Unique within the site.', { minimum: 1 }),
  code: field.Text('Code as in /bess/{bess_id}/alarms/states.'),
  name: field.Text('Name of the alarm; constant for a `code`.'),
  message: field.Text('Message of the edge.'),
  source: AlarmSourceName,
  cluster_idx: field.CountOrNull('The cluster; null for alarms of no cluster.'),
  pcs_idx: field.CountOrNull('The PCS; null for alarms of no PCS.'),
  severity: AlarmSeverity,
  transition: Type.Enum(['set', 'cleared']),
  occurred_at: At('When the edge detected it.'),
  received_at: At('When the server received it.'),
  duration_s: field.FromZeroOrNull('How long the alarm was set, s; null unless cleared.'),
  value: field.NumOrNull('Value reported with the alarm, in `unit`; null without one.'),
  unit: Nullable(Type.String()),
  soc_pct: Soc,
  power_kw: field.NumOrNull(
    'Power of the unit at the time, kW; null without a reading within the minute before.',
  ),
})

const BySeverity = Named('BatteryAlarmsBySeverity', {
  info: field.Count('Of severity `info`.'),
  warning: field.Count('Of severity `warning`.'),
  major: field.Count('Of severity `major`.'),
  critical: field.Count('Of severity `critical`.'),
})

export type AlarmCounts = Static<typeof AlarmCounts>
export const AlarmCounts = Named('BatteryAlarmCounts', {
  measured_at: field.AtOrNull('When the unit was last read; null if never.'),
  active: BySeverity,
  total_active: field.Count('Alarms that are set.'),
  last_24h: BySeverity,
  by_source: Named(
    'BatteryAlarmsBySource',
    Object.fromEntries(
      alarmSources.map((source) => [source, field.Count('Set alarms of this source.')]),
    ) as Record<(typeof alarmSources)[number], ReturnType<typeof field.Count>>,
  ),
  unacknowledged: field.Count('Set alarms without an acknowledged alert.'),
})

export type DispatchEntry = Static<typeof DispatchEntry>
export const DispatchEntry = Named('BatteryDispatch', {
  dispatch_id: field.Int('Unique within the site.', { minimum: 1 }),
  issued_at: At('When the edge issued the setpoint.'),
  schedule_id: ScheduleId,
  hour: field.CountOrNull('UTC hour of the schedule.', { maximum: 23 }),
  interval_start_at: field.AtOrNull('Start of the scheduled hour or quarter hour.'),
  source: field.OneOf(
    DispatchReport.properties.source.enum,
    'Source of the setpoint: a schedule, or an `operator` where a curtailment leaves less than ' +
      'the schedule requests.',
  ),
  requested_power_kw: field.Num('Requested power, kW; positive discharges.'),
  clamped_power_kw: field.NumOrNull(
    'Power after limits, kW. Null in entries of older edges where the grid permit limits it, or ' +
      'nothing does.',
  ),
  clamp_reason: field.OneOfOrNull(
    clampReasons,
    'What limits the power; null without a limit. `power_limit` is a limit of battery or PCS ' +
      'or, with `source` `operator`, a curtailment.',
  ),
  sent_at: field.AtOrNull('When the edge started to write it to the PCS.'),
  acknowledged_at: field.AtOrNull(
    'When every PCS first had the setpoint, by read-back; for a ramp, its first step. Equal to ' +
      '`issued_at` where the PCS had it before; null where it failed first.',
  ),
  achieved_power_kw: field.NumOrNull(
    'Measured power once the setpoint was reached, kW; null before.',
  ),
  achieved_at: field.AtOrNull('When the setpoint was reached.'),
  soc_pct: Soc,
  status: field.OneOf(
    DispatchReport.properties.status.enum,
    'Progress of the setpoint. A failure after `achieved` is an entry of its own, and so is the ' +
      'setpoint after that.',
  ),
  failure_code: field.TextOrNull('Reason why it failed or expired.'),
  latency_ms: field.IntOrNull(
    'From `issued_at` to `acknowledged_at`, ms; null where the PCS had the setpoint before and ' +
      'nothing was written.',
    { minimum: 1 },
  ),
})

export const Tier = field.OneOf(
  controlTiers,
  'Deciding tier, highest first: `protection` of battery and PCS, the grid `permit`, an ' +
    '`operator`, the `dispatch` of approved schedules, an `optimizer`.',
  'protection',
)

export type ControlEntry = Static<typeof ControlEntry>
export const ControlEntry = Named('BatteryControlNote', {
  log_id: field.Int('Unique within the site.', { minimum: 1 }),
  occurred_at: At('When the edge, or a key or person through the API, decided.'),
  tier: Tier,
  actor: field.Text('The deciding rule or schedule, or the name of the key or person.'),
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
  from_power_kw: field.NumOrNull('Power before, kW; null where unknown.'),
  to_power_kw: field.NumOrNull('Power after, kW; null where unknown.'),
  reason_code: Type.String(),
  message: field.Text('Description of the decision.'),
  overrode_tier: Nullable(Tier),
  schedule_id: ScheduleId,
  alarm_code: Nullable(Type.String()),
  soc_pct: Soc,
  request_id: field.TextOrNull(
    '`X-Request-Id` of the approval or rejection; null for entries of the edge.',
  ),
  success: Type.Boolean(),
})
