import type { BatteryAlarmState } from '@heliograph/sdk'
import { Alert, Anchor, Card, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { useMay, useRead } from '../../../queries.ts'
import { formatNumber } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { SeverityBadge } from '../../../ui/severity.tsx'
import { Answered } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { live_ms } from './reads.ts'

const order = ['critical', 'major', 'warning', 'info']

/** Active alarms, the most severe first. */
export function Alarms({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const alarms = useRead(
    'bess',
    'bessAlarmsStatesList',
    { site_id, bess_id, only_set: true },
    live_ms,
  )
  return (
    <Stack gap="xs">
      <Title order={2} size="h3">
        Alarms
      </Title>
      <Answered query={alarms}>
        {({ data }) =>
          data.length === 0 ? (
            <Alert color="teal" variant="outline">
              No active alarms
            </Alert>
          ) : (
            [...data]
              .sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
              .map((alarm) => (
                <Alarm
                  key={`${alarm.source} ${alarm.code} ${alarm.cluster_idx} ${alarm.pcs_idx}`}
                  site_id={site_id}
                  alarm={alarm}
                />
              ))
          )
        }
      </Answered>
    </Stack>
  )
}

function Alarm({ site_id, alarm }: { site_id: string; alarm: BatteryAlarmState }) {
  const may = useMay()
  const { raw_value, threshold_value, threshold_unit: unit } = alarm
  const text = alarm.message ?? alarm.description
  return (
    <Card withBorder padding="sm">
      <Group gap="xs">
        <SeverityBadge severity={alarm.severity} />
        <Text fw={600}>{alarm.name}</Text>
        <Muted>
          {placeOf(alarm)}
          {alarm.set_at && ', since '}
          {alarm.set_at && <Time at={alarm.set_at} />}
        </Muted>
      </Group>
      {text && <Text mt={4}>{text}</Text>}
      {raw_value !== null && threshold_value !== null && (
        <Text size="sm" className="figure">
          {formatNumber(raw_value)} {unit}, threshold {formatNumber(threshold_value)} {unit}
        </Text>
      )}
      {alarm.recommended_action && (
        <Text mt={4}>
          <strong>Recommended action:</strong> {alarm.recommended_action}
        </Text>
      )}
      <Muted>
        {alarm.affects_power ? 'Limits power.' : 'Does not limit power.'}
        {alarm.latching && ' Latching: needs a manual reset.'}
      </Muted>
      {alarm.alert_id !== null && may('alerts:read') && (
        <Anchor component={Link} href={`/sites/${site_id}/alerts`} size="sm" underline="always">
          Alerts
        </Anchor>
      )}
    </Card>
  )
}

const sources: Record<string, string> = {
  bms: 'Management system',
  cluster: 'Cluster',
  pcs: 'Power conversion',
  ems: 'Edge agent',
  communication: 'Communication',
  fire: 'Fire alarm system',
}

function placeOf({ source, cluster_idx, pcs_idx }: BatteryAlarmState): string {
  const nth = cluster_idx ?? pcs_idx
  return `${sources[source] ?? source}${nth === null ? '' : ` ${nth}`}`
}
