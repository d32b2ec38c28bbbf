/** A station: values of its sensor node, and relay switching. */
import type { SensorNode, SensorNow } from '@heliograph/sdk'
import { Badge, Group, Stack } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import { useSite } from '../../shell/site-shell.tsx'
import { DayPicker } from '../../ui/day-picker.tsx'
import { Facts } from '../../ui/facts.tsx'
import { formatAge, formatQuantity } from '../../ui/format.ts'
import { sensorHistory } from '../../ui/history.ts'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { NodeState } from '../../ui/plant-words.tsx'
import { Section } from '../../ui/section.tsx'
import { Answered, Empty, Loading } from '../../ui/states.tsx'
import { useDaySpan } from '../../ui/use-day-span.ts'
import { inWords } from '../../ui/words.ts'
import type { SitePageProps } from '../pages.ts'
import { useNodeNow, useNodes } from './station/reads.ts'
import { Switchings } from './station/switchings.tsx'
import { fanWords, nodeQuantities, whoSwitched } from './station/words.ts'

const HistoryChart = lazy(() => import('../../ui/history-chart.tsx'))

export default function Station({ site_id, node_id = '' }: SitePageProps) {
  const nodes = useNodes(site_id)
  const node = nodes.data?.data.find((one) => one.node_id === node_id)
  return (
    <Page title={node?.name ?? 'Station'}>
      <Answered query={nodes}>
        {() =>
          node ? (
            <Whole {...{ site_id, node }} />
          ) : (
            <Empty title={`No station ${node_id} at this site`} />
          )
        }
      </Answered>
    </Page>
  )
}

function Whole({ site_id, node }: { site_id: string; node: SensorNode }) {
  const { timezone } = useSite()
  const chosen = useDaySpan(timezone, 7)
  const { node_id, name } = node
  const quantities = nodeQuantities(node)
  const temperatures = quantities.filter(({ unit }) => unit === '°C')
  return (
    <Stack>
      <Group>
        <NodeState node={node} />
        <Badge color="gray">{inWords(node.type)}</Badge>
      </Group>
      <Section title="Now">
        <Answered query={useNodeNow(site_id, node_id)}>{(now) => <Now now={now} />}</Answered>
      </Section>
      <Section title="Over time">
        <Stack gap="sm">
          <DayPicker chosen={chosen} choices={[1, 2, 3, 7]} />
          <Suspense fallback={<Loading />}>
            <HistoryChart
              history={sensorHistory(site_id, node_id, chosen.span)}
              first={temperatures.map((quantity) => quantity.name)}
              {...{ name, quantities, timezone }}
            />
          </Suspense>
        </Stack>
      </Section>
      <Switchings {...{ site_id, node_id }} />
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

function Now({ now }: { now: SensorNow }) {
  const { relative_humidity_pct: humidity, dew_point_c: dew } = now
  const rows: [string, ReactNode][] = [
    ...now.temperatures.map(({ label, temperature_c, status }): [string, string] => [
      label,
      formatQuantity(temperature_c, '°C') + (status ? hot[status] : ''),
    ]),
    ['Humidity', humidity === null ? null : formatQuantity(humidity, '%', 0)],
    ['Dew point', dew === null ? null : formatQuantity(dew, '°C')],
    ...now.fans.map((fan): [string, string] => [
      fan.label,
      `${fanWords(fan)}, ${formatQuantity(fan.current_a, 'A')}`,
    ]),
    ...now.doors.map(({ label, open }): [string, string] => [
      label,
      open === null ? 'Unknown' : open ? 'Open' : 'Closed',
    ]),
    ...now.relays.map(({ label, state, source, reason }): [string, ReactNode] => [
      label,
      <>
        {state === null ? 'Unknown' : state ? 'On' : 'Off'}
        {source !== null && (
          <Muted>{[whoSwitched(source), reason].filter(Boolean).join(': ')}</Muted>
        )}
      </>,
    ]),
    ['Last data', formatAge(now.age_s)],
  ]
  return <Facts rows={rows} cols={4} left_out />
}
