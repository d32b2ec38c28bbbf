import type { EarningsSummary, LoggerEarnings } from '@heliograph/sdk'
import { Table, Text } from '@mantine/core'
import { formatEnergy, formatMoney, formatQuantity } from '../../ui/format.ts'
import { RowTable } from '../../ui/row-table.tsx'
import { Empty } from '../../ui/states.tsx'
import { unknownWords } from './reads.ts'

const head = [
  'Plant',
  'Sold',
  'Gross',
  'Fees',
  'Net',
  'Price earned',
  'Market',
  'Capture rate',
  'At negative prices',
  'Lost to curtailment',
]

export function PlantEarnings({ summary }: { summary: EarningsSummary }) {
  const { by_logger } = summary
  if (!by_logger || by_logger.length === 0) return <Empty title="No plant earned anything then" />
  return (
    <RowTable label="Earnings of each plant" min_width={1000} head={head}>
      {by_logger.map((plant) => (
        <Row key={plant.logger_id} plant={plant} />
      ))}
    </RowTable>
  )
}

function Row({ plant }: { plant: LoggerEarnings }) {
  const { currency } = plant
  const money = (amount: number | null) => formatMoney(amount, currency)
  const price = (amount: number | null) => formatQuantity(amount, `${currency ?? ''}/MWh`, 2)
  const reasons = [...new Set(plant.unknown.map(({ reason }) => unknownWords[reason]))]
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
          {plant.logger_name}
        </Text>
        {reasons.length > 0 && (
          <Text size="xs" c="dimmed">
            Not all known: {reasons.join('; ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{formatEnergy(plant.energy_sold_kwh)}</Table.Td>
      <Table.Td>{money(plant.gross_amount)}</Table.Td>
      <Table.Td>{money(plant.fees_amount)}</Table.Td>
      <Table.Td>
        <Text size="sm" fw={600}>
          {money(plant.net_amount)}
        </Text>
        {plant.net_amount === null && plant.known && (
          <Text size="xs" c="dimmed">
            {money(plant.known.net_amount)} known
          </Text>
        )}
      </Table.Td>
      <Table.Td>{price(plant.average_price_per_mwh)}</Table.Td>
      <Table.Td>{price(plant.market_base_price_per_mwh)}</Table.Td>
      <Table.Td>{formatQuantity(plant.capture_rate_pct, '%')}</Table.Td>
      <Table.Td>
        {formatEnergy(plant.negative_price_energy_kwh)}
        <Text size="xs" c="dimmed">
          cost {money(plant.negative_price_cost_amount)}
        </Text>
      </Table.Td>
      <Table.Td>{money(plant.curtailment_loss_amount)}</Table.Td>
    </Table.Tr>
  )
}
