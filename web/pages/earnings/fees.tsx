import type { EarningsFee, EarningsSummary } from '@heliograph/sdk'
import { type Column, DataTable, numeric } from '../../ui/data-table.tsx'
import { formatMoney, formatNumber } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'

const bases: Record<EarningsFee['basis'], string> = {
  per_mwh: 'per MWh',
  percent: '% of gross',
  per_month: 'per month and plant',
  per_mw_month: 'per MW and month',
  imbalance: 'per MWh when the imbalance cost is unknown',
}

export const rateOf = (fee: Pick<EarningsFee, 'basis' | 'rate' | 'rate_currency'>) =>
  fee.basis === 'percent'
    ? `${formatNumber(fee.rate, 2)} ${bases.percent}`
    : `${formatMoney(fee.rate, fee.rate_currency)} ${bases[fee.basis]}`

interface Line {
  name: string
  rate: string
  amount: string
}

const columns: readonly Column<Line>[] = [
  { name: 'Fee', cell: ({ name }) => name },
  { name: 'Rate', cell: ({ rate }) => rate },
  numeric('Amount', ({ amount }) => amount),
]

export function Fees({ summary }: { summary: EarningsSummary }) {
  const { fees, currency, fees_amount } = summary
  if (fees.length === 0) return <Muted>No fees</Muted>
  const rows = fees.map((fee) => ({
    name: fee.name,
    rate: rateOf(fee),
    amount: formatMoney(fee.amount, currency),
  }))
  rows.push({ name: 'Total', rate: '', amount: formatMoney(fees_amount, currency) })
  const keyOf = ({ name, rate }: Line) => `${name}/${rate}`
  return <DataTable label="Fees" width={300} {...{ columns, rows, keyOf }} />
}
