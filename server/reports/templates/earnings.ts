/** What was earned: gross, fees and net by day, hour of the day, plant and market. */
import { hour_ms } from '@heliograph/domain/durations'
import { localDate } from '@heliograph/domain/local-day'
import { rounded } from '@heliograph/domain/significant'
import type { Ledger } from '../../contracts/ledger.ts'
import { majorUnits } from '../../contracts/money.ts'
import { amountsSum, noSums, type Sums } from '../../contracts/sums.ts'
import { completenessPct, dayOf, metricsOf } from '../../earnings/metrics.ts'
import { accountsOf } from '../../earnings/records.ts'
import { readEarnings } from '../../earnings/store.ts'
import type { Queries } from '../../storage/database.ts'
import type { Cell, Column, Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import { numberColumn as number, perMwh } from './columns.ts'
import { netNote, notesOf } from './earnings-notes.ts'
import { hourTable, marketTable, slicesOf } from './earnings-slices.ts'
import { dayLabels, documentOf, type Frame, frameOf } from './frame.ts'
import { inTurn } from './in-turn.ts'
import { noParameters } from './parameters.ts'

export const earnings: ReportTemplate = {
  template_id: 'earnings',
  name: 'Earnings',
  description:
    'Gross, fees and net by day, hour of the day, plant and market; average and capture price, ' +
    'energy at negative prices, and what is not known and why.',
  category: 'financial',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['day', 'week', 'month', 'quarter', 'year', 'custom'],
  parameters: noParameters,
  parts: [{ name: 'Earnings', scopes: ['earnings:read'] }],
  required_module: 'earnings',
  version: '1.0.0',
  async build(transaction, order) {
    const db = inTurn(transaction)
    const frame = await frameOf(db, order)
    const earned = await readEarned(db, frame)
    return documentOf(earnings, frame, {
      title: 'Earnings',
      currency: earned.site.currency,
      data_completeness_pct: completenessPct(earned.coverage),
      notes: notesOf(earned),
      sections: [
        figures(earned),
        chart(earned, frame),
        dayTable(earned),
        plantTable(earned),
        feeTable(earned),
        marketTable(earned),
        hourTable(earned),
        unknownTable(earned),
        method(order.timezone),
      ],
    })
  },
}

async function readEarned(db: Queries, frame: Frame) {
  const { site_id, span, now, days, plants, order } = frame
  const until_ms = Math.ceil(now.now_ms / hour_ms) * hour_ms
  const hours = {
    from_ms: span.start_ms,
    to_ms: Math.max(span.start_ms, Math.min(span.end_ms, until_ms)),
  }
  const asked = { site_id, logger_id: null, ...hours, ...now, in_turn: true }
  const read = await readEarnings(db, asked)
  const ids = new Set(plants.map(({ logger_id }) => logger_id))
  const ledger: Ledger = {
    ...read,
    plants: read.plants.filter(({ logger_id }) => ids.has(logger_id)),
  }
  const dateAt = (start_ms: number) => dateIn(days, start_ms) ?? localDate(start_ms, order.timezone)
  const by_day = new Map<string, Sums>(days.map(({ date }) => [date, noSums()]))
  const { all, of_plants } = accountsOf(ledger, { days: by_day, dateAt }, now)
  const judged = (coverage: typeof all.coverage) => ({
    currency: ledger.currency,
    coverage,
    end_ms: span.end_ms,
    now_ms: now.now_ms,
    fees: ledger.plants[0]?.fees ?? [],
    arbitrage: without_batteries,
  })
  return {
    site: metricsOf(all.sums, judged(all.coverage)),
    coverage: all.coverage,
    days: sinceFirst(
      [...by_day].map(([date, sums]) => ({
        ...dayOf(date, sums),
        ...pricesOf(sums),
        due_amount: majorUnits(amountsSum(sums.fees.values())),
      })),
    ),
    plants: of_plants.map(({ plant, sums, coverage }) => ({
      logger_name: plant.logger_name,
      ...metricsOf(sums, judged(coverage)),
    })),
    ...slicesOf(ledger, order.timezone),
  }
}

/** They have a report of their own: they are in no sum of plants. */
const without_batteries = {
  metrics: {
    bess_arbitrage_amount: null,
    bess_arbitrage_reason: 'no_battery',
    bess_completeness_pct: null,
  },
  is_settled: true,
} as const

type Earned = Awaited<ReturnType<typeof readEarned>>

/** Days are in order, and there may be a thousand. */
function dateIn(days: Frame['days'], start_ms: number): string | null {
  let [low, high] = [0, days.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const day = days[middle]!
    if (start_ms < day.start_ms) high = middle - 1
    else if (start_ms >= day.end_ms) low = middle + 1
    else return day.date
  }
  return null
}

/** Without the days before the first of which energy is known or a fee was due. */
function sinceFirst<Day extends { energy_kwh: number | null; due_amount: number }>(
  days: Day[],
): Day[] {
  const first = days.findIndex((day) => day.energy_kwh !== null || day.due_amount !== 0)
  return first < 0 ? [] : days.slice(first)
}

const pricesOf = (sums: Sums) => ({
  market_price_per_mwh:
    sums.market_price_hours > 0
      ? rounded(sums.market_price_micro / sums.market_price_hours / 1e6, 4)
      : null,
})

function figures({ site, negative_hours }: Earned): Section {
  const money = (label: string, value: number | null, note?: string) => ({
    label,
    value,
    digits: 2,
    ...(site.currency === null ? {} : { unit: site.currency }),
    ...(note ? { note } : {}),
  })
  const per_mwh = (label: string, value: number | null) => ({
    label,
    value,
    digits: 2,
    ...(site.currency === null ? {} : { unit: `${site.currency}/MWh` }),
  })
  return {
    kind: 'figures',
    title: 'Earnings',
    figures: [
      money('Gross', site.gross_amount),
      money('Fees', site.fees_amount),
      money('Net', site.net_amount),
      ...(site.known && site.known.net_amount !== site.net_amount
        ? [money('Net, known part', site.known.net_amount)]
        : []),
      { label: 'Energy sold', value: site.energy_sold_kwh, unit: 'kWh', digits: 1 },
      per_mwh('Average price', site.average_price_per_mwh),
      per_mwh('Base price', site.market_base_price_per_mwh),
      { label: 'Capture rate', value: site.capture_rate_pct, unit: '%', digits: 1 },
      { label: 'Negative prices', value: negative_hours, unit: 'h', digits: 0 },
      {
        label: 'Sold then',
        value: site.negative_price_energy_kwh,
        unit: 'kWh',
        digits: 1,
        note: 'at negative prices',
      },
      money('Cost of that', site.negative_price_cost_amount),
      money('Lost to curtailment', site.curtailment_loss_amount),
      money('Imbalance', site.imbalance_amount),
      { label: 'Completeness', value: site.data_completeness_pct, unit: '%', digits: 1 },
    ],
  }
}

const chart = ({ days, site }: Earned, frame: Frame): Section => ({
  kind: 'chart',
  title: 'Net by day, and the market',
  chart: {
    kind: 'bars',
    x: dayLabels(frame.days).slice(frame.days.length - days.length),
    left_unit: site.currency ?? 'amount',
    right_unit: `${site.currency ?? 'price'}/MWh`,
    series: [
      { label: 'Net', values: days.map(({ net_amount }) => net_amount) },
      {
        label: 'Mean market price',
        kind: 'line',
        axis: 'right',
        values: days.map(({ market_price_per_mwh }) => market_price_per_mwh),
      },
    ],
  },
})

const moneyColumns = (currency: string | null): Column[] =>
  [
    ['gross', 'Gross'],
    ['fees', 'Fees'],
    ['net', 'Net'],
  ].map(([key, label]) => number(key!, label!, 2, currency ?? undefined))

const moneyCells = (of: {
  gross_amount: number | null
  fees_amount: number | null
  net_amount: number | null
}): Record<string, Cell> => ({
  gross: of.gross_amount,
  fees: of.fees_amount,
  net: of.net_amount,
})

const dayTable = ({ days, site }: Earned): Section => ({
  kind: 'table',
  title: 'By day',
  columns: [
    { key: 'day', label: 'Day', kind: 'date' },
    number('energy', 'Energy', 1, 'kWh'),
    ...moneyColumns(site.currency),
    number('price', 'Mean market price', 2, perMwh(site.currency)),
  ],
  rows: days.map((day) => ({
    day: day.date,
    energy: day.energy_kwh,
    ...moneyCells(day),
    price: day.market_price_per_mwh,
  })),
  totals: {
    day: 'All',
    energy: site.energy_sold_kwh,
    ...moneyCells(site),
    price: site.market_base_price_per_mwh,
  },
  ...netNote(days, ['day', 'days'], site),
})

const plantTable = ({ plants, site }: Earned): Section => ({
  kind: 'table',
  title: 'By plant',
  columns: [
    { key: 'plant', label: 'Plant', kind: 'text' },
    number('energy', 'Energy', 1, 'kWh'),
    ...moneyColumns(site.currency),
    number('average', 'Average price', 2, perMwh(site.currency)),
    number('capture', 'Capture rate', 1, '%'),
    { key: 'status', label: 'Prices', kind: 'text' },
    number('complete', 'Completeness', 1, '%'),
  ],
  rows: plants.map((plant) => ({
    plant: plant.logger_name,
    energy: plant.energy_sold_kwh,
    ...moneyCells(plant),
    average: plant.average_price_per_mwh,
    capture: plant.capture_rate_pct,
    status: plant.energy_sold_kwh === null ? null : plant.price_status,
    complete: plant.data_completeness_pct,
  })),
  totals: { plant: 'All', energy: site.energy_sold_kwh, ...moneyCells(site) },
  ...netNote(plants, ['plant', 'plants'], site),
})

const rateUnits: Record<Earned['site']['fees'][number]['basis'], string> = {
  per_mwh: '/MWh',
  percent: '% of gross',
  per_month: '/month',
  per_mw_month: '/MW and month',
  imbalance: 'of the imbalance',
}

const rateUnit = (basis: keyof typeof rateUnits, currency: string | null) =>
  rateUnits[basis].startsWith('/') ? `${currency ?? ''}${rateUnits[basis]}` : rateUnits[basis]

const feeTable = ({ site }: Earned): Section => ({
  kind: 'table',
  title: 'Fees',
  columns: [
    { key: 'name', label: 'Fee', kind: 'text' },
    { key: 'basis', label: 'Basis', kind: 'text' },
    number('rate', 'Rate', 4),
    { key: 'unit', label: 'Rate in', kind: 'text' },
    number('amount', 'Amount', 2, site.currency ?? undefined),
  ],
  rows: site.fees.map(({ name, basis, rate, rate_currency, amount }) => ({
    name,
    rate,
    amount,
    unit: rateUnit(basis, rate_currency),
    basis: basis.replaceAll('_', ' '),
  })),
  ...(site.fees.length === 0 ? { note: 'No fees were charged.' } : {}),
})

const reasonTexts: Record<string, string> = {
  no_energy: 'Energy not measured',
  no_price: 'No price published',
  no_exchange_rate: 'No exchange rate',
}

const unknownTable = ({ site }: Earned): Section => ({
  kind: 'table',
  title: 'Not known',
  columns: [
    { key: 'reason', label: 'Reason', kind: 'text' },
    { key: 'market', label: 'Market', kind: 'text' },
    { key: 'from', label: 'From', kind: 'instant' },
    { key: 'to', label: 'To', kind: 'instant' },
    number('hours', 'Hours of plants', 0),
  ],
  rows: site.unknown.map(({ reason, market_code, start_at, end_at, hour_count }) => ({
    reason: reasonTexts[reason] ?? reason.replaceAll('_', ' '),
    market: market_code,
    from: new Date(start_at),
    to: new Date(end_at),
    hours: hour_count,
  })),
  ...(site.unknown.length === 0 ? { note: 'The money of all hours is known.' } : {}),
})

const method = (timezone: string): Section => ({
  kind: 'text',
  title: 'How these are computed',
  text:
    `Days are those of ${timezone}. ` +
    'Energy of quarter hours by the price of the contract in them; gross and fees of hours, days ' +
    'and plants add up. Net is gross less fees; where no energy is known there are fees of the ' +
    'month alone, and no net. Average price: gross by energy. Base price: mean of the market prices. ' +
    'Capture rate: the mean market price by the energy, over the ' +
    'mean of the hours whose energy is known. What batteries ' +
    'earned is in the report of batteries.',
})
