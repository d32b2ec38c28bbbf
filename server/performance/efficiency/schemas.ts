/** Items of the yield rankings and of the loss analysis. */
import { type TSchema, Type } from 'typebox'
import { InverterId, LoggerId, Nullable } from '../../http/params.ts'
import { excludedReasons, periodFields } from '../period.ts'
import { suspectSensors } from './yields.ts'

const closed = { additionalProperties: false } as const
const number = (description: string) => Nullable(Type.Number({ description }))

const coverageFields = {
  completeness_pct: number('Share of the daylight with power readings, %.'),
  excluded_reason: Nullable(
    Type.Enum([...excludedReasons], {
      description:
        '`no_daylight`: the period has no daylight, or the position of the site is unknown. ' +
        '`insufficient_data`: less than half of the daylight has data. Metrics are `null` in both cases.',
    }),
  ),
}

const suspect_sensors = Type.Array(Type.Enum([...suspectSensors]), {
  description:
    'Sensors with implausible values: `irradiance` when the performance ratio exceeds 110 %, ' +
    '`dc_power` when AC energy exceeds DC energy by more than 2 %. The ratios are then `null`.',
})

const yieldFields = {
  energy_kwh: number(
    'AC energy, kWh: difference of the inverter counters, including gaps in the readings as in ' +
      '/plant/summary; without counters, the integral of power, which excludes gaps.',
  ),
  expected_energy_kwh: number(
    'Expected AC energy at the measured irradiance and temperature, kWh: CEC single-diode model ' +
      'of each string, PVWatts inverter model, limited to the AC rating.',
  ),
  energy_performance_index_pct: number(
    'Energy divided by expected energy over the same instants, %.',
  ),
  specific_yield_kwh_kwp: number('Final yield Yf: `energy_kwh` per DC capacity, kWh/kWp.'),
  reference_yield_kwh_kwp: number(
    'Reference yield Yr: plane-of-array insolation divided by 1 kW/m², kWh/kWp.',
  ),
  array_yield_kwh_kwp: number('Array yield YA: DC energy per DC capacity, kWh/kWp.'),
  capture_loss_kwh_kwp: number(
    'Capture loss Yr - YA, kWh/kWp; requires data for 95 % of the daylight.',
  ),
  system_loss_kwh_kwp: number('System loss YA - Yf, kWh/kWp.'),
  poa_insolation_kwh_m2: number('Plane-of-array insolation, kWh/m², mean weighted by capacity.'),
  performance_ratio_pct: number(
    'Performance ratio, %: energy divided by capacity times insolation (IEC 61724-1), over ' +
      'instants with both values and 20 W/m² or more.',
  ),
  performance_ratio_temp_corrected_pct: number(
    'Performance ratio corrected to a cell temperature of 25 °C, %.',
  ),
  performance_ratio_uncurtailed_pct: number('Performance ratio without curtailed instants, %.'),
  capacity_factor_pct: number(
    'AC energy divided by the AC rating times all hours of the period, including night and downtime, %.',
  ),
  availability_time_pct: number(
    'Share of the time above 100 W/m² with readings in which the inverter delivered power, %. ' +
      'Curtailment to 0 counts as delivering. Lost communication reduces `completeness_pct` instead.',
  ),
  availability_energy_pct: number('Energy divided by the sum of energy and downtime losses, %.'),
  curtailed_energy_kwh: number('Energy lost to curtailment, kWh, based on the expected power.'),
}

const Rank = (description: string) => Nullable(Type.Integer({ minimum: 1, description }))

const comparableRule =
  'Null without a value, and when the completeness is below 95 % of the highest completeness.'

const rankFields = {
  rank: Rank('Rank by `rank_by`; 1 is the best.'),
  percentile_pct: number('Share of the other items that are not better by `rank_by`, %.'),
  specific_yield_rank: Rank(`Rank by \`specific_yield_kwh_kwp\`; 1 is the best. ${comparableRule}`),
  capacity_factor_rank: Rank(`Rank by \`capacity_factor_pct\`; 1 is the best. ${comparableRule}`),
  suspect_sensors,
}

export const loggerRankings = ['specific_yield', 'capacity_factor'] as const
export const inverterRankings = [...loggerRankings, 'efficiency'] as const

const ranking = (meanings: string) => ({
  default: 'specific_yield',
  description:
    'Metric of `rank`, `percentile_pct` and the order. `specific_yield`: energy per DC capacity. ' +
    `\`capacity_factor\`: energy per AC rating and time.${meanings}`,
  examples: ['specific_yield'],
})

export const LoggerRanking = Type.Optional(Type.Enum([...loggerRankings], ranking('')))
export const InverterRanking = Type.Optional(
  Type.Enum(
    [...inverterRankings],
    ranking(' `efficiency`: AC energy divided by DC energy (`conversion_efficiency_pct`).'),
  ),
)

const item = <Fields extends Record<string, TSchema>>($id: string, fields: Fields) =>
  Type.Object({ ...periodFields, ...coverageFields, ...fields }, { ...closed, $id })

export const LoggerEfficiency = item('LoggerEfficiency', {
  logger_id: LoggerId,
  logger_name: Type.String(),
  dc_capacity_kwp: Type.Number(),
  rated_power_kw: Type.Number(),
  ...yieldFields,
  deviation_from_fleet_pct: number(
    'Deviation of the specific yield from the median of the loggers, %.',
  ),
  guaranteed_yield_kwh_kwp: number('Guaranteed annual specific yield, kWh/kWp, from site.yaml.'),
  guaranteed_performance_ratio_pct: number('Guaranteed performance ratio, %, from site.yaml.'),
  performance_ratio_to_guaranteed_pct: number(
    'Measured divided by guaranteed performance ratio, %.',
  ),
  ...rankFields,
})

export const InverterEfficiency = item('InverterEfficiency', {
  inverter_id: InverterId,
  inverter_name: Type.String(),
  logger_id: LoggerId,
  dc_capacity_kwp: Type.Number(),
  rated_ac_power_kw: Type.Number(),
  ...yieldFields,
  dc_energy_kwh: number('DC energy, kWh.'),
  conversion_efficiency_pct: number(
    'AC energy divided by DC energy over instants with both values, %.',
  ),
  weighted_efficiency_pct: number(
    'European efficiency as measured (EN 50530), %; null while a load of the weighting has no data.',
  ),
  peak_power_kw: number('Highest AC power, kW.'),
  fault_min: number('Time in fault, minutes.'),
  derated_min: number('Time derated by the inverter itself below all limits, minutes.'),
  clipped_energy_kwh: number(
    'Energy lost to the AC rating (clipping), kWh, based on the expected power.',
  ),
  peer_group: Type.String({
    description: 'Panel orientation of the peer group: azimuth and tilt, such as `180/25`.',
  }),
  deviation_from_peers_pct: number(
    'Deviation of the specific yield from the median of the peer group, %.',
  ),
  ...rankFields,
  efficiency_rank: Rank(
    'Rank by `conversion_efficiency_pct`; 1 is the best. Null without a value.',
  ),
})

const LoadBin = Type.Object(
  {
    load_from_pct: Type.Number(),
    load_to_pct: Type.Number(),
    duration_h: Nullable(Type.Number({ minimum: 0, description: 'Time in this bin, hours.' })),
    efficiency_pct: number('Efficiency in this bin, %.'),
  },
  { ...closed, $id: 'LoadBin' },
)

export const InverterLosses = item('InverterLosses', {
  inverter_id: InverterId,
  inverter_name: Type.String(),
  logger_id: LoggerId,
  dc_energy_kwh: number('DC energy over instants with AC and DC power and a load above 1 %, kWh.'),
  ac_energy_kwh: number('AC energy over the same instants, kWh.'),
  conversion_loss_kwh: number('DC minus AC energy, kWh.'),
  conversion_loss_pct: number('Conversion loss divided by DC energy, %.'),
  conversion_efficiency_pct: number('AC energy divided by DC energy, %.'),
  expected_efficiency_pct: number(
    'Efficiency of the PVWatts curve at the same loads, %, from the nominal efficiency of ' +
      'site.yaml; null without one.',
  ),
  excess_loss_kwh: number('Conversion loss above the expected loss, kWh; negative when below.'),
  clipping_loss_kwh: number('Energy lost to the AC rating, kWh, based on the expected power.'),
  curtailment_loss_kwh: number('Energy lost to power limits, kWh, based on the expected power.'),
  downtime_loss_kwh: number(
    'Expected energy above 100 W/m² while the inverter had readings and delivered nothing, kWh.',
  ),
  derating_loss_kwh: number('Energy lost to derating below all limits, kWh.'),
  night_consumption_kwh: number('Energy drawn from the grid at night, kWh.'),
  load_bins: Type.Array(LoadBin, { description: 'Bins of a tenth of the DC rating.' }),
  suspect_sensors,
})
