import { Type } from 'typebox'
import { spanFields } from '../../http/envelope.ts'
import { LoggerId, Nullable, StringIndex } from '../../http/params.ts'
import { energySources } from '../rollups/logger-days.ts'

const closed = (id: string) => ({ additionalProperties: false, $id: id }) as const
const instant = (description: string) => Type.String({ format: 'date-time', description })
const kwh = (description: string) => Nullable(Type.Number({ description }))

const energy = {
  energy_kwh: kwh(
    'AC energy of the inverters that are known, kWh; `null`, not 0, where none is. The estimate is ' +
      'part of it.',
  ),
  estimated_energy_kwh: kwh(
    'The part of `energy_kwh` that a counter tells of a gap as a whole: shared out to its hours.',
  ),
  energy_source: Nullable(
    Type.Enum([...energySources], {
      description:
        '`inverter_counter`: differences of counters; `integrated_power`: power by trapezoids, never ' +
        'across a gap, where a counter is missing, was reset, or stood still while power was measured; `counter_over_gap`: of the rise of a counter over a gap, shared out; `mixed`: ' +
        'several of them.',
    }),
  ),
  expected_energy_kwh: kwh(
    'What the measured light and temperature allow, up to the rating; `null` where the met station ' +
      'was heard in less than half of the daylight.',
  ),
  curtailed_energy_kwh: kwh('Energy lost to limits from outside; known as the expected energy is.'),
}

const completeness = {
  completeness_pct: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description:
        'Part of the time so far that was measured, over all inverters in service. Only time with ' +
        'the sun 3° above the horizon or more counts, from ten minutes an hour on: an inverter ' +
        'that sleeps is no gap. `null` where there is none, and where the position of the site ' +
        'is not known.',
    }),
  ),
  is_partial: Type.Boolean({
    description:
      'The time is not over yet, or less than 95 % of it was measured; the latter also where a ' +
      'counter told the energy later.',
  }),
}

const sample_count = Nullable(
  Type.Integer({
    minimum: 0,
    description: 'Samples of AC power of all inverters; `null` where nobody counted them.',
  }),
)
const poa_insolation_kwh_m2 = Nullable(
  Type.Number({
    minimum: 0,
    description: 'Irradiation on the panels, the mean by their capacity; null as what is expected.',
  }),
)
const peakPower = (description: string) => Nullable(Type.Number({ description }))

const production = {
  first_production_at: Nullable(instant('First sample with AC power above 0.')),
  last_production_at: Nullable(instant('Last sample with AC power above 0.')),
}

export const LoggerDay = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'The day, UTC.' }),
    day_start_at: instant('Start of the day, inclusive.'),
    day_end_at: instant('End of the day, exclusive.'),
    logger_id: LoggerId,
    logger_name: Type.String(),
    ...energy,
    specific_yield_kwh_kwp: Nullable(
      Type.Number({ description: '`energy_kwh` by the DC capacity of the logger.' }),
    ),
    poa_insolation_kwh_m2,
    peak_power_kw: peakPower(
      'Highest mean AC power of five minutes, of the inverters heard in them.',
    ),
    peak_power_at: Nullable(instant('When these five minutes began.')),
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
      Type.Number({ description: 'Mean AC power of the hour; `null` where it is partial.' }),
    ),
    max_power_kw: peakPower(
      'Highest mean AC power of five minutes, of the inverters heard in them.',
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
    date: Type.String({ format: 'date', description: 'The day, UTC.' }),
    logger_id: LoggerId,
    total_kwh: kwh('Sum of the hours that are known; `null` where none is.'),
    estimated_energy_kwh: energy.estimated_energy_kwh,
    energy_source: energy.energy_source,
    peak_hour: Nullable(
      Type.Integer({ minimum: 0, maximum: 23, description: 'The hour with the most energy, UTC.' }),
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
              energy_kwh: kwh('Of all items in this hour; `null` where none is known.'),
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
    energy_kwh: kwh('DC energy, kWh: current times voltage by trapezoids, never across a gap.'),
    avg_current_a: Nullable(Type.Number({ description: 'Mean DC current while measured, A.' })),
    max_current_a: Nullable(Type.Number({ description: 'Highest DC current, A.' })),
    avg_voltage_v: Nullable(Type.Number({ description: 'Mean DC voltage while measured, V.' })),
    specific_yield_kwh_kwp: Nullable(
      Type.Number({ description: '`energy_kwh` by the capacity of the string.' }),
    ),
    sample_count: Nullable(
      Type.Integer({
        minimum: 0,
        description:
          'Samples by day in the hour with a current and a voltage, over which `energy_kwh` was ' +
          'integrated; null where only sums are left, of a version that did not count them.',
      }),
    ),
    ...completeness,
    method: Type.Enum(['current_times_voltage'], { description: 'How the energy was come by.' }),
  },
  closed('StringHour'),
)
