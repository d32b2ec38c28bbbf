import { Type } from 'typebox'
import { spanFields } from '../../http/envelope.ts'
import { LoggerId, Nullable, StringIndex } from '../../http/params.ts'
import { energySources } from '../rollups/logger-days.ts'

const closed = (id: string) => ({ additionalProperties: false, $id: id }) as const
const instant = (description: string) => Type.String({ format: 'date-time', description })
const kwh = (description: string) => Nullable(Type.Number({ description }))

const energy = {
  energy_kwh: kwh(
    'AC energy of the inverters with data, kWh, including the estimate; `null`, not 0, without data.',
  ),
  estimated_energy_kwh: kwh(
    'Part of `energy_kwh` that a counter measured over a gap, distributed to the hours of the gap.',
  ),
  energy_source: Nullable(
    Type.Enum([...energySources], {
      description:
        '`inverter_counter`: differences of counters; `integrated_power`: trapezoidal integral of ' +
        'power, excluding gaps, when the counter is missing, was reset or stood still while power ' +
        'was measured; `counter_over_gap`: counter energy distributed over a gap; `mixed`: several ' +
        'of these.',
    }),
  ),
  expected_energy_kwh: kwh(
    'Expected AC energy at the measured irradiance and temperature, up to the rating; `null` when ' +
      'met station data cover less than half of the daylight.',
  ),
  curtailed_energy_kwh: kwh(
    'Energy lost to external limits; `null` when the expected energy is `null`.',
  ),
}

const completeness = {
  completeness_pct: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
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

const sample_count = Nullable(
  Type.Integer({
    minimum: 0,
    description: 'Samples of AC power of all inverters; `null` when not counted.',
  }),
)
const poa_insolation_kwh_m2 = Nullable(
  Type.Number({
    minimum: 0,
    description:
      'Plane-of-array insolation, mean by capacity; `null` when the expected energy is `null`.',
  }),
)
const peakPower = (description: string) => Nullable(Type.Number({ description }))

const production = {
  first_production_at: Nullable(instant('First sample with AC power above 0.')),
  last_production_at: Nullable(instant('Last sample with AC power above 0.')),
}

export const LoggerDay = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'UTC day.' }),
    day_start_at: instant('Start of the day, inclusive.'),
    day_end_at: instant('End of the day, exclusive.'),
    logger_id: LoggerId,
    logger_name: Type.String(),
    ...energy,
    specific_yield_kwh_kwp: Nullable(
      Type.Number({ description: '`energy_kwh` per DC capacity of the logger, kWh/kWp.' }),
    ),
    poa_insolation_kwh_m2,
    peak_power_kw: peakPower(
      'Highest five-minute mean of the AC power of the inverters with readings.',
    ),
    peak_power_at: Nullable(instant('Start of these five minutes.')),
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
    loggers_known: Type.Integer({ minimum: 0, description: 'Loggers with an `energy_kwh`.' }),
  },
  closed('DayTotals'),
)

export const DaySummary = Type.Object(
  {
    data: Type.Array(LoggerDay),
    meta: Type.Object(
      {
        count: Type.Integer({ minimum: 0 }),
        totals: DayTotals,
      },
      closed('DaySummaryMeta'),
    ),
  },
  { additionalProperties: false },
)

export const LoggerHourRecord = Type.Object(
  {
    logger_id: LoggerId,
    start_at: instant('Start of the hour, inclusive.'),
    end_at: instant('End of the hour, exclusive.'),
    ...energy,
    poa_insolation_kwh_m2,
    avg_power_kw: Nullable(
      Type.Number({ description: 'Mean AC power of the hour; `null` for a partial hour.' }),
    ),
    max_power_kw: peakPower(
      'Highest five-minute mean of the AC power of the inverters with readings.',
    ),
    sample_count,
    ...completeness,
  },
  closed('LoggerHour'),
)

const HourOfDay = Type.Object(
  {
    hour: Type.Integer({ minimum: 0, maximum: 23, description: 'Hour of the day, UTC.' }),
    start_at: instant('Start of the hour, inclusive.'),
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
    date: Type.String({ format: 'date', description: 'UTC day.' }),
    logger_id: LoggerId,
    total_kwh: kwh('Sum of the hours with data, kWh; `null` without data.'),
    estimated_energy_kwh: energy.estimated_energy_kwh,
    energy_source: energy.energy_source,
    peak_hour: Nullable(
      Type.Integer({ minimum: 0, maximum: 23, description: 'Hour with the highest energy, UTC.' }),
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
        count: Type.Integer({ minimum: 0 }),
        ...spanFields,
        timezone_note: Type.String(),
        totals_by_hour: Type.Array(
          Type.Object(
            {
              hour: Type.Integer({ minimum: 0, maximum: 23, description: 'Hour of the day, UTC.' }),
              energy_kwh: kwh('Energy of all items in this hour, kWh; `null` without data.'),
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
    start_at: instant('Start of the hour, inclusive.'),
    end_at: instant('End of the hour, exclusive.'),
    energy_kwh: kwh(
      'DC energy, kWh: trapezoidal integral of current times voltage, excluding gaps.',
    ),
    avg_current_a: Nullable(Type.Number({ description: 'Mean DC current while measured, A.' })),
    max_current_a: Nullable(Type.Number({ description: 'Highest DC current, A.' })),
    avg_voltage_v: Nullable(Type.Number({ description: 'Mean DC voltage while measured, V.' })),
    specific_yield_kwh_kwp: Nullable(
      Type.Number({ description: '`energy_kwh` per capacity of the string, kWh/kWp.' }),
    ),
    sample_count: Nullable(
      Type.Integer({
        minimum: 0,
        description:
          'Daylight samples with current and voltage over which `energy_kwh` was integrated; null ' +
          'for sums of an older version that did not count them.',
      }),
    ),
    ...completeness,
    method: Type.Enum(['current_times_voltage'], {
      description: 'Method of the energy computation.',
    }),
  },
  closed('StringHour'),
)
