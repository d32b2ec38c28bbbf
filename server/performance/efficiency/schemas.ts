/** The items of the yield rankings and of the loss analysis. */
import { type TSchema, Type } from 'typebox'
import { InverterId, LoggerId, Nullable } from '../../http/params.ts'
import { excludedReasons, periodFields } from '../period.ts'
import { suspectSensors } from './yields.ts'

const closed = { additionalProperties: false } as const
const number = (description: string) => Nullable(Type.Number({ description }))

const coverageFields = {
  completeness_pct: number('Part of the daylight in which power was measured, %.'),
  excluded_reason: Nullable(
    Type.Enum([...excludedReasons], {
      description:
        '`no_daylight`: the period has none, or the position of the site is not known. ' +
        '`insufficient_data`: less than half of it is known. Figures are then `null`.',
    }),
  ),
}

const suspect_sensors = Type.Array(Type.Enum([...suspectSensors]), {
  description:
    'Sensors that cannot be right: `irradiance` where the performance ratio exceeds 110 %, ' +
    '`dc_power` where AC exceeds DC by over 2 %. The ratios are then `null`.',
})

const yieldFields = {
  energy_kwh: number(
    'AC energy, kWh: by the counters of the inverters, their rise over gaps in the readings ' +
      'included as in /plant/summary; else the integral of power, which bridges no gap.',
  ),
  expected_energy_kwh: number(
    'AC energy that the measured irradiance and temperature allowed, kWh: CEC single-diode model ' +
      'of each string, PVWatts inverter, the AC rating as the limit.',
  ),
  energy_performance_index_pct: number('Energy over expected energy, over the same instants, %.'),
  specific_yield_kwh_kwp: number('Final yield Yf: `energy_kwh` by DC capacity, kWh/kWp.'),
  reference_yield_kwh_kwp: number('Reference yield Yr: insolation in the plane by 1 kW/m².'),
  array_yield_kwh_kwp: number('Array yield YA: DC energy by DC capacity.'),
  capture_loss_kwh_kwp: number('Yr - YA, where at least 95 % of the daylight is known of both.'),
  system_loss_kwh_kwp: number('YA - Yf.'),
  poa_insolation_kwh_m2: number(
    'Insolation in the plane of the panels, kWh/m², the mean over their capacity.',
  ),
  performance_ratio_pct: number(
    'Energy over capacity times insolation (IEC 61724-1), over the instants that know both and ' +
      'have 20 W/m² or more, %.',
  ),
  performance_ratio_temp_corrected_pct: number(
    'The same at a cell temperature of 25 °C, by the coefficient of the panels, %.',
  ),
  performance_ratio_uncurtailed_pct: number('The same without the curtailed instants, %.'),
  capacity_factor_pct: number(
    'AC energy by the AC rating and all hours of the period, night and downtime among them, %.',
  ),
  availability_time_pct: number(
    'Share of the bright time (over 100 W/m²) with the inverter heard in which it delivered, %. ' +
      'Curtailed to nothing counts as delivering; silence counts in completeness.',
  ),
  availability_energy_pct: number('Energy over energy and what was lost while down, %.'),
  curtailed_energy_kwh: number('Lost to curtailment, kWh, by the expected power.'),
}

const Rank = (description: string) => Nullable(Type.Integer({ minimum: 1, description }))

const comparableRule =
  'Null without one, and for what is known of less than 95 % of what is known of the best-known: ' +
  'energies over unequal times do not compare.'

const rankFields = {
  rank: Rank('By the quantity of `rank_by`, 1 is the best.'),
  percentile_pct: number('Share of the others that are no better by `rank_by`, %.'),
  specific_yield_rank: Rank(`By \`specific_yield_kwh_kwp\`, 1 is the best. ${comparableRule}`),
  capacity_factor_rank: Rank(`By \`capacity_factor_pct\`, 1 is the best. ${comparableRule}`),
  suspect_sensors,
}

export const loggerRankings = ['specific_yield', 'capacity_factor'] as const
export const inverterRankings = [...loggerRankings, 'efficiency'] as const

const ranking = (meanings: string) => ({
  default: 'specific_yield',
  description:
    'What `rank`, `percentile_pct` and the order go by. `specific_yield`: energy by DC capacity. ' +
    `\`capacity_factor\`: energy by AC rating and time.${meanings}`,
  examples: ['specific_yield'],
})

export const LoggerRanking = Type.Optional(Type.Enum([...loggerRankings], ranking('')))
export const InverterRanking = Type.Optional(
  Type.Enum(
    [...inverterRankings],
    ranking(' `efficiency`: AC over DC energy (`conversion_efficiency_pct`).'),
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
  deviation_from_fleet_pct: number('Specific yield to the median of the loggers, %.'),
  guaranteed_yield_kwh_kwp: number('Guaranteed specific yield of a year, from site.yaml.'),
  guaranteed_performance_ratio_pct: number('Guaranteed performance ratio, from site.yaml.'),
  performance_ratio_to_guaranteed_pct: number('Measured to guaranteed performance ratio, %.'),
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
  conversion_efficiency_pct: number('AC over DC energy over instants that know both, %.'),
  weighted_efficiency_pct: number(
    'European efficiency as measured: the efficiencies at its loads by its weights (EN 50530), ' +
      '%; null until the inverter has worked at all of them.',
  ),
  peak_power_kw: number('Highest AC power, kW.'),
  fault_min: number('Minutes in fault.'),
  derated_min: number('Minutes throttled by itself, below every limit.'),
  clipped_energy_kwh: number('Lost to the AC rating, kWh, by the expected power.'),
  peer_group: Type.String({
    description: 'Inverters whose panels face the same way: `180/25` is azimuth and tilt.',
  }),
  deviation_from_peers_pct: number('Specific yield to the median of the peer group, %.'),
  ...rankFields,
  efficiency_rank: Rank('By `conversion_efficiency_pct`, 1 is the best; null without one.'),
})

const LoadBin = Type.Object(
  {
    load_from_pct: Type.Number(),
    load_to_pct: Type.Number(),
    duration_h: Nullable(Type.Number({ minimum: 0, description: 'Time spent in this bin.' })),
    efficiency_pct: number('Over the hours in this bin.'),
  },
  { ...closed, $id: 'LoadBin' },
)

export const InverterLosses = item('InverterLosses', {
  inverter_id: InverterId,
  inverter_name: Type.String(),
  logger_id: LoggerId,
  dc_energy_kwh: number('DC energy over instants that know both sides, above 1 % load.'),
  ac_energy_kwh: number('AC energy over the same.'),
  conversion_loss_kwh: number('DC less AC energy.'),
  conversion_loss_pct: number('By DC energy.'),
  conversion_efficiency_pct: number('AC over DC energy, %.'),
  expected_efficiency_pct: number(
    'By the PVWatts curve at the same loads and the nominal efficiency of site.yaml; null ' +
      'without that.',
  ),
  excess_loss_kwh: number('Conversion loss beyond the expected; negative when better.'),
  clipping_loss_kwh: number('What the AC rating cut off, by the expected power.'),
  curtailment_loss_kwh: number('What a power limit held back, by the expected power.'),
  downtime_loss_kwh: number('Expected energy while bright, heard and not delivering.'),
  derating_loss_kwh: number('Expected energy missing while throttled below every limit.'),
  night_consumption_kwh: number('Taken from the grid with the sun down.'),
  load_bins: Type.Array(LoadBin, { description: 'By tenths of the DC rating.' }),
  suspect_sensors,
})
