import type { Cluster, ClusterCells } from '@heliograph/sdk'
import {
  Badge,
  Button,
  Card,
  Group,
  SegmentedControl,
  Stack,
  Table,
  Text,
  Title,
  VisuallyHidden,
} from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useRead } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { formatNumber, formatQuantity } from '../../../ui/format.ts'
import { Answered, Empty, Loading } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { live_ms, slow_ms } from './reads.ts'

const CellMap = lazy(() => import('./cell-map.tsx'))

export function Clusters({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const clusters = useRead('bess', 'bessClustersList', { site_id, bess_id }, live_ms)
  const [opened, setOpened] = useState<number | null>(null)
  return (
    <Stack gap="xs">
      <Title order={2} size="h3">
        Clusters and cells
      </Title>
      <Answered query={clusters}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No cluster is known" />
          ) : (
            <ClusterTable clusters={data} opened={opened} onOpen={setOpened} />
          )
        }
      </Answered>
      {opened !== null && <Cells site_id={site_id} bess_id={bess_id} cluster_idx={opened} />}
    </Stack>
  )
}

interface ClusterTableProps {
  clusters: readonly Cluster[]
  opened: number | null
  onOpen: (cluster_idx: number | null) => void
}

function ClusterTable({ clusters, opened, onOpen }: ClusterTableProps) {
  return (
    <Table.ScrollContainer
      minWidth={760}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': 'Clusters' } }}
    >
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Cluster</Table.Th>
            <Table.Th>State</Table.Th>
            {['Charge', 'Health', 'Voltage', 'Power', 'Cell voltages', 'Cell temperatures'].map(
              (name) => (
                <Table.Th key={name} ta="right">
                  {name}
                </Table.Th>
              ),
            )}
            <Table.Th>
              <VisuallyHidden>Cells</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="figure">
          {clusters.map((cluster) => (
            <Table.Tr key={cluster.cluster_idx}>
              <Table.Td>{cluster.cluster_idx}</Table.Td>
              <Table.Td>
                <Badge
                  miw="max-content"
                  color={cluster.state === 'fault' || cluster.alarm_count > 0 ? 'red' : 'teal'}
                >
                  {cluster.state === null ? 'Not known' : inWords(cluster.state)}
                </Badge>
              </Table.Td>
              <Table.Td ta="right">{formatQuantity(cluster.soc_pct, '%')}</Table.Td>
              <Table.Td ta="right">{formatQuantity(cluster.soh_pct, '%')}</Table.Td>
              <Table.Td ta="right">{formatQuantity(cluster.voltage_v, 'V')}</Table.Td>
              <Table.Td ta="right">{formatQuantity(cluster.power_kw, 'kW')}</Table.Td>
              <Table.Td ta="right">
                {rangeOf(cluster.cell_voltage_min_mv, cluster.cell_voltage_max_mv, 'mV', 0)}
              </Table.Td>
              <Table.Td ta="right">
                {rangeOf(cluster.cell_temperature_min_c, cluster.cell_temperature_max_c, '°C', 1)}
              </Table.Td>
              <Table.Td ta="right">
                <CellsButton {...{ opened, onOpen }} cluster_idx={cluster.cluster_idx} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

interface CellsButtonProps extends Omit<ClusterTableProps, 'clusters'> {
  cluster_idx: number
}

function CellsButton({ cluster_idx, opened, onOpen }: CellsButtonProps) {
  const is_open = opened === cluster_idx
  return (
    <Button
      size="xs"
      variant="default"
      aria-expanded={is_open}
      aria-label={`Cells of cluster ${cluster_idx}`}
      onClick={() => onOpen(is_open ? null : cluster_idx)}
    >
      {is_open ? 'Hide cells' : 'Cells'}
    </Button>
  )
}

function rangeOf(min: number | null, max: number | null, unit: string, digits: number): string {
  if (min === null && max === null) return '–'
  return `${formatNumber(min, digits)} to ${formatQuantity(max, unit, digits)}`
}

interface CellsProps {
  site_id: string
  bess_id: number
  cluster_idx: number
}

function Cells({ site_id, bess_id, cluster_idx }: CellsProps) {
  const cells = useRead('bess', 'bessClustersGet', { site_id, bess_id, cluster_idx }, slow_ms)
  const { timezone } = useSite()
  const [kind, setKind] = useState<'voltage' | 'temperature'>('voltage')
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h4">
          Cells of cluster {cluster_idx}
        </Title>
        <SegmentedControl
          aria-label="What is shown of the cells"
          value={kind}
          onChange={(value) => setKind(value as typeof kind)}
          data={[
            { value: 'voltage', label: 'Voltage' },
            { value: 'temperature', label: 'Temperature' },
          ]}
        />
      </Group>
      <Answered query={cells}>
        {(data) => (
          <Stack gap="xs">
            <Suspense fallback={<Loading />}>
              <CellMap cells={data} kind={kind} />
            </Suspense>
            <Outliers cells={data} />
            <Text size="sm" c="dimmed">
              A row is a module, a field a {kind === 'voltage' ? 'cell' : 'sensor'}, both counted
              from 0. Measured <Time at={data.cells_measured_at} timezone={timezone} />.{' '}
              {data.balancing_cell_count !== null && data.balancing_cell_count > 0
                ? `${data.balancing_cell_count} cells are being balanced.`
                : 'No cell is being balanced.'}
            </Text>
          </Stack>
        )}
      </Answered>
    </Card>
  )
}

const outliers_shown = 8

function Outliers({ cells }: { cells: ClusterCells }) {
  const { outlier_cell_indexes: found, cells_per_module } = cells
  if (found.length === 0) return <Text>No cell stands out from the others by its voltage.</Text>
  const names = found.slice(0, outliers_shown).map((index) => {
    const place = `module ${Math.floor(index / cells_per_module)} cell ${index % cells_per_module}`
    return `${place} (${formatQuantity(cells.cell_voltages_mv[index], 'mV', 0)})`
  })
  return (
    <Text>
      <strong>
        {found.length} {found.length === 1 ? 'cell stands' : 'cells stand'} out by voltage:
      </strong>{' '}
      {names.join(', ')}
      {found.length > outliers_shown && ' and others'}.
    </Text>
  )
}
