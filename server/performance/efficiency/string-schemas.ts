/** The items of the string rankings, the health matrix and the comparison of an inverter. */
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
  'Power per rated kW is compared with the median of the other strings of the inverter that face ' +
  'the same way and have the same panels, over the instants that know both, in light, with the ' +
  'inverter neither clipped nor curtailed; with fewer than 4 such strings, with the expected power ' +
  'instead. What a string loses only because of its partner on the same MPPT is not held ' +
  'against it: `affected_by_string_index` names the partner. Below 97 % a string is on `watch`, ' +
  'below 95 % and standing out from its group (robust z below -2.5), or below 97 % for 3 days, ' +
  '`underperforming`, below 85 % `critical`, below 5 % `dead`; beside expected power the first ' +
  'two are 3 points lower.'

const status = Type.Enum([...healthStatuses], { description: healthRule })
const excluded_reason = Nullable(
  Type.Enum([...noDataReasons], { description: 'Why there is no verdict; `null` with one.' }),
)
const completeness_pct = number('Of the daylight, what was measured, %.')
const z_score = number(
  'Robust z-score in the group: distance from its median in units of 1.4826 MAD, at least 1 %.',
)

export const StringEfficiency = Type.Object(
  {
    ...periodFields,
    orientation: Type.Enum([...orientations]),
    group: Type.String({ description: 'Strings that face the same way: `180/25`.' }),
    group_size: Type.Integer({ minimum: 1, description: 'Strings of the group, in service.' }),
    inverter_id: InverterId,
    string_index: StringIndex,
    logger_id: LoggerId,
    dc_capacity_kwp: Type.Number(),
    completeness_pct: number('Of the daylight, what was measured, %.'),
    excluded_reason,
    energy_kwh: number('DC energy, kWh: current times voltage, over what was measured.'),
    specific_yield_kwh_kwp: number('Energy by capacity.'),
    group_median_kwh_kwp: number('Median specific yield of the group.'),
    deviation_from_median_pct: number('Specific yield to that median, %.'),
    avg_current_a: number('Mean current over what was measured, A.'),
    z_score: number('Robust z-score of the specific yield in the group.'),
    rank: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Within the group, of those asked for; 1 is the best. `null` for what is known of less ' +
          'than 95 % of what is known of the best-known: such yields do not compare.',
      }),
    ),
    percentile_pct: number('Share of the others of the group that yield no more, %.'),
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
        'Strings that compare: azimuth, tilt and panel. Where the orientation is assumed ' +
        '(`orientation_assumed` in site.yaml), `assumed`, the panel, and which of the groups by ' +
        'the hour of their energy, the earliest first.',
    }),
    peer_count: Type.Integer({ minimum: 0, description: 'Others of the group that were usable.' }),
    compared_with: Nullable(Type.Enum(['peers', 'expected'])),
    status,
    excluded_reason,
    completeness_pct,
    sample_count: Type.Integer({ minimum: 0, description: 'Samples in light.' }),
    health_score_pct: number('Own power to that of the peers, capped at 100 %.'),
    deviation_pct: number('Power to that of the peers, less 100 %, a partner’s fault included.'),
    current_ratio_to_peers: number('Current to the median current of the peers.'),
    voltage_ratio_to_peers: number('Voltage, per rated kW, to that of the peers.'),
    z_score,
    affected_by_string_index: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'The string on the same MPPT whose fault costs this one power.',
      }),
    ),
    suspected_cause: Nullable(
      Type.Enum([...suspectedCauses], {
        description:
          'What the pattern of the loss over hours, current and voltage speaks for; a hint. Not ' +
          'filled yet: `tracker` needs tracker devices, `snow` a snow sensor.',
      }),
    ),
    confidence_pct: number('How far to trust that hint: coarse, from simulated faults.'),
    estimated_loss_kwh: number('What it fell short of its peers over the time compared, kWh.'),
    days_below_threshold: Nullable(
      Type.Integer({ minimum: 0, description: 'Days of the period below the watch threshold.' }),
    ),
    below_since_date: Nullable(
      Type.String({
        format: 'date',
        description: 'Local day on which the present run of such days began.',
      }),
    ),
    trend_pct_per_day: number('Slope of the daily ratio (Theil and Sen), from 3 days on.'),
    step_loss_pct: number(
      'A small lasting loss, % of the yield, found in months of days against the string’s own ' +
        'past and its peers: often too small for any status, which it does not change. It is ' +
        'looked for every night where at least 4 strings compare over 34 days or more, needs ' +
        'some days to show, and is measured anew for 90 days. Of several that lasted at the end ' +
        'of the period, the newest. Losses above 15 % are told by the status alone.',
    ),
    step_loss_since_date: Nullable(
      Type.String({ format: 'date', description: 'Local day on which that loss began.' }),
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
    completeness_pct: number('Of the daylight, what was measured, %.'),
    excluded_reason,
    avg_current_a: number('Mean over what was measured, A.'),
    max_current_a: number('Highest current, A.'),
    avg_voltage_v: number('Mean over what was measured, V.'),
    energy_kwh: number('DC energy, kWh.'),
    specific_yield_kwh_kwp: number('Energy by capacity.'),
    current_ratio_to_median: number('Current to the median current of its peers.'),
    deviation_pct: number('Power to that of its peers, less 100 %.'),
    correlation_with_median: number(
      'Correlation of its hourly mean current with the hourly median of its group, -1 to 1.',
    ),
    zero_current_min: number('Minutes in light without current.'),
    status,
    affected_by_string_index: Nullable(Type.Integer({ minimum: 0 })),
    series: Type.Array(
      Type.Object(
        {
          start_at: Type.String({ format: 'date-time', description: 'Inclusive.' }),
          end_at: Type.String({ format: 'date-time', description: 'Exclusive.' }),
          avg_current_a: number('Mean over what was measured of the bucket, A.'),
        },
        closed,
      ),
      {
        description:
          'By hour in a window of up to 8 days, by local day in a longer one; without those of ' +
          'which there is no reading. The first and the last are cut at the window.',
      },
    ),
  },
  { ...closed, $id: 'ComparedString' },
)
