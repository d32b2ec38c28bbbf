import type { PredictedPrice } from '@heliograph/sdk'
import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { bandOption } from '../../../ui/band-option.ts'
import { formatNumber, formatTime } from '../../../ui/format.ts'
import { Chart } from '../../../ui/lazy-chart.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { Empty } from '../../../ui/states.tsx'

interface PriceForecastProps {
  prices: readonly PredictedPrice[]
  timezone: string
}

const likely_pct = 20

export function PriceForecast({ prices, timezone }: PriceForecastProps) {
  const option = useMemo(
    () =>
      bandOption({
        labels: prices.map(
          ({ start_at }) =>
            `${formatTime(start_at, timezone, 'day').slice(0, 3)} ${formatTime(start_at, timezone, 'time')}`,
        ),
        p10: prices.map((price) => price.p10_price_per_mwh),
        p50: prices.map((price) => price.p50_price_per_mwh),
        p90: prices.map((price) => price.p90_price_per_mwh),
        lines: [{ name: 'Published', values: prices.map((price) => price.actual_price_per_mwh) }],
        unit: `${prices[0]?.currency ?? ''}/MWh`,
        digits: 2,
        stepped: true,
      }),
    [prices, timezone],
  )
  const is_known = prices.some(
    ({ p50_price_per_mwh, actual_price_per_mwh }) =>
      p50_price_per_mwh !== null || actual_price_per_mwh !== null,
  )
  if (!is_known) {
    return <Empty title="No price forecast">The site has no market, or its market is new.</Empty>
  }
  const risky = prices.filter(
    (price) =>
      price.actual_price_per_mwh === null && (price.negative_probability_pct ?? 0) >= likely_pct,
  )
  const highest = Math.max(...risky.map((price) => price.negative_probability_pct ?? 0))
  const naive = prices.some(({ method }) => method === 'naive')
  return (
    <>
      <Chart title="Expected prices with their band, and published prices" option={option} />
      {risky[0] && (
        <Text size="sm">
          Negative prices possible from {formatTime(risky[0].start_at, timezone, 'full')}:
          probability up to {formatNumber(highest, 0)} %.
        </Text>
      )}
      {naive && (
        <Muted>
          Persistence forecast: each price is that of the previous day at the same time.
        </Muted>
      )}
    </>
  )
}
