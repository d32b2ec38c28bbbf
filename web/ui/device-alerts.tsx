import { Alert, Anchor, Group, List } from '@mantine/core'
import { Link } from 'wouter'
import { useMayRead } from '../pages/overview/may-read.ts'
import { useRead } from '../queries.ts'
import { type AlertPlace, alertsOf } from './device-places.ts'
import { SeverityBadge } from './severity.tsx'
import { Time } from './time.tsx'

/** Open alerts of a device, on its page. */
export function DeviceAlerts({ site_id, ...place }: AlertPlace & { site_id: string }) {
  const mayRead = useMayRead()
  const { data } = useRead(
    'alerts',
    'alertsList',
    { site_id },
    { refetchInterval: 30_000, enabled: mayRead('alerts:read') },
  )
  const own = alertsOf(data?.data ?? [], place)
  if (own.length === 0) return null
  return (
    <Alert color="red" variant="outline" title={`Alerts: ${own.length}`}>
      <List size="sm" listStyleType="none" spacing={4}>
        {own.map((alert) => (
          <List.Item key={alert.alert_id}>
            <Group gap="xs">
              <SeverityBadge severity={alert.severity} />
              <Anchor
                component={Link}
                size="sm"
                underline="always"
                href={`/sites/${site_id}/alerts?alert_id=${alert.alert_id}`}
              >
                {alert.title}
              </Anchor>
              since <Time at={alert.started_at} />
            </Group>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
