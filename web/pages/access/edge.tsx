/** The edge of a site: whether it is connected, what arrives, and how a gateway is set up. */
import { Stack, Text } from '@mantine/core'
import type { PlatformEdge, PlatformEdgeList } from '../../generated/platform.ts'
import { usePlatform, useSite, useUser } from '../../queries.ts'
import { whole } from '../../ui/badges.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { type Column, column, DataTable } from '../../ui/data-table.tsx'
import { ageSince, Facts, LocalTime, Muted, noted, Page, Section, useNow } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'
import { SetUp } from './edge/set-up.tsx'

const look_ms = 5000

export default function EdgePage() {
  const { role } = useUser()
  const edges = usePlatform<PlatformEdgeList>('edges', '/edges', look_ms)
  return (
    <Page title="Edge">
      <Answered query={edges}>
        {({ data }) => (
          <>
            <Edges edges={data} />
            {data
              .filter(({ is_outdated }) => is_outdated)
              .map((edge) => (
                <Update key={edge.edge_id} of={edge} />
              ))}
            {data.some(({ is_connected }) => is_connected) && <Arrivals />}
          </>
        )}
      </Answered>
      {role === 'administrator' && <SetUp />}
    </Page>
  )
}

function Edges({ edges }: { edges: readonly PlatformEdge[] }) {
  const now_ms = useNow(look_ms)
  const columns: Column<PlatformEdge>[] = [
    column('Gateway', ({ name, edge_id }) => noted(<Text fw={500}>{name}</Text>, edge_id)),
    column('State', (edge) => <State edge={edge} />),
    column('Last seen', ({ last_seen_at: at }) => ageSince(at, now_ms)),
    column('Version', ({ agent_version, server_version }) =>
      noted(
        agent_version ?? 'Unknown',
        agent_version !== null && agent_version !== server_version && `Server: ${server_version}`,
      ),
    ),
    column('Enrolled', ({ created_at }) => <LocalTime at={created_at} />),
  ]
  const rows = edges.toSorted(
    (a, b) =>
      Number(a.revoked_at !== null) - Number(b.revoked_at !== null) ||
      Date.parse(b.created_at) - Date.parse(a.created_at),
  )
  return (
    <DataTable
      label="Edges"
      width={720}
      columns={columns}
      rows={rows}
      by="edge_id"
      none={<Text c="dimmed">No edge yet. Set up the gateway of the site.</Text>}
    />
  )
}

function State({ edge: { revoked_at, is_connected, last_seen_at } }: { edge: PlatformEdge }) {
  if (revoked_at !== null) return whole('Revoked', 'gray')
  if (is_connected) return whole('Connected', 'teal')
  return last_seen_at === null
    ? whole('Not connected yet', 'gray')
    : whole('Communication lost', 'orange')
}

/** Nothing is pushed to a gateway: a person installs the package there. */
const Update = ({ of: { name, server_version } }: { of: PlatformEdge }) => (
  <Section title={`Install version ${server_version} on ${name}`}>
    <Stack gap="xs">
      <Text size="sm">
        The edge is older than the server. The devices keep their limits while the service restarts,
        and readings are not lost.
      </Text>
      <CopyText
        label="On the gateway, beside the file of the release"
        text={`sudo apt install ./heliograph-edge_${server_version}_$(dpkg --print-architecture).deb`}
      />
    </Stack>
  </Section>
)

/** The inventory as the edge announced it, and the age of the newest reading. */
function Arrivals() {
  const site = useSite()
  const now_ms = useNow(look_ms)
  const { logger_count, inverter_count, string_count, sensor_node_count, last_data_at } = site
  return (
    <Section title="Received">
      {logger_count === 0 ? (
        <Muted>No devices yet: the edge reports them from site.yaml.</Muted>
      ) : (
        <Facts
          cols={4}
          rows={[
            ['Plants', logger_count],
            ['Inverters', inverter_count],
            ['Strings', string_count],
            ['Sensor nodes', sensor_node_count],
            ['Newest reading', ageSince(last_data_at, now_ms)],
          ]}
        />
      )}
    </Section>
  )
}
