/** A row for each outage, which expands to the gaps of its devices. */
import type { Gap } from '@heliograph/sdk'
import { Anchor, Button, Group, Stack } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { type Column, DataTable } from '../../../ui/data-table.tsx'
import { type Devices, useDevices } from '../../../ui/devices.tsx'
import { formatDuration } from '../../../ui/duration.ts'
import { formatNumber, formatQuantity, none } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { PagesOf } from '../../../ui/pages-of.tsx'
import { StateBadge } from '../../../ui/severity.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { causeText, sourceName } from './figures.tsx'
import { type Outage, outagesOf } from './outages.ts'

const limit = 25
/** One outage, or one gap of an outage that is open. */
interface Row extends Pick<Outage, 'start_at' | 'end_at' | 'duration_s'> {
  key: string
  gaps: readonly Gap[]
  name: ReactNode
  why: ReactNode
}

interface OutageTableProps {
  site_id: string
  gaps: readonly Gap[]
}

export function OutageTable({ site_id, gaps }: OutageTableProps) {
  const devices = useDevices(site_id)
  const [page, setPage] = useState(1)
  const [open, setOpen] = useState<ReadonlySet<Outage['id']>>(new Set())
  const outages = outagesOf(gaps)
  const toggle = (id: Outage['id']) => {
    const next = new Set(open)
    if (!next.delete(id)) next.add(id)
    setOpen(next)
  }
  const rows = outages.slice((page - 1) * limit, page * limit).flatMap((outage) => {
    const is_open = open.has(outage.id)
    const row = outageRow({ outage, is_open, devices, onToggle: () => toggle(outage.id) })
    return is_open ? [row, ...outage.gaps.map((gap) => gapRow(gap, devices))] : [row]
  })
  return (
    <>
      <DataTable
        label="Outages"
        width={880}
        columns={columnsOf(site_id)}
        rows={rows}
        keyOf={({ key }) => key}
      />
      <PagesOf {...{ count: outages.length, limit, page, onPage: setPage, noun: 'outages' }} />
    </>
  )
}

interface OutageRow {
  outage: Outage
  is_open: boolean
  devices: Devices
  onToggle: () => void
}

function outageRow({ outage, is_open, devices, onToggle }: OutageRow): Row {
  const { id, cause, gaps } = outage
  const [only] = gaps
  const name =
    gaps.length === 1 ? (
      <Device {...{ devices, gap: only! }} />
    ) : (
      <>
        <Button
          variant="subtle"
          size="compact-sm"
          ml={-8}
          aria-expanded={is_open}
          leftSection={is_open ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
          onClick={onToggle}
        >
          {gaps.length} devices
        </Button>
        <Muted>{placesOf(gaps, devices)}</Muted>
      </>
    )
  const why = (
    <>
      {inWords(cause)}
      <Muted>{causeText[cause]}</Muted>
    </>
  )
  return { ...outage, key: `outage ${id}`, name, why }
}

const gapRow = (gap: Gap, devices: Devices): Row => ({
  ...gap,
  key: `gap ${gap.gap_id}`,
  gaps: [gap],
  name: (
    <div style={{ paddingLeft: 22 }}>
      <Device {...{ devices, gap }} />
    </div>
  ),
  why: inWords(gap.cause),
})

const sumOf = (gaps: readonly Gap[], field: 'missing_sample_count' | 'expected_sample_count') =>
  gaps.reduce((count, gap) => count + gap[field], 0)

const columnsOf = (site_id: string): Column<Row>[] => [
  { name: 'Devices', cell: ({ name }) => name },
  {
    name: 'From, to',
    cell: ({ start_at, end_at }) => (
      <>
        <Time at={start_at} />
        <div>{end_at ? <Time at={end_at} /> : 'Ongoing'}</div>
      </>
    ),
  },
  { name: 'Duration', cell: ({ duration_s }) => formatDuration(duration_s) },
  { name: 'Cause', wraps: true, cell: ({ why }) => why },
  {
    name: 'State',
    cell: ({ gaps }) => (
      <Stack gap={4} align="flex-start">
        {[...new Set(gaps.map(({ status }) => status))].map((state) => (
          <StateBadge key={state} state={state} />
        ))}
      </Stack>
    ),
  },
  {
    name: 'Readings missing',
    cell: ({ gaps }) => {
      const missing = sumOf(gaps, 'missing_sample_count')
      const expected = sumOf(gaps, 'expected_sample_count')
      const complete_pct = expected === 0 ? null : 100 * (1 - missing / expected)
      return (
        <>
          {formatNumber(missing, 0)} of {formatNumber(expected, 0)}
          <Muted>{`${formatQuantity(complete_pct, '%')} complete`}</Muted>
        </>
      )
    },
  },
  {
    name: 'Alert',
    cell: ({ gaps }) => {
      const ids = gaps.map(({ alert_id }) => alert_id).filter((id) => id !== null)
      return ids.length === 0 ? none : <AlertLinks {...{ site_id, alerts: [...new Set(ids)] }} />
    },
  },
]

function AlertLinks({ site_id, alerts }: { site_id: string; alerts: readonly number[] }) {
  return (
    <Group gap={6}>
      {alerts.map((alert_id) => (
        <Anchor
          key={alert_id}
          component={Link}
          href={`/sites/${site_id}/alerts?alert_id=${alert_id}`}
        >
          {alert_id}
        </Anchor>
      ))}
    </Group>
  )
}

function Device({ devices, gap }: { devices: Devices; gap: Gap }) {
  return (
    <>
      {sourceName(devices, gap)}
      {gap.logger_id !== null && gap.source_type !== 'logger' && (
        <Muted>{devices.plantName(gap.logger_id)}</Muted>
      )}
    </>
  )
}

/** `South plant, East plant`: where the devices are. */
function placesOf(gaps: readonly Gap[], devices: Devices): string {
  const plants = [...new Set(gaps.map(({ logger_id }) => logger_id))]
  const names = plants.map((id) => (id === null ? 'Site' : devices.plantName(id)))
  return [...new Set(names)].join(', ')
}
