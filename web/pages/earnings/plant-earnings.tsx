import type { EarningsSummary, LoggerEarnings } from '@heliograph/sdk'
import { type Column, DataTable, numeric } from '../../ui/data-table.tsx'
import { formatEnergy, formatMoney, formatQuantity } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Empty } from '../../ui/states.tsx'
import { unknownWords } from './reads.ts'

const price = (amount: number | null, currency: string | null) =>
  formatQuantity(amount, `${currency ?? ''}/MWh`, 2)

const columns: readonly Column<LoggerEarnings>[] = [
  {
    name: 'Plant',
    wraps: true,
    cell: ({ logger_name, unknown }) => {
      const reasons = [...new Set(unknown.map(({ reason }) => unknownWords[reason]))]
      return (
        <>
          {logger_name}
          {reasons.length > 0 && <Muted>Incomplete: {reasons.join('; ')}</Muted>}
        </>
      )
    },
  },
  numeric('Sold', (plant) => formatEnergy(plant.energy_sold_kwh)),
  numeric('Gross', (plant) => formatMoney(plant.gross_amount, plant.currency)),
  numeric('Fees', (plant) => formatMoney(plant.fees_amount, plant.currency)),
  numeric('Net', ({ net_amount, known, currency }) => (
    <>
      <b>{formatMoney(net_amount, currency)}</b>
      {net_amount === null && known && (
        <Muted>{formatMoney(known.net_amount, currency)} so far</Muted>
      )}
    </>
  )),
  numeric('Average price', (plant) => price(plant.average_price_per_mwh, plant.currency)),
  numeric('Market', (plant) => price(plant.market_base_price_per_mwh, plant.currency)),
  numeric('Capture rate', (plant) => formatQuantity(plant.capture_rate_pct, '%')),
  numeric('At negative prices', (plant) => (
    <>
      {formatEnergy(plant.negative_price_energy_kwh)}
      <Muted>cost {formatMoney(plant.negative_price_cost_amount, plant.currency)}</Muted>
    </>
  )),
  numeric('Lost to curtailment', (plant) =>
    formatMoney(plant.curtailment_loss_amount, plant.currency),
  ),
]

export function PlantEarnings({ summary: { by_logger } }: { summary: EarningsSummary }) {
  if (!by_logger || by_logger.length === 0) return <Empty title="No earnings in this period" />
  const keyOf = ({ logger_id }: LoggerEarnings) => logger_id
  return (
    <DataTable
      label="Earnings of each plant"
      width={1000}
      {...{ columns, rows: by_logger, keyOf }}
    />
  )
}
