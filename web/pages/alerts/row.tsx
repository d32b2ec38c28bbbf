import type { Alert } from '@heliograph/sdk'
import { Box, Checkbox, Group, Paper, Text, UnstyledButton } from '@mantine/core'
import { useMay } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { deviceText, useDevices } from '../../ui/devices.tsx'
import { formatEnergy, formatMoney } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { SeverityBadge, StateBadge } from '../../ui/severity.tsx'
import { inSiteTime } from '../../ui/site-time.ts'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { lostWords } from './facts.tsx'

interface AlertRowProps {
  site_id: string
  alert: Alert
  is_selected: boolean
  onSelect: (is_selected: boolean) => void
}

/** The row opens the alert. The checkbox is large enough for touch. */
export function AlertRow({ site_id, alert, is_selected, onSelect }: AlertRowProps) {
  const { timezone } = useSite()
  const may = useMay()
  const filters = useFilters()
  const where = deviceText(useDevices(site_id), alert)
  const { alert_id, lost_energy_kwh, lost_amount, currency, suppressed_reason } = alert
  return (
    <Paper withBorder>
      <Group wrap="nowrap" gap={0} align="stretch">
        {may('alerts:write') || may('om:write') ? (
          <Box p="sm" component="label" style={{ cursor: 'pointer' }}>
            <Checkbox
              size="md"
              aria-label={`Select ${alert.title}, ${where ?? alert.source_id}`}
              disabled={alert.status === 'resolved'}
              checked={is_selected}
              onChange={(event) => onSelect(event.currentTarget.checked)}
            />
          </Box>
        ) : (
          <Box w={12} />
        )}
        <UnstyledButton
          py="xs"
          pr="sm"
          style={{ flex: 1, minWidth: 0 }}
          onClick={() => filters.set({ alert_id: String(alert_id) })}
        >
          <Group justify="space-between" gap={4}>
            <Group gap="2px 10px">
              <Text fw={600} span>
                {alert.title}
              </Text>
              {where && <Text span>{where}</Text>}
            </Group>
            <Group gap="xs">
              <SeverityBadge severity={alert.severity} />
              {alert.status !== 'active' && <StateBadge state={alert.status} />}
            </Group>
          </Group>
          <Muted lineClamp={2}>{inSiteTime(alert.message, timezone)}</Muted>
          <Group gap="2px 16px">
            <Text size="sm" span>
              since <Time at={alert.started_at} />
            </Text>
            {lost_energy_kwh !== null && lost_energy_kwh > 0 && (
              <Text size="sm" span fw={600}>
                {lostWords(alert)} {formatEnergy(lost_energy_kwh)}
                {lost_amount !== null && `, ${formatMoney(lost_amount, currency)}`}
              </Text>
            )}
            {suppressed_reason && (
              <Text size="sm" span>
                suppressed: {suppressed_reason}
              </Text>
            )}
            {alert.work_order_id !== null && (
              <Text size="sm" span>
                work order created
              </Text>
            )}
          </Group>
        </UnstyledButton>
      </Group>
    </Paper>
  )
}
