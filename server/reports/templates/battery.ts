/** Energy, cycles, efficiency, state of charge, dispatch and revenue of batteries. */
import { hour_ms } from '@heliograph/domain/durations'
import { addDays, utcDate } from '@heliograph/domain/utc-day'
import { deviationsOf } from '../../batteries/deviations.ts'
import { type Earned, earnedOf, type MarketedUnit } from '../../batteries/earnings.ts'
import { readRoundtrip } from '../../batteries/roundtrip.ts'
import { plannedPower, readUnitDay, type UnitDay } from '../../batteries/unit-day.ts'
import { netEnergy, type UnitQuarter } from '../../batteries/unit-energy.ts'
import type { UnitFacts } from '../../batteries/unit-store.ts'
import { usableEnergy } from '../../batteries/units.ts'
import { type Bounds, percent } from '../../performance/energy/figures.ts'
import type { Queries } from '../../storage/database.ts'
import type { Section } from '../document.ts'
import { dayName } from '../writers/cells.ts'
import { dateOf, type Frame, type Measured, sumOf } from './frame.ts'
import { countOf, worstCount } from './parameters.ts'
import {
  cellsOf,
  chart,
  day,
  type Field,
  fieldsOf,
  instant,
  listed,
  number,
  table,
  text,
  textSection,
} from './sections.ts'
import { template } from './template.ts'

export const battery = template({
  template_id: 'battery',
  name: 'Battery',
  description:
    'Charged and discharged energy, equivalent cycles, round-trip efficiency, state of charge, ' +
    'dispatch compared with the plan and revenue at day-ahead prices, of each battery by day.',
  category: 'bess',
  periods: ['day', 'week', 'month', 'custom'],
  parameters: worstCount('hours that differ from the plan'),
  parts: [
    { name: 'Batteries', scopes: ['bess:read'] },
    { name: 'Earnings', scopes: ['bess:read', 'earnings:read'] },
  ],
  required_module: 'bess',
  async contents(db, frame, order) {
    const units: UnitReport[] = []
    for (const unit of await readUnits(db, frame)) units.push(await readUnit(db, unit, frame))
    const has_money = order.may_read.has('earnings:read')
    const currencies = new Set(has_money ? units.flatMap(({ total }) => total.currency ?? []) : [])
    const quarters = units.flatMap((unit) => unit.quarters)
    return {
      title: 'Batteries',
      currency: currencies.size === 1 ? [...currencies][0]! : null,
      data_completeness_pct: completenessOf(quarters),
      notes: [...notesOf(units), ...(has_money ? unpricedNotes(units) : [])],
      measured: measuredOf(quarters, frame),
      sections: [
        summaryTable(units, has_money),
        ...units.flatMap((unit) => unitSections(unit, has_money, frame)),
        ...(units.length > 0 ? [deviationTable(units, countOf(order, 'worst_count')), method] : []),
      ],
    }
  },
})

type UnitRow = MarketedUnit & UnitFacts & { name: string }

const readUnits = (db: Queries, { site_id, period, order }: Frame) =>
  db.query<UnitRow>(
    `select * from batteries
     where site_id = $1 and (retired_at is null or retired_at > $2)
       and ($3::int[] is null or logger_id = any ($3))
     order by bess_id`,
    [site_id, period.start_at, order.logger_ids],
  )

type UnitReport = Awaited<ReturnType<typeof readUnit>>

async function readUnit(db: Queries, unit: UnitRow, frame: Frame) {
  const { site_id, days, now, order, period } = frame
  const span = { ...frame.span, end_ms: Math.min(frame.span.end_ms, now.now_ms) }
  const read: UnitDay[] = []
  for (let date = utcDate(span.start_ms); Date.parse(date) < span.end_ms; date = addDays(date, 1)) {
    read.push(await readUnitDay(db, unit, { date, now: order.now }))
  }
  const total = totalsOf(read, span)
  const usable_kwh = usableEnergy(unit)
  const ends = { start: period.start_at, end: period.end_at }
  return {
    name: unit.name,
    quarters: read.flatMap(({ quarters }) => quarters.filter(isIn(span))),
    days: days.map((one) => ({ ...one, ...totalsOf(read, one) })),
    total,
    cycles:
      total.discharged_kwh === null || !(usable_kwh > 0) ? null : total.discharged_kwh / usable_kwh,
    efficiency_pct: await readRoundtrip(db, { site_id, bess_id: unit.bess_id }, ends),
    deviations: read
      .flatMap((of_day) => deviationsOf(of_day))
      .filter(({ start_at }) => isIn(frame.span)({ start_ms: Date.parse(start_at) }))
      .map((deviation) => ({ ...deviation, name: unit.name })),
  }
}

const isIn =
  ({ start_ms, end_ms }: Bounds) =>
  (of: { start_ms: number }) =>
    of.start_ms >= start_ms && of.start_ms < end_ms

type Totals = ReturnType<typeof totalsOf>

/** Totals of the quarter hours in a span; `read` are the UTC days that overlap it. */
function totalsOf(read: readonly UnitDay[], span: Bounds) {
  const parts = read.map((of) => ({ of, quarters: of.quarters.filter(isIn(span)) }))
  const quarters = parts.flatMap((part) => part.quarters)
  const socs = quarters
    .flatMap(({ soc_start_pct, soc_end_pct }) => [soc_start_pct, soc_end_pct])
    .filter((soc) => soc !== null)
  const planned = parts.flatMap(({ of, quarters: own }) =>
    own.map((quarter) => ({
      planned_kw: plannedPower(of.plans, quarter),
      actual_kwh: netEnergy(quarter),
      hours: (quarter.end_ms - quarter.start_ms) / hour_ms,
    })),
  )
  const both = planned.filter((one) => one.planned_kw !== null && one.actual_kwh !== null)
  return {
    charged_kwh: sumOf(quarters.map(({ charged_kwh }) => charged_kwh)),
    discharged_kwh: sumOf(quarters.map(({ discharged_kwh }) => discharged_kwh)),
    soc_min_pct: socs.length === 0 ? null : Math.min(...socs),
    soc_max_pct: socs.length === 0 ? null : Math.max(...socs),
    planned_kwh: sumOf(both.map(({ planned_kw, hours }) => planned_kw! * hours)),
    actual_kwh: sumOf(both.map(({ actual_kwh }) => actual_kwh)),
    completeness_pct: completenessOf(quarters),
    ...revenueOf(parts),
  }
}

const isKnown = (quarter: UnitQuarter) => netEnergy(quarter) !== null

/** null when no energy is known, or some of it has no price or another currency. */
function revenueOf(parts: readonly { of: UnitDay; quarters: readonly UnitQuarter[] }[]) {
  const unknown = { amount: null, currency: null }
  const earned: Earned[] = []
  for (const { of, quarters } of parts) {
    if (!quarters.some(isKnown)) continue
    const of_day = of.prices && earnedOf(quarters, of.prices)
    if (of_day === null) return unknown
    earned.push(of_day)
  }
  const [first] = earned
  if (!first || earned.some(({ currency }) => currency !== first.currency)) return unknown
  const amounts = earned.map(({ amount }) => amount)
  return { amount: sumOf(amounts, 6), currency: first.currency }
}

const completenessOf = (quarters: readonly UnitQuarter[]): number | null =>
  quarters.length === 0 ? null : percent(quarters.filter(isKnown).length / quarters.length)

function measuredOf(
  quarters: readonly UnitQuarter[],
  { days, measured: { unit } }: Frame,
): Measured {
  const known = quarters.filter(isKnown)
  if (unit === 'days') {
    return { known: days.filter((one) => known.some(isIn(one))).length, all: days.length, unit }
  }
  const hoursOf = (of: readonly UnitQuarter[]) =>
    new Set(of.map(({ start_ms }) => Math.floor(start_ms / hour_ms))).size
  return { known: hoursOf(known), all: hoursOf(quarters), unit }
}

function notesOf(units: readonly UnitReport[]): string[] {
  if (units.length === 0) return ['There are no batteries in this period.']
  const without = units.filter(({ total }) => total.charged_kwh === null)
  if (without.length === units.length) return ['No data: no battery was measured in this period.']
  return without.map(({ name }) => `No data of ${name}.`)
}

function unpricedNotes(units: readonly UnitReport[]): string[] {
  const unpriced = units.filter(({ total }) => total.charged_kwh !== null && total.amount === null)
  if (unpriced.length === 0) return []
  const names = unpriced.map(({ name }) => name).join(', ')
  return [`Revenue of ${names} is unknown: no market, or no price for some of the energy.`]
}

const kwh = [1, 'kWh'] as const
const pct = [1, '%'] as const

const energyFields: Field<Totals>[] = [
  number('charged', 'Charged', kwh, ({ charged_kwh }) => charged_kwh),
  number('discharged', 'Discharged', kwh, ({ discharged_kwh }) => discharged_kwh),
]
const socFields: Field<Totals>[] = [
  number('soc_min', 'Min. SoC', pct, ({ soc_min_pct }) => soc_min_pct),
  number('soc_max', 'Max. SoC', pct, ({ soc_max_pct }) => soc_max_pct),
]
const planFields: Field<Totals>[] = [
  number('planned', 'Planned', kwh, ({ planned_kwh }) => planned_kwh),
  number('actual', 'Actual', kwh, ({ actual_kwh }) => actual_kwh),
]
const revenueField = number<Totals>('amount', 'Revenue', [2], ({ amount }) => amount)
const completenessField = number<Totals>('complete', 'Complete', pct, (of) => of.completeness_pct)

/** Few columns, so that the first page stays in portrait orientation. */
const summaryTable = (units: readonly UnitReport[], has_money: boolean): Section => {
  const totals = (fields: readonly Field<Totals>[]) =>
    fieldsOf(fields, ({ total }: UnitReport) => total)
  const money = [revenueField, text<Totals>('currency', 'Currency', ({ currency }) => currency)]
  return table('Batteries', units, [
    text('unit', 'Battery', ({ name }) => name),
    ...totals(energyFields),
    number('cycles', 'Cycles', [2], ({ cycles }) => cycles),
    number('efficiency', 'Efficiency', pct, ({ efficiency_pct }) => efficiency_pct),
    ...totals([...socFields, ...(has_money ? money : []), completenessField]),
  ])
}

/** Longer periods have the state of charge by day instead of by quarter hour. */
const fine_days_max = 3

function unitSections(
  { name, quarters, days, total }: UnitReport,
  has_money: boolean,
  frame: Frame,
): Section[] {
  if (total.charged_kwh === null && total.soc_min_pct === null) return []
  const fields = [
    ...energyFields,
    ...socFields,
    ...planFields,
    ...(has_money ? [revenueField] : []),
    completenessField,
  ]
  const soc_title = `${name}: state of charge`
  const soc_axes = { kind: 'lines', left_unit: '%' } as const
  const labelOf = ({ start_ms }: UnitQuarter) => labelAt(start_ms, frame)
  return [
    chart(`${name}: energy by day`, days, dateOf, { kind: 'bars', left_unit: 'kWh' }, [
      ['Charged', ({ charged_kwh }) => charged_kwh],
      ['Discharged', ({ discharged_kwh }) => discharged_kwh],
    ]),
    days.length <= fine_days_max
      ? chart(soc_title, quarters, labelOf, soc_axes, [
          ['State of charge', ({ soc_start_pct }) => soc_start_pct],
        ])
      : chart(soc_title, days, dateOf, soc_axes, [
          ['Maximum', ({ soc_max_pct }) => soc_max_pct],
          ['Minimum', ({ soc_min_pct }) => soc_min_pct],
        ]),
    table(`${name} by day`, days, [day(dateOf), ...fields], {
      totals: { day: 'All', ...cellsOf(fields, total) },
    }),
  ]
}

function labelAt(at_ms: number, { order, days }: Frame): string {
  const parts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const clock = new Date(at_ms).toLocaleTimeString('en-GB', { timeZone: order.timezone, ...parts })
  const found = days.find((one) => isIn(one)({ start_ms: at_ms }))
  return days.length === 1 || !found ? clock : `${dayName(found.date, 'without_year')}, ${clock}`
}

function deviationTable(units: readonly UnitReport[], count: number): Section {
  const hours = units.flatMap(({ deviations }) => deviations)
  const known = hours.filter(({ deviation_kwh }) => deviation_kwh !== null)
  const sizeOf = ({ deviation_kwh }: (typeof hours)[number]) => Math.abs(deviation_kwh!)
  const worst = known
    .filter(({ within_tolerance }) => !within_tolerance)
    .toSorted((a, b) => sizeOf(b) - sizeOf(a))
  const unknown_count = hours.length - known.length
  const unknown =
    unknown_count === 0 ? '' : ` Not included: ${unknown_count} hours whose energy is not known.`
  return table(
    'Hours that differ from the plan',
    worst.slice(0, count),
    [
      text('unit', 'Battery', ({ name }) => name),
      instant('start', 'Hour', ({ start_at }) => start_at),
      number('planned', 'Planned', [1, 'kW'], ({ reason, planned_power_kw }) =>
        reason === 'unplanned' ? null : planned_power_kw,
      ),
      number('actual', 'Actual', [1, 'kW'], ({ actual_avg_power_kw }) => actual_avg_power_kw),
      number('deviation', 'Difference', kwh, ({ deviation_kwh }) => deviation_kwh),
      text('reason', 'Reason', ({ reason }) => reason?.replaceAll('_', ' ') ?? null),
      number('cost', 'Cost', [2], ({ cost_amount }) => cost_amount),
      text('currency', 'Currency', ({ currency }) => currency),
    ],
    {
      note:
        `${listed(count, worst)} beyond the tolerance. Without a plan the difference is from 0. A ` +
        `negative cost is a revenue.${unknown}`,
    },
  )
}

const method = textSection(
  'Method',
  'Discharging is positive. Cycles: discharged energy / usable energy. Efficiency: discharged / ' +
    'charged energy from the counters, corrected for the state of charge at both ends; unknown when ' +
    'less was charged than the battery can hold. Planned and actual: net energy of the quarter hours ' +
    'with both an approved plan and known energy. Revenue: discharged minus charged energy at ' +
    'day-ahead prices, without fees, over the known energy.',
)
