/** A row for each outage, which opens to the devices that it concerns. */
import type { Gap } from '@heliograph/sdk'
import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { Fragment, type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { useSite } from '../../../shell/site-shell.tsx'
import { type Devices, useDevices } from '../../../ui/devices.tsx'
import { formatDuration } from '../../../ui/duration.ts'
import { formatNumber, formatQuantity, none } from '../../../ui/format.ts'
import { PagesOf } from '../../../ui/pages-of.tsx'
import { RowTable } from '../../../ui/row-table.tsx'
import { StateBadge } from '../../../ui/severity.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { causeText, sourceName } from './figures.tsx'
import { type Outage, outagesOf } from './outages.ts'

const limit = 25
const head = ['Devices', 'From, to', 'Duration', 'Cause', 'State', 'Readings missing', 'Alert']

interface OutageTableProps {
  site_id: string
  gaps: readonly Gap[]
}

export function OutageTable({ site_id, gaps }: OutageTableProps) {
  const [page, setPage] = useState(1)
  const [open, setOpen] = useState<ReadonlySet<Outage['id']>>(new Set())
  const outages = outagesOf(gaps)
  const toggle = (id: Outage['id']) => {
    const next = new Set(open)
    if (!next.delete(id)) next.add(id)
    setOpen(next)
  }
  return (
    <>
      <RowTable label="Outages" min_width={880} head={head}>
        {outages.slice((page - 1) * limit, page * limit).map((outage) => (
          <Fragment key={outage.id}>
            <OutageRow
              {...{ site_id, outage, is_open: open.has(outage.id) }}
              onToggle={() => toggle(outage.id)}
            />
            {open.has(outage.id) &&
              outage.gaps.map((gap) => <GapRow key={gap.gap_id} {...{ site_id, gap }} />)}
          </Fragment>
        ))}
      </RowTable>
      <PagesOf {...{ count: outages.length, limit, page, onPage: setPage, noun: 'outages' }} />
    </>
  )
}

interface OutageRowProps {
  site_id: string
  outage: Outage
  is_open: boolean
  onToggle: () => void
}

function OutageRow({ site_id, outage, is_open, onToggle }: OutageRowProps) {
  const { cause, gaps } = outage
  const devices = useDevices(site_id)
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
        <Text size="sm" c="dimmed">
          {placesOf(gaps, devices)}
        </Text>
      </>
    )
  return (
    <Cells
      {...{ site_id, name, ...outage }}
      why={
        <>
          {inWords(cause)}
          <Text size="sm" c="dimmed" maw={280}>
            {causeText[cause]}
          </Text>
        </>
      }
    />
  )
}

function GapRow({ site_id, gap }: { site_id: string; gap: Gap }) {
  const devices = useDevices(site_id)
  const name = (
    <div style={{ paddingLeft: 22 }}>
      <Device {...{ devices, gap }} />
    </div>
  )
  return <Cells {...{ site_id, name, ...gap, gaps: [gap], why: inWords(gap.cause) }} />
}

interface CellsProps extends Pick<Outage, 'start_at' | 'end_at' | 'duration_s'> {
  site_id: string
  gaps: readonly Gap[]
  name: ReactNode
  why: ReactNode
}

function Cells({ site_id, gaps, name, why, start_at, end_at, duration_s }: CellsProps) {
  const { timezone } = useSite()
  const sum = (of: 'missing_sample_count' | 'expected_sample_count') =>
    gaps.reduce((count, gap) => count + gap[of], 0)
  const [missing, expected] = [sum('missing_sample_count'), sum('expected_sample_count')]
  const there_pct = expected === 0 ? null : 100 * (1 - missing / expected)
  const states = [...new Set(gaps.map(({ status }) => status))]
  const alerts = [...new Set(gaps.map(({ alert_id }) => alert_id))].filter((id) => id !== null)
  return (
    <Table.Tr>
      <Table.Td>{name}</Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Time at={start_at} timezone={timezone} />
        <div>{end_at ? <Time at={end_at} timezone={timezone} /> : 'ongoing'}</div>
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatDuration(duration_s)}</Table.Td>
      <Table.Td>{why}</Table.Td>
      <Table.Td>
        <Stack gap={4} align="flex-start">
          {states.map((state) => (
            <StateBadge key={state} state={state} />
          ))}
        </Stack>
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        {formatNumber(missing, 0)} of {formatNumber(expected, 0)}
        <Text size="sm" c="dimmed">
          {formatQuantity(there_pct, '%')} there
        </Text>
      </Table.Td>
      <Table.Td>{alerts.length === 0 ? none : <AlertLinks {...{ site_id, alerts }} />}</Table.Td>
    </Table.Tr>
  )
}

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
        <Text size="sm" c="dimmed">
          {devices.plantName(gap.logger_id)}
        </Text>
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
