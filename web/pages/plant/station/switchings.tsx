import type { RelaySwitching } from '@heliograph/sdk'
import { Text } from '@mantine/core'
import { useMay, useRead } from '../../../queries.ts'
import { type Column, PagedTable } from '../../../ui/data-table.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { Section } from '../../../ui/section.tsx'
import { Answered } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useNodes } from './reads.ts'
import { whoSwitched } from './words.ts'

interface SwitchingsProps {
  site_id: string
  node_id?: string
}

/** Relay switching of one station, or of all stations. */
export function Switchings(props: SwitchingsProps) {
  return useMay()('curtailment:read') ? <Switched {...props} /> : null
}

function Switched({ site_id, node_id }: SwitchingsProps) {
  const nodes = useNodes(site_id).data?.data ?? []
  const switchings = useRead(
    'switchings',
    'commandsRelayHistoryList',
    { site_id, node_id, limit: 500 },
    60_000,
  )
  const nameOf = (id: string) => nodes.find((one) => one.node_id === id)?.name ?? id
  const columns: Column<RelaySwitching>[] = [
    { name: 'Time', cell: ({ switched_at: at }) => <Time at={at} /> },
    {
      name: 'Relay',
      cell: ({ label, channel, node_id: id }) => (
        <>
          {label ?? channel}
          {node_id === undefined && <Muted>{nameOf(id)}</Muted>}
        </>
      ),
    },
    { name: 'Command', cell: ({ command }) => command },
    { name: 'By', cell: ({ source }) => whoSwitched(source) },
    { name: 'Reason', cell: ({ reason }) => reason ?? '–', wraps: true },
  ]
  return (
    <Section title="Relay switching">
      <Answered query={switchings}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm">No relay switching so far</Text>
          ) : (
            <PagedTable
              label="Relay switching"
              width={640}
              page_size={12}
              nouns={['switching', 'switchings']}
              {...{ columns, rows: data }}
              keyOf={({ command_id }) => command_id}
            />
          )
        }
      </Answered>
    </Section>
  )
}
