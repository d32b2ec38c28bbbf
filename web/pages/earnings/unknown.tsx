import type { EarningsSummary } from '@heliograph/sdk'
import { Alert, List } from '@mantine/core'
import { formatMoney } from '../../ui/format.ts'
import { Time } from '../../ui/time.tsx'
import { unknownWords } from './reads.ts'

/** Unknown amounts are listed with their reason, never shown as 0. */
export function Unknown({ summary }: { summary: EarningsSummary }) {
  const { unknown, energy_without_contract_kwh, known, net_amount, currency } = summary
  if (unknown.length === 0 && energy_without_contract_kwh === 0) return null
  return (
    <Alert color="orange.9" variant="outline" title="Incomplete amounts">
      <List size="sm">
        {net_amount === null && known && (
          <List.Item>Net so far: {formatMoney(known.net_amount, currency)}.</List.Item>
        )}
        {unknown.map((part) => (
          <List.Item key={`${part.reason}/${part.market_code}`}>
            {part.hour_count} {part.hour_count === 1 ? 'hour' : 'hours'} of plant data:{' '}
            {unknownWords[part.reason]}
            {part.market_code && ` (${part.market_code})`}, from <Time at={part.start_at} /> to{' '}
            <Time at={part.end_at} />
          </List.Item>
        ))}
        {energy_without_contract_kwh > 0 && (
          <List.Item>
            {energy_without_contract_kwh.toFixed(1)} kWh without a contract are not included.
          </List.Item>
        )}
      </List>
    </Alert>
  )
}
