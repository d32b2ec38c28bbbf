import type { ComparedMarket } from '@heliograph/sdk'
import { Badge, Group, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { type Column, DataTable, numeric } from '../../ui/data-table.tsx'
import { formatNumber, formatQuantity, formatTime, none } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useComparison } from './reads.ts'

const statusWords = {
  published: 'Published',
  partial: 'Partly published',
  incomplete: 'Incomplete',
  not_yet_published: 'Not published yet',
  missing: 'Missing',
} as const
const tones = {
  published: 'teal',
  partial: 'teal',
  incomplete: 'orange',
  not_yet_published: 'gray',
  missing: 'red',
} as const

const spreadWords = {
  no_exchange_rate: 'No exchange rate',
  no_home_market: 'No home market',
  prices_incomplete: 'Prices incomplete',
} as const

const price = (value: number | null, { currency }: ComparedMarket) =>
  formatQuantity(value, currency, 2)

function spreadOf(market: ComparedMarket, base: string) {
  const { is_home_market, spread_to_home_per_mwh: spread, spread_reason } = market
  if (is_home_market) return none
  if (spread === null) return spread_reason && spreadWords[spread_reason]
  return `${spread > 0 ? '+' : ''}${formatNumber(spread, 2)} ${base}`
}

const columnsOf = (base: string): Column<ComparedMarket>[] => [
  {
    name: 'Market',
    wraps: true,
    cell: ({ name, market_code, is_home_market }) => (
      <>
        {name}
        <Muted>{`${market_code}${is_home_market ? ', home market' : ''}`}</Muted>
      </>
    ),
  },
  {
    name: 'Prices',
    cell: ({ status }) => (
      <Badge miw="max-content" color={tones[status]}>
        {statusWords[status]}
      </Badge>
    ),
  },
  numeric('Base', (market) => price(market.base_price_per_mwh, market)),
  numeric('Peak', (market) => price(market.peak_price_per_mwh, market)),
  numeric('Lowest', (market) => price(market.min_price_per_mwh, market)),
  numeric('Highest', (market) => price(market.max_price_per_mwh, market)),
  numeric('Negative', ({ negative_period_count: count, resolution_minutes }) =>
    formatQuantity(count === null ? null : (count * resolution_minutes) / 60, 'h', 2),
  ),
  numeric('Solar-weighted', (market) => price(market.solar_weighted_price_per_mwh, market)),
  numeric('Spread to home market', (market) => spreadOf(market, base)),
]

export function Comparison({ site_id, dates }: { site_id: string; dates: readonly string[] }) {
  const [date, setDate] = useState(dates[0]!)
  const comparison = useComparison(site_id, date)
  return (
    <Answered query={comparison}>
      {({ data, meta }) => (
        <>
          <Group mb="xs">
            <SegmentedControl
              aria-label="Day"
              data={dates.map((value) => ({
                value,
                label: formatTime(`${value}T00:00:00Z`, 'UTC', 'day'),
              }))}
              value={date}
              onChange={setDate}
            />
            <Muted>
              UTC day; prices per MWh. Solar-weighted: mean weighted by clear-sky production at the
              site.
            </Muted>
          </Group>
          {data.length === 0 ? (
            <Empty title="No market prices for this day" />
          ) : (
            <DataTable
              label="Market comparison"
              width={980}
              columns={columnsOf(meta.base_currency)}
              rows={data}
              keyOf={({ market_code }) => market_code}
            />
          )}
        </>
      )}
    </Answered>
  )
}
