import type { Alert } from '@heliograph/sdk'
import { SimpleGrid, Text } from '@mantine/core'
import { Figure } from '../../ui/figure.tsx'
import { formatEnergy, formatMoney, formatPower } from '../../ui/format.ts'

/** Sum of known values; null without any. */
function sumOf(alerts: readonly Alert[], field: 'lost_energy_kwh' | 'lost_amount') {
  const known = alerts.map((alert) => alert[field]).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

interface AlertFiguresProps {
  alerts: readonly Alert[]
  count: number
  received: number
}

export function AlertFigures({ alerts, count, received }: AlertFiguresProps) {
  const critical = alerts.filter(({ severity }) => severity === 'critical').length
  const untaken = alerts.filter(({ status }) => status === 'active').length
  const affected = alerts.filter(({ status }) => status !== 'resolved')
  const power_kw = affected.reduce((sum, { affected_power_kw: kw }) => sum + (kw ?? 0), 0)
  const currency = alerts.find(({ currency }) => currency !== null)?.currency ?? null
  const unknown = alerts.filter(
    (one) => one.lost_energy_kwh !== null && one.lost_amount === null,
  ).length
  if (alerts.length === 0) return null
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
        <Figure label="Critical" value={critical} {...(critical > 0 && { tone: 'bad' })} />
        <Figure label="Unacknowledged" value={untaken} note={`of ${alerts.length} shown`} />
        <Figure
          label="Energy lost"
          value={formatEnergy(sumOf(alerts, 'lost_energy_kwh'))}
          note={power_kw > 0 ? `${formatPower(power_kw)} lost now` : undefined}
        />
        <Figure
          label="Revenue lost"
          value={formatMoney(sumOf(alerts, 'lost_amount'), currency)}
          note={unknown > 0 ? `without ${unknown} of unknown price` : undefined}
        />
      </SimpleGrid>
      {count > received && (
        <Text size="sm">
          The newest {received} of {count.toLocaleString('en')} alerts. Older alerts are in the
          report “Alerts and O&amp;M”.
        </Text>
      )}
    </>
  )
}
