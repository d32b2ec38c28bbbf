/** Time-based and energy-based availability of the site, its plants and inverters: IEC TS 63019. */
import { rounded } from '@heliograph/domain/significant'
import type { InverterSumsRow } from '../../performance/efficiency/inverter-sums.ts'
import { type Yields, yieldsOf } from '../../performance/efficiency/yields.ts'
import { type Period, periodHours } from '../../performance/period.ts'
import { dateOf, totalsName } from './frame.ts'
import { inverterFields, readPerformance, undemandedNotes, yieldsByDay } from './inverter-days.ts'
import { countOf, worstCount } from './parameters.ts'
import {
  cellsOf,
  chart,
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

export const availability = template({
  template_id: 'availability',
  name: 'Availability',
  description:
    'Time-based and energy-based availability after IEC TS 63019, downtime and its energy loss, and ' +
    'time without data; by day, plant and inverter.',
  category: 'performance',
  parameters: worstCount('inverters'),
  parts: [{ name: 'Availability', scopes: ['diagnostics:read'] }],
  async contents(db, frame, order) {
    const { period } = frame
    const { inverters, plants, yields, notes, ...facts } = await readPerformance(db, frame)
    const days = await yieldsByDay(db, frame, inverters)
    const all = downtimeOf(yields, inverters, period)
    const own = plants.map((plant) => ({
      ...plant,
      downtime: downtimeOf(plant.yields, plant.inverters, period),
    }))
    const downtime = fieldsOf(fields, (item: { downtime: Downtime }) => item.downtime)
    // Inverters with unknown availability come last.
    const worst = inverters
      .map((inverter) => ({
        inverter,
        downtime: downtimeOf(yieldsOf(inverter, inverter, period, 1), [inverter], period),
      }))
      .toSorted(
        (a, b) =>
          (a.downtime.time_pct ?? 101) - (b.downtime.time_pct ?? 101) ||
          b.inverter.downtime_loss_kwh - a.inverter.downtime_loss_kwh,
      )
    const count = countOf(order, 'worst_count')
    return {
      ...facts,
      title: 'Availability',
      notes: [...notes, ...undemandedNotes(plants)],
      sections: [
        metricsSection('Site', [
          metric('Time-based', all.time_pct, [2, '%']),
          metric('Energy-based', all.energy_pct, [2, '%']),
          metric(
            'Downtime',
            all.down_h,
            [1, 'h'],
            'inverter hours while irradiance was sufficient',
          ),
          metric('No data', all.unknown_h, [1, 'h'], 'inverter hours in daylight'),
          metric('Downtime loss', all.loss_kwh, [1, 'kWh'], 'from the expected power'),
          metric('Completeness', all.completeness_pct, [1, '%']),
          metric('Inverters', inverters.length, [0]),
          metric('Period', rounded(periodHours(period), 1), [0, 'h']),
        ]),
        chart(
          'Availability by day',
          days,
          dateOf,
          { kind: 'bars', left_unit: '%', left_max: 100 },
          [
            ['Time-based', (day) => day.yields.availability_time_pct],
            ['Energy-based', (day) => day.yields.availability_energy_pct],
          ],
        ),
        table(
          'By plant',
          own,
          [text('plant', 'Plant', (plant) => plant.logger_name), ...downtime],
          {
            totals: { plant: totalsName(frame), ...cellsOf(fields, all) },
          },
        ),
        table(
          'Inverters with the lowest availability',
          worst.slice(0, count),
          [...inverterFields, ...downtime],
          { note: `${listed(count, worst)}.` },
        ),
        method,
      ],
    }
  },
})

/** Hours are inverter hours: twelve inverters that are down for one hour are 12 h. */
function downtimeOf(yields: Yields, inverters: readonly InverterSumsRow[], { daylight_s }: Period) {
  const sum = (
    name: 'down_s' | 'fault_s' | 'daylight_covered_s' | 'demanded_s' | 'downtime_loss_kwh',
  ) => inverters.reduce((total, inverter) => total + inverter[name], 0)
  const hours = (seconds: number) => rounded(seconds / 3600, 2)
  const has_data = inverters.some(({ covered_s }) => covered_s > 0)
  return {
    time_pct: yields.availability_time_pct,
    energy_pct: yields.availability_energy_pct,
    demanded_h: has_data ? hours(sum('demanded_s')) : null,
    down_h: has_data ? hours(sum('down_s')) : null,
    fault_h: has_data ? hours(sum('fault_s')) : null,
    unknown_h:
      daylight_s === null
        ? null
        : hours(Math.max(0, daylight_s * inverters.length - sum('daylight_covered_s'))),
    // The loss is known where the expected energy is.
    loss_kwh: yields.availability_energy_pct === null ? null : rounded(sum('downtime_loss_kwh'), 3),
    completeness_pct: yields.completeness_pct,
  }
}

type Downtime = ReturnType<typeof downtimeOf>

const fields: Field<Downtime>[] = [
  number('time', 'Time-based', [2, '%'], (of) => of.time_pct),
  number('energy', 'Energy-based', [2, '%'], (of) => of.energy_pct),
  number('demanded', 'Demanded', [1, 'h'], (of) => of.demanded_h),
  number('down', 'Down', [1, 'h'], (of) => of.down_h),
  number('fault', 'In fault', [1, 'h'], (of) => of.fault_h),
  number('unknown', 'No data', [1, 'h'], (of) => of.unknown_h),
  number('lost', 'Downtime loss', [1, 'kWh'], (of) => of.loss_kwh),
  number('complete', 'Completeness', [1, '%'], (of) => of.completeness_pct),
]

const method = textSection(
  'Method',
  'Terms follow IEC TS 63019. Demanded time is the time with data and an irradiance above 100 W/m². ' +
    'Down is the part of it in which the inverter delivered no power; an inverter curtailed to 0 ' +
    'counts as available. Time-based availability is 1 - down / demanded. Energy-based availability ' +
    'is energy / (energy + downtime loss). No data is daylight without readings of an inverter ' +
    '(information unavailable): neither availability includes it, but completeness does. Causes that ' +
    'a contract excludes are included: this is operational, not contractual availability. ' +
    'Percentages of plants include the inverters with data for at least half of the daylight.',
)
