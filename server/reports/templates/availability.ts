/** Availability by time and by energy, of the site, its plants and inverters: IEC TS 63019. */
import { rounded } from '@heliograph/domain/significant'
import type { InverterSumsRow } from '../../performance/efficiency/inverter-sums.ts'
import { plantYields } from '../../performance/efficiency/plant-yields.ts'
import { type Yields, yieldsOf } from '../../performance/efficiency/yields.ts'
import { type Period, periodHours } from '../../performance/period.ts'
import type { Cell, Column, Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import { numberColumn as number } from './columns.ts'
import { dayLabels, documentOf, frameOf, totalsName } from './frame.ts'
import {
  type DayFigures,
  hasSums,
  plantNotes,
  plantsOf,
  readInverters,
  undemandedNotes,
  yieldsByDay,
} from './inverter-days.ts'
import { worstCount } from './parameters.ts'

export const availability: ReportTemplate = {
  template_id: 'availability',
  name: 'Availability',
  description:
    'Availability by time and by energy after IEC TS 63019, time down and energy lost in it, and ' +
    'the time of which nothing is known; by day, plant and inverter.',
  category: 'performance',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['day', 'week', 'month', 'quarter', 'year', 'custom'],
  parameters: worstCount('inverters'),
  parts: [{ name: 'Availability', scopes: ['diagnostics:read'] }],
  required_module: 'basic_scada',
  version: '1.0.0',
  async build(db, order) {
    const frame = await frameOf(db, order)
    const { period } = frame
    const inverters = await readInverters(db, frame)
    const days = await yieldsByDay(db, frame, inverters)
    const plants = plantsOf(inverters, period)
    const site = plantYields(inverters, period)
    const worst_count = Number(order.parameters['worst_count'] ?? 20)
    return documentOf(availability, frame, {
      title: 'Availability',
      data_completeness_pct: site.completeness_pct,
      has_sums: hasSums(plants),
      notes: [...plantNotes(plants, site), ...undemandedNotes(plants)],
      sections: [
        siteFigures(site, inverters, period),
        dayChart(days),
        {
          kind: 'table',
          title: 'By plant',
          columns: [{ key: 'plant', label: 'Plant', kind: 'text' }, ...columns],
          rows: plants.map(({ inverters: own, yields }) => ({
            plant: own[0]!.logger_name,
            ...cells(yields, own, period),
          })),
          totals: { plant: totalsName(frame), ...cells(site, inverters, period) },
        },
        inverterTable(inverters, period, worst_count),
        method,
      ],
    })
  },
}

/** Hours of inverters: twelve that are down for one hour are twelve. */
function timesOf(inverters: readonly InverterSumsRow[], { daylight_s }: Period) {
  const sum = (name: 'down_s' | 'fault_s' | 'daylight_covered_s' | 'demanded_s') =>
    inverters.reduce((seconds, inverter) => seconds + inverter[name], 0)
  const hours = (seconds: number) => rounded(seconds / 3600, 2)
  const is_heard = inverters.some(({ covered_s }) => covered_s > 0)
  return {
    demanded_h: is_heard ? hours(sum('demanded_s')) : null,
    down_h: is_heard ? hours(sum('down_s')) : null,
    fault_h: is_heard ? hours(sum('fault_s')) : null,
    unknown_h:
      daylight_s === null
        ? null
        : hours(Math.max(0, daylight_s * inverters.length - sum('daylight_covered_s'))),
  }
}

/** As the loss analysis has it: where energy by expectation is known. */
const downtimeLoss = (yields: Yields, inverters: readonly InverterSumsRow[]): number | null =>
  yields.availability_energy_pct === null
    ? null
    : rounded(
        inverters.reduce((kwh, inverter) => kwh + inverter.downtime_loss_kwh, 0),
        3,
      )

const columns: Column[] = [
  number('time', 'By time', 2, '%'),
  number('energy', 'By energy', 2, '%'),
  number('demanded', 'Demanded', 1, 'h'),
  number('down', 'Down', 1, 'h'),
  number('fault', 'In fault', 1, 'h'),
  number('unknown', 'Unknown', 1, 'h'),
  number('lost', 'Lost while down', 1, 'kWh'),
  number('complete', 'Completeness', 1, '%'),
]

function cells(
  yields: Yields,
  inverters: readonly InverterSumsRow[],
  period: Period,
): Record<string, Cell> {
  const times = timesOf(inverters, period)
  return {
    time: yields.availability_time_pct,
    energy: yields.availability_energy_pct,
    demanded: times.demanded_h,
    down: times.down_h,
    fault: times.fault_h,
    unknown: times.unknown_h,
    lost: downtimeLoss(yields, inverters),
    complete: yields.completeness_pct,
  }
}

function siteFigures(site: Yields, inverters: readonly InverterSumsRow[], period: Period): Section {
  const { down_h, unknown_h } = timesOf(inverters, period)
  const hours = (label: string, value: number | null, note: string) => ({
    label,
    value,
    unit: 'h',
    digits: 1,
    note,
  })
  return {
    kind: 'figures',
    title: 'Site',
    figures: [
      { label: 'By time', value: site.availability_time_pct, unit: '%', digits: 2 },
      { label: 'By energy', value: site.availability_energy_pct, unit: '%', digits: 2 },
      hours('Down', down_h, 'of inverters, in bright time'),
      hours('Unknown', unknown_h, 'of inverters, in daylight'),
      {
        label: 'Lost while down',
        value: downtimeLoss(site, inverters),
        unit: 'kWh',
        digits: 1,
        note: 'by the expected power',
      },
      { label: 'Completeness', value: site.completeness_pct, unit: '%', digits: 1 },
      { label: 'Inverters', value: inverters.length, digits: 0 },
      { label: 'Period', value: rounded(periodHours(period), 1), unit: 'h', digits: 0 },
    ],
  }
}

const dayChart = (days: readonly DayFigures[]): Section => ({
  kind: 'chart',
  title: 'Availability by day',
  chart: {
    kind: 'bars',
    x: dayLabels(days.map(({ day }) => day)),
    left_unit: '%',
    left_max: 100,
    series: [
      { label: 'By time', values: days.map(({ yields }) => yields.availability_time_pct) },
      { label: 'By energy', values: days.map(({ yields }) => yields.availability_energy_pct) },
    ],
  },
})

function inverterTable(
  inverters: readonly InverterSumsRow[],
  period: Period,
  worst_count: number,
): Section {
  const items = inverters.map((inverter) => ({
    inverter,
    yields: yieldsOf(inverter, inverter, period, 1),
  }))
  // Those that are not known come after all that are.
  const of = ({ yields }: (typeof items)[number]) => yields.availability_time_pct ?? 101
  const worst = items.toSorted(
    (a, b) => of(a) - of(b) || b.inverter.downtime_loss_kwh - a.inverter.downtime_loss_kwh,
  )
  return {
    kind: 'table',
    title: 'Inverters, the least available first',
    columns: [
      { key: 'inverter', label: 'Inverter', kind: 'text' },
      { key: 'plant', label: 'Plant', kind: 'text' },
      ...columns,
    ],
    rows: worst.slice(0, worst_count).map(({ inverter, yields }) => ({
      inverter: inverter.inverter_name,
      plant: inverter.logger_name,
      ...cells(yields, [inverter], period),
    })),
    note: `${Math.min(worst_count, items.length)} of ${items.length}.`,
  }
}

const method: Section = {
  kind: 'text',
  title: 'How these are computed',
  text:
    'In the terms of IEC TS 63019. Demanded is the bright time (over 100 W/m²) in which the ' +
    'inverter was heard; down is the part of it in which it delivered nothing. Curtailed to ' +
    'nothing counts as available. By time: 1 - down / demanded. By energy: energy / (energy + ' +
    'lost while down). Unknown is daylight in which an inverter was not heard (information ' +
    'unavailable): it is in neither, and in completeness. Causes that a contract excludes are ' +
    'not taken out: these are operational figures, not contractual ones. Plants take only those ' +
    'inverters into their percentages of which at least half of the daylight is known.',
}
