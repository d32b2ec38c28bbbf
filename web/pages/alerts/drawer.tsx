import type { Alert } from '@heliograph/sdk'
import { Group, Stack, Text, Title } from '@mantine/core'
import { useRead, useSite } from '../../queries.ts'
import { SeverityBadge, StateBadge } from '../../ui/badges.tsx'
import { DeviceExchanges } from '../../ui/device-exchange.tsx'
import { DeviceLinks } from '../../ui/devices.tsx'
import { Drawer, WriteButton } from '../../ui/form.tsx'
import {
  formatDuration,
  formatEnergy,
  formatMoney,
  formatPower,
  formatQuantity,
  inSiteTime,
  inWords,
} from '../../ui/format.ts'
import { Facts, SiteLink, timeBy } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import type { Step } from './note-dialog.tsx'

interface AlertDrawerProps {
  listed: readonly Alert[]
  onStep: (kind: Step['kind'], alert: Alert) => void
}

export function AlertDrawer({ listed, onStep }: AlertDrawerProps) {
  const filters = useFilters()
  const alert_id = filters.number('alert_id')
  const near = listed.find((one) => one.alert_id === alert_id)
  // A link may point to an alert that the list does not show, such as a resolved one.
  const far = useRead(
    'alerts',
    'alertsList',
    { status: ['active', 'acknowledged', 'resolved'] },
    {
      enabled: alert_id !== undefined && near === undefined,
      select: ({ data }) => data.find((one) => one.alert_id === alert_id) ?? null,
    },
  )
  return (
    <Drawer
      opened={alert_id !== undefined}
      onClose={() => filters.set({ alert_id: null })}
      title={near ? near.title : `Alert ${alert_id ?? ''}`}
    >
      <Answered query={near ? { ...far, data: near } : far}>
        {(alert) =>
          alert ? (
            <Details alert={alert} onStep={onStep} />
          ) : (
            <Empty title="Alert not found among the newest">
              Older alerts are in the report “Alerts and O&amp;M”.
            </Empty>
          )
        }
      </Answered>
    </Drawer>
  )
}

function Details({ alert, onStep }: { alert: Alert; onStep: AlertDrawerProps['onStep'] }) {
  const { timezone } = useSite()
  return (
    <Stack>
      <Group gap="xs">
        <SeverityBadge severity={alert.severity} />
        <StateBadge state={alert.status} />
      </Group>
      <Text>{inSiteTime(alert.message, timezone)}</Text>
      <DeviceLinks named={alert} />
      {alert.code === 'device_exchanged' && alert.status !== 'resolved' && (
        <DeviceExchanges kinds={[alert.source_type]} device_id={alert.source_id} />
      )}
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
            to={`/work-orders/new?alert_ids=${alert.alert_id}`}
          >
            Create work order
          </WriteButton>
        ) : (
          <SiteLink to={`/work-orders/${alert.work_order_id}`}>Work order</SiteLink>
        )}
        {alert.defect_id !== null && <SiteLink to={`/defects/${alert.defect_id}`}>Defect</SiteLink>}
      </Group>
      <AlertFacts alert={alert} />
    </Stack>
  )
}

/** Losses count from the time the alert was raised, not from the start of its condition. */
export const lostWords = ({ started_at, detected_at }: Alert) =>
  Date.parse(detected_at) - Date.parse(started_at) > late_ms
    ? 'Energy lost since raised'
    : 'Energy lost'

const late_ms = 600_000

function AlertFacts({ alert }: { alert: Alert }) {
  const by = (at: string | null, who: string | null) =>
    timeBy(at, who === 'system' ? 'the system' : who)
  const quantity = (value: number | null) =>
    value === null ? null : formatQuantity(value, alert.unit ?? '', 2)
  return (
    <Facts
      left_out
      rows={[
        ['Measured', quantity(alert.value)],
        ['Threshold', quantity(alert.threshold)],
        [
          alert.status === 'resolved' ? 'Last power loss' : 'Power loss now',
          formatPower(alert.affected_power_kw),
        ],
        [lostWords(alert), formatEnergy(alert.lost_energy_kwh)],
        ['Revenue lost', formatMoney(alert.lost_amount, alert.currency)],
        ['Duration', formatDuration(alert.duration_s)],
        ['Started', timeBy(alert.started_at)],
        ['Last detected', timeBy(alert.last_seen_at)],
        ['Raised', timeBy(alert.detected_at)],
        ['Ended', timeBy(alert.ended_at)],
        ['Occurrences', alert.occurrence_count],
        ['Suppressed by', alert.suppressed ? alert.suppressed_reason : null],
        ['Acknowledged', by(alert.acknowledged_at, alert.acknowledged_by)],
        ['Acknowledgement note', alert.ack_note],
        ['Resolved', by(alert.resolved_at, alert.resolved_by)],
        ['Resolution note', alert.resolution_note],
        ['Manufacturer codes', alert.vendor_codes.join(', ') || null],
        ['Category', inWords(alert.category)],
        ['Rule', alert.code],
        ['Alert id', alert.alert_id],
      ]}
    />
  )
}
