/** Yields and performance ratios after IEC 61724-1, of the site, its plants and inverters. */
import { plantYields } from '../../performance/efficiency/plant-yields.ts'
import { type Yields, yieldsOf } from '../../performance/efficiency/yields.ts'
import type { Cell, Column, Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import { numberColumn as number } from './columns.ts'
import { dayLabels, documentOf, frameOf, totalsName } from './frame.ts'
import {
  type DayFigures,
  type DayYields,
  hasSums,
  type PlantFigures,
  plantNotes,
  plantsOf,
  readInverters,
  undemandedNotes,
  yieldsByDay,
} from './inverter-days.ts'
import { worstCount } from './parameters.ts'

export const performanceMonthly: ReportTemplate = {
  template_id: 'performance_monthly',
  name: 'Monthly performance',
  description:
    'Reference yield, final yield, performance ratios, availability, specific yield and capacity ' +
    'factor after IEC 61724-1, by day, plant and inverter, and how much of the time they stand on.',
  category: 'performance',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['week', 'month', 'quarter', 'year', 'custom'],
  parameters: worstCount('inverters'),
  parts: [{ name: 'Performance', scopes: ['diagnostics:read'] }],
  required_module: 'basic_scada',
  version: '1.0.0',
  async build(db, order) {
    const frame = await frameOf(db, order)
    const inverters = await readInverters(db, frame)
    const days = await yieldsByDay(db, frame, inverters)
    const plants = plantsOf(inverters, frame.period)
    const site = plantYields(inverters, frame.period)
    const worst_count = Number(order.parameters['worst_count'] ?? 20)
    return documentOf(performanceMonthly, frame, {
      title: 'Performance',
      data_completeness_pct: site.completeness_pct,
      has_sums: hasSums(plants),
      notes: [...plantNotes(plants, site), ...undemandedNotes(plants)],
      sections: [
        siteFigures(site, plants),
        ratioChart(days),
        yieldChart(days),
        plantTable(plants, site, totalsName(frame)),
        inverterTable(plants, frame.period, worst_count),
        dayTable(days),
        method,
      ],
    })
  },
}

type Days = readonly DayFigures[]

function siteFigures(site: Yields, plants: readonly PlantFigures[]): Section {
  const pct = (label: string, value: number | null, note?: string) => ({
    label,
    value,
    unit: '%',
    digits: 1,
    ...(note ? { note } : {}),
  })
  const per_kwp = (label: string, value: number | null, note: string) => ({
    label,
    value,
    unit: 'kWh/kWp',
    digits: 2,
    note,
  })
  return {
    kind: 'figures',
    title: 'Site',
    figures: [
      pct('Performance ratio', site.performance_ratio_pct),
      pct('Performance ratio at 25 °C', site.performance_ratio_temp_corrected_pct),
      pct('Without curtailed times', site.performance_ratio_uncurtailed_pct, 'performance ratio'),
      pct('Energy by expectation', site.energy_performance_index_pct, 'performance index'),
      { label: 'Energy', value: site.energy_kwh, unit: 'kWh', digits: 0 },
      per_kwp('Final yield', site.specific_yield_kwh_kwp, 'the specific yield'),
      per_kwp('Reference yield', site.reference_yield_kwh_kwp, 'insolation by 1 kW/m²'),
      pct('Availability by time', site.availability_time_pct),
      pct('Availability by energy', site.availability_energy_pct),
      pct('Capacity factor', site.capacity_factor_pct, 'by the AC rating'),
      pct('Completeness', site.completeness_pct, 'of the daylight'),
      { label: 'Plants', value: plants.length, digits: 0 },
    ],
  }
}

const ratioChart = (days: Days): Section => ({
  kind: 'chart',
  title: 'Performance ratio by day',
  chart: {
    kind: 'lines',
    x: dayLabels(days.map(({ day }) => day)),
    left_unit: '%',
    series: [
      {
        label: 'Performance ratio',
        values: days.map(({ yields }) => yields.performance_ratio_pct),
      },
      {
        label: 'At 25 °C',
        values: days.map(({ yields }) => yields.performance_ratio_temp_corrected_pct),
      },
    ],
  },
})

const yieldChart = (days: Days): Section => ({
  kind: 'chart',
  title: 'Yields by day',
  chart: {
    kind: 'bars',
    x: dayLabels(days.map(({ day }) => day)),
    left_unit: 'kWh/kWp',
    series: [
      {
        label: 'Reference yield',
        values: days.map(({ yields }) => yields.reference_yield_kwh_kwp),
      },
      { label: 'Final yield', values: days.map(({ yields }) => yields.specific_yield_kwh_kwp) },
    ],
  },
})

const yieldColumns: Column[] = [
  number('energy', 'Energy', 0, 'kWh'),
  number('final', 'Final yield', 2, 'kWh/kWp'),
  number('reference', 'Reference yield', 2, 'kWh/kWp'),
  number('ratio', 'PR', 1, '%'),
  number('warm', 'PR at 25 °C', 1, '%'),
  number('complete', 'Completeness', 1, '%'),
]

const yieldCells = (yields: DayYields): Record<string, Cell> => ({
  energy: yields.energy_kwh,
  final: yields.specific_yield_kwh_kwp,
  reference: yields.reference_yield_kwh_kwp,
  ratio: yields.performance_ratio_pct,
  warm: yields.performance_ratio_temp_corrected_pct,
  complete: yields.completeness_pct,
})

const plantCells = (yields: Yields): Record<string, Cell> => ({
  ...yieldCells(yields),
  available: yields.availability_time_pct,
  factor: yields.capacity_factor_pct,
})

const plantTable = (
  plants: readonly PlantFigures[],
  site: Yields,
  totals_name: string,
): Section => ({
  kind: 'table',
  title: 'By plant',
  columns: [
    { key: 'plant', label: 'Plant', kind: 'text' },
    ...yieldColumns.slice(0, -1),
    number('guaranteed', 'Guaranteed PR', 1, '%'),
    number('available', 'Availability', 1, '%'),
    number('factor', 'Capacity factor', 1, '%'),
    yieldColumns.at(-1)!,
  ],
  rows: plants.map(({ inverters, yields }) => ({
    plant: inverters[0]!.logger_name,
    ...plantCells(yields),
    guaranteed: inverters[0]!.guaranteed_performance_ratio_pct,
  })),
  totals: { plant: totals_name, ...plantCells(site) },
})

function inverterTable(
  plants: readonly PlantFigures[],
  period: Parameters<typeof yieldsOf>[2],
  worst_count: number,
): Section {
  const items = plants.flatMap(({ inverters }) =>
    inverters.map((inverter) => ({ inverter, yields: yieldsOf(inverter, inverter, period, 1) })),
  )
  const of = (item: (typeof items)[number]) => item.yields.specific_yield_kwh_kwp ?? Infinity
  const worst = items.toSorted((a, b) => (of(a) < of(b) ? -1 : Number(of(a) > of(b))))
  return {
    kind: 'table',
    title: 'Inverters with the lowest yield',
    columns: [
      { key: 'inverter', label: 'Inverter', kind: 'text' },
      { key: 'plant', label: 'Plant', kind: 'text' },
      ...yieldColumns,
    ],
    rows: worst.slice(0, worst_count).map(({ inverter, yields }) => ({
      inverter: inverter.inverter_name,
      plant: inverter.logger_name,
      ...yieldCells(yields),
    })),
    note:
      `${Math.min(worst_count, items.length)} of ${items.length}. Panels that face elsewhere ` +
      'yield otherwise; those of which too little is known come last.',
  }
}

const dayTable = (days: Days): Section => ({
  kind: 'table',
  title: 'By day',
  columns: [{ key: 'day', label: 'Day', kind: 'date' }, ...yieldColumns],
  rows: days.map(({ day, yields }) => ({ day: day.date, ...yieldCells(yields) })),
})

const method: Section = {
  kind: 'text',
  title: 'How these are computed',
  text:
    'After IEC 61724-1. Final yield: AC energy by DC capacity. Reference yield: insolation in ' +
    'the plane of the panels by 1 kW/m². Performance ratio (PR): energy by capacity and ' +
    'insolation, over the instants that know both and have 20 W/m² or more; at 25 °C: ' +
    'with the coefficient of the panels and their measured or modelled temperature, at STC. ' +
    'Availability by time: share of the bright time (over 100 W/m²) with the inverter heard in ' +
    'which it delivered; by energy: energy by itself and what was lost while down. Capacity ' +
    'factor: energy by the AC rating over all hours. A plant of which less than half of the ' +
    'daylight is known has no figures. Completeness is what share of the daylight was measured; ' +
    'the accuracy of the instruments is not known here and no uncertainty is derived from it. ' +
    'Degradation is not stated: it needs years of one and the same instruments.',
}
