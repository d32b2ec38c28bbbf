/** Where energy was lost between the light and the grid. */
import { rounded } from '@heliograph/domain/significant'
import type { InverterSumsRow } from '../../performance/efficiency/inverter-sums.ts'
import { type Losses, lossesOf } from '../../performance/efficiency/losses.ts'
import { plantYields } from '../../performance/efficiency/plant-yields.ts'
import { coverageOf, excludedReason, type Period } from '../../performance/period.ts'
import type { Cell, Column, Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import { numberColumn as number } from './columns.ts'
import { documentOf, frameOf, sumOf, totalsName } from './frame.ts'
import { hasSums, plantNotes, plantsOf, readInverters } from './inverter-days.ts'
import { worstCount } from './parameters.ts'

export const losses: ReportTemplate = {
  template_id: 'losses',
  name: 'Losses',
  description:
    'From what the light allowed to what was delivered: clipping, curtailment, downtime, derating ' +
    'and what remains; conversion and night consumption; by plant and inverter.',
  category: 'performance',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['day', 'week', 'month', 'quarter', 'year', 'custom'],
  parameters: worstCount('inverters'),
  parts: [{ name: 'Losses', scopes: ['diagnostics:read'] }],
  required_module: 'basic_scada',
  version: '1.0.0',
  async build(db, order) {
    const frame = await frameOf(db, order)
    const { period } = frame
    const inverters = await readInverters(db, frame)
    const items = inverters.map((inverter) => itemOf(inverter, period))
    const site = plantYields(inverters, period)
    const plants = plantsOf(inverters, period)
    const worst_count = Number(order.parameters['worst_count'] ?? 20)
    return documentOf(losses, frame, {
      title: 'Losses',
      data_completeness_pct: site.completeness_pct,
      has_sums: hasSums(plants),
      notes: [...plantNotes(plants, site), ...unlitNotes(items)],
      sections: [
        ...waterfall(items),
        plantTable(items, totalsName(frame)),
        inverterTable(items, worst_count),
        method,
      ],
    })
  },
}

interface Item {
  inverter: InverterSumsRow
  losses: Losses
  /** Heard and lit long enough to compare energy with expectation. */
  is_lit: boolean
  /** What is left of the way from light to grid when every named loss is taken off. */
  other_kwh: number | null
  /** All that was lost but clipping, which is by design; below 0 where it did better. */
  lost_kwh: number | null
}

function itemOf(inverter: InverterSumsRow, period: Period): Item {
  const is_lit =
    excludedReason(coverageOf(inverter.daylight_covered_s, period.daylight_s)) === null &&
    excludedReason(coverageOf(inverter.sun_covered_s, period.daylight_s)) === null
  const losses = lossesOf(inverter, inverter.nominal_efficiency_pct !== null, period)
  const named_kwh = sumOf([
    losses.curtailment_loss_kwh,
    losses.downtime_loss_kwh,
    losses.derating_loss_kwh,
  ])
  const lost_kwh = inverter.reference_expected_kwh - inverter.reference_ac_kwh
  return {
    inverter,
    losses,
    is_lit,
    other_kwh: is_lit ? sumOf([lost_kwh, -(named_kwh ?? 0)]) : null,
    lost_kwh: is_lit ? sumOf([lost_kwh]) : null,
  }
}

function unlitNotes(items: readonly Item[]): string[] {
  const unlit = items.filter(({ is_lit }) => !is_lit)
  if (unlit.length === 0 || unlit.length === items.length) return []
  return [
    `${unlit.length} of ${items.length} inverters are not in the steps from light to grid: less ` +
      'than half of their daylight has both power and light.',
  ]
}

const sum = (items: readonly Item[], of: (item: Item) => number | null) => sumOf(items.map(of))

interface Step {
  label: string
  /** What it takes away; below 0 where it adds. */
  loss_kwh: number
}

interface Way {
  allowed_kwh: number
  delivered_kwh: number
  steps: Step[]
}

/** Over the instants that know both power and light; null where there are none. */
function stepsOf(items: readonly Item[]): Way | null {
  const lit = items.filter(({ is_lit }) => is_lit)
  const of = (name: 'reference_expected_kwh' | 'reference_ac_kwh' | 'clipping_loss_kwh') =>
    lit.reduce((kwh, { inverter }) => kwh + inverter[name], 0)
  const expected_kwh = of('reference_expected_kwh')
  if (!(expected_kwh > 0)) return null
  const delivered_kwh = of('reference_ac_kwh')
  const allowed_kwh = expected_kwh + of('clipping_loss_kwh')
  const named = [
    ['Clipping', sum(lit, (item) => item.losses.clipping_loss_kwh)],
    ['Curtailment', sum(lit, (item) => item.losses.curtailment_loss_kwh)],
    ['Downtime', sum(lit, (item) => item.losses.downtime_loss_kwh)],
    ['Derating', sum(lit, (item) => item.losses.derating_loss_kwh)],
  ] as const
  const steps = named.map(([label, loss_kwh]): Step => ({ label, loss_kwh: loss_kwh ?? 0 }))
  const named_kwh = steps.reduce((kwh, { loss_kwh }) => kwh + loss_kwh, 0)
  const rest_kwh = allowed_kwh - named_kwh - delivered_kwh
  return { allowed_kwh, delivered_kwh, steps: [...steps, { label: 'Other', loss_kwh: rest_kwh }] }
}

function waterfall(items: readonly Item[]): Section[] {
  const found = stepsOf(items)
  if (found === null) {
    const text =
      'Nothing can be said of the way from light to grid: power and light are not known together ' +
      'for long enough.'
    return [{ kind: 'text', title: 'From light to grid', text }]
  }
  const { allowed_kwh, delivered_kwh, steps } = found
  return [
    {
      kind: 'figures',
      title: 'From light to grid',
      figures: [
        kwhFigure('Allowed by the light', allowed_kwh, 'without the AC rating'),
        ...steps.map(({ label, loss_kwh }) =>
          kwhFigure(
            label,
            loss_kwh,
            label === 'Other' ? 'soiling, shading, strings, model' : pctOf(loss_kwh, allowed_kwh),
          ),
        ),
        kwhFigure('Delivered', delivered_kwh, 'over the same instants'),
      ],
    },
    {
      kind: 'chart',
      title: 'What was lost from light to grid',
      chart: {
        kind: 'bars',
        left_unit: 'kWh',
        x: steps.map(({ label }) => label),
        series: [{ label: 'Lost', values: steps.map(({ loss_kwh }) => rounded(loss_kwh, 3)) }],
      },
      note: 'Below 0: more than the model of the plants expects.',
    },
  ]
}

const kwhFigure = (label: string, value: number, note: string) => ({
  label,
  value,
  unit: 'kWh',
  digits: 1,
  note,
})
const pctOf = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} % of it`

const columns: Column[] = [
  number('ac', 'AC energy', 1, 'kWh'),
  number('conversion', 'Conversion', 1, 'kWh'),
  number('excess', 'Beyond expected', 1, 'kWh'),
  number('clipping', 'Clipping', 1, 'kWh'),
  number('curtailment', 'Curtailment', 1, 'kWh'),
  number('downtime', 'Downtime', 1, 'kWh'),
  number('derating', 'Derating', 1, 'kWh'),
  number('other', 'Other', 1, 'kWh'),
  number('lost', 'Lost', 1, 'kWh'),
  number('night', 'Night', 2, 'kWh'),
  number('complete', 'Completeness', 1, '%'),
]

const names = {
  ac: 'ac_energy_kwh',
  conversion: 'conversion_loss_kwh',
  excess: 'excess_loss_kwh',
  clipping: 'clipping_loss_kwh',
  curtailment: 'curtailment_loss_kwh',
  downtime: 'downtime_loss_kwh',
  derating: 'derating_loss_kwh',
  night: 'night_consumption_kwh',
} as const satisfies Record<string, keyof Losses>

const sums = (items: readonly Item[]): Record<string, Cell> => ({
  ...Object.fromEntries(
    Object.entries(names).map(([key, name]) => [key, sum(items, ({ losses }) => losses[name])]),
  ),
  other: sum(items, ({ other_kwh }) => other_kwh),
  lost: sum(items, ({ lost_kwh }) => lost_kwh),
})

function plantTable(items: readonly Item[], totals_name: string): Section {
  const plants = [...Map.groupBy(items, ({ inverter }) => inverter.logger_id).values()]
  return {
    kind: 'table',
    title: 'By plant',
    columns: [{ key: 'plant', label: 'Plant', kind: 'text' }, ...columns.slice(0, -1)],
    rows: plants.map((own) => ({ plant: own[0]!.inverter.logger_name, ...sums(own) })),
    totals: { plant: totals_name, ...sums(items) },
    note: `Of the inverters of which enough is known. ${lostNote}`,
  }
}

const lostNote = 'Lost: curtailment, downtime, derating and other; clipping is by design.'

/** What is less is shown as 0.0. */
const shown_kwh = 0.05

function inverterTable(items: readonly Item[], worst_count: number): Section {
  const worst = items
    .filter(({ lost_kwh }) => (lost_kwh ?? 0) >= shown_kwh)
    .toSorted((a, b) => b.lost_kwh! - a.lost_kwh!)
  const unknown = items.filter(({ lost_kwh }) => lost_kwh === null).length
  return {
    kind: 'table',
    title: 'Inverters that lost most',
    columns: [
      { key: 'inverter', label: 'Inverter', kind: 'text' },
      { key: 'plant', label: 'Plant', kind: 'text' },
      ...columns,
    ],
    rows: worst.slice(0, worst_count).map((item) => ({
      inverter: item.inverter.inverter_name,
      plant: item.inverter.logger_name,
      ...sums([item]),
      complete: item.losses.completeness_pct,
    })),
    note: [
      worst.length > 0
        ? `${Math.min(worst_count, worst.length)} of ${worst.length} that lost energy, of ` +
          `${items.length}. ${lostNote}`
        : 'No inverter of which enough is known lost energy: there is nothing to rank.',
      ...(unknown > 0 ? [`Of ${unknown} too little is known.`] : []),
    ].join(' '),
  }
}

const method: Section = {
  kind: 'text',
  title: 'What the steps are',
  text:
    'Steps are over the instants that know both power and light. The light allows what the model ' +
    'of panels and inverters makes of measured irradiance and temperature. Clipping: above the AC rating. Curtailment: held back by a power limit. ' +
    'Downtime: bright, heard and not delivering. Derating: throttled below every limit. Other is ' +
    'what remains: soiling, shading, faults of strings and how far the model is off; it is below ' +
    '0 where the plants did better. Conversion is DC less AC energy, where both are measured; ' +
    'beyond expected is what of it exceeds the curve of the inverter. Night is what was taken ' +
    'from the grid with the sun down.',
}
