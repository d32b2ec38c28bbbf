import type { RelaySwitching } from '@heliograph/sdk'
import { Text } from '@mantine/core'
import { useMay, useRead } from '../../../queries.ts'
import { type Column, column, DataTable, wrapped } from '../../../ui/data-table.tsx'
import { none } from '../../../ui/format.ts'
import { noted, Section, Time } from '../../../ui/page.tsx'
import { Answered } from '../../../ui/states.tsx'

const live_ms = 15_000

export const useNodes = () => useRead('nodes', 'sensorsList', {}, live_ms)

export const useNodeNow = (node_id: string) =>
  useRead('nodes', 'sensorsCurrentGet', { node_id }, live_ms)

const switchers: Record<RelaySwitching['source'], string> = {
  automation: 'Automation',
  manual: 'Manual',
  command: 'Remote command',
  unknown: 'Unknown',
}

export const whoSwitched = (source: RelaySwitching['source']) => switchers[source]

interface SwitchingsProps {
  node_id?: string
}

export function Switchings(props: SwitchingsProps) {
  return useMay()('curtailment:read') ? <Switched {...props} /> : null
}

function Switched({ node_id }: SwitchingsProps) {
  const nodes = useNodes().data?.data ?? []
  const asked = { node_id, limit: 500 }
  const switchings = useRead('switchings', 'commandsRelayHistoryList', asked, 60_000)
  const nameOf = (id: string) => nodes.find((one) => one.node_id === id)?.name ?? id
  const columns: Column<RelaySwitching>[] = [
    column('Time', ({ switched_at: at }) => <Time at={at} />),
    column('Relay', ({ label, channel, node_id: id }) =>
      noted(label ?? channel, node_id === undefined && nameOf(id)),
    ),
    column('Command', ({ command }) => command),
    column('By', ({ source }) => whoSwitched(source)),
    wrapped('Reason', ({ reason }) => reason ?? none),
  ]
  return (
    <Section title="Relay switching">
      <Answered query={switchings}>
        {({ data: rows }) => (
          <DataTable
            label="Relay switching"
            width={640}
            page_size={12}
            nouns={['switching', 'switchings']}
            columns={columns}
            rows={rows}
            by="command_id"
            none={<Text size="sm">No relay switching so far</Text>}
          />
        )}
      </Answered>
    </Section>
  )
}
