import type { SensorFan, SensorNode, SensorNow } from '@heliograph/sdk'
import { Badge, Group, Stack } from '@mantine/core'
import { useSite } from '../../queries.ts'
import { NodeState } from '../../ui/badges.tsx'
import { formatAge, formatQuantity, inWords } from '../../ui/format.ts'
import { historyOf } from '../../ui/history.ts'
import { OverTime } from '../../ui/over-time.tsx'
import { type Fact, Facts, noted, Page, Section } from '../../ui/page.tsx'
import { nodeQuantities } from '../../ui/quantities.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import type { SitePageProps } from '../pages.ts'
import { Switchings, useNodeNow, useNodes, whoSwitched } from './station/switchings.tsx'

export default function Station({ node_id = '' }: SitePageProps) {
  const nodes = useNodes()
  const node = nodes.data?.data.find((one) => one.node_id === node_id)
  return (
    <Page title={node?.name ?? 'Station'}>
      <Answered query={nodes}>
        {() =>
          node ? <Whole node={node} /> : <Empty title={`No station ${node_id} at this site`} />
        }
      </Answered>
    </Page>
  )
}

function Whole({ node }: { node: SensorNode }) {
  const { site_id } = useSite()
  const { node_id } = node
  const quantities = nodeQuantities(node)
  return (
    <Stack>
      <Group>
        <NodeState node={node} />
        <Badge color="gray">{inWords(node.type)}</Badge>
      </Group>
      <Section title="Now">
        <Answered query={useNodeNow(node_id)}>
          {(now) => <Facts rows={nowOf(now)} cols={4} left_out />}
        </Answered>
      </Section>
      <OverTime
        name={node.name}
        historyOf={(shown) => historyOf('sensorsHistoryList', { site_id, node_id }, shown)}
        quantities={quantities}
        first={quantities.filter(({ unit }) => unit === '°C').map(({ name }) => name)}
        choices={[1, 2, 3, 7]}
      />
      <Switchings node_id={node_id} />
      <Section title="Details">
        <Facts
          cols={4}
          rows={[
            ['Node', node_id],
            ['Model', [node.manufacturer, node.model].filter(Boolean).join(' ') || null],
            ['Serial number', node.serial_number],
            ['Report interval', formatQuantity(node.report_interval_s, 's', 0)],
          ]}
        />
      </Section>
    </Stack>
  )
}

const hot = { normal: '', warning: ', warm', alarm: ', hot' }

function fanWords({ running, fault, commanded }: SensorFan): string {
  if (fault) return 'Fault: does not follow its relay'
  if (running === null) return 'Unknown'
  if (running) return 'Running'
  return commanded === false ? 'Off' : 'Stopped'
}

const either = (state: boolean | null, on: string, off: string) =>
  state === null ? 'Unknown' : state ? on : off

function nowOf(now: SensorNow): Fact[] {
  const { relative_humidity_pct: humidity, dew_point_c: dew } = now
  return [
    ...now.temperatures.map(
      ({ label, temperature_c, status }): Fact => [
        label,
        formatQuantity(temperature_c, '°C') + (status ? hot[status] : ''),
      ],
    ),
    ['Humidity', humidity === null ? null : formatQuantity(humidity, '%', 0)],
    ['Dew point', dew === null ? null : formatQuantity(dew, '°C')],
    ...now.fans.map(
      (fan): Fact => [fan.label, `${fanWords(fan)}, ${formatQuantity(fan.current_a, 'A')}`],
    ),
    ...now.doors.map(({ label, open }): Fact => [label, either(open, 'Open', 'Closed')]),
    ...now.relays.map(
      ({ label, state, source, reason }): Fact => [
        label,
        noted(
          either(state, 'On', 'Off'),
          source !== null && [whoSwitched(source), reason].filter(Boolean).join(': '),
        ),
      ],
    ),
    ['Last data', formatAge(now.age_s)],
  ]
}
