/** Items of the yield rankings and of the loss analysis. */

import { type TSchema, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { InverterId, LoggerId, Metric, Named } from '../../http/params.ts'
import { excludedReasons, periodFields } from '../period.ts'

const coverageFields = {
  completeness_pct: Metric('Share of the daylight with power readings, %.', 99.87),
  excluded_reason: field.OneOfOrNull(
    excludedReasons,
    '`no_daylight`: the period has no daylight, or the position of the site is unknown. ' +
      '`insufficient_data`: less than half of the daylight has data. Metrics are `null` in both cases.',
  ),
}

const suspect_sensors = Type.Array(Type.Enum(['irradiance', 'dc_power']), {
  description:
    'Sensors with implausible values: `irradiance` when the performance ratio exceeds 110 %, ' +
    '`dc_power` when AC energy exceeds DC energy by more than 2 %. The ratios are then `null`.',
  examples: [[]],
})

const yieldFields = {
  energy_kwh: Metric(
    'AC energy, kWh: difference of the inverter counters, including gaps in the readings as in ' +
      '/plant/summary; without counters, the integral of power, which excludes gaps.',
    48211.4,
  ),
  expected_energy_kwh: Metric(
    'Expected AC energy at the measured irradiance and temperature, kWh: CEC single-diode model ' +
      'of each string, PVWatts inverter model, limited to the AC rating.',
    49702.2,
  ),
  energy_performance_index_pct: Metric('Energy per expected energy of the same instants, %.', 97),
  specific_yield_kwh_kwp: Metric('Final yield Yf: `energy_kwh` per DC capacity, kWh/kWp.', 38.1),
  reference_yield_kwh_kwp: Metric(
    'Reference yield Yr: plane-of-array insolation divided by 1 kW/m², kWh/kWp.',
    44.2071,
  ),
  array_yield_kwh_kwp: Metric('Array yield YA: DC energy per DC capacity, kWh/kWp.', 39.0254),
  capture_loss_kwh_kwp: Metric(
    'Capture loss Yr - YA, kWh/kWp; requires data for 95 % of the daylight.',
    5.1817,
  ),
  system_loss_kwh_kwp: Metric('System loss YA - Yf, kWh/kWp.', 0.9254),
  poa_insolation_kwh_m2: Metric('Plane-of-array insolation, mean by capacity, kWh/m².', 44.2071),
  performance_ratio_pct: Metric(
    'Performance ratio, %: energy divided by capacity times insolation (IEC 61724-1), over ' +
      'instants with both values and 20 W/m² or more.',
    86.185,
  ),
  performance_ratio_temp_corrected_pct: Metric(
    'Performance ratio corrected to a cell temperature of 25 °C, %.',
    92.03,
  ),
  performance_ratio_uncurtailed_pct: Metric('Performance ratio without curtailed instants, %.', 86),
  capacity_factor_pct: Metric(
    'AC energy divided by the AC rating times all hours of the period, including night and downtime, %.',
    28.697,
  ),
  availability_time_pct: Metric(
    'Share of the time above 100 W/m² with readings in which the inverter delivered power, %. ' +
      'Curtailment to 0 counts as delivering. Lost communication reduces `completeness_pct` instead.',
    100,
  ),
  availability_energy_pct: Metric('Energy per energy plus downtime losses, %.', 100),
  curtailed_energy_kwh: Metric('Energy lost to curtailment, kWh, based on the expected power.', 0),
}

const Rank = (description: string) => field.IntOrNull(description, { minimum: 1, examples: [1] })

const comparableRule =
  'Null without a value, and when the completeness is below 95 % of the highest completeness.'

const rankFields = {
  rank: Rank('Rank by `rank_by`; 1 is the best.'),
  percentile_pct: Metric('Share of the other items that are not better by `rank_by`, %.', 100),
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
  Named($id, { ...periodFields, ...coverageFields, ...fields })

export const LoggerEfficiency = item('LoggerEfficiency', {
  logger_id: LoggerId,
  logger_name: Type.String({ examples: ['South field'] }),
  dc_capacity_kwp: Type.Number({ examples: [1265.4] }),
  rated_power_kw: Type.Number({ examples: [1000] }),
  ...yieldFields,
  deviation_from_fleet_pct: Metric('Specific yield above the median of the loggers, %.', 0.412),
  guaranteed_yield_kwh_kwp: Metric('Guaranteed annual yield of site.yaml, kWh/kWp.', 1120),
  guaranteed_performance_ratio_pct: Metric('Guaranteed performance ratio, %, from site.yaml.', 84),
  performance_ratio_to_guaranteed_pct: Metric('Measured per guaranteed performance ratio, %.', 103),
  ...rankFields,
})

export const InverterEfficiency = item('InverterEfficiency', {
  inverter_id: InverterId,
  inverter_name: Type.String({ examples: ['Inverter 7'] }),
  logger_id: LoggerId,
  dc_capacity_kwp: Type.Number({ examples: [126.54] }),
  rated_ac_power_kw: Type.Number({ examples: [100] }),
  ...yieldFields,
  dc_energy_kwh: Metric('DC energy, kWh.', 4938.27),
  conversion_efficiency_pct: Metric('AC per DC energy over instants with both, %.', 97.628),
  weighted_efficiency_pct: Metric(
    'European efficiency as measured (EN 50530), %; null while a load of the weighting has no data.',
    97.41,
  ),
  peak_power_kw: Metric('Highest AC power, kW.', 100.1),
  fault_min: Metric('Time in fault, minutes.', 0),
  derated_min: Metric('Time derated by the inverter itself below all limits, minutes.', 0),
  clipped_energy_kwh: Metric('Energy lost to the AC rating, by the expected power, kWh.', 36.214),
  peer_group: field.Text('Panel orientation of the peer group: azimuth and tilt.', '180/25'),
  deviation_from_peers_pct: Metric('Specific yield above the median of the peer group, %.', 0.412),
  ...rankFields,
  efficiency_rank: Rank(
    'Rank by `conversion_efficiency_pct`; 1 is the best. Null without a value.',
  ),
})

const LoadBin = Named('LoadBin', {
  load_from_pct: Type.Number(),
  load_to_pct: Type.Number({ examples: [10] }),
  duration_h: field.FromZeroOrNull('Time in this bin, hours.', 21.4),
  efficiency_pct: Metric('Efficiency in this bin, %.', 93.1),
})

export const InverterLosses = item('InverterLosses', {
  inverter_id: InverterId,
  inverter_name: Type.String({ examples: ['Inverter 7'] }),
  logger_id: LoggerId,
  dc_energy_kwh: Metric('DC energy while AC and DC power are known, above 1 % load, kWh.', 4936.1),
  ac_energy_kwh: Metric('AC energy over the same instants, kWh.', 4819.03),
  conversion_loss_kwh: Metric('DC minus AC energy, kWh.', 117.07),
  conversion_loss_pct: Metric('Conversion loss divided by DC energy, %.', 2.372),
  conversion_efficiency_pct: Metric('AC energy divided by DC energy, %.', 97.628),
  expected_efficiency_pct: Metric(
    'Efficiency of the PVWatts curve at the same loads, %, from the nominal efficiency of ' +
      'site.yaml; null without one.',
    97.81,
  ),
  excess_loss_kwh: Metric('Conversion loss above the expected loss, kWh; negative when below.', 9),
  clipping_loss_kwh: Metric('Energy lost to the AC rating, kWh, based on the expected power.', 36),
  curtailment_loss_kwh: Metric('Energy lost to power limits, kWh, based on the expected power.', 0),
  downtime_loss_kwh: Metric(
    'Expected energy above 100 W/m² while the inverter had readings and delivered nothing, kWh.',
    0,
  ),
  derating_loss_kwh: Metric('Energy lost to derating below all limits, kWh.', 0),
  night_consumption_kwh: Metric('Energy drawn from the grid at night, kWh.', 1.12),
  load_bins: Type.Array(LoadBin, { description: 'Bins of a tenth of the DC rating.' }),
  suspect_sensors,
})
