/** Yields and performance ratios of the site, its plants and inverters: IEC 61724-1. */
import { type Yields, yieldsOf } from '../../performance/efficiency/yields.ts'
import { dateOf, totalsName } from './frame.ts'
import {
  type DayYields,
  inverterFields,
  readPerformance,
  undemandedNotes,
  yieldsByDay,
} from './inverter-days.ts'
import { countOf, worstCount } from './parameters.ts'
import {
  cellsOf,
  chart,
  day,
  type Field,
  fieldsOf,
  listed,
  metric,
  metricsSection,
  number,
  table,
  text,
  textSection,
} from './sections.ts'
import { template } from './template.ts'

export const performanceMonthly = template({
  template_id: 'performance_monthly',
  name: 'Monthly performance',
  description:
    'Reference yield, final yield, performance ratios, availability, specific yield and capacity ' +
    'factor after IEC 61724-1, by day, plant and inverter, with the completeness of the data.',
  category: 'performance',
  periods: ['week', 'month', 'quarter', 'year', 'custom'],
  parameters: worstCount('inverters'),
  parts: [{ name: 'Performance', scopes: ['diagnostics:read'] }],
  async contents(db, frame, order) {
    const read = await readPerformance(db, frame)
    const { inverters, plants, yields: site, notes, data_completeness_pct, has_sums } = read
    const days = await yieldsByDay(db, frame, inverters)
    const items = plants
      .flatMap((plant) => plant.inverters)
      .map((inverter) => ({ inverter, yields: yieldsOf(inverter, inverter, frame.period, 1) }))
    // Inverters with an unknown yield come last.
    const yieldOf = ({ yields }: (typeof items)[number]) => yields.specific_yield_kwh_kwp ?? 1e9
    const worst = items.toSorted((a, b) => yieldOf(a) - yieldOf(b))
    const count = countOf(order, 'worst_count')
    const ofYields = <Of>(list: readonly Field<Of>[]) =>
      fieldsOf(list, (item: { yields: Of }) => item.yields)
    return {
      title: 'Performance',
      data_completeness_pct,
      has_sums,
      notes: [...notes, ...undemandedNotes(plants)],
      sections: [
        metricsSection('Site', [
          metric('Performance ratio', site.performance_ratio_pct, pct),
          metric('Performance ratio at 25 °C', site.performance_ratio_temp_corrected_pct, pct),
          metric('Uncurtailed performance ratio', site.performance_ratio_uncurtailed_pct, pct),
          metric('Energy performance index', site.energy_performance_index_pct, pct),
          metric('Energy', site.energy_kwh, [0, 'kWh']),
          metric('Final yield', site.specific_yield_kwh_kwp, per_kwp, 'specific yield'),
          metric('Reference yield', site.reference_yield_kwh_kwp, per_kwp, 'insolation / 1 kW/m²'),
          metric('Time-based availability', site.availability_time_pct, pct),
          metric('Energy-based availability', site.availability_energy_pct, pct),
          metric('Capacity factor', site.capacity_factor_pct, pct, 'of the AC rating'),
          metric('Completeness', site.completeness_pct, pct, 'of the daylight'),
          metric('Plants', plants.length, [0]),
        ]),
        chart('Performance ratio by day', days, dateOf, { kind: 'lines', left_unit: '%' }, [
          ['Performance ratio', ({ yields }) => yields.performance_ratio_pct],
          ['At 25 °C', ({ yields }) => yields.performance_ratio_temp_corrected_pct],
        ]),
        chart('Yields by day', days, dateOf, { kind: 'bars', left_unit: 'kWh/kWp' }, [
          ['Reference yield', ({ yields }) => yields.reference_yield_kwh_kwp],
          ['Final yield', ({ yields }) => yields.specific_yield_kwh_kwp],
        ]),
        table(
          'By plant',
          plants,
          [
            text('plant', 'Plant', ({ logger_name }) => logger_name),
            ...ofYields(yieldFields),
            number('guaranteed', 'Guaranteed PR', pct, (plant) => {
              return plant.inverters[0]!.guaranteed_performance_ratio_pct
            }),
            ...ofYields(plantFields),
            ...ofYields(completeness),
          ],
          {
            totals: {
              plant: totalsName(frame),
              ...cellsOf([...yieldFields, ...plantFields, ...completeness], site),
            },
          },
        ),
        table(
          'Inverters with the lowest yield',
          worst.slice(0, count),
          [...inverterFields, ...ofYields([...yieldFields, ...completeness])],
          {
            note:
              `${listed(count, worst)}. Panels of another orientation have another yield. Inverters ` +
              'with too little data come last.',
          },
        ),
        table('By day', days, [day(dateOf), ...ofYields([...yieldFields, ...completeness])]),
        method,
      ],
    }
  },
})

const pct = [1, '%'] as const
const per_kwp = [2, 'kWh/kWp'] as const

const yieldFields: Field<DayYields>[] = [
  number('energy', 'Energy', [0, 'kWh'], (of) => of.energy_kwh),
  number('final', 'Final yield', per_kwp, (of) => of.specific_yield_kwh_kwp),
  number('reference', 'Reference yield', per_kwp, (of) => of.reference_yield_kwh_kwp),
  number('ratio', 'PR', pct, (of) => of.performance_ratio_pct),
  number('warm', 'PR at 25 °C', pct, (of) => of.performance_ratio_temp_corrected_pct),
]
const plantFields: Field<Yields>[] = [
  number('available', 'Availability', pct, (of) => of.availability_time_pct),
  number('factor', 'Capacity factor', pct, (of) => of.capacity_factor_pct),
]
const completeness: Field<DayYields>[] = [
  number('complete', 'Completeness', pct, (of) => of.completeness_pct),
]

const method = textSection(
  'Method',
  'Terms follow IEC 61724-1. Final yield: AC energy / DC capacity. Reference yield: plane-of-array ' +
    'insolation / 1 kW/m². Performance ratio (PR): energy / (capacity × insolation), over the ' +
    'instants with both and at least 20 W/m²; at 25 °C: corrected to STC by the temperature ' +
    'coefficient of the panels and their measured or modelled temperature. Time-based availability: ' +
    'share of the time with data and more than 100 W/m² in which the inverter delivered power. ' +
    'Energy-based availability: energy / (energy + downtime loss). Capacity factor: energy / (AC ' +
    'rating × hours). A plant with data for less than half of the daylight has no values. ' +
    'Completeness is the share of the daylight that was measured; the accuracy of the instruments is ' +
    'unknown, and no uncertainty is derived from it. Degradation is not stated: it needs years of ' +
    'data from the same instruments.',
)
