import type { Cluster, ClusterCells } from '@heliograph/sdk'
import { Badge, Button, Card, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useRead } from '../../../queries.ts'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { formatNumber, formatQuantity } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Answered, Empty, Loading } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { live_ms, slow_ms } from './reads.ts'

const CellMap = lazy(() => import('./cell-map.tsx'))

export function Clusters({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const clusters = useRead('bess', 'bessClustersList', { site_id, bess_id }, live_ms)
  const [opened, setOpened] = useState<number | null>(null)
  const cells_column: Column<Cluster> = {
    name: '',
    cell: ({ cluster_idx }) => <CellsButton {...{ cluster_idx, opened }} onOpen={setOpened} />,
  }
  return (
    <Stack gap="xs">
      <Title order={2} size="h3">
        Clusters and cells
      </Title>
      <Answered query={clusters}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No clusters" />
          ) : (
            <DataTable
              label="Clusters"
              width={760}
              columns={[...columns, cells_column]}
              rows={data}
              keyOf={({ cluster_idx }) => cluster_idx}
            />
          )
        }
      </Answered>
      {opened !== null && <Cells site_id={site_id} bess_id={bess_id} cluster_idx={opened} />}
    </Stack>
  )
}

const columns: readonly Column<Cluster>[] = [
  { name: 'Cluster', cell: ({ cluster_idx }) => cluster_idx },
  {
    name: 'State',
    cell: ({ state, alarm_count }) => (
      <Badge miw="max-content" color={state === 'fault' || alarm_count > 0 ? 'red' : 'teal'}>
        {inWords(state ?? 'unknown')}
      </Badge>
    ),
  },
  numeric('Charge', ({ soc_pct }) => formatQuantity(soc_pct, '%')),
  numeric('Health', ({ soh_pct }) => formatQuantity(soh_pct, '%')),
  numeric('Voltage', ({ voltage_v }) => formatQuantity(voltage_v, 'V')),
  numeric('Power', ({ power_kw }) => formatQuantity(power_kw, 'kW')),
  numeric('Cell voltages', ({ cell_voltage_min_mv: min, cell_voltage_max_mv: max }) =>
    rangeOf(min, max, 'mV', 0),
  ),
  numeric('Cell temperatures', ({ cell_temperature_min_c: min, cell_temperature_max_c: max }) =>
    rangeOf(min, max, '°C', 1),
  ),
]

interface CellsButtonProps {
  cluster_idx: number
  opened: number | null
  onOpen: (cluster_idx: number | null) => void
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
  const [kind, setKind] = useState<'voltage' | 'temperature'>('voltage')
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h4">
          Cells of cluster {cluster_idx}
        </Title>
        <SegmentedControl
          aria-label="Quantity"
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
            <Muted>
              Rows are modules, columns are {kind === 'voltage' ? 'cells' : 'sensors'}, counted from
              0. Measured <Time at={data.cells_measured_at} />.{' '}
              {data.balancing_cell_count !== null && data.balancing_cell_count > 0
                ? `${data.balancing_cell_count} cells are being balanced.`
                : 'No cells are being balanced.'}
            </Muted>
          </Stack>
        )}
      </Answered>
    </Card>
  )
}

const outliers_shown = 8

function Outliers({ cells }: { cells: ClusterCells }) {
  const { outlier_cell_indexes: found, cells_per_module } = cells
  if (found.length === 0) return <Text>No voltage outliers.</Text>
  const names = found.slice(0, outliers_shown).map((index) => {
    const place = `module ${Math.floor(index / cells_per_module)} cell ${index % cells_per_module}`
    return `${place} (${formatQuantity(cells.cell_voltages_mv[index], 'mV', 0)})`
  })
  return (
    <Text>
      <strong>Voltage outliers ({found.length}):</strong> {names.join(', ')}
      {found.length > outliers_shown && ' and others'}.
    </Text>
  )
}
