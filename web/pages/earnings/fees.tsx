import type { EarningsFee, EarningsSummary } from '@heliograph/sdk'
import { Table, Text } from '@mantine/core'
import { formatMoney, formatNumber } from '../../ui/format.ts'
import { RowTable } from '../../ui/row-table.tsx'

const bases: Record<EarningsFee['basis'], string> = {
  per_mwh: 'per MWh',
  percent: '% of gross',
  per_month: 'a month and plant',
  per_mw_month: 'per MW and month',
  imbalance: 'per MWh, where the cost of imbalance is not known',
}

export const rateOf = (fee: Pick<EarningsFee, 'basis' | 'rate' | 'rate_currency'>) =>
  fee.basis === 'percent'
    ? `${formatNumber(fee.rate, 2)} ${bases.percent}`
    : `${formatMoney(fee.rate, fee.rate_currency)} ${bases[fee.basis]}`

export function Fees({ summary }: { summary: EarningsSummary }) {
  const { fees, currency, fees_amount } = summary
  if (fees.length === 0) return <Text c="dimmed">No fees are due.</Text>
  return (
    <RowTable label="Fees" min_width={300} head={['Fee', 'Rate', 'Amount']}>
      {fees.map((fee) => (
        <Table.Tr key={`${fee.code}/${fee.name}/${fee.rate}/${fee.basis}`}>
          <Table.Td>{fee.name}</Table.Td>
          <Table.Td>{rateOf(fee)}</Table.Td>
          <Table.Td>{formatMoney(fee.amount, currency)}</Table.Td>
        </Table.Tr>
      ))}
      <Table.Tr>
        <Table.Td colSpan={2} fw={600}>
          Together
        </Table.Td>
        <Table.Td fw={600}>{formatMoney(fees_amount, currency)}</Table.Td>
      </Table.Tr>
    </RowTable>
  )
}
