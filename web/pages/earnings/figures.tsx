import type { EarningsSummary } from '@heliograph/sdk'
import { Figure } from '../../ui/figure.tsx'
import { FigureGrid } from '../../ui/figure-grid.tsx'
import { formatEnergy, formatMoney, formatNumber, formatQuantity } from '../../ui/format.ts'

const batteryWords = {
  no_battery: 'no battery was in service',
  no_market: 'no market is assigned',
  no_price: 'a market price is missing',
  no_exchange_rate: 'an exchange rate is missing',
  no_energy: 'energy incomplete',
  not_yet: 'not available yet',
} as const

export function EarningsFigures({ summary }: { summary: EarningsSummary }) {
  const { currency, known, bess_arbitrage_reason: reason } = summary
  const money = (amount: number | null) => formatMoney(amount, currency)
  const price = (amount: number | null) => formatQuantity(amount, `${currency ?? ''}/MWh`, 2)
  const shown = summary.net_amount === null && known ? known : summary
  const cost = summary.negative_price_cost_amount
  return (
    <FigureGrid>
      <Figure
        label={summary.net_amount === null ? 'Net, incomplete' : 'Net'}
        value={money(shown.net_amount)}
        note={
          shown.net_amount === null
            ? null
            : `${money(shown.gross_amount)} minus ${money(shown.fees_amount)} fees`
        }
      />
      <Figure label="Energy sold" value={formatEnergy(summary.energy_sold_kwh)} />
      <Figure
        label={`Average price, ${currency ?? ''}/MWh`}
        value={formatNumber(summary.average_price_per_mwh, 2)}
        note={`market ${price(summary.market_base_price_per_mwh)}`}
      />
      <Figure
        label="Capture rate"
        value={formatQuantity(summary.capture_rate_pct, '%')}
        note="production-weighted market price, of the mean price"
      />
      <Figure
        label="Paid at negative prices"
        value={money(cost)}
        note={`${formatEnergy(summary.negative_price_energy_kwh)} delivered`}
        {...(cost !== null && cost > 0 && { tone: 'bad' as const })}
      />
      <Figure
        label="Lost to curtailment"
        value={money(summary.curtailment_loss_amount)}
        note={
          summary.curtailment_avoided_cost_amount === null
            ? 'unknown'
            : `${money(summary.curtailment_avoided_cost_amount)} of negative prices avoided`
        }
      />
      <Figure
        label="Batteries"
        value={money(summary.bess_arbitrage_amount)}
        note={reason ? batteryWords[reason] : 'discharge minus charge, without fees, UTC days'}
      />
      <Figure
        label="Imbalance"
        value={money(summary.imbalance_amount)}
        note={summary.imbalance_amount === null ? 'no imbalance price' : null}
      />
    </FigureGrid>
  )
}
