import type { MarketAssignment } from '@heliograph/sdk'
import { Badge, Table, Text } from '@mantine/core'
import { formatDate, formatMoney, none } from '../../ui/format.ts'
import { RowTable } from '../../ui/row-table.tsx'
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

const head = ['Plant', 'Contract', 'Price', 'Market', 'Fees', 'From', 'To', 'Buyer']

export function Contracts({ contracts }: { contracts: readonly MarketAssignment[] }) {
  if (contracts.length === 0) {
    return <Empty title="There are no contracts">Without one, energy has no money.</Empty>
  }
  return (
    <RowTable label="Contracts" min_width={960} head={head}>
      {contracts.map((one) => (
        <Table.Tr key={one.assignment_id}>
          <Table.Td>
            <Text size="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
              {one.logger_name}
            </Text>
            {!one.is_active && <Badge color="gray">not today</Badge>}
          </Table.Td>
          <Table.Td>
            {types[one.contract_type]}
            {!one.pays_at_negative_price && (
              <Text size="xs" c="dimmed">
                pays nothing at negative prices
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            {one.fixed_price_per_mwh === null
              ? none
              : `${formatMoney(one.fixed_price_per_mwh, one.currency)}/MWh`}
            {one.floor_price_per_mwh !== null && (
              <Text size="xs" c="dimmed">
                at least {formatMoney(one.floor_price_per_mwh, one.currency)}/MWh
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            {one.sold_market_code
              ? `${one.market_code} → ${one.sold_market_code}`
              : one.market_code}
          </Table.Td>
          <Table.Td>
            {one.fee_schedule.map((fee) => (
              <Text key={`${fee.code}/${fee.name}/${fee.valid_from_date}`} size="xs">
                {fee.name}: {rateOf(fee)}
              </Text>
            ))}
          </Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatDate(one.valid_from_date)}</Table.Td>
          <Table.Td>{one.valid_to_date ? formatDate(one.valid_to_date) : 'no end'}</Table.Td>
          <Table.Td>{one.offtaker ?? none}</Table.Td>
        </Table.Tr>
      ))}
    </RowTable>
  )
}
