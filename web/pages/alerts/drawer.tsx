/** Details of an alert, and its actions. */

import type { Alert } from '@heliograph/sdk'
import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { DeviceLinks } from '../../ui/devices.tsx'
import { Drawer } from '../../ui/modal.tsx'
import { SeverityBadge, StateBadge } from '../../ui/severity.tsx'
import { inSiteTime } from '../../ui/site-time.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import { AlertFacts } from './facts.tsx'
import type { Step } from './note-dialog.tsx'

interface AlertDrawerProps {
  site_id: string
  /** Alerts of the list behind the drawer. */
  listed: readonly Alert[]
  onStep: (kind: Step['kind'], alert: Alert) => void
}

export function AlertDrawer({ site_id, listed, onStep }: AlertDrawerProps) {
  const filters = useFilters()
  const alert_id = filters.number('alert_id')
  const near = listed.find((one) => one.alert_id === alert_id)
  // A link may point to an alert that the list does not show, such as a resolved one.
  const far = useRead(
    'alerts',
    'alertsList',
    { site_id, status: ['active', 'acknowledged', 'resolved'] },
    {
      enabled: alert_id !== undefined && near === undefined,
      select: ({ data }) => data.find((one) => one.alert_id === alert_id) ?? null,
    },
  )
  return (
    <Drawer
      opened={alert_id !== undefined}
      onClose={() => filters.set({ alert_id: null })}
      position="right"
      size="lg"
      title={near ? near.title : `Alert ${alert_id ?? ''}`}
    >
      {near ? (
        <Details {...{ site_id, alert: near, onStep }} />
      ) : (
        <Answered query={far}>
          {(alert) =>
            alert ? (
              <Details {...{ site_id, alert, onStep }} />
            ) : (
              <Empty title="Alert not found among the newest">
                Older alerts are in the report “Alerts and O&amp;M”.
              </Empty>
            )
          }
        </Answered>
      )}
    </Drawer>
  )
}

interface DetailsProps {
  site_id: string
  alert: Alert
  onStep: AlertDrawerProps['onStep']
}

function Details({ site_id, alert, onStep }: DetailsProps) {
  const at = `/sites/${site_id}`
  const { timezone } = useSite()
  return (
    <Stack>
      <Group gap="xs">
        <SeverityBadge severity={alert.severity} />
        <StateBadge state={alert.status} />
      </Group>
      <Text>{inSiteTime(alert.message, timezone)}</Text>
      <DeviceLinks site_id={site_id} named={alert} />
      {alert.recommended_action && (
        <div>
          <Title order={3} size="h5">
            Recommended action
          </Title>
          <Text>{alert.recommended_action}</Text>
        </div>
      )}
      {alert.status !== 'resolved' && (
        <Group gap="xs">
          {alert.status === 'active' && (
            <WriteButton scope="alerts:write" onClick={() => onStep('acknowledge', alert)}>
              Acknowledge
            </WriteButton>
          )}
          <WriteButton
            scope="alerts:write"
            variant="default"
            onClick={() => onStep('resolve', alert)}
          >
            Resolve
          </WriteButton>
        </Group>
      )}
      <Group gap="xs">
        {alert.work_order_id === null ? (
          <WriteButton
            scope="om:write"
            variant="default"
            href={`${at}/work-orders/new?alert_ids=${alert.alert_id}`}
          >
            Create work order
          </WriteButton>
        ) : (
          <Anchor component={Link} href={`${at}/work-orders/${alert.work_order_id}`}>
            Work order
          </Anchor>
        )}
        {alert.defect_id !== null && (
          <Anchor component={Link} href={`${at}/defects/${alert.defect_id}`}>
            Defect
          </Anchor>
        )}
      </Group>
      <AlertFacts alert={alert} />
    </Stack>
  )
}
