/** Transformer stations and rooms with sensor nodes, and their warnings. */
import type { SensorNode } from '@heliograph/sdk'
import { Anchor, Stack } from '@mantine/core'
import { Link } from 'wouter'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { NodeState } from '../../ui/plant-words.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { inWords } from '../../ui/words.ts'
import type { SitePageProps } from '../pages.ts'
import { NodeNow } from './station/node-now.tsx'
import { useNodes } from './station/reads.ts'
import { Switchings } from './station/switchings.tsx'

export default function Stations({ site_id }: SitePageProps) {
  const nodes = useNodes(site_id)
  const { plantName } = useDevices(site_id)
  const columns: Column<SensorNode>[] = [
    {
      name: 'Station',
      wraps: true,
      cell: (node) => (
        <>
          <Anchor component={Link} href={`/sites/${site_id}/stations/${node.node_id}`}>
            {node.name}
          </Anchor>
          <Muted>
            {inWords(node.type)}
            {node.logger_id !== null && ` of ${plantName(node.logger_id)}`}
          </Muted>
          <NodeNow {...{ site_id, node }} />
        </>
      ),
    },
    { name: 'State', cell: (node) => <NodeState node={node} /> },
    { name: 'Last seen', cell: ({ last_seen_at: at }) => <Time at={at} /> },
  ]
  return (
    <Page title="Stations">
      <Answered query={nodes}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No stations with sensors" />
          ) : (
            <Stack>
              <DataTable
                label="Stations"
                width={480}
                {...{ columns, rows: data }}
                keyOf={({ node_id }) => node_id}
              />
              <Switchings site_id={site_id} />
            </Stack>
          )
        }
      </Answered>
    </Page>
  )
}
