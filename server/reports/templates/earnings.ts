/** Gross, fees and net by day, hour of the day, plant and market. */

import { cached } from '@heliograph/domain/cached'
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
import type { Section } from '../document.ts'
import { netNote, notesOf } from './earnings-notes.ts'
import { slicesOf, sliceTable } from './earnings-slices.ts'
import { dateOf, type Frame, isIncluded } from './frame.ts'
import { noParameters } from './parameters.ts'
import {
  cellsOf,
  chart,
  day,
  type Field,
  instant,
  metric,
  metricsSection,
  number,
  perMwh,
  table,
  text,
  textSection,
} from './sections.ts'
import { template } from './template.ts'

export const earnings = template({
  template_id: 'earnings',
  name: 'Earnings',
  description:
    'Gross, fees and net by day, hour of the day, plant and market; average and capture price, ' +
    'energy at negative prices, and unknown amounts with their reasons.',
  category: 'financial',
  parameters: noParameters,
  parts: [{ name: 'Earnings', scopes: ['earnings:read'] }],
  required_module: 'earnings',
  async contents(db, frame, order) {
    const earned = await readEarned(db, frame)
    const { currency } = earned.site
    return {
      title: 'Earnings',
      currency,
      data_completeness_pct: completenessPct(earned.coverage),
      notes: notesOf(earned),
      sections: [
        siteMetrics(earned),
        chart(
          'Net and market price by day',
          earned.days,
          dateOf,
          {
            kind: 'bars',
            left_unit: currency ?? 'amount',
            right_unit: `${currency ?? 'price'}/MWh`,
          },
          [
            ['Net', ({ net_amount }) => net_amount],
            ['Mean market price', (of) => of.market_price_per_mwh, { kind: 'line', axis: 'right' }],
          ],
        ),
        dayTable(earned),
        plantTable(earned),
        feeTable(earned),
        sliceTable('By market', ['market', 'Market'], earned.markets, currency),
        sliceTable('By hour of the day', ['hour', 'Hour'], earned.hours, currency),
        unknownTable(earned),
        method(order.timezone),
      ],
    }
  },
})

async function readEarned(db: Queries, frame: Frame) {
  const { site_id, span, now, days, order } = frame
  const until_ms = Math.ceil(now.now_ms / hour_ms) * hour_ms
  const hours = {
    from_ms: span.start_ms,
    to_ms: Math.max(span.start_ms, Math.min(span.end_ms, until_ms)),
  }
  const query = { site_id, logger_id: null, ...hours, ...now, in_turn: true }
  const read = await readEarnings(db, query)
  const ledger: Ledger = { ...read, plants: read.plants.filter(isIncluded(frame)) }
  const dateAt = cached((start_ms: number) => localDate(start_ms, order.timezone))
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
        market_price_per_mwh:
          sums.market_price_hours > 0
            ? rounded(sums.market_price_micro / sums.market_price_hours / 1e6, 4)
            : null,
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

/** Batteries have their own report and are in no sum of plants. */
const without_batteries = {
  metrics: {
    bess_arbitrage_amount: null,
    bess_arbitrage_reason: 'no_battery',
    bess_completeness_pct: null,
  },
  is_settled: true,
} as const

type Earned = Awaited<ReturnType<typeof readEarned>>

/** The days from the first one with known energy or a fee. */
function sinceFirst<Day extends { energy_kwh: number | null; due_amount: number }>(days: Day[]) {
  const first = days.findIndex(({ energy_kwh, due_amount }) => energy_kwh !== null || due_amount)
  return first < 0 ? [] : days.slice(first)
}

function siteMetrics({ site, negative_hours }: Earned): Section {
  const money = [2, site.currency ?? undefined] as const
  const price = [2, perMwh(site.currency)] as const
  return metricsSection('Earnings', [
    metric('Gross', site.gross_amount, money),
    metric('Fees', site.fees_amount, money),
    metric('Net', site.net_amount, money),
    ...(site.known && site.known.net_amount !== site.net_amount
      ? [metric('Net, known part', site.known.net_amount, money)]
      : []),
    metric('Energy sold', site.energy_sold_kwh, [1, 'kWh']),
    metric('Average price', site.average_price_per_mwh, price),
    metric('Base price', site.market_base_price_per_mwh, price),
    metric('Capture rate', site.capture_rate_pct, [1, '%']),
    metric('Negative prices', negative_hours, [0, 'h']),
    metric('Energy sold then', site.negative_price_energy_kwh, [1, 'kWh'], 'at negative prices'),
    metric('Cost of negative prices', site.negative_price_cost_amount, money),
    metric('Curtailment loss', site.curtailment_loss_amount, money),
    metric('Imbalance', site.imbalance_amount, money),
    metric('Completeness', site.data_completeness_pct, [1, '%']),
  ])
}

interface Money {
  gross_amount: number | null
  fees_amount: number | null
  net_amount: number | null
}

function moneyFields(currency: string | null): Field<Money>[] {
  const money = [2, currency ?? undefined] as const
  return [
    number('gross', 'Gross', money, ({ gross_amount }) => gross_amount),
    number('fees', 'Fees', money, ({ fees_amount }) => fees_amount),
    number('net', 'Net', money, ({ net_amount }) => net_amount),
  ]
}

const dayTable = ({ days, site }: Earned): Section => {
  const money = moneyFields(site.currency)
  return table(
    'By day',
    days,
    [
      day(dateOf),
      number('energy', 'Energy', [1, 'kWh'], ({ energy_kwh }) => energy_kwh),
      ...money,
      number('price', 'Mean market price', [2, perMwh(site.currency)], (of) => {
        return of.market_price_per_mwh
      }),
    ],
    {
      totals: {
        day: 'All',
        energy: site.energy_sold_kwh,
        ...cellsOf(money, site),
        price: site.market_base_price_per_mwh,
      },
      note: netNote(days, ['day', 'days'], site),
    },
  )
}

const plantTable = ({ plants, site }: Earned): Section => {
  const energy_and_money: Field<Money & { energy_sold_kwh: number | null }>[] = [
    number('energy', 'Energy', [1, 'kWh'], ({ energy_sold_kwh }) => energy_sold_kwh),
    ...moneyFields(site.currency),
  ]
  return table(
    'By plant',
    plants,
    [
      text('plant', 'Plant', ({ logger_name }) => logger_name),
      ...energy_and_money,
      number('average', 'Average price', [2, perMwh(site.currency)], (plant) => {
        return plant.average_price_per_mwh
      }),
      number('capture', 'Capture rate', [1, '%'], ({ capture_rate_pct }) => capture_rate_pct),
      text('status', 'Prices', ({ energy_sold_kwh, price_status }) =>
        energy_sold_kwh === null ? null : price_status,
      ),
      number('complete', 'Completeness', [1, '%'], (plant) => plant.data_completeness_pct),
    ],
    {
      totals: { plant: 'All', ...cellsOf(energy_and_money, site) },
      note: netNote(plants, ['plant', 'plants'], site),
    },
  )
}

type Fee = Earned['site']['fees'][number]

const rateUnits: Record<Fee['basis'], string> = {
  per_mwh: '/MWh',
  percent: '% of gross',
  per_month: '/month',
  per_mw_month: '/MW and month',
  imbalance: 'of the imbalance',
}

const rateUnit = ({ basis, rate_currency }: Fee) =>
  rateUnits[basis].startsWith('/') ? `${rate_currency ?? ''}${rateUnits[basis]}` : rateUnits[basis]

const feeTable = ({ site }: Earned): Section =>
  table(
    'Fees',
    site.fees,
    [
      text('name', 'Fee', ({ name }) => name),
      text('basis', 'Basis', ({ basis }) => basis.replaceAll('_', ' ')),
      number('rate', 'Rate', [4], ({ rate }) => rate),
      text('unit', 'Unit of the rate', rateUnit),
      number('amount', 'Amount', [2, site.currency ?? undefined], ({ amount }) => amount),
    ],
    { note: site.fees.length === 0 ? 'No fees were charged.' : undefined },
  )

const reasonTexts: Record<string, string> = {
  no_energy: 'Energy not measured',
  no_price: 'No price published',
  no_exchange_rate: 'No exchange rate',
}

const unknownTable = ({ site }: Earned): Section =>
  table(
    'Unknown',
    site.unknown,
    [
      text('reason', 'Reason', ({ reason }) => reasonTexts[reason] ?? reason.replaceAll('_', ' ')),
      text('market', 'Market', ({ market_code }) => market_code),
      instant('from', 'From', ({ start_at }) => start_at),
      instant('to', 'To', ({ end_at }) => end_at),
      number('hours', 'Plant hours', [0], ({ hour_count }) => hour_count),
    ],
    { note: site.unknown.length === 0 ? 'The money of all hours is known.' : undefined },
  )

const method = (timezone: string): Section =>
  textSection(
    'Method',
    `Days are local days of ${timezone}. The energy of each quarter hour is multiplied by the price ` +
      'of the contract; gross and fees of hours, days and plants add up. Net is gross minus fees; ' +
      'without known energy there are monthly fees and no net. Average price: gross / energy. Base ' +
      'price: mean market price. Capture rate: mean market price weighted by energy / mean over the ' +
      'hours with known energy. The revenue of batteries is in the battery report.',
  )
