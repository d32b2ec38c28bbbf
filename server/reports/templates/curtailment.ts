/** Curtailment orders, the energy that they curtailed, and its value. */
import { rounded } from '@heliograph/domain/significant'
import { type CurtailmentRow, rowColumns, type StoredRow } from '../../control/curtailment-row.ts'
import { withMoney } from '../../control/curtailment-worth.ts'
import { plantYields, readInverterSums } from '../../performance/efficiency/inverter-sums.ts'
import { lossesOf } from '../../performance/efficiency/losses.ts'
import { heldUntil } from '../../storage/curtailment.ts'
import type { Queries } from '../../storage/database.ts'
import type { Metric, Section } from '../document.ts'
import { dateOf, dayBounds, type Frame, isIncluded, sumOf } from './frame.ts'
import { countOf, rowCount } from './parameters.ts'
import {
  cellsOf,
  chart,
  type Field,
  instant,
  listed,
  metric,
  metricsSection,
  number,
  table,
  text,
  textSection,
} from './sections.ts'
import { template } from './template.ts'

export const curtailment = template({
  template_id: 'curtailment',
  name: 'Curtailment',
  description:
    'Curtailment orders with their compliance, the energy that they curtailed by day and plant, and ' +
    'its value.',
  category: 'curtailment',
  parameters: rowCount('commands'),
  parts: [
    { name: 'Commands', scopes: ['curtailment:read'] },
    { name: 'Loss to all limits', scopes: ['diagnostics:read'] },
    { name: 'Lost revenue and avoided cost', scopes: ['curtailment:read', 'earnings:read'] },
  ],
  async contents(db, frame, order) {
    const expected = order.may_read.has('diagnostics:read') ? await readLoss(db, frame) : null
    const facts = {
      title: 'Curtailment',
      data_completeness_pct: expected?.completeness_pct ?? null,
    }
    const lossMetrics: Metric[] = expected
      ? [metric('Loss to all limits', expected.lost_kwh, kwh, 'from the expected power')]
      : []
    if (!order.may_read.has('curtailment:read')) {
      const sections = [metricsSection('Curtailment', lossMetrics), method]
      return { ...facts, notes: [], sections }
    }
    const rows = await readRows(db, frame)
    const days = await readDays(db, frame)
    const money = order.may_read.has('earnings:read') ? moneyFields : []
    return {
      ...facts,
      currency: currencyOf(rows),
      notes: notesOf(rows, frame),
      sections: [
        metricsSection('Curtailment', [
          metric('Orders', rows.length, [0], 'one per plant'),
          metric('Curtailed by orders', energyOf(days), kwh, 'from the inverters'),
          ...lossMetrics,
          ...(money.length > 0 ? moneyMetrics(rows) : []),
          metric(
            'Time above a limit',
            rounded(rows.reduce((sum, row) => sum + row.violation_s, 0) / 60, 1),
            [1, 'min'],
          ),
        ]),
        ...dayChart(days, frame),
        plantTable(rows, { days, money }, frame),
        outcomeTable(rows, money),
        rowTable(rows, { count: countOf(order, 'row_count'), has_money: money.length > 0 }, frame),
        method,
      ],
    }
  },
})

const kwh = [1, 'kWh'] as const

/** Orders that limited a plant, or may have, during a part of the period, newest first. */
async function readRows(db: Queries, frame: Frame): Promise<CurtailmentRow[]> {
  const { site_id, period, plant_ids, order } = frame
  const stored = await db.query<StoredRow>(
    `select ${rowColumns('$2::timestamptz')}
     from curtailment_rows r
     join curtailment_groups g on g.site_id = r.site_id and g.group_id = r.group_id
     where r.site_id = $1 and r.start_at < $4
       and greatest(least(r.end_at, r.released_at), ${heldUntil('$2::timestamptz')})
         > greatest(r.start_at, $3)
       and r.logger_id = any ($5)
     order by r.start_at desc, r.row_id desc`,
    [site_id, order.now, period.start_at, period.end_at, plant_ids],
  )
  return withMoney(db, { site_id, has_money: order.may_read.has('earnings:read') }, stored)
}

interface CurtailedDay {
  nth: number
  logger_id: number
  curtailed_kwh: number | null
}

async function readDays(db: Queries, { site_id, days, plant_ids }: Frame): Promise<CurtailedDay[]> {
  if (days.length === 0) return []
  return db.query<CurtailedDay>(
    `select width_bucket(hour_at, $2::timestamptz[]) - 1 as nth, logger_id,
       sum(curtailed_energy_kwh) as curtailed_kwh
     from curtailment_hours
     where site_id = $1 and hour_at >= $3 and hour_at < $4 and logger_id = any ($5)
     group by 1, 2`,
    [site_id, ...dayBounds(days), plant_ids],
  )
}

/** Loss to all limits from the expected power, as in the loss analysis. */
async function readLoss(db: Queries, frame: Frame) {
  const { site_id, period } = frame
  const inverters = (await readInverterSums(db, site_id, period)).filter(isIncluded(frame))
  return {
    completeness_pct: plantYields(inverters, period).completeness_pct,
    lost_kwh: sumOf(inverters.map((row) => lossesOf(row, false, period).curtailment_loss_kwh)),
  }
}

/** Without an end an order lasts. */
const isLater = (at: string | null, than: Date) => at === null || new Date(at) > than

function notesOf(rows: readonly CurtailmentRow[], { period }: Frame): string[] {
  if (rows.length === 0) return ['No curtailment order was in force in this period.']
  const notes: string[] = []
  const beyond = rows.filter(
    ({ start_at, end_at, release_requested_at }) =>
      new Date(start_at) < period.start_at ||
      isLater(release_requested_at ?? end_at, period.end_at),
  )
  if (beyond.length > 0) {
    notes.push(
      `${beyond.length} orders extend beyond the period: their energy and money cover the whole ` +
        'order, the sums by day and plant only the period.',
    )
  }
  const unknown = rows.filter(({ curtailed_energy_kwh }) => curtailed_energy_kwh === null).length
  if (unknown > 0) {
    notes.push(
      `The energy of ${unknown} of ${rows.length} orders is unknown: no inverter reports its ` +
        'available power.',
    )
  }
  if (rows.some(({ lost_revenue_amount }) => lost_revenue_amount !== null)) {
    notes.push('Money is at the newest prices and changes with them until they are final.')
  }
  return notes
}

const energyOf = (days: readonly CurtailedDay[]) =>
  sumOf(days.map(({ curtailed_kwh }) => curtailed_kwh))

/** null without a common currency. */
function currencyOf(rows: readonly CurtailmentRow[]): string | null {
  const [first, ...others] = new Set(rows.flatMap(({ currency }) => currency ?? []))
  return others.length === 0 ? (first ?? null) : null
}

/** null without a common currency. */
const moneyOf = (
  rows: readonly CurtailmentRow[],
  name: 'lost_revenue_amount' | 'avoided_cost_amount',
) => {
  const amounts = rows.map((row) => row[name])
  return currencyOf(rows) === null ? null : sumOf(amounts, 6)
}

/** Fields of the orders of a plant or an outcome. */
const moneyFields: Field<readonly CurtailmentRow[]>[] = [
  number('lost', 'Lost revenue', [2], (rows) => moneyOf(rows, 'lost_revenue_amount')),
  number('avoided', 'Avoided cost', [2], (rows) => moneyOf(rows, 'avoided_cost_amount')),
  text('currency', 'Currency', currencyOf),
]

function moneyMetrics(rows: readonly CurtailmentRow[]): Metric[] {
  const format = [2, currencyOf(rows) ?? undefined] as const
  const note = 'over the whole orders'
  return [
    metric('Lost revenue', moneyOf(rows, 'lost_revenue_amount'), format, note),
    metric('Avoided cost', moneyOf(rows, 'avoided_cost_amount'), format, note),
  ]
}

function dayChart(curtailed: readonly CurtailedDay[], { days, plants }: Frame): Section[] {
  if (curtailed.length === 0) return []
  const by_plant = Map.groupBy(curtailed, ({ logger_id }) => logger_id)
  const items = days.map(({ date }, nth) => ({ date, nth }))
  const series = plants.flatMap(({ logger_id, logger_name }) => {
    const own = by_plant.get(logger_id)
    const energyOn = ({ nth }: { nth: number }) => energyOf(own!.filter((day) => day.nth === nth))
    return own ? [[logger_name, energyOn] as const] : []
  })
  const axes = { kind: 'bars', stacked: true, left_unit: 'kWh' } as const
  return [chart('Curtailed energy by day', items, dateOf, axes, series)]
}

type Rows = readonly CurtailmentRow[]

const countField = number<Rows>('commands', 'Orders', [0], ({ length }) => length)

function plantTable(
  rows: Rows,
  { days, money }: { days: readonly CurtailedDay[]; money: readonly Field<Rows>[] },
  { plants }: Frame,
): Section {
  const names = new Map(plants.map(({ logger_id, logger_name }) => [logger_id, logger_name]))
  const by_plant = Map.groupBy(rows, ({ logger_id }) => logger_id)
  const energyAt = (logger_id: number) =>
    energyOf(days.filter((day) => day.logger_id === logger_id))
  return table(
    'By plant',
    plants.map(({ logger_id }) => by_plant.get(logger_id)).filter((own) => own !== undefined),
    [
      text('plant', 'Plant', ([first]) => names.get(first!.logger_id)!),
      countField,
      number('kept', 'Curtailed energy', kwh, ([first]) => energyAt(first!.logger_id)),
      ...money,
    ],
    {
      totals: {
        plant: 'All',
        kept: energyOf(days),
        ...cellsOf([countField, ...money], rows),
      },
    },
  )
}

const sourceNames = {
  api: 'Command',
  standing_order: 'Standing order',
  edge_local: 'Known from the edge alone',
  grid_operator: 'Grid operator',
  direct_marketer: 'Direct marketer',
  digital_input: 'Relay inputs',
} as const satisfies Record<CurtailmentRow['source'], string>

function outcomeTable(rows: Rows, money: readonly Field<Rows>[]): Section {
  const nameOf = ({ source, status }: CurtailmentRow) => `${sourceNames[source]} / ${status}`
  const groups: Rows[] = [...Map.groupBy(rows, nameOf).values()]
  return table(
    'By origin and status',
    groups,
    [
      text('origin', 'Origin / status', ([first]) => nameOf(first!)),
      countField,
      number('kept', 'Curtailed energy', kwh, (own) =>
        sumOf(own.map(({ curtailed_energy_kwh }) => curtailed_energy_kwh)),
      ),
      ...money,
    ],
    { note: 'Over the whole orders.' },
  )
}

function rowTable(
  rows: Rows,
  { count, has_money }: { count: number; has_money: boolean },
  { plants }: Frame,
): Section {
  const names = new Map(plants.map(({ logger_id, logger_name }) => [logger_id, logger_name]))
  const money = number<CurtailmentRow>(
    'lost',
    'Lost revenue',
    [2],
    (row) => row.lost_revenue_amount,
  )
  return table(
    'Orders',
    rows.slice(0, count),
    [
      text('plant', 'Plant', ({ logger_id }) => names.get(logger_id) ?? null),
      instant('start', 'From', ({ start_at }) => start_at),
      instant('end', 'To', ({ release_requested_at, end_at }) => release_requested_at ?? end_at),
      number('limit', 'Limit', [1, 'kW'], ({ max_power_kw }) => max_power_kw),
      text('status', 'Status', ({ status }) => status),
      instant('applied', 'Applied', ({ applied_at }) => applied_at),
      number('compliance', 'Compliance', [1, '%'], ({ compliance_pct }) => compliance_pct),
      number('kept', 'Curtailed energy', kwh, (row) => row.curtailed_energy_kwh),
      ...(has_money ? [money] : []),
      text('by', 'By', ({ created_by }) => created_by),
    ],
    { note: `${listed(count, rows)}, newest first.` },
  )
}

const method = textSection(
  'Method',
  'Curtailed by orders: the available power that inverters report minus their power, while an order ' +
    'was the lowest limit. Loss to all limits: from the expected power, while any external limit, ' +
    'such as that of the grid permit, held an inverter down. The two are measured differently and ' +
    'must not be added. Lost revenue is what the contract would have paid; compensation by a grid ' +
    'operator is unknown and not included. Compliance: share of the measurements after the order ' +
    'was applied with power at or below the limit.',
)
