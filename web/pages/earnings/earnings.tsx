import type {
  EarningsFee,
  EarningsHour,
  EarningsSummary,
  LoggerEarnings,
  MarketAssignment,
} from '@heliograph/sdk'
import { Alert, Badge, Group, List, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useSite } from '../../queries.ts'
import { columnsOption } from '../../ui/columns.ts'
import { type Column, column, DataTable, numeric, tableOf, wrapped } from '../../ui/data-table.tsx'
import { PeriodChoice, period_titles, usePeriod } from '../../ui/days.tsx'
import {
  formatDate,
  formatEnergy,
  formatMoney,
  formatNumber,
  formatQuantity,
  inUnit,
  inWords,
  none,
  sumKnown,
} from '../../ui/format.ts'
import { Chart } from '../../ui/lazy-chart.tsx'
import { FigureGrid, figures, Muted, noted, Page, Section, Time, useNow } from '../../ui/page.tsx'
import { monthName } from '../../ui/periods.ts'
import { clockAt, dayAt } from '../../ui/site-clock.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import {
  unknownWords,
  useContracts,
  useEarnings,
  useEarningsHours,
  useMarketZone,
} from './reads.ts'

export default function Earnings() {
  const site = useSite()
  const zone = useMarketZone(site)
  const timezone = zone ?? site.timezone
  const today = dayAt(useNow(60_000), timezone)
  const choice = usePeriod('month', today)
  const { period } = choice
  const asked = { period, today, timezone: zone }
  const earnings = useEarnings(asked)
  const hours = useEarningsHours(asked)
  const contracts = useContracts()
  return (
    <Page title="Earnings" actions={<PeriodChoice {...choice} />}>
      <Answered query={earnings}>
        {(summary) => (
          <>
            <Group gap="xs">
              <Badge color={summary.price_status === 'final' ? 'teal' : 'yellow'}>
                {inWords(summary.price_status)}
              </Badge>
              <Muted>
                {formatDate(summary.start_date)}
                {summary.end_date !== summary.start_date && ` to ${formatDate(summary.end_date)}`},
                market days ({summary.timezone}); calculated <Time at={summary.calculated_at} />
              </Muted>
            </Group>
            <Unknown summary={summary} />
            <EarningsFigures summary={summary} />
            <Section title={period_titles[period.kind]}>
              {period.kind === 'day' ? (
                <Answered query={hours}>
                  {(hours) => (
                    <MoneyByHour hours={hours} timezone={timezone} currency={summary.currency} />
                  )}
                </Answered>
              ) : (
                <MoneyByDay summary={summary} is_year={period.kind === 'year'} />
              )}
            </Section>
            <Section title="Plants">
              <DataTable
                {...plant_table}
                rows={summary.by_logger ?? []}
                none="No earnings in this period"
              />
            </Section>
            <Section title="Fees">
              <Fees summary={summary} />
            </Section>
          </>
        )}
      </Answered>
      <Section title="Contracts">
        <Answered query={contracts}>
          {(rows) => (
            <DataTable
              {...contract_table}
              rows={rows}
              none={
                <Empty title="No contracts">
                  Revenue is computed only for plants with a contract.
                </Empty>
              }
            />
          )}
        </Answered>
      </Section>
    </Page>
  )
}

interface WithSummary {
  summary: EarningsSummary
}

/** Unknown amounts are listed with their reason, never shown as 0. */
function Unknown({ summary }: WithSummary) {
  const { unknown, energy_without_contract_kwh, known, net_amount, currency } = summary
  if (unknown.length === 0 && energy_without_contract_kwh === 0) return null
  return (
    <Alert color="orange.9" title="Incomplete amounts">
      <List size="sm">
        {net_amount === null && known && (
          <List.Item>Net so far: {formatMoney(known.net_amount, currency)}.</List.Item>
        )}
        {unknown.map((part) => (
          <List.Item key={`${part.reason}/${part.market_code}`}>
            {part.hour_count} {part.hour_count === 1 ? 'hour' : 'hours'} of plant data:{' '}
            {unknownWords[part.reason]}
            {part.market_code && ` (${part.market_code})`}, from <Time at={part.start_at} /> to{' '}
            <Time at={part.end_at} />
          </List.Item>
        ))}
        {energy_without_contract_kwh > 0 && (
          <List.Item>
            {energy_without_contract_kwh.toFixed(1)} kWh without a contract are not included.
          </List.Item>
        )}
      </List>
    </Alert>
  )
}

const batteryWords = {
  ...unknownWords,
  no_battery: 'no battery was in service',
  no_market: 'no market is assigned',
} as const

function EarningsFigures({ summary }: WithSummary) {
  const { currency, known, bess_arbitrage_reason: reason } = summary
  const money = (amount: number | null) => formatMoney(amount, currency)
  const shown = summary.net_amount === null && known ? known : summary
  const cost = summary.negative_price_cost_amount
  const avoided = summary.curtailment_avoided_cost_amount
  return (
    <FigureGrid>
      {figures([
        [
          summary.net_amount === null ? 'Net, incomplete' : 'Net',
          money(shown.net_amount),
          shown.net_amount !== null &&
            `${money(shown.gross_amount)} minus ${money(shown.fees_amount)} fees`,
        ],
        ['Energy sold', formatEnergy(summary.energy_sold_kwh)],
        [
          `Average price, ${currency ?? ''}/MWh`,
          formatNumber(summary.average_price_per_mwh, 2),
          `market ${price(summary.market_base_price_per_mwh, currency)}`,
        ],
        [
          'Capture rate',
          formatQuantity(summary.capture_rate_pct, '%'),
          'production-weighted market price, of the mean price',
        ],
        [
          'Paid at negative prices',
          money(cost),
          `${formatEnergy(summary.negative_price_energy_kwh)} delivered`,
          cost !== null && cost > 0 && 'bad',
        ],
        [
          'Lost to curtailment',
          money(summary.curtailment_loss_amount),
          avoided === null ? 'unknown' : `${money(avoided)} of negative prices avoided`,
        ],
        [
          'Batteries',
          money(summary.bess_arbitrage_amount),
          reason ? batteryWords[reason] : 'discharge minus charge, without fees, UTC days',
        ],
        [
          'Imbalance',
          money(summary.imbalance_amount),
          summary.imbalance_amount === null && 'no imbalance price',
        ],
      ])}
    </FigureGrid>
  )
}

interface Amounts {
  net_amount: number | null
  fees_amount: number | null
}

/** Sums of known amounts by name, in the given order; null without any. */
const grouped = <Row extends Amounts>(rows: readonly Row[], nameOf: (row: Row) => string) =>
  [...Map.groupBy(rows, nameOf)].map(([name, own]) => {
    // Fees alone would look like a loss.
    const known = own.filter(({ net_amount }) => net_amount !== null)
    return {
      name,
      net_amount: sumKnown(known, ({ net_amount }) => net_amount),
      fees_amount: sumKnown(known, ({ fees_amount }) => fees_amount ?? 0),
    }
  })

function MoneyByDay({ summary, is_year }: WithSummary & { is_year: boolean }) {
  const { by_day, currency } = summary
  const option = useMemo(() => {
    const groups = grouped(by_day, ({ date }) =>
      is_year ? monthName(date, 'short') : String(Number(date.slice(8))),
    )
    return columnsOption({
      categories: groups.map(({ name }) => name),
      unit: currency ?? '',
      digits: 2,
      columns: [
        { name: 'Net', values: groups.map(({ net_amount }) => net_amount) },
        { name: 'Fees', values: groups.map(({ fees_amount }) => fees_amount) },
      ],
    })
  }, [by_day, currency, is_year])
  if (by_day.length === 0) return <Empty title="No data for this period" />
  return (
    <>
      <Chart title="Net and fees" option={option} height={280} />
      {by_day.some(({ net_amount }) => net_amount === null) && (
        <Muted>Days with incomplete data are not shown.</Muted>
      )}
    </>
  )
}

interface MoneyByHourProps {
  hours: readonly EarningsHour[]
  timezone: string
  currency: string | null
}

function MoneyByHour({ hours, timezone, currency }: MoneyByHourProps) {
  const option = useMemo(() => {
    const groups = grouped(hours, ({ start_at }) => start_at)
    const prices = new Map(hours.map((hour) => [hour.start_at, hour.market_price_per_mwh]))
    return columnsOption({
      categories: groups.map(({ name }) => clockAt(Date.parse(name), timezone).slice(11)),
      unit: currency ?? '',
      second_unit: `${currency ?? ''}/MWh`,
      digits: 2,
      columns: [
        { name: 'Net', values: groups.map(({ net_amount }) => net_amount) },
        {
          name: 'Market price',
          as: 'steps' as const,
          is_second: true as const,
          values: groups.map(({ name }) => prices.get(name) ?? null),
        },
      ],
    })
  }, [hours, timezone, currency])
  if (hours.length === 0) return <Empty title="No data for this day" />
  return <Chart title="Net by hour, and the market price" option={option} height={280} />
}

const price = (amount: number | null, currency: string | null) =>
  formatQuantity(amount, `${currency ?? ''}/MWh`, 2)

const plant_table = tableOf<LoggerEarnings>('Earnings of each plant', 1000, 'logger_id', [
  wrapped('Plant', ({ logger_name, unknown }) => {
    const reasons = [...new Set(unknown.map(({ reason }) => unknownWords[reason]))]
    return noted(logger_name, reasons.length > 0 && `Incomplete: ${reasons.join('; ')}`)
  }),
  numeric('Sold', (plant) => plant.energy_sold_kwh, formatEnergy),
  numeric('Gross', (plant) => formatMoney(plant.gross_amount, plant.currency)),
  numeric('Fees', (plant) => formatMoney(plant.fees_amount, plant.currency)),
  numeric('Net', ({ net_amount, known, currency }) =>
    noted(
      <b>{formatMoney(net_amount, currency)}</b>,
      net_amount === null && known && `${formatMoney(known.net_amount, currency)} so far`,
    ),
  ),
  numeric('Average price', (plant) => price(plant.average_price_per_mwh, plant.currency)),
  numeric('Market', (plant) => price(plant.market_base_price_per_mwh, plant.currency)),
  numeric('Capture rate', (plant) => plant.capture_rate_pct, inUnit('%')),
  numeric('At negative prices', (plant) =>
    noted(
      formatEnergy(plant.negative_price_energy_kwh),
      `cost ${formatMoney(plant.negative_price_cost_amount, plant.currency)}`,
    ),
  ),
  numeric('Lost to curtailment', (plant) =>
    formatMoney(plant.curtailment_loss_amount, plant.currency),
  ),
])

const bases: Record<EarningsFee['basis'], string> = {
  per_mwh: 'per MWh',
  percent: '% of gross',
  per_month: 'per month and plant',
  per_mw_month: 'per MW and month',
  imbalance: 'per MWh when the imbalance cost is unknown',
}

const rateOf = (fee: Pick<EarningsFee, 'basis' | 'rate' | 'rate_currency'>) =>
  fee.basis === 'percent'
    ? `${formatNumber(fee.rate, 2)} ${bases.percent}`
    : `${formatMoney(fee.rate, fee.rate_currency)} ${bases[fee.basis]}`

const fee_columns: readonly Column<{ name: string; rate: string; amount: string }>[] = [
  column('Fee', ({ name }) => name),
  column('Rate', ({ rate }) => rate),
  numeric('Amount', ({ amount }) => amount),
]

function Fees({ summary: { fees, currency, fees_amount } }: WithSummary) {
  const rows = fees.map((fee) => ({
    name: fee.name,
    rate: rateOf(fee),
    amount: formatMoney(fee.amount, currency),
  }))
  const total = { name: 'Total', rate: '', amount: formatMoney(fees_amount, currency) }
  return (
    <DataTable
      label="Fees"
      width={300}
      columns={fee_columns}
      rows={rows.length > 0 ? [...rows, total] : []}
      by={({ name, rate }) => `${name}/${rate}`}
      none={<Muted>No fees</Muted>}
    />
  )
}

const types = {
  spot: 'Spot: the market price',
  fixed_price: 'Fixed price',
  ppa: 'PPA',
  feed_in_tariff: 'Feed-in tariff',
  feed_in_premium: 'Feed-in premium',
  cfd: 'Contract for difference',
} as const

const contract_table = tableOf<MarketAssignment>('Contracts', 960, 'assignment_id', [
  column('Plant', ({ logger_name, is_active }) => (
    <>
      {logger_name} {!is_active && <Badge color="gray">Inactive</Badge>}
    </>
  )),
  wrapped('Contract', ({ contract_type, pays_at_negative_price }) =>
    noted(types[contract_type], !pays_at_negative_price && 'No payment at negative prices'),
  ),
  column('Price', ({ fixed_price_per_mwh: fixed, floor_price_per_mwh: floor, currency }) =>
    noted(
      fixed === null ? none : `${formatMoney(fixed, currency)}/MWh`,
      floor !== null && `Floor ${formatMoney(floor, currency)}/MWh`,
    ),
  ),
  column('Market', ({ market_code, sold_market_code }) =>
    sold_market_code ? `${market_code} → ${sold_market_code}` : market_code,
  ),
  wrapped('Fees', ({ fee_schedule }) =>
    fee_schedule.map((fee) => (
      <Text key={`${fee.code}/${fee.name}/${fee.valid_from_date}`} size="xs">
        {fee.name}: {rateOf(fee)}
      </Text>
    )),
  ),
  column('From', ({ valid_from_date }) => formatDate(valid_from_date)),
  column('To', ({ valid_to_date }) => (valid_to_date ? formatDate(valid_to_date) : 'No end')),
  column('Buyer', ({ offtaker }) => offtaker ?? none),
])
