/** Energy losses from irradiance to the grid. */
import { rounded } from '@heliograph/domain/significant'
import type { InverterSumsRow } from '../../performance/efficiency/inverter-sums.ts'
import { type Losses, lossesOf } from '../../performance/efficiency/losses.ts'
import { coverageOf, excludedReason, type Period } from '../../performance/period.ts'
import type { Section } from '../document.ts'
import { sumOf, totalsName } from './frame.ts'
import { inverterFields, readPerformance } from './inverter-days.ts'
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

export const losses = template({
  template_id: 'losses',
  name: 'Losses',
  description:
    'From the potential energy to the delivered energy: clipping, curtailment, downtime, derating ' +
    'and other losses; conversion and night consumption; by plant and inverter.',
  category: 'performance',
  parameters: worstCount('inverters'),
  parts: [{ name: 'Losses', scopes: ['diagnostics:read'] }],
  async contents(db, frame, order) {
    const { inverters, notes, data_completeness_pct, has_sums } = await readPerformance(db, frame)
    const items = inverters.map((inverter) => itemOf(inverter, frame.period))
    return {
      title: 'Losses',
      data_completeness_pct,
      has_sums,
      notes: [...notes, ...uncoveredNotes(items)],
      sections: [
        ...waterfall(items.filter(({ is_covered }) => is_covered)),
        plantTable(items, totalsName(frame)),
        inverterTable(items, countOf(order, 'worst_count')),
        method,
      ],
    }
  },
})

interface Item extends Losses {
  inverter: InverterSumsRow
  /** Power and irradiance cover enough of the daylight to compare energy with the expectation. */
  is_covered: boolean
  /** Losses without a named cause; below 0 when the inverter exceeded the expectation. */
  other_kwh: number | null
  /** All losses except clipping, which is by design. */
  lost_kwh: number | null
}

function itemOf(inverter: InverterSumsRow, period: Period): Item {
  const isCovered = (covered_s: number) =>
    excludedReason(coverageOf(covered_s, period.daylight_s)) === null
  const is_covered = isCovered(inverter.daylight_covered_s) && isCovered(inverter.sun_covered_s)
  const own = lossesOf(inverter, inverter.nominal_efficiency_pct !== null, period)
  const { curtailment_loss_kwh, downtime_loss_kwh, derating_loss_kwh } = own
  const named_kwh = sumOf([curtailment_loss_kwh, downtime_loss_kwh, derating_loss_kwh])
  const lost_kwh = inverter.reference_expected_kwh - inverter.reference_ac_kwh
  return {
    ...own,
    inverter,
    is_covered,
    other_kwh: is_covered ? sumOf([lost_kwh, -(named_kwh ?? 0)]) : null,
    lost_kwh: is_covered ? sumOf([lost_kwh]) : null,
  }
}

function uncoveredNotes(items: readonly Item[]): string[] {
  const count = items.filter(({ is_covered }) => !is_covered).length
  if (count === 0 || count === items.length) return []
  return [
    `${count} of ${items.length} inverters are not in the losses from irradiance to grid: power and ` +
      'irradiance cover less than half of their daylight.',
  ]
}

type LossName =
  | 'clipping_loss_kwh'
  | 'curtailment_loss_kwh'
  | 'downtime_loss_kwh'
  | 'derating_loss_kwh'

/** Losses over the instants with both power and irradiance. */
function waterfall(items: readonly Item[]): Section[] {
  const title = 'From irradiance to grid'
  const sum = (name: 'reference_expected_kwh' | 'reference_ac_kwh' | 'clipping_loss_kwh') =>
    items.reduce((kwh, { inverter }) => kwh + inverter[name], 0)
  const expected_kwh = sum('reference_expected_kwh')
  if (!(expected_kwh > 0)) {
    return [textSection(title, 'Unknown: too little time with both power and irradiance.')]
  }
  const potential_kwh = expected_kwh + sum('clipping_loss_kwh')
  const delivered_kwh = sum('reference_ac_kwh')
  const step = (label: string, name: LossName) => {
    const loss_kwh = sumOf(items.map((item) => item[name])) ?? 0
    const share_pct = (100 * loss_kwh) / potential_kwh
    return { label, loss_kwh, note: `${share_pct.toFixed(1)} % of the potential` }
  }
  const named = [
    step('Clipping', 'clipping_loss_kwh'),
    step('Curtailment', 'curtailment_loss_kwh'),
    step('Downtime', 'downtime_loss_kwh'),
    step('Derating', 'derating_loss_kwh'),
  ]
  const named_kwh = named.reduce((kwh, { loss_kwh }) => kwh + loss_kwh, 0)
  const other = {
    label: 'Other',
    loss_kwh: potential_kwh - named_kwh - delivered_kwh,
    note: 'soiling, shading, strings, model',
  }
  const steps = [...named, other]
  return [
    metricsSection(title, [
      metric('Potential', potential_kwh, kwh, 'expected energy without the AC rating'),
      ...steps.map(({ label, loss_kwh, note }) => metric(label, loss_kwh, kwh, note)),
      metric('Delivered', delivered_kwh, kwh, 'over the same instants'),
    ]),
    chart(
      'Losses from irradiance to grid',
      steps,
      ({ label }) => label,
      { kind: 'bars', left_unit: 'kWh' },
      [['Loss', ({ loss_kwh }) => rounded(loss_kwh, 3)]],
      'Below 0: the plants exceeded the model.',
    ),
  ]
}

const kwh = [1, 'kWh'] as const

/** Fields of one inverter or the sum of several. */
const fields: Field<readonly Item[]>[] = [
  sumField('ac', 'AC energy', 'ac_energy_kwh'),
  sumField('conversion', 'Conversion', 'conversion_loss_kwh'),
  sumField('excess', 'Above expected', 'excess_loss_kwh'),
  sumField('clipping', 'Clipping', 'clipping_loss_kwh'),
  sumField('curtailment', 'Curtailment', 'curtailment_loss_kwh'),
  sumField('downtime', 'Downtime', 'downtime_loss_kwh'),
  sumField('derating', 'Derating', 'derating_loss_kwh'),
  sumField('other', 'Other', 'other_kwh'),
  sumField('lost', 'Lost', 'lost_kwh'),
  sumField('night', 'Night', 'night_consumption_kwh', 2),
]

function sumField(
  key: string,
  label: string,
  name:
    | 'ac_energy_kwh'
    | 'conversion_loss_kwh'
    | 'excess_loss_kwh'
    | 'other_kwh'
    | 'lost_kwh'
    | 'night_consumption_kwh'
    | LossName,
  digits = 1,
): Field<readonly Item[]> {
  return number(key, label, [digits, 'kWh'], (items) => sumOf(items.map((item) => item[name])))
}

const lostNote = 'Lost: curtailment, downtime, derating and other; clipping is by design.'

function plantTable(items: readonly Item[], totals_name: string): Section {
  const plants = [...Map.groupBy(items, ({ inverter }) => inverter.logger_id).values()]
  return table(
    'By plant',
    plants,
    [text('plant', 'Plant', ([first]) => first!.inverter.logger_name), ...fields],
    {
      totals: { plant: totals_name, ...cellsOf(fields, items) },
      note: `Only inverters with enough data. ${lostNote}`,
    },
  )
}

/** Smaller losses are shown as 0.0. */
const shown_kwh = 0.05

function inverterTable(items: readonly Item[], count: number): Section {
  const worst = items
    .filter(({ lost_kwh }) => (lost_kwh ?? 0) >= shown_kwh)
    .toSorted((a, b) => b.lost_kwh! - a.lost_kwh!)
  const unknown = items.filter(({ lost_kwh }) => lost_kwh === null).length
  const note =
    worst.length > 0
      ? `${listed(count, worst)} with losses, of ${items.length}. ${lostNote}`
      : 'No inverter with enough data lost energy: there is nothing to rank.'
  return table(
    'Inverters with the highest losses',
    worst.slice(0, count),
    [
      ...inverterFields,
      ...fieldsOf(fields, (item: Item) => [item]),
      number('complete', 'Completeness', [1, '%'], (item) => item.completeness_pct),
    ],
    { note: unknown > 0 ? `${note} ${unknown} have too little data.` : note },
  )
}

const method = textSection(
  'Method',
  'Losses are over the instants with both power and irradiance. The potential is the energy that ' +
    'the model of panels and inverters computes from measured irradiance and temperature, without ' +
    'the AC rating. Clipping: above the AC rating. Curtailment: held back by a power limit. ' +
    'Downtime: with data and sufficient irradiance, but no power. Derating: throttled below every ' +
    'limit. Other: soiling, shading, string faults and errors of the model; below 0 when the plants ' +
    'exceeded the model. Conversion: DC minus AC energy, where both are measured; above expected: ' +
    'the part of it above the efficiency curve of the inverter. Night: consumption from the grid ' +
    'after sunset.',
)
