import { Type } from 'typebox'
import { spanFields } from '../../http/envelope.ts'
import * as field from '../../http/fields.ts'
import { Closed, LoggerId, Metric, Named, Nullable, StringIndex } from '../../http/params.ts'
import { energySources } from '../rollups/logger-days.ts'

const instant = (description: string, example: string) =>
  field.At(description, `2026-06-21T${example}Z`)
const hour_of_day = { minimum: 0, maximum: 23, examples: [11] }
const start_at = instant('Start of the hour, inclusive.', '10:00:00.000')
const end_at = instant('End of the hour, exclusive.', '11:00:00.000')
const date = field.Day('UTC day.')

export const timezone_note =
  'Days and hours are UTC: every day has 24 hours, hour 0 starts at 00:00Z.'

const energy = {
  energy_kwh: Metric(
    'AC energy of the inverters with data, kWh, including the estimate; `null`, not 0, without data.',
    6120.418,
  ),
  estimated_energy_kwh: Metric(
    'Part of `energy_kwh` that a counter measured over a gap, distributed to the hours of the gap.',
    0,
  ),
  energy_source: field.OneOfOrNull(
    energySources,
    '`inverter_counter`: differences of counters; `integrated_power`: trapezoidal integral of ' +
      'power, excluding gaps, when the counter is missing, was reset or stood still while power ' +
      'was measured; `counter_over_gap`: counter energy distributed over a gap; `mixed`: several ' +
      'of these.',
    'inverter_counter',
  ),
  expected_energy_kwh: Metric(
    'Expected AC energy at the measured irradiance and temperature, up to the rating; `null` when ' +
      'met station data cover less than half of the daylight.',
    6302.7,
  ),
  curtailed_energy_kwh: Metric(
    'Energy lost to external limits; `null` when the expected energy is `null`.',
    0,
  ),
}

const completeness = {
  completeness_pct: field.PercentOrNull(
    'Measured share of the elapsed time, over all inverters in service. Only time with the sun ' +
      'at least 3° above the horizon counts, from ten minutes per hour, because inverters sleep ' +
      'at night. `null` without such time or when the position of the site is unknown.',
    100,
  ),
  is_partial: field.Flag(
    'Whether the time is not over or less than 95 % of it was measured, even if a counter ' +
      'provided the energy later.',
  ),
}

const sample_count = field.CountOrNull(
  'Samples of AC power of all inverters; `null` when not counted.',
  1512,
)
const poa_insolation_kwh_m2 = field.FromZeroOrNull(
  'Plane-of-array insolation, mean by capacity; `null` when the expected energy is `null`.',
  0.7121,
)
const peak_power = 'Highest five-minute mean of the AC power of the inverters with readings.'

const production = {
  first_production_at: Nullable(instant('First sample with AC power above 0.', '03:12:05.000')),
  last_production_at: Nullable(instant('Last sample with AC power above 0.', '19:31:45.000')),
}

const LoggerDay = Named('LoggerDay', {
  date,
  day_start_at: instant('Start of the day, inclusive.', '00:00:00.000'),
  day_end_at: field.At('End of the day, exclusive.'),
  logger_id: LoggerId,
  logger_name: Type.String({ examples: ['South field'] }),
  ...energy,
  specific_yield_kwh_kwp: Metric('`energy_kwh` per DC capacity of the logger, kWh/kWp.', 4.8368),
  poa_insolation_kwh_m2,
  peak_power_kw: Metric(peak_power, 861.204),
  peak_power_at: Nullable(instant('Start of these five minutes.', '11:05:00.000')),
  ...production,
  sample_count,
  ...completeness,
})

const DayTotals = Named('DayTotals', {
  ...energy,
  ...production,
  ...completeness,
  loggers_known: field.Count('Loggers with an `energy_kwh`.', 1),
})

export const DaySummary = Closed({
  data: Type.Array(LoggerDay),
  meta: Named('DaySummaryMeta', {
    count: Type.Integer({ minimum: 0, examples: [1] }),
    totals: DayTotals,
  }),
})

export const LoggerHourRecord = Named('LoggerHour', {
  logger_id: LoggerId,
  start_at,
  end_at,
  ...energy,
  poa_insolation_kwh_m2,
  avg_power_kw: Metric('Mean AC power of the hour; `null` for a partial hour.', 784.21),
  max_power_kw: Metric(peak_power, 802.551),
  sample_count,
  ...completeness,
})

export const HourOfDay = Named('HourOfDay', {
  hour: field.Int('Hour of the day, UTC.', hour_of_day),
  start_at,
  energy_kwh: energy.energy_kwh,
  energy_source: energy.energy_source,
  expected_energy_kwh: energy.expected_energy_kwh,
  curtailed_energy_kwh: energy.curtailed_energy_kwh,
  ...completeness,
})

const EnergyDay = Named('EnergyDay', {
  date,
  logger_id: LoggerId,
  total_kwh: Metric('Sum of the hours with data, kWh; `null` without data.', 6120.418),
  estimated_energy_kwh: energy.estimated_energy_kwh,
  energy_source: energy.energy_source,
  peak_hour: field.IntOrNull('Hour with the highest energy, UTC.', hour_of_day),
  ...completeness,
  hours: Type.Array(HourOfDay, { minItems: 24, maxItems: 24 }),
})

export const EnergyMatrix = Closed({
  data: Type.Array(EnergyDay),
  meta: Named('EnergyMatrixMeta', {
    count: Type.Integer({ minimum: 0, examples: [1] }),
    ...spanFields,
    timezone_note: Type.String({ examples: [timezone_note] }),
    totals_by_hour: Type.Array(
      Named('EnergyOfHour', {
        hour: field.Int('Hour of the day, UTC.', hour_of_day),
        energy_kwh: Metric('Energy of all items in this hour, kWh; `null` without data.', 6120.418),
      }),
      { minItems: 24, maxItems: 24 },
    ),
  }),
})

export const StringHour = Named('StringHour', {
  string_index: StringIndex,
  start_at,
  end_at,
  energy_kwh: Metric(
    'DC energy, kWh: trapezoidal integral of current times voltage, excluding gaps.',
    7.9121,
  ),
  avg_current_a: Metric('Mean DC current while measured, A.', 9.402),
  max_current_a: Metric('Highest DC current, A.', 9.611),
  avg_voltage_v: Metric('Mean DC voltage while measured, V.', 841.55),
  specific_yield_kwh_kwp: Metric('`energy_kwh` per capacity of the string, kWh/kWp.', 0.7904),
  sample_count: field.CountOrNull(
    'Daylight samples with current and voltage over which `energy_kwh` was integrated; null for ' +
      'sums of an older version that did not count them.',
    180,
  ),
  ...completeness,
  method: field.OneOf(['current_times_voltage'], 'Method of the energy computation.'),
})
