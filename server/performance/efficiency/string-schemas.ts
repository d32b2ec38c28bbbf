/** Items of the string ranking, the health matrix and the comparison of an inverter. */
import { Type } from 'typebox'
import { InverterId, LoggerId, Nullable, StringIndex } from '../../http/params.ts'
import { orientations } from '../../plant/orientation.ts'
import { periodFields } from '../period.ts'

const closed = { additionalProperties: false } as const
const number = (description: string) => Nullable(Type.Number({ description }))

const healthStatuses = [
  'healthy',
  'watch',
  'underperforming',
  'critical',
  'dead',
  'no_data',
] as const

const noDataReasons = [
  'no_daylight',
  'insufficient_data',
  'not_connected',
  'no_samples',
  'no_light',
  'limited',
  'stale',
  'low_coverage',
  'too_few_samples',
  'too_few_peers',
  'peers_bad',
  'not_producing',
] as const

const suspectedCauses = [
  'soiling',
  'shading',
  'fuse',
  'connector',
  'bypass_diode',
  'tracker',
  'snow',
  'unknown',
] as const

export const healthRule =
  'The power per rated kW of a string is compared with the median of its peers: strings of the ' +
  'inverter with the same orientation and panels, over daylight instants without clipping and ' +
  'curtailment. With fewer than 4 such strings the reference is the expected power. Losses caused ' +
  'by a partner string on the same MPPT do not count; `affected_by_string_index` names the ' +
  'partner. Statuses: `watch` below 97 %; `underperforming` below 95 % with a robust z-score below ' +
  '-2.5, or below 97 % for 3 days; `critical` below 85 %; `dead` below 5 %. Against expected power ' +
  'the thresholds of `watch` and `underperforming` are 3 points lower.'

const status = Type.Enum([...healthStatuses], { description: healthRule })
const excluded_reason = Nullable(
  Type.Enum([...noDataReasons], {
    description: 'Reason why the string is not rated; else `null`.',
  }),
)
const completeness_pct = number('Share of the daylight with readings, %.')
const z_score = number(
  'Robust z-score in the group: deviation from the median in units of 1.4826 MAD, at least 1 %.',
)

export const StringEfficiency = Type.Object(
  {
    ...periodFields,
    orientation: Type.Enum([...orientations]),
    group: Type.String({
      description: 'Orientation of the group: azimuth and tilt, such as `180/25`.',
    }),
    group_size: Type.Integer({ minimum: 1, description: 'Connected strings of the group.' }),
    inverter_id: InverterId,
    string_index: StringIndex,
    logger_id: LoggerId,
    dc_capacity_kwp: Type.Number(),
    completeness_pct: number('Share of the daylight with readings, %.'),
    excluded_reason,
    energy_kwh: number('DC energy, kWh: integral of current times voltage over the measured time.'),
    specific_yield_kwh_kwp: number('Energy per capacity, kWh/kWp.'),
    group_median_kwh_kwp: number('Median specific yield of the group, kWh/kWp.'),
    deviation_from_median_pct: number('Deviation of the specific yield from that median, %.'),
    avg_current_a: number('Mean current over the measured time, A.'),
    z_score: number('Robust z-score of the specific yield in the group.'),
    rank: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Rank within the requested strings of the group; 1 is the best. `null` when the ' +
          'completeness is below 95 % of the highest completeness.',
      }),
    ),
    percentile_pct: number('Share of the other strings of the group that are not better, %.'),
    status,
  },
  { ...closed, $id: 'StringEfficiency' },
)

export const StringHealth = Type.Object(
  {
    ...periodFields,
    inverter_id: InverterId,
    inverter_name: Type.String(),
    logger_id: LoggerId,
    string_index: StringIndex,
    mppt_index: Type.Integer({ minimum: 0 }),
    orientation: Type.Enum([...orientations]),
    peer_group: Type.String({
      description:
        'Peer group: azimuth, tilt and panel model. For an assumed orientation ' +
        '(`orientation_assumed` in site.yaml): `assumed`, panel model, and number of the group by ' +
        'the hour of its energy, earliest first.',
    }),
    peer_count: Type.Integer({
      minimum: 0,
      description: 'Other strings of the group with enough data.',
    }),
    compared_with: Nullable(Type.Enum(['peers', 'expected'])),
    status,
    excluded_reason,
    completeness_pct,
    sample_count: Type.Integer({ minimum: 0, description: 'Samples in daylight.' }),
    health_score_pct: number('Power relative to the peers, at most 100 %.'),
    deviation_pct: number(
      'Deviation of the power from the peers, %, including losses caused by a partner.',
    ),
    current_ratio_to_peers: number('Current divided by the median current of the peers.'),
    voltage_ratio_to_peers: number('Voltage per rated kW divided by that of the peers.'),
    z_score,
    affected_by_string_index: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'String on the same MPPT whose fault reduces the power of this string.',
      }),
    ),
    suspected_cause: Nullable(
      Type.Enum([...suspectedCauses], {
        description:
          'Likely cause by the pattern of the loss over hours, current and voltage. `tracker` and ' +
          '`snow` are not reported yet: they require tracker devices and a snow sensor.',
      }),
    ),
    confidence_pct: number(
      'Confidence in the suspected cause, %; a coarse estimate from simulated faults.',
    ),
    estimated_loss_kwh: number('Energy below the reference over the compared time, kWh.'),
    days_below_threshold: Nullable(
      Type.Integer({ minimum: 0, description: 'Days of the period below the watch threshold.' }),
    ),
    below_since_date: Nullable(
      Type.String({
        format: 'date',
        description: 'First local day of the current run of days below the threshold.',
      }),
    ),
    trend_pct_per_day: number(
      'Theil-Sen slope of the daily ratio, points per day; requires 3 days.',
    ),
    step_loss_pct: number(
      'Small persistent loss, % of the yield, detected against the string’s own past and its peers. ' +
        'It does not change `status`. Detection runs every night for groups of at least 4 strings ' +
        'with 34 days of data; the loss is updated for 90 days. Of several losses at the end of ' +
        'the period, the newest is returned. Losses above 15 % show in `status` only.',
    ),
    step_loss_since_date: Nullable(
      Type.String({ format: 'date', description: 'Local day on which the loss began.' }),
    ),
  },
  { ...closed, $id: 'StringHealth' },
)

export const HealthThresholds = Type.Object(
  {
    watch_pct: Type.Number(),
    underperforming_pct: Type.Number(),
    critical_pct: Type.Number(),
    dead_pct: Type.Number(),
  },
  { ...closed, $id: 'HealthThresholds' },
)

export const ComparedString = Type.Object(
  {
    ...periodFields,
    string_index: StringIndex,
    mppt_index: Type.Integer({ minimum: 0 }),
    dc_capacity_kwp: Type.Number(),
    orientation: Type.Enum([...orientations]),
    completeness_pct: number('Share of the daylight with readings, %.'),
    excluded_reason,
    avg_current_a: number('Mean current over the measured time, A.'),
    max_current_a: number('Highest current, A.'),
    avg_voltage_v: number('Mean voltage over the measured time, V.'),
    energy_kwh: number('DC energy, kWh.'),
    specific_yield_kwh_kwp: number('Energy per capacity, kWh/kWp.'),
    current_ratio_to_median: number('Current divided by the median current of the peers.'),
    deviation_pct: number('Deviation of the power from the peers, %.'),
    correlation_with_median: number(
      'Pearson correlation of the hourly mean current with the median of the group, -1 to 1.',
    ),
    zero_current_min: number('Time in daylight without current, minutes.'),
    status,
    affected_by_string_index: Nullable(Type.Integer({ minimum: 0 })),
    series: Type.Array(
      Type.Object(
        {
          start_at: Type.String({ format: 'date-time', description: 'Inclusive.' }),
          end_at: Type.String({ format: 'date-time', description: 'Exclusive.' }),
          avg_current_a: number('Mean current over the measured time of the bucket, A.'),
        },
        closed,
      ),
      {
        description:
          'Hourly buckets for windows of up to 8 days, else buckets of local days. Buckets without ' +
          'readings are omitted. The first and last buckets end at the window.',
      },
    ),
  },
  { ...closed, $id: 'ComparedString' },
)
