import type { MarketAssignment } from '@heliograph/sdk'
import { Badge, Text } from '@mantine/core'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { formatDate, formatMoney, none } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Empty } from '../../ui/states.tsx'
import { rateOf } from './fees.tsx'

const types = {
  spot: 'Spot: the market price',
  fixed_price: 'Fixed price',
  ppa: 'PPA',
  feed_in_tariff: 'Feed-in tariff',
  feed_in_premium: 'Feed-in premium',
  cfd: 'Contract for difference',
} as const

const columns: readonly Column<MarketAssignment>[] = [
  {
    name: 'Plant',
    cell: ({ logger_name, is_active }) => (
      <>
        {logger_name} {!is_active && <Badge color="gray">Inactive</Badge>}
      </>
    ),
  },
  {
    name: 'Contract',
    wraps: true,
    cell: ({ contract_type, pays_at_negative_price }) => (
      <>
        {types[contract_type]}
        {!pays_at_negative_price && <Muted>No payment at negative prices</Muted>}
      </>
    ),
  },
  {
    name: 'Price',
    cell: ({ fixed_price_per_mwh: fixed, floor_price_per_mwh: floor, currency }) => (
      <>
        {fixed === null ? none : `${formatMoney(fixed, currency)}/MWh`}
        {floor !== null && <Muted>Floor {formatMoney(floor, currency)}/MWh</Muted>}
      </>
    ),
  },
  {
    name: 'Market',
    cell: ({ market_code, sold_market_code }) =>
      sold_market_code ? `${market_code} → ${sold_market_code}` : market_code,
  },
  {
    name: 'Fees',
    wraps: true,
    cell: ({ fee_schedule }) =>
      fee_schedule.map((fee) => (
        <Text key={`${fee.code}/${fee.name}/${fee.valid_from_date}`} size="xs">
          {fee.name}: {rateOf(fee)}
        </Text>
      )),
  },
  { name: 'From', cell: ({ valid_from_date }) => formatDate(valid_from_date) },
  {
    name: 'To',
    cell: ({ valid_to_date }) => (valid_to_date ? formatDate(valid_to_date) : 'No end'),
  },
  { name: 'Buyer', cell: ({ offtaker }) => offtaker ?? none },
]

export function Contracts({ contracts }: { contracts: readonly MarketAssignment[] }) {
  if (contracts.length === 0) {
    return <Empty title="No contracts">Revenue is computed only for plants with a contract.</Empty>
  }
  const keyOf = ({ assignment_id }: MarketAssignment) => assignment_id
  return <DataTable label="Contracts" width={960} {...{ columns, rows: contracts, keyOf }} />
}
