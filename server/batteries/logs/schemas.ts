import { clampReasons, controlTiers, DispatchReport } from '@heliograph/domain/dispatch'
import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { Named, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { AlarmSeverity, AlarmSourceName, alarmSources } from '../alarms.ts'

const Soc = field.PercentOrNull('State of charge at the time, %.', 72)
const ScheduleId = field.IntOrNull('See /bess/schedules/{schedule_id}.', {
  minimum: 1,
  examples: [41],
})

const FaultBit = {
  bit: field.Count('0 is the least significant.', { maximum: 31, examples: [7] }),
  code: field.Text('Code of the alarm; `alarm_1_bit_17` for a bit that is in no table.'),
  name: Type.String({ examples: ['Overtemperature'] }),
  severity: AlarmSeverity,
  asserted_since_at: field.AtOrNull(
    'When the edge found it set in two consecutive polls; null where not reported.',
    '2026-06-21T09:58:12.000Z',
  ),
}

const FaultWord = Named('PcsFaultWord', {
  pcs_idx: field.Count('The PCS, from 0.'),
  word_index: field.Int('1 for `alarm_1`.', { minimum: 1, maximum: 5 }),
  register: field.IntOrNull('Always null: a word may combine parts of several registers.'),
  raw: field.Count('Value as read.', { maximum: 2 ** 32 - 1, examples: [128] }),
  hex: Type.String({ examples: ['0x00000080'] }),
  is_available: field.Flag(
    'False for the value by which the device marks the word as not available.',
    true,
  ),
  bits: Type.Array(Named('PcsFaultBit', FaultBit), {
    description: 'Bits that are set, ascending.',
  }),
  table_id: field.Text('Alarm table of the word.', 'sunspec-inverter'),
  table_version: Type.String({ examples: ['1'] }),
})

export type PcsFaults = Static<typeof PcsFaults>
export const PcsFaults = Named('PcsFaults', {
  measured_at: field.AtOrNull(
    'Time of the oldest reading among the PCS; null if none was ever read.',
    '2026-06-21T10:00:04.000Z',
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
  active_count: field.Count('Bits that are set.', 1),
  highest_severity: Nullable(AlarmSeverity),
  table_version: field.TextOrNull('Version of the table of the first word; null without words.'),
})

export type AlarmTransition = Static<typeof AlarmTransition>
export const AlarmTransition = Named('BatteryAlarmTransition', {
  event_id: field.Int('Unique within the site.', { minimum: 1, examples: [5120] }),
  code: field.Text('Code as in /bess/{bess_id}/alarms/states.', 'OVER_TEMP_WARNING'),
  name: field.Text('Name of the alarm; constant for a `code`.', 'Overtemperature, pre-alarm'),
  message: field.Text('Message of the edge.', 'Overtemperature, pre-alarm'),
  source: AlarmSourceName,
  cluster_idx: field.CountOrNull('The cluster; null for alarms of no cluster.'),
  pcs_idx: field.CountOrNull('The PCS; null for alarms of no PCS.'),
  severity: AlarmSeverity,
  transition: Type.Enum(['set', 'cleared']),
  occurred_at: At('When the edge detected it.', '2026-06-21T09:41:30.000Z'),
  received_at: At('When the server received it.', '2026-06-21T09:41:30.640Z'),
  duration_s: field.FromZeroOrNull('How long the alarm was set, s; null unless cleared.'),
  value: field.NumOrNull('Value reported with the alarm, in `unit`; null without one.'),
  unit: Nullable(Type.String()),
  soc_pct: Soc,
  power_kw: field.NumOrNull(
    'Power of the unit at the time, kW; null without a reading within the minute before.',
    180.25,
  ),
})

const BySeverity = Named('BatteryAlarmsBySeverity', {
  info: field.Count('Of severity `info`.'),
  warning: field.Count('Of severity `warning`.', 1),
  major: field.Count('Of severity `major`.', 1),
  critical: field.Count('Of severity `critical`.'),
})

export type AlarmCounts = Static<typeof AlarmCounts>
export const AlarmCounts = Named('BatteryAlarmCounts', {
  measured_at: field.AtOrNull('When the unit was last read; null if never.'),
  active: BySeverity,
  total_active: field.Count('Alarms that are set.', 2),
  last_24h: BySeverity,
  by_source: Named(
    'BatteryAlarmsBySource',
    Object.fromEntries(
      alarmSources.map((source) => [source, field.Count('Set alarms of this source.')]),
    ) as Record<(typeof alarmSources)[number], ReturnType<typeof field.Count>>,
  ),
  unacknowledged: field.Count('Set alarms without an acknowledged alert.', 2),
})

export type DispatchEntry = Static<typeof DispatchEntry>
export const DispatchEntry = Named('BatteryDispatch', {
  dispatch_id: field.Int('Unique within the site.', { minimum: 1, examples: [812] }),
  issued_at: At('When the edge issued the setpoint.', '2026-06-21T09:00:00.000Z'),
  schedule_id: ScheduleId,
  hour: field.CountOrNull('UTC hour of the schedule.', { maximum: 23 }),
  interval_start_at: field.AtOrNull('Start of the scheduled hour or quarter hour.'),
  source: field.OneOf(
    DispatchReport.properties.source.enum,
    'Source of the setpoint: a schedule, or an `operator` where a curtailment leaves less than ' +
      'the schedule requests.',
    'schedule',
  ),
  requested_power_kw: field.Num('Requested power, kW; positive discharges.', 180),
  clamped_power_kw: field.NumOrNull(
    'Power after limits, kW. Null in entries of older edges where the grid permit limits it, or ' +
      'nothing does.',
    150,
  ),
  clamp_reason: field.OneOfOrNull(
    clampReasons,
    'What limits the power; null without a limit. `power_limit` is a limit of battery or PCS ' +
      'or, with `source` `operator`, a curtailment.',
    'power_limit',
  ),
  sent_at: field.AtOrNull('When the edge started to write it to the PCS.'),
  acknowledged_at: field.AtOrNull(
    'When every PCS first had the setpoint, by read-back; for a ramp, its first step. Equal to ' +
      '`issued_at` where the PCS had it before; null where it failed first.',
    '2026-06-21T09:00:00.420Z',
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
    'clamped',
  ),
  failure_code: field.TextOrNull('Reason why it failed or expired.'),
  latency_ms: field.IntOrNull(
    'From `issued_at` to `acknowledged_at`, ms; null where the PCS had the setpoint before and ' +
      'nothing was written.',
    { minimum: 1, examples: [420] },
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
  log_id: field.Int('Unique within the site.', { minimum: 1, examples: [340] }),
  occurred_at: At('When the edge, or a key or person through the API, decided.'),
  tier: Tier,
  actor: field.Text(
    'The deciding rule or schedule, or the name of the key or person.',
    'bms_limit',
  ),
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
  from_power_kw: field.NumOrNull('Power before, kW; null where unknown.', 180),
  to_power_kw: field.NumOrNull('Power after, kW; null where unknown.', 150),
  reason_code: Type.String({ examples: ['bms_limit'] }),
  message: field.Text('Description of the decision.', 'Limited by the BMS'),
  overrode_tier: Nullable(Tier),
  schedule_id: ScheduleId,
  alarm_code: Nullable(Type.String()),
  soc_pct: Soc,
  request_id: field.TextOrNull(
    '`X-Request-Id` of the approval or rejection; null for entries of the edge.',
  ),
  success: Type.Boolean({ examples: [true] }),
})
