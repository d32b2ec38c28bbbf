import type { ComparedMarket } from '@heliograph/sdk'
import { Badge, Group, SegmentedControl, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { formatNumber, formatQuantity, formatTime } from '../../ui/format.ts'
import { RowTable } from '../../ui/row-table.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useComparison } from './reads.ts'

const statusWords = {
  published: 'published',
  partial: 'published so far',
  incomplete: 'incomplete',
  not_yet_published: 'not published yet',
  missing: 'missing',
} as const
const tones = {
  published: 'teal',
  partial: 'teal',
  incomplete: 'orange',
  not_yet_published: 'gray',
  missing: 'red',
} as const

const spreadWords = {
  no_exchange_rate: 'no exchange rate',
  no_home_market: 'no home market',
  prices_incomplete: 'prices incomplete',
} as const

const head = [
  'Market',
  'Prices',
  'Base',
  'Peak',
  'Lowest',
  'Highest',
  'Negative',
  'By the sun',
  'To the home market',
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
            <Text size="sm" c="dimmed">
              UTC day; amounts per MWh; “by the sun” is weighted by a clear sky at the site.
            </Text>
          </Group>
          {data.length === 0 ? (
            <Empty title="No market has prices of this day" />
          ) : (
            <RowTable label="Markets beside each other" min_width={980} head={head}>
              {data.map((market) => (
                <Row key={market.market_code} market={market} base={meta.base_currency} />
              ))}
            </RowTable>
          )}
        </>
      )}
    </Answered>
  )
}

function Row({ market, base }: { market: ComparedMarket; base: string }) {
  const price = (value: number | null) => formatQuantity(value, market.currency, 2)
  const spread = market.spread_to_home_per_mwh
  const negative_min =
    market.negative_period_count === null
      ? null
      : market.negative_period_count * market.resolution_minutes
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {market.name}
        </Text>
        <Text size="xs" c="dimmed">
          {market.market_code}
          {market.is_home_market && ', home market'}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge miw="max-content" color={tones[market.status]}>
          {statusWords[market.status]}
        </Badge>
      </Table.Td>
      <Table.Td>{price(market.base_price_per_mwh)}</Table.Td>
      <Table.Td>{price(market.peak_price_per_mwh)}</Table.Td>
      <Table.Td>{price(market.min_price_per_mwh)}</Table.Td>
      <Table.Td>{price(market.max_price_per_mwh)}</Table.Td>
      <Table.Td>{negative_min === null ? '–' : `${formatNumber(negative_min / 60, 2)} h`}</Table.Td>
      <Table.Td>{price(market.solar_weighted_price_per_mwh)}</Table.Td>
      <Table.Td>
        {market.is_home_market
          ? '–'
          : spread === null
            ? market.spread_reason && spreadWords[market.spread_reason]
            : `${spread > 0 ? '+' : ''}${formatNumber(spread, 2)} ${base}`}
      </Table.Td>
    </Table.Tr>
  )
}
