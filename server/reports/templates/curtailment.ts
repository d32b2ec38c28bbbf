/** What was curtailed: rows of commands, the energy that they kept back and what it was worth. */
import { rounded } from '@heliograph/domain/significant'
import { withMoney } from '../../control/curtailment-money.ts'
import { type CurtailmentRow, rowColumns, type StoredRow } from '../../control/curtailment-row.ts'
import { readInverterSums } from '../../performance/efficiency/inverter-sums.ts'
import { lossesOf } from '../../performance/efficiency/losses.ts'
import { plantYields } from '../../performance/efficiency/plant-yields.ts'
import { heldUntil } from '../../storage/curtailment.ts'
import type { Queries } from '../../storage/database.ts'
import type { Figure, Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import { withoutColumns } from './columns.ts'
import { dayLabels, documentOf, type Frame, frameOf, isAsked, sumOf } from './frame.ts'
import { rowCount } from './parameters.ts'

export const curtailment: ReportTemplate = {
  template_id: 'curtailment',
  name: 'Curtailment',
  description:
    'Curtailment commands with how they were kept, the energy that they kept back by day and ' +
    'plant, and what it was worth.',
  category: 'curtailment',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['day', 'week', 'month', 'quarter', 'year', 'custom'],
  parameters: rowCount('commands'),
  parts: [
    { name: 'Commands', scopes: ['curtailment:read'] },
    { name: 'Loss to all limits', scopes: ['diagnostics:read'] },
    { name: 'Lost revenue and avoided cost', scopes: ['curtailment:read', 'earnings:read'] },
  ],
  required_module: 'basic_scada',
  version: '1.0.0',
  async build(db, order) {
    const frame = await frameOf(db, order)
    const row_count = Number(order.parameters['row_count'] ?? 100)
    const light = order.may_read.has('diagnostics:read') ? await readByLight(db, frame) : null
    if (!order.may_read.has('curtailment:read')) return lossDocument(light, frame)
    const rows = await readRows(db, frame)
    const days = await readDays(db, frame)
    const with_money = order.may_read.has('earnings:read')
    return documentOf(curtailment, frame, {
      title: 'Curtailment',
      currency: currencyOf(rows),
      data_completeness_pct: light?.completeness_pct ?? null,
      notes: notesOf(rows, frame),
      sections: [
        figures(rows, days, { light, with_money }),
        ...chart(days, frame),
        ...[plantTable(rows, days, frame), sourceTable(rows), rowTable(rows, frame, row_count)].map(
          (table) => (with_money ? table : withoutMoneyColumns(table)),
        ),
        method,
      ],
    })
  },
}

interface LossByLight {
  completeness_pct: number | null
  lost_kwh: number | null
}

/** For a reader that may not read commands. */
const lossDocument = (light: LossByLight | null, frame: Frame) =>
  documentOf(curtailment, frame, {
    title: 'Curtailment',
    data_completeness_pct: light?.completeness_pct ?? null,
    notes: [],
    sections: [
      { kind: 'figures', title: 'Curtailment', figures: light ? [lossFigure(light)] : [] },
      method,
    ],
  })

const lossFigure = ({ lost_kwh }: LossByLight): Figure => ({
  label: 'Lost to all limits',
  value: lost_kwh,
  unit: 'kWh',
  digits: 1,
  note: 'by the light measured',
})

const withoutMoneyColumns = (table: Section) =>
  withoutColumns(table, ['lost', 'avoided', 'currency'])

/** Rows that held a plant, or may have, in the period, as the API has them, the newest first. */
async function readRows(db: Queries, frame: Frame): Promise<CurtailmentRow[]> {
  const { site_id, period, plants, order } = frame
  const stored = await db.query<StoredRow>(
    `select ${rowColumns('$2::timestamptz')}
     from curtailment_rows r
     join curtailment_groups g on g.site_id = r.site_id and g.group_id = r.group_id
     where r.site_id = $1 and r.start_at < $4
       and greatest(least(r.end_at, r.released_at), ${heldUntil('$2::timestamptz')})
         > greatest(r.start_at, $3)
       and r.logger_id = any ($5)
     order by r.start_at desc, r.row_id desc`,
    [
      site_id,
      new Date(frame.now.now_ms),
      period.start_at,
      period.end_at,
      plants.map(({ logger_id }) => logger_id),
    ],
  )
  return withMoney(db, { site_id, has_money: order.may_read.has('earnings:read') }, stored)
}

interface DayKept {
  nth: number
  logger_id: number
  kept_kwh: number | null
}

/** What rows kept back in the period, by its days and plants. */
async function readDays(db: Queries, { site_id, days, plants }: Frame): Promise<DayKept[]> {
  if (days.length === 0) return []
  const bounds = [...days.map(({ start_ms }) => start_ms), days.at(-1)!.end_ms]
  return db.query<DayKept>(
    `select width_bucket(hour_at, $2::timestamptz[]) - 1 as nth, logger_id,
       sum(curtailed_energy_kwh) as kept_kwh
     from curtailment_hours
     where site_id = $1 and hour_at >= $3 and hour_at < $4 and logger_id = any ($5)
     group by 1, 2`,
    [
      site_id,
      bounds.map((ms) => new Date(ms).toISOString()),
      new Date(bounds[0]!),
      new Date(bounds.at(-1)!),
      plants.map(({ logger_id }) => logger_id),
    ],
  )
}

/** What every limit from outside kept back, by the expected power: as the loss analysis has it. */
async function readByLight(db: Queries, frame: Frame): Promise<LossByLight> {
  const { site_id, period } = frame
  const rows = await readInverterSums(db, site_id, period)
  const inverters = rows.filter(isAsked(frame))
  return {
    completeness_pct: plantYields(inverters, period).completeness_pct,
    lost_kwh: sumOf(inverters.map((row) => lossesOf(row, false, period).curtailment_loss_kwh)),
  }
}

const currencyOf = (rows: readonly CurtailmentRow[]): string | null => {
  const found = new Set(rows.flatMap(({ currency }) => currency ?? []))
  return found.size === 1 ? [...found][0]! : null
}

function notesOf(rows: readonly CurtailmentRow[], { period }: Frame): string[] {
  if (rows.length === 0) return ['No curtailment command was in force in this period.']
  const notes: string[] = []
  const across = rows.filter(
    ({ start_at, end_at, release_requested_at }) =>
      new Date(start_at) < period.start_at ||
      new Date(release_requested_at ?? end_at) > period.end_at,
  )
  if (across.length > 0) {
    notes.push(
      `${across.length} commands reach beyond the period: their own energy and money are of all ` +
        'their time, the sums by day and plant only of the period.',
    )
  }
  const untold = rows.filter(({ curtailed_energy_kwh }) => curtailed_energy_kwh === null).length
  if (untold > 0) {
    notes.push(
      `Of ${untold} of ${rows.length} commands the energy is not known: no inverter tells what ` +
        'it could have delivered.',
    )
  }
  if (rows.some(({ lost_revenue_amount }) => lost_revenue_amount !== null)) {
    notes.push('Money is by the newest prices and changes with them until they are final.')
  }
  return notes
}

const keptOf = (days: readonly DayKept[]) => sumOf(days.map(({ kept_kwh }) => kept_kwh))

/** In one currency; null where there are several, or none is known. */
const moneyOf = (
  rows: readonly CurtailmentRow[],
  name: 'lost_revenue_amount' | 'avoided_cost_amount',
) =>
  currencyOf(rows) === null
    ? null
    : sumOf(
        rows.map((row) => row[name]),
        6,
      )

function figures(
  rows: readonly CurtailmentRow[],
  days: readonly DayKept[],
  { light, with_money }: { light: LossByLight | null; with_money: boolean },
): Section {
  const unit = currencyOf(rows)
  const money = (label: string, name: Parameters<typeof moneyOf>[1]) => ({
    label,
    value: moneyOf(rows, name),
    digits: 2,
    ...(unit === null ? {} : { unit }),
    note: 'of all time of the commands',
  })
  return {
    kind: 'figures',
    title: 'Curtailment',
    figures: [
      { label: 'Commands', value: rows.length, digits: 0, note: 'one for each plant' },
      {
        label: 'Kept back by commands',
        value: keptOf(days),
        unit: 'kWh',
        digits: 1,
        note: 'as inverters tell',
      },
      ...(light ? [lossFigure(light)] : []),
      ...(with_money
        ? [
            money('Lost revenue', 'lost_revenue_amount'),
            money('Avoided cost', 'avoided_cost_amount'),
          ]
        : []),
      {
        label: 'Time above a limit',
        value: rounded(rows.reduce((sum, row) => sum + row.violation_s, 0) / 60, 1),
        unit: 'min',
        digits: 1,
      },
    ],
  }
}

function chart(kept: readonly DayKept[], { days, plants }: Frame): Section[] {
  if (kept.length === 0) return []
  return [
    {
      kind: 'chart',
      title: 'Energy kept back by day',
      chart: {
        kind: 'bars',
        stacked: true,
        x: dayLabels(days),
        left_unit: 'kWh',
        series: plants
          .filter(({ logger_id }) => kept.some((day) => day.logger_id === logger_id))
          .map(({ logger_id, logger_name }) => ({
            label: logger_name,
            values: days.map((_, nth) =>
              keptOf(kept.filter((day) => day.nth === nth && day.logger_id === logger_id)),
            ),
          })),
      },
    },
  ]
}

function plantTable(
  rows: readonly CurtailmentRow[],
  kept: readonly DayKept[],
  { plants }: Frame,
): Section {
  const of = plants.flatMap(({ logger_id, logger_name }) => {
    const own = rows.filter((row) => row.logger_id === logger_id)
    if (own.length === 0) return []
    return {
      plant: logger_name,
      commands: own.length,
      kept: keptOf(kept.filter((day) => day.logger_id === logger_id)),
      ...amounts(own),
    }
  })
  return {
    kind: 'table',
    title: 'By plant',
    columns: [
      { key: 'plant', label: 'Plant', kind: 'text' },
      { key: 'commands', label: 'Commands', kind: 'number', digits: 0 },
      { key: 'kept', label: 'Energy kept back', unit: 'kWh', kind: 'number', digits: 1 },
      ...moneyColumns,
    ],
    rows: of,
    totals: { plant: 'All', commands: rows.length, kept: keptOf(kept), ...amounts(rows) },
  }
}

const moneyColumns = [
  { key: 'lost', label: 'Lost revenue', kind: 'number', digits: 2 },
  { key: 'avoided', label: 'Avoided cost', kind: 'number', digits: 2 },
  { key: 'currency', label: 'Currency', kind: 'text' },
] as const

const amounts = (rows: readonly CurtailmentRow[]) => ({
  lost: moneyOf(rows, 'lost_revenue_amount'),
  avoided: moneyOf(rows, 'avoided_cost_amount'),
  currency: currencyOf(rows),
})

const sourceNames = { api: 'Command', edge_local: 'Known from the edge alone' } as const

function sourceTable(rows: readonly CurtailmentRow[]): Section {
  const groups = Map.groupBy(rows, (row) => `${sourceNames[row.source]} / ${row.status}`)
  return {
    kind: 'table',
    title: 'By origin and outcome',
    columns: [
      { key: 'origin', label: 'Origin / outcome', kind: 'text' },
      { key: 'commands', label: 'Commands', kind: 'number', digits: 0 },
      { key: 'kept', label: 'Energy kept back', unit: 'kWh', kind: 'number', digits: 1 },
      ...moneyColumns,
    ],
    rows: [...groups].map(([origin, own]) => ({
      origin,
      commands: own.length,
      kept: sumOf(own.map(({ curtailed_energy_kwh }) => curtailed_energy_kwh)),
      ...amounts(own),
    })),
    note: 'Of all time of the commands.',
  }
}

function rowTable(rows: readonly CurtailmentRow[], { plants }: Frame, row_count: number): Section {
  const names = new Map(plants.map(({ logger_id, logger_name }) => [logger_id, logger_name]))
  return {
    kind: 'table',
    title: 'Commands',
    columns: [
      { key: 'plant', label: 'Plant', kind: 'text' },
      { key: 'start', label: 'From', kind: 'instant' },
      { key: 'end', label: 'To', kind: 'instant' },
      { key: 'limit', label: 'Limited to', unit: 'kW', kind: 'number', digits: 1 },
      { key: 'status', label: 'Status', kind: 'text' },
      { key: 'applied', label: 'Applied', kind: 'instant' },
      { key: 'compliance', label: 'Limit held', unit: '%', kind: 'number', digits: 1 },
      { key: 'kept', label: 'Energy kept back', unit: 'kWh', kind: 'number', digits: 1 },
      { key: 'lost', label: 'Lost revenue', kind: 'number', digits: 2 },
      { key: 'by', label: 'By', kind: 'text' },
    ],
    rows: rows.slice(0, row_count).map((row) => ({
      plant: names.get(row.logger_id) ?? null,
      start: new Date(row.start_at),
      end: new Date(row.release_requested_at ?? row.end_at),
      limit: row.max_power_kw,
      status: row.status,
      applied: row.applied_at === null ? null : new Date(row.applied_at),
      compliance: row.compliance_pct,
      kept: row.curtailed_energy_kwh,
      lost: row.lost_revenue_amount,
      by: row.created_by,
    })),
    note: `${Math.min(row_count, rows.length)} of ${rows.length}, the newest first.`,
  }
}

const method: Section = {
  kind: 'text',
  title: 'What these figures are',
  text:
    'Kept back by commands: what inverters could have delivered, as they tell, less what they ' +
    'did, while a command was the lowest. Lost to all limits: by the expected power while any ' +
    'limit from outside held an inverter, that of the permit among them. The two are measured ' +
    'otherwise and are not to be added. Lost revenue is what the contract would have paid; ' +
    'compensation by a grid operator is not known here and in no figure. Limit held: share of the ' +
    'looks since it was applied at or below the limit.',
}
