import type { RelaySwitching } from '@heliograph/sdk'
import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useMay, useRead } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { type Column, DataTable } from '../../../ui/data-table.tsx'
import { PagesOf } from '../../../ui/pages-of.tsx'
import { Section } from '../../../ui/section.tsx'
import { Answered } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useNodes } from './reads.ts'
import { whoSwitched } from './words.ts'

const limit = 12

interface SwitchingsProps {
  site_id: string
  node_id?: string
}

/** How relays were switched, and by whom: of one station, or of all. */
export function Switchings(props: SwitchingsProps) {
  return useMay()('curtailment:read') ? <Switched {...props} /> : null
}

function Switched({ site_id, node_id }: SwitchingsProps) {
  const { timezone } = useSite()
  const nodes = useNodes(site_id).data?.data ?? []
  const switchings = useRead(
    'switchings',
    'commandsRelayHistoryList',
    { site_id, node_id, limit: 500 },
    60_000,
  )
  const [page, setPage] = useState(1)
  const nameOf = (id: string) => nodes.find((one) => one.node_id === id)?.name ?? id
  const columns: Column<RelaySwitching>[] = [
    { name: 'When', cell: ({ switched_at: at }) => <Time {...{ at, timezone }} /> },
    {
      name: 'Relay',
      cell: ({ label, channel, node_id: id }) => (
        <>
          {label ?? channel}
          {node_id === undefined && (
            <Text size="sm" c="dimmed">
              {nameOf(id)}
            </Text>
          )}
        </>
      ),
    },
    { name: 'Switched', cell: ({ command }) => command },
    { name: 'By', cell: ({ source }) => whoSwitched(source) },
    { name: 'Why', cell: ({ reason }) => reason ?? '–', wraps: true },
  ]
  return (
    <Section title="How relays were switched">
      <Answered query={switchings}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm">None was switched yet.</Text>
          ) : (
            <Stack>
              <DataTable
                label="Switchings of relays"
                width={640}
                columns={columns}
                rows={data.slice((page - 1) * limit, page * limit)}
                keyOf={({ command_id }) => command_id}
              />
              <PagesOf
                {...{ count: data.length, limit, page, onPage: setPage }}
                noun={data.length === 1 ? 'switching' : 'switchings'}
              />
            </Stack>
          )
        }
      </Answered>
    </Section>
  )
}
