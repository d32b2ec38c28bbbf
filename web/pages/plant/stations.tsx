import type { SensorNode } from '@heliograph/sdk'
import { Stack, Text } from '@mantine/core'
import { NodeState } from '../../ui/badges.tsx'
import { type Column, column, DataTable, wrapped } from '../../ui/data-table.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { formatQuantity, inWords } from '../../ui/format.ts'
import { Muted, Page, SiteLink, Time } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { Switchings, useNodeNow, useNodes } from './station/switchings.tsx'

export default function Stations() {
  const { plantName } = useDevices()
  const columns: Column<SensorNode>[] = [
    wrapped('Station', (node) => (
      <>
        <SiteLink to={`/stations/${node.node_id}`}>{node.name}</SiteLink>
        <Muted>
          {inWords(node.type)}
          {node.logger_id !== null && ` of ${plantName(node.logger_id)}`}
        </Muted>
        <NodeNow node_id={node.node_id} />
      </>
    )),
    column('State', (node) => <NodeState node={node} />),
    column('Last seen', ({ last_seen_at: at }) => <Time at={at} />),
  ]
  return (
    <Page title="Stations">
      <Answered query={useNodes()}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <Empty title="No stations with sensors" />
          ) : (
            <Stack>
              <DataTable label="Stations" width={480} columns={columns} rows={rows} by="node_id" />
              <Switchings />
            </Stack>
          )
        }
      </Answered>
    </Page>
  )
}

function NodeNow({ node_id }: { node_id: string }) {
  const { data } = useNodeNow(node_id)
  if (!data) return null
  const [hottest] = data.temperatures
    .filter(({ temperature_c }) => temperature_c !== null)
    .toSorted((one, other) => other.temperature_c! - one.temperature_c!)
  const warnings = [
    ...data.temperatures
      .filter(({ status }) => status === 'warning' || status === 'alarm')
      .map(({ label }) => `${label} hot`),
    ...data.fans.filter(({ fault }) => fault).map(({ label }) => `${label} fault`),
    ...data.doors.filter(({ open }) => open).map(({ label }) => `${label} open`),
  ]
  return (
    <>
      {hottest && (
        <Text size="sm">
          {hottest.label} {formatQuantity(hottest.temperature_c, '°C')}
        </Text>
      )}
      {warnings.length > 0 && (
        <Text size="sm" fw={600}>
          {warnings.join(', ')}
        </Text>
      )}
    </>
  )
}
