import { Type } from 'typebox'
import { spanFields } from '../../http/envelope.ts'
import { LoggerId, Metric, Nullable, StringIndex } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { energySources } from '../rollups/logger-days.ts'

const closed = (id: string) => ({ additionalProperties: false, $id: id }) as const
const instant = (description: string, example: string) =>
  Type.String({ format: 'date-time', description, examples: [`2026-06-21T${example}Z`] })
const sampleCount = (description: string, example: number) =>
  Nullable(Type.Integer({ minimum: 0, description, examples: [example] }))
const hour_of_day = { minimum: 0, maximum: 23, examples: [11] }
const start_at = instant('Start of the hour, inclusive.', '10:00:00.000')
const end_at = instant('End of the hour, exclusive.', '11:00:00.000')
const date = Type.String({ format: 'date', description: 'UTC day.' })

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
  energy_source: Nullable(
    Type.Enum([...energySources], {
      description:
        '`inverter_counter`: differences of counters; `integrated_power`: trapezoidal integral of ' +
        'power, excluding gaps, when the counter is missing, was reset or stood still while power ' +
        'was measured; `counter_over_gap`: counter energy distributed over a gap; `mixed`: several ' +
        'of these.',
      examples: ['inverter_counter'],
    }),
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
  completeness_pct: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
      examples: [100],
      description:
        'Measured share of the elapsed time, over all inverters in service. Only time with the sun ' +
        'at least 3° above the horizon counts, from ten minutes per hour, because inverters sleep ' +
        'at night. `null` without such time or when the position of the site is unknown.',
    }),
  ),
  is_partial: Type.Boolean({
    description:
      'Whether the time is not over or less than 95 % of it was measured, even if a counter ' +
      'provided the energy later.',
  }),
}

const sample_count = sampleCount(
  'Samples of AC power of all inverters; `null` when not counted.',
  1512,
)
const poa_insolation_kwh_m2 = Nullable(
  Type.Number({
    minimum: 0,
    examples: [0.7121],
    description:
      'Plane-of-array insolation, mean by capacity; `null` when the expected energy is `null`.',
  }),
)
const peak_power = 'Highest five-minute mean of the AC power of the inverters with readings.'

const production = {
  first_production_at: Nullable(instant('First sample with AC power above 0.', '03:12:05.000')),
  last_production_at: Nullable(instant('Last sample with AC power above 0.', '19:31:45.000')),
}

const LoggerDay = Type.Object(
  {
    date,
    day_start_at: instant('Start of the day, inclusive.', '00:00:00.000'),
    day_end_at: At('End of the day, exclusive.'),
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
  },
  closed('LoggerDay'),
)

const DayTotals = Type.Object(
  {
    ...energy,
    ...production,
    ...completeness,
    loggers_known: Type.Integer({
      minimum: 0,
      description: 'Loggers with an `energy_kwh`.',
      examples: [1],
    }),
  },
  closed('DayTotals'),
)

export const DaySummary = Type.Object(
  {
    data: Type.Array(LoggerDay),
    meta: Type.Object(
      { count: Type.Integer({ minimum: 0, examples: [1] }), totals: DayTotals },
      closed('DaySummaryMeta'),
    ),
  },
  { additionalProperties: false },
)

export const LoggerHourRecord = Type.Object(
  {
    logger_id: LoggerId,
    start_at,
    end_at,
    ...energy,
    poa_insolation_kwh_m2,
    avg_power_kw: Metric('Mean AC power of the hour; `null` for a partial hour.', 784.21),
    max_power_kw: Metric(peak_power, 802.551),
    sample_count,
    ...completeness,
  },
  closed('LoggerHour'),
)

export const HourOfDay = Type.Object(
  {
    hour: Type.Integer({ ...hour_of_day, description: 'Hour of the day, UTC.' }),
    start_at,
    energy_kwh: energy.energy_kwh,
    energy_source: energy.energy_source,
    expected_energy_kwh: energy.expected_energy_kwh,
    curtailed_energy_kwh: energy.curtailed_energy_kwh,
    ...completeness,
  },
  closed('HourOfDay'),
)

const EnergyDay = Type.Object(
  {
    date,
    logger_id: LoggerId,
    total_kwh: Metric('Sum of the hours with data, kWh; `null` without data.', 6120.418),
    estimated_energy_kwh: energy.estimated_energy_kwh,
    energy_source: energy.energy_source,
    peak_hour: Nullable(
      Type.Integer({ ...hour_of_day, description: 'Hour with the highest energy, UTC.' }),
    ),
    ...completeness,
    hours: Type.Array(HourOfDay, { minItems: 24, maxItems: 24 }),
  },
  closed('EnergyDay'),
)

export const EnergyMatrix = Type.Object(
  {
    data: Type.Array(EnergyDay),
    meta: Type.Object(
      {
        count: Type.Integer({ minimum: 0, examples: [1] }),
        ...spanFields,
        timezone_note: Type.String({ examples: [timezone_note] }),
        totals_by_hour: Type.Array(
          Type.Object(
            {
              hour: Type.Integer({ ...hour_of_day, description: 'Hour of the day, UTC.' }),
              energy_kwh: Metric(
                'Energy of all items in this hour, kWh; `null` without data.',
                6120.418,
              ),
            },
            closed('EnergyOfHour'),
          ),
          { minItems: 24, maxItems: 24 },
        ),
      },
      closed('EnergyMatrixMeta'),
    ),
  },
  { additionalProperties: false },
)

export const StringHour = Type.Object(
  {
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
    sample_count: sampleCount(
      'Daylight samples with current and voltage over which `energy_kwh` was integrated; null for ' +
        'sums of an older version that did not count them.',
      180,
    ),
    ...completeness,
    method: Type.Enum(['current_times_voltage'], {
      description: 'Method of the energy computation.',
    }),
  },
  closed('StringHour'),
)
