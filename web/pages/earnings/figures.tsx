import type { EarningsSummary } from '@heliograph/sdk'
import { Figure } from '../../ui/figure.tsx'
import { FigureGrid } from '../../ui/figure-grid.tsx'
import { formatEnergy, formatMoney, formatNumber, formatQuantity } from '../../ui/format.ts'

const batteryWords = {
  no_battery: 'no battery was in service',
  no_market: 'no market is assigned',
  no_price: 'a market price is missing',
  no_exchange_rate: 'an exchange rate is missing',
  no_energy: 'not all of its energy is known',
  not_yet: 'not yet known',
} as const

export function EarningsFigures({ summary }: { summary: EarningsSummary }) {
  const { currency, known, bess_arbitrage_reason: reason } = summary
  const money = (amount: number | null) => formatMoney(amount, currency)
  const price = (amount: number | null) => formatQuantity(amount, `${currency ?? ''}/MWh`, 2)
  const told = summary.net_amount === null && known ? known : summary
  const cost = summary.negative_price_cost_amount
  return (
    <FigureGrid>
      <Figure
        label={summary.net_amount === null ? 'Net, as far as known' : 'Net'}
        value={money(told.net_amount)}
        note={
          told.net_amount === null
            ? null
            : `${money(told.gross_amount)} less ${money(told.fees_amount)} of fees`
        }
      />
      <Figure label="Energy sold" value={formatEnergy(summary.energy_sold_kwh)} />
      <Figure
        label={`Price earned, ${currency ?? ''}/MWh`}
        value={formatNumber(summary.average_price_per_mwh, 2)}
        note={`market ${price(summary.market_base_price_per_mwh)}`}
      />
      <Figure
        label="Capture rate"
        value={formatQuantity(summary.capture_rate_pct, '%')}
        note="market price when it delivered, of the mean of all hours"
      />
      <Figure
        label="Paid at negative prices"
        value={money(cost)}
        note={`${formatEnergy(summary.negative_price_energy_kwh)} delivered then`}
        {...(cost !== null && cost > 0 && { tone: 'bad' as const })}
      />
      <Figure
        label="Lost to curtailment"
        value={money(summary.curtailment_loss_amount)}
        note={
          summary.curtailment_avoided_cost_amount === null
            ? 'not known'
            : `${money(summary.curtailment_avoided_cost_amount)} of negative prices avoided`
        }
      />
      <Figure
        label="Batteries"
        value={money(summary.bess_arbitrage_amount)}
        note={reason ? batteryWords[reason] : 'discharged less charged, without fees, days of UTC'}
      />
      <Figure
        label="Imbalance"
        value={money(summary.imbalance_amount)}
        note={summary.imbalance_amount === null ? 'no imbalance price is known' : null}
      />
    </FigureGrid>
  )
}
