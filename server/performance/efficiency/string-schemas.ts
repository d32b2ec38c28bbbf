/** Items of the string ranking, the health matrix and the comparison of an inverter. */

import { Type } from 'typebox'
import * as field from '../../http/fields.ts'
import {
  Closed,
  InverterId,
  LoggerId,
  Metric,
  Named,
  Nullable,
  StringIndex,
} from '../../http/params.ts'
import { orientations } from '../../plant/orientation.ts'
import { suspectedCauses } from '../diagnostics/string-cause.ts'
import { noDataReasons } from '../diagnostics/string-comparison.ts'
import { stringStatuses } from '../diagnostics/string-health.ts'
import { excludedReasons, periodFields } from '../period.ts'

export const healthRule =
  'The power per rated kW of a string is compared with the median of its peers: strings of the ' +
  'inverter with the same orientation and panels, over daylight instants without clipping and ' +
  'curtailment. With fewer than 4 such strings the reference is the expected power. Losses caused ' +
  'by a partner string on the same MPPT do not count; `affected_by_string_index` names the ' +
  'partner. Statuses: `watch` below 97 %; `underperforming` below 95 % with a robust z-score below ' +
  '-2.5, or below 97 % for 3 days; `critical` below 85 %; `dead` below 5 %. Against expected power ' +
  'the thresholds of `watch` and `underperforming` are 3 points lower.'

const Orientation = Type.Enum([...orientations], { examples: ['south'] })
const MpptIndex = Type.Integer({ minimum: 0, examples: [1] })
const dc_capacity_kwp = Type.Number({ examples: [10.92] })
const status = field.OneOf(stringStatuses, healthRule, 'underperforming')
const excluded_reason = field.OneOfOrNull(
  [...excludedReasons, ...noDataReasons],
  'Reason why the string is not rated; else `null`.',
)
const completeness_pct = Metric('Share of the daylight with readings, %.', 100)
const z_score = Metric(
  'Robust z-score in the group: deviation from the median in units of 1.4826 MAD, at least 1 %.',
  -3.97,
)

export const StringEfficiency = Named('StringEfficiency', {
  ...periodFields,
  orientation: Orientation,
  group: field.Text('Orientation of the group: azimuth and tilt.', '180/25'),
  group_size: field.Int('Connected strings of the group.', { minimum: 1, examples: [144] }),
  inverter_id: InverterId,
  string_index: StringIndex,
  logger_id: LoggerId,
  dc_capacity_kwp,
  completeness_pct,
  excluded_reason,
  energy_kwh: Metric(
    'DC energy, kWh: integral of current times voltage over the measured time.',
    410.221,
  ),
  specific_yield_kwh_kwp: Metric('Energy per capacity, kWh/kWp.', 37.566),
  group_median_kwh_kwp: Metric('Median specific yield of the group, kWh/kWp.', 39.1204),
  deviation_from_median_pct: Metric('Deviation of the specific yield from that median, %.', -4),
  avg_current_a: Metric('Mean current over the measured time, A.', 3.812),
  z_score: Metric('Robust z-score of the specific yield in the group.', -3.97),
  rank: field.IntOrNull(
    'Rank within the requested strings of the group; 1 is the best. `null` when the ' +
      'completeness is below 95 % of the highest completeness.',
    { minimum: 1, examples: [141] },
  ),
  percentile_pct: Metric('Share of the other strings of the group that are not better, %.', 2.1),
  status,
})

export const StringHealth = Named('StringHealth', {
  ...periodFields,
  inverter_id: InverterId,
  inverter_name: Type.String({ examples: ['Inverter 7'] }),
  logger_id: LoggerId,
  string_index: StringIndex,
  mppt_index: MpptIndex,
  orientation: Orientation,
  peer_group: field.Text(
    'Peer group: azimuth, tilt and panel model. For an assumed orientation ' +
      '(`orientation_assumed` in site.yaml): `assumed`, panel model, and number of the group by ' +
      'the hour of its energy, earliest first.',
    '180/25/1',
  ),
  peer_count: field.Count('Other strings of the group with enough data.', 11),
  compared_with: Nullable(Type.Enum(['peers', 'expected'], { examples: ['peers'] })),
  status,
  excluded_reason,
  completeness_pct,
  sample_count: field.Count('Samples in daylight.', 4410),
  health_score_pct: Metric('Power relative to the peers, at most 100 %.', 93.12),
  deviation_pct: Metric(
    'Deviation of the power from the peers, %, including losses caused by a partner.',
    -6.88,
  ),
  current_ratio_to_peers: Metric('Current divided by the median current of the peers.', 0.9312),
  voltage_ratio_to_peers: Metric('Voltage per rated kW divided by that of the peers.', 1.0004),
  z_score,
  affected_by_string_index: field.CountOrNull(
    'String on the same MPPT whose fault reduces the power of this string.',
  ),
  suspected_cause: field.OneOfOrNull(
    suspectedCauses,
    'Likely cause by the pattern of the loss over hours, current and voltage. `tracker` and ' +
      '`snow` are not reported yet: they require tracker devices and a snow sensor.',
    'soiling',
  ),
  confidence_pct: Metric(
    'Confidence in the suspected cause, %; a coarse estimate from simulated faults.',
    80,
  ),
  estimated_loss_kwh: Metric('Energy below the reference over the compared time, kWh.', 29.13),
  days_below_threshold: field.CountOrNull('Days of the period below the watch threshold.', 7),
  below_since_date: field.DayOrNull(
    'First local day of the current run of days below the threshold.',
    '2026-06-14',
  ),
  trend_pct_per_day: Metric(
    'Theil-Sen slope of the daily ratio, points per day; requires 3 days.',
    -0.021,
  ),
  step_loss_pct: Metric(
    'Small persistent loss, % of the yield, detected against the string’s own past and its peers. ' +
      'It does not change `status`. Detection runs every night for groups of at least 4 strings ' +
      'with 34 days of data; the loss is updated for 90 days. Of several losses at the end of ' +
      'the period, the newest is returned. Losses above 15 % show in `status` only.',
    1.42,
  ),
  step_loss_since_date: field.DayOrNull('Local day on which the loss began.', '2026-04-02'),
})

export const HealthThresholds = Named('HealthThresholds', {
  watch_pct: Type.Number({ examples: [97] }),
  underperforming_pct: Type.Number({ examples: [95] }),
  critical_pct: Type.Number({ examples: [85] }),
  dead_pct: Type.Number({ examples: [5] }),
})

export const ComparedString = Named('ComparedString', {
  ...periodFields,
  string_index: StringIndex,
  mppt_index: MpptIndex,
  dc_capacity_kwp,
  orientation: Orientation,
  completeness_pct,
  excluded_reason,
  avg_current_a: Metric('Mean current over the measured time, A.', 3.812),
  max_current_a: Metric('Highest current, A.', 11.2),
  avg_voltage_v: Metric('Mean voltage over the measured time, V.', 841.2),
  energy_kwh: Metric('DC energy, kWh.', 410.221),
  specific_yield_kwh_kwp: Metric('Energy per capacity, kWh/kWp.', 37.566),
  current_ratio_to_median: Metric('Current divided by the median current of the peers.', 0.9312),
  deviation_pct: Metric('Deviation of the power from the peers, %.', -6.88),
  correlation_with_median: Metric(
    'Pearson correlation of the hourly mean current with the median of the group, -1 to 1.',
    0.9998,
  ),
  zero_current_min: Metric('Time in daylight without current, minutes.', 0),
  status,
  affected_by_string_index: Nullable(Type.Integer({ minimum: 0 })),
  series: Type.Array(
    Closed({
      start_at: field.At('Inclusive.'),
      end_at: field.At('Exclusive.'),
      avg_current_a: Metric('Mean current over the measured time of the bucket, A.', 9.412),
    }),
    {
      description:
        'Hourly buckets for windows of up to 8 days, else buckets of local days. Buckets without ' +
        'readings are omitted. The first and last buckets end at the window.',
    },
  ),
})
