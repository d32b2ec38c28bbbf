/** What batteries did: energy, cycles, efficiency, charge, dispatch against plan, earnings. */
import { hour_ms } from '@heliograph/domain/durations'
import { addDays, utcDate } from '@heliograph/domain/utc-day'
import { type Deviation, deviationsOf } from '../../batteries/deviations.ts'
import { type Earned, earnedOf, type MarketedUnit } from '../../batteries/earnings.ts'
import { readRoundtrip } from '../../batteries/roundtrip-samples.ts'
import { plannedPower, readUnitDay, type UnitDay } from '../../batteries/unit-day.ts'
import { netEnergy, type UnitQuarter } from '../../batteries/unit-energy.ts'
import type { UnitFacts } from '../../batteries/unit-store.ts'
import { usableEnergy } from '../../batteries/units.ts'
import { percent } from '../../performance/energy/figures.ts'
import type { Queries } from '../../storage/database.ts'
import type { Cell, Column, Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import { dayName } from '../writers/cells.ts'
import { numberColumn as number, withoutColumns } from './columns.ts'
import {
  dayLabels,
  documentOf,
  type Frame,
  frameOf,
  type Measured,
  type ReportDay,
  sumOf,
} from './frame.ts'
import { inTurn } from './in-turn.ts'
import { worstCount } from './parameters.ts'

export const battery: ReportTemplate = {
  template_id: 'battery',
  name: 'Battery',
  description:
    'Energy charged and discharged, equivalent cycles, round-trip efficiency, range of the charge, ' +
    'dispatch against the plan and earnings at day-ahead prices, of each battery by day.',
  category: 'bess',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['day', 'week', 'month', 'custom'],
  parameters: worstCount('hours that differ from the plan'),
  parts: [
    { name: 'Batteries', scopes: ['bess:read'] },
    { name: 'Earnings', scopes: ['bess:read', 'earnings:read'] },
  ],
  required_module: 'bess',
  version: '1.0.0',
  async build(transaction, order) {
    const db = inTurn(transaction)
    const frame = await frameOf(db, order)
    const units = await readUnits(db, frame)
    const told: UnitReport[] = []
    for (const unit of units) told.push(await readUnit(db, unit, frame))
    const worst_count = Number(order.parameters['worst_count'] ?? 20)
    const has_money = order.may_read.has('earnings:read')
    const currencies = new Set(has_money ? told.flatMap(({ total }) => total.currency ?? []) : [])
    return documentOf(battery, frame, {
      title: 'Batteries',
      currency: currencies.size === 1 ? [...currencies][0]! : null,
      data_completeness_pct: completenessOf(told.flatMap(({ quarters }) => quarters)),
      notes: [...notesOf(told), ...(has_money ? unpricedNotes(told) : [])],
      measured: measuredOf(told, frame),
      sections: [
        ...[summaryTable(told), ...told.flatMap((unit) => unitSections(unit, frame))].map(
          (section) => (has_money ? section : withoutColumns(section, ['amount', 'currency'])),
        ),
        ...(told.length > 0 ? [deviationTable(told, worst_count), method] : []),
      ],
    })
  },
}

type UnitRow = MarketedUnit & UnitFacts & { name: string }

function readUnits(db: Queries, { site_id, period, order }: Frame): Promise<UnitRow[]> {
  return db.query<UnitRow>(
    `select * from batteries
     where site_id = $1 and (retired_at is null or retired_at > $2)
       and ($3::int[] is null or logger_id = any ($3))
     order by bess_id`,
    [site_id, period.start_at, order.logger_ids],
  )
}

interface Totals {
  charged_kwh: number | null
  discharged_kwh: number | null
  soc_min_pct: number | null
  soc_max_pct: number | null
  planned_kwh: number | null
  actual_kwh: number | null
  amount: number | null
  currency: string | null
  completeness_pct: number | null
}

interface UnitReport {
  unit: UnitRow
  quarters: UnitQuarter[]
  days: { day: ReportDay; totals: Totals }[]
  total: Totals
  cycles: number | null
  efficiency_pct: number | null
  deviations: Deviation[]
}

async function readUnit(db: Queries, unit: UnitRow, frame: Frame): Promise<UnitReport> {
  const { site_id, days, span, now, order, period } = frame
  const read: UnitDay[] = []
  const end_ms = Math.min(span.end_ms, now.now_ms)
  for (let date = utcDate(span.start_ms); Date.parse(date) < end_ms; date = addDays(date, 1)) {
    read.push(await readUnitDay(db, unit, { date, now: order.now }))
  }
  const total = totalsOf(read, { start_ms: span.start_ms, end_ms })
  const usable_kwh = usableEnergy(unit)
  const ends = { start: period.start_at, end: period.end_at }
  return {
    unit,
    quarters: read.flatMap(({ quarters }) => quarters.filter(isIn({ ...span, end_ms }))),
    days: days.map((day) => ({ day, totals: totalsOf(read, day) })),
    total,
    cycles:
      total.discharged_kwh === null || !(usable_kwh > 0) ? null : total.discharged_kwh / usable_kwh,
    efficiency_pct: await readRoundtrip(db, { site_id, bess_id: unit.bess_id }, ends),
    deviations: read
      .flatMap((day) => deviationsOf(day))
      .filter(({ start_at }) => isIn(span)({ start_ms: Date.parse(start_at) })),
  }
}

interface Bounds {
  start_ms: number
  end_ms: number
}

const isIn =
  ({ start_ms, end_ms }: Bounds) =>
  (of: { start_ms: number }) =>
    of.start_ms >= start_ms && of.start_ms < end_ms

/** Of the quarter hours of a time; `read` are the days of UTC that share time with it. */
function totalsOf(read: readonly UnitDay[], span: Bounds): Totals {
  const parts = read.map((day) => ({ day, quarters: day.quarters.filter(isIn(span)) }))
  const quarters = parts.flatMap((part) => part.quarters)
  const socs = quarters.flatMap(({ soc_start_pct, soc_end_pct }) =>
    [soc_start_pct, soc_end_pct].filter((soc) => soc !== null),
  )
  const planned = parts.flatMap(({ day, quarters: own }) =>
    own.map((quarter) => ({ quarter, power_kw: plannedPower(day.plans, quarter) })),
  )
  const both = planned.filter(
    ({ quarter, power_kw }) => power_kw !== null && netEnergy(quarter) !== null,
  )
  const { amount, currency } = amountOf(parts)
  return {
    charged_kwh: sumOf(quarters.map(({ charged_kwh }) => charged_kwh)),
    discharged_kwh: sumOf(quarters.map(({ discharged_kwh }) => discharged_kwh)),
    soc_min_pct: socs.length === 0 ? null : Math.min(...socs),
    soc_max_pct: socs.length === 0 ? null : Math.max(...socs),
    planned_kwh: sumOf(both.map(({ power_kw, quarter }) => power_kw! * hoursOf(quarter))),
    actual_kwh: sumOf(both.map(({ quarter }) => netEnergy(quarter))),
    amount,
    currency,
    completeness_pct: completenessOf(quarters),
  }
}

const hoursOf = ({ start_ms, end_ms }: Bounds) => (end_ms - start_ms) / hour_ms

/** Null where none is known, or the price of any energy that moved is not. */
function amountOf(parts: readonly { day: UnitDay; quarters: readonly UnitQuarter[] }[]) {
  const nothing = { amount: null, currency: null }
  const moved = parts.filter(({ quarters }) => quarters.some((one) => netEnergy(one) !== null))
  const earned: Earned[] = []
  for (const { day, quarters } of moved) {
    const of_day = day.prices && earnedOf(quarters, day.prices)
    if (of_day === null) return nothing
    earned.push(of_day)
  }
  const [first] = earned
  if (!first || earned.some(({ currency }) => currency !== first.currency)) return nothing
  return {
    amount: sumOf(
      earned.map(({ amount }) => amount),
      6,
    ),
    currency: first.currency,
  }
}

function completenessOf(quarters: readonly UnitQuarter[]): number | null {
  if (quarters.length === 0) return null
  const known = quarters.filter((quarter) => netEnergy(quarter) !== null).length
  return percent(known / quarters.length)
}

function measuredOf(told: readonly UnitReport[], { days, measured: { unit } }: Frame): Measured {
  const read = told
    .flatMap(({ quarters }) => quarters)
    .filter((quarter) => netEnergy(quarter) !== null)
  if (unit === 'hours') {
    const all = new Set(told.flatMap(({ quarters }) => quarters.map(hourOf)))
    return { known: new Set(read.map(hourOf)).size, all: all.size, unit }
  }
  const known = days.filter((day) => read.some(isIn(day))).length
  return { known, all: days.length, unit }
}

const hourOf = ({ start_ms }: UnitQuarter) => Math.floor(start_ms / hour_ms)

function notesOf(told: readonly UnitReport[]): string[] {
  if (told.length === 0) return ['There are no batteries in this period.']
  const silent = told.filter(({ total }) => total.charged_kwh === null)
  if (silent.length === told.length) return ['No data: no battery was measured in this period.']
  return silent.map(({ unit }) => `Nothing is known of ${unit.name}.`)
}

function unpricedNotes(told: readonly UnitReport[]): string[] {
  const unpriced = told.filter(({ total }) => total.charged_kwh !== null && total.amount === null)
  if (unpriced.length === 0) return []
  const names = unpriced.map(({ unit }) => unit.name).join(', ')
  return [`Not known what ${names} earned: no market, or no price of some energy that moved.`]
}

const columns: Column[] = [
  number('charged', 'Charged', 1, 'kWh'),
  number('discharged', 'Discharged', 1, 'kWh'),
  number('soc_min', 'Lowest', 1, '%'),
  number('soc_max', 'Highest', 1, '%'),
  number('planned', 'Planned', 1, 'kWh'),
  number('actual', 'Done', 1, 'kWh'),
  number('amount', 'Earned', 2),
  number('complete', 'Complete', 1, '%'),
]

const cells = (totals: Totals): Record<string, Cell> => ({
  charged: totals.charged_kwh,
  discharged: totals.discharged_kwh,
  soc_min: totals.soc_min_pct,
  soc_max: totals.soc_max_pct,
  planned: totals.planned_kwh,
  actual: totals.actual_kwh,
  amount: totals.amount,
  complete: totals.completeness_pct,
})

/** Of few columns, so that it stands upright on the first page. */
const summaryTable = (told: readonly UnitReport[]): Section => ({
  kind: 'table',
  title: 'Batteries',
  columns: [
    { key: 'unit', label: 'Battery', kind: 'text' },
    number('charged', 'Charged', 1, 'kWh'),
    number('discharged', 'Discharged', 1, 'kWh'),
    number('cycles', 'Cycles', 2),
    number('efficiency', 'Efficiency', 1, '%'),
    number('soc_min', 'Lowest', 1, '%'),
    number('soc_max', 'Highest', 1, '%'),
    number('amount', 'Earned', 2),
    { key: 'currency', label: 'Currency', kind: 'text' },
    number('complete', 'Complete', 1, '%'),
  ],
  rows: told.map(({ unit, cycles, efficiency_pct, total }) => ({
    unit: unit.name,
    cycles,
    efficiency: efficiency_pct,
    ...cells(total),
    currency: total.currency,
  })),
  note: 'Lowest and highest are of the charge.',
})

/** Charge by the quarter hour over this many days at most; beyond it by the day. */
const fine_days_max = 3

function unitSections({ unit, quarters, days, total }: UnitReport, frame: Frame): Section[] {
  if (total.charged_kwh === null && total.soc_min_pct === null) return []
  const x = dayLabels(frame.days)
  const is_fine = days.length <= fine_days_max
  const charge: Section = {
    kind: 'chart',
    title: `${unit.name}: state of charge`,
    chart: is_fine
      ? {
          kind: 'lines',
          x: quarters.map(({ start_ms }) => labelAt(start_ms, frame)),
          left_unit: '%',
          series: [{ label: 'Charge', values: quarters.map(({ soc_start_pct }) => soc_start_pct) }],
        }
      : {
          kind: 'lines',
          x,
          left_unit: '%',
          series: [
            { label: 'Highest', values: days.map(({ totals }) => totals.soc_max_pct) },
            { label: 'Lowest', values: days.map(({ totals }) => totals.soc_min_pct) },
          ],
        },
  }
  return [
    {
      kind: 'chart',
      title: `${unit.name}: energy by day`,
      chart: {
        kind: 'bars',
        x,
        left_unit: 'kWh',
        series: [
          { label: 'Charged', values: days.map(({ totals }) => totals.charged_kwh) },
          { label: 'Discharged', values: days.map(({ totals }) => totals.discharged_kwh) },
        ],
      },
    },
    charge,
    {
      kind: 'table',
      title: `${unit.name} by day`,
      columns: [{ key: 'day', label: 'Day', kind: 'date' }, ...columns],
      rows: days.map(({ day, totals }) => ({ day: day.date, ...cells(totals) })),
      totals: { day: 'All', ...cells(total) },
    },
  ]
}

const labelAt = (at_ms: number, { order, days }: Frame): string => {
  const parts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const clock = new Date(at_ms).toLocaleTimeString('en-GB', { timeZone: order.timezone, ...parts })
  const day = days.find(isWhere(at_ms))
  return days.length === 1 || !day ? clock : `${dayName(day.date, 'without_year')}, ${clock}`
}
const isWhere =
  (at_ms: number) =>
  ({ start_ms, end_ms }: Bounds) =>
    at_ms >= start_ms && at_ms < end_ms

function deviationTable(told: readonly UnitReport[], worst_count: number): Section {
  const hours = told.flatMap(({ unit, deviations }) =>
    deviations.map((deviation) => ({ unit, deviation })),
  )
  const known = hours.filter(({ deviation }) => deviation.deviation_kwh !== null)
  const all = known.filter(({ deviation }) => !deviation.within_tolerance)
  const size = ({ deviation }: (typeof all)[number]) => Math.abs(deviation.deviation_kwh!)
  const worst = all.toSorted((a, b) => size(b) - size(a))
  return {
    kind: 'table',
    title: 'Hours that differ from the plan',
    columns: [
      { key: 'unit', label: 'Battery', kind: 'text' },
      { key: 'start', label: 'Hour', kind: 'instant' },
      number('planned', 'Planned', 1, 'kW'),
      number('actual', 'Done', 1, 'kW'),
      number('deviation', 'Difference', 1, 'kWh'),
      { key: 'reason', label: 'Reason', kind: 'text' },
      number('cost', 'Cost', 2),
      { key: 'currency', label: 'Currency', kind: 'text' },
    ],
    rows: worst.slice(0, worst_count).map(({ unit, deviation }) => ({
      unit: unit.name,
      start: new Date(deviation.start_at),
      planned: deviation.reason === 'unplanned' ? null : deviation.planned_power_kw,
      actual: deviation.actual_avg_power_kw,
      deviation: deviation.deviation_kwh,
      reason: deviation.reason?.replaceAll('_', ' ') ?? null,
      cost: deviation.cost_amount,
      currency: deviation.currency,
    })),
    note:
      `${Math.min(worst_count, all.length)} of ${all.length} beyond the tolerance. Without a plan a ` +
      'difference is from 0. A cost below 0 is what the difference earned.' +
      unmeasuredNote(hours.length - known.length),
  }
}

/** Nobody knows whether the plan was kept in these: they are no deviations. */
const unmeasuredNote = (count: number) =>
  count === 0 ? '' : ` Not among them: ${count} hours whose energy is not known.`

const method: Section = {
  kind: 'text',
  title: 'What these figures are',
  text:
    'Discharging is positive. Cycles: energy discharged by usable energy. Efficiency: what came ' +
    'out of what went in by the counters, with the charge at both ends; none where less went in ' +
    'than the battery can hold. Planned and done are net energy of the quarter hours of which ' +
    'both an approved plan and the energy are known. Earned: what was discharged less what was ' +
    'charged at day-ahead prices, without fees, of the energy that is known.',
}
