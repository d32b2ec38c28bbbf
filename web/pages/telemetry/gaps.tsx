import type { Gap } from '@heliograph/sdk'
import { Box, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { heliograph } from '../../api.ts'
import { useSite } from '../../queries.ts'
import { StateBadge } from '../../ui/badges.tsx'
import { type Column, column, DataTable, PagesOf, wrapped } from '../../ui/data-table.tsx'
import { type Devices, useDevices } from '../../ui/devices.tsx'
import { FilterSelect, FilterTabs } from '../../ui/filters.tsx'
import {
  formatDuration,
  formatNumber,
  formatQuantity,
  formatTime,
  inWords,
  none,
} from '../../ui/format.ts'
import { figures, Muted, noted, Page, Section, SiteLink, Time } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { type Outage, outagesOf } from './gaps/outages.ts'

const day_ms = 86_400_000

/** Maximum page size of the API. */
const gaps_max = 500

export default function Gaps() {
  const { site_id } = useSite()
  const { number } = useFilters()
  const { plants } = useDevices()
  const days = number('days') ?? 7
  const logger_id = number('logger_id')
  const gaps = useQuery({
    queryKey: ['gaps', site_id, days, logger_id],
    queryFn: async ({ signal }) => {
      const end_ms = Date.now()
      const start_ms = end_ms - days * day_ms
      const window = { start: new Date(start_ms), end: new Date(end_ms) }
      const asked = { site_id, logger_id, ...window, limit: gaps_max }
      return { ...(await heliograph.gapsList(asked, { signal })), start_ms, end_ms }
    },
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })
  return (
    <Page title="Gaps">
      <Group gap="xs">
        <FilterTabs
          name="days"
          label="Period"
          initial="7"
          choices={{ '1': '1 day', '7': '7 days', '30': '30 days', '90': '90 days' }}
        />
        <FilterSelect name="logger_id" label="Plant" all="All plants" data={plants} />
      </Group>
      <Answered query={gaps}>
        {({ data, meta, start_ms, end_ms }) =>
          data.length === 0 ? (
            <Empty title="No gaps">All devices reported on schedule in this period.</Empty>
          ) : (
            <Stack>
              <GapFigures gaps={data} />
              {meta.truncated && (
                <Text size="sm">
                  The newest {data.length} of {meta.count} gaps. Choose a shorter period to see all.
                </Text>
              )}
              <Section title="Timeline">
                <GapTimeline gaps={data} start_ms={start_ms} end_ms={end_ms} />
              </Section>
              <OutageTable gaps={data.toReversed()} />
            </Stack>
          )
        }
      </Answered>
    </Page>
  )
}

const causeText: Record<Gap['cause'], string> = {
  communication: 'The device did not respond, or its readings have not arrived yet.',
  power_loss: 'The edge machine or the inverter had no power.',
  device_fault: 'The device did not respond while its neighbours did, or it was in fault.',
  maintenance: 'The device was shut down manually, or its cabinet was open.',
  clock_jump: 'The clock of the edge agent was set forward.',
  buffer_overflow: 'The buffer of the edge agent was full.',
  configuration: 'The device was not in the site file.',
  agent_stopped: 'The edge agent was stopped.',
  unknown: 'No known cause.',
}

function sourceName(devices: Devices, { source_type, source_id }: Gap): string {
  if (source_type === 'logger') return devices.plantName(Number(source_id))
  if (source_type === 'inverter') return devices.inverterName(Number(source_id))
  return `${inWords(source_type)} ${source_id}`
}

type Counted = 'missing_sample_count' | 'expected_sample_count' | 'duration_s'

const sumOf = (gaps: readonly Gap[], field: Counted) =>
  gaps.reduce((sum, gap) => sum + gap[field], 0)

interface WithGaps {
  gaps: readonly Gap[]
}

function GapFigures({ gaps }: WithGaps) {
  const having = (wanted: Gap['status']) => gaps.filter(({ status }) => status === wanted)
  const open = having('open').length
  const lost = having('unrecoverable')
  const lost_words = `${formatNumber(sumOf(lost, 'missing_sample_count'), 0)} readings`
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
      {figures([
        ['Open', open, null, open > 0 && 'bad'],
        ['Being recovered', having('backfilling').length],
        ['Recovered', having('backfilled').length],
        ['Lost', lost.length, lost_words],
      ])}
    </SimpleGrid>
  )
}

const colors: Record<Gap['status'], string> = {
  open: 'var(--mantine-color-red-7)',
  backfilling: 'var(--mantine-color-blue-6)',
  backfilled: 'var(--mantine-color-teal-6)',
  unrecoverable: 'var(--mantine-color-gray-6)',
}

/** Further sources are only in the table. */
const lines_max = 40

interface GapTimelineProps extends WithGaps {
  start_ms: number
  end_ms: number
}

/** A line for each source, with bars for its gaps. */
function GapTimeline({ gaps, start_ms, end_ms }: GapTimelineProps) {
  const { timezone } = useSite()
  const devices = useDevices()
  const lines = [...Map.groupBy(gaps, (gap) => sourceName(devices, gap))]
  lines.sort(([, a], [, b]) => sumOf(b, 'duration_s') - sumOf(a, 'duration_s'))
  const at = (ms: number) => formatTime(new Date(ms).toISOString(), timezone, 'full')
  return (
    <Stack gap={6}>
      <Group gap="md">
        {Object.entries(colors).map(([status, color]) => (
          <Group key={status} gap={6}>
            <Box w={14} h={14} bg={color} style={{ borderRadius: 3 }} />
            <Text size="sm">{inWords(status)}</Text>
          </Group>
        ))}
      </Group>
      {lines.slice(0, lines_max).map(([name, gaps]) => (
        <Line
          key={name}
          name={name}
          gaps={gaps}
          start_ms={start_ms}
          end_ms={end_ms}
          timezone={timezone}
        />
      ))}
      <Group justify="space-between">
        <Muted>{at(start_ms)}</Muted>
        <Muted>{at(end_ms)}</Muted>
      </Group>
      {lines.length > lines_max && (
        <Text size="sm">
          {lines.length - lines_max} more sources with shorter gaps are in the table.
        </Text>
      )}
    </Stack>
  )
}

interface LineProps extends GapTimelineProps {
  name: string
  timezone: string
}

function Line({ name, gaps, start_ms, end_ms, timezone }: LineProps) {
  const share = (ms: number) =>
    (100 * (Math.min(Math.max(ms, start_ms), end_ms) - start_ms)) / (end_ms - start_ms)
  const duration = formatDuration(sumOf(gaps, 'duration_s'))
  return (
    <div>
      <Group justify="space-between" gap={4}>
        <Text size="sm">{name}</Text>
        <Muted>
          {gaps.length} {gaps.length === 1 ? 'gap' : 'gaps'}, {duration}
        </Muted>
      </Group>
      <Box
        h={14}
        pos="relative"
        role="img"
        aria-label={`${name}: ${gaps.length} gaps, ${duration} in all`}
        bg="var(--mantine-color-default-hover)"
        style={{ borderRadius: 3, overflow: 'hidden' }}
      >
        {gaps.map((gap) => {
          const from = share(Date.parse(gap.start_at))
          const to = share(gap.end_at === null ? end_ms : Date.parse(gap.end_at))
          return (
            <Box
              key={gap.gap_id}
              pos="absolute"
              h="100%"
              bg={colors[gap.status]}
              title={titleOf(gap, timezone)}
              style={{ left: `${from}%`, width: `max(3px, ${to - from}%)` }}
            />
          )
        })}
      </Box>
    </div>
  )
}

function titleOf(gap: Gap, timezone: string): string {
  const from = formatTime(gap.start_at, timezone, 'full')
  return `${from}, ${formatDuration(gap.duration_s)}: ${inWords(gap.cause)}, ${inWords(gap.status)}`
}

const limit = 25

/** One outage, or one gap of an outage that is open. */
interface Row extends Pick<Outage, 'start_at' | 'end_at' | 'duration_s'>, WithGaps {
  key: string
  name: ReactNode
  why: ReactNode
}

/** A row for each outage, which expands to the gaps of its devices. */
function OutageTable({ gaps }: WithGaps) {
  const devices = useDevices()
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
      <DataTable label="Outages" width={880} columns={columns} rows={rows} by="key" />
      <PagesOf
        count={outages.length}
        limit={limit}
        page={page}
        onPage={setPage}
        nouns={['outage', 'outages']}
      />
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
  const toggle = (
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
  )
  return {
    ...outage,
    key: `outage ${id}`,
    name: gaps.length === 1 ? deviceOf(only!, devices) : noted(toggle, placesOf(gaps, devices)),
    why: noted(inWords(cause), causeText[cause]),
  }
}

const gapRow = (gap: Gap, devices: Devices): Row => ({
  ...gap,
  key: `gap ${gap.gap_id}`,
  gaps: [gap],
  name: <div style={{ paddingLeft: 22 }}>{deviceOf(gap, devices)}</div>,
  why: inWords(gap.cause),
})

const deviceOf = (gap: Gap, devices: Devices) =>
  noted(
    sourceName(devices, gap),
    gap.logger_id !== null && gap.source_type !== 'logger' && devices.plantName(gap.logger_id),
  )

/** `South plant, East plant`: where the devices are. */
function placesOf(gaps: readonly Gap[], devices: Devices): string {
  const names = gaps.map(({ logger_id: id }) => (id === null ? 'Site' : devices.plantName(id)))
  return [...new Set(names)].join(', ')
}

const columns: Column<Row>[] = [
  column('Devices', ({ name }) => name),
  column('From, to', ({ start_at, end_at }) => (
    <>
      <Time at={start_at} />
      <div>{end_at ? <Time at={end_at} /> : 'Ongoing'}</div>
    </>
  )),
  column('Duration', ({ duration_s }) => formatDuration(duration_s)),
  wrapped('Cause', ({ why }) => why),
  column('State', ({ gaps }) => (
    <Stack gap={4} align="flex-start">
      {[...new Set(gaps.map(({ status }) => status))].map((state) => (
        <StateBadge key={state} state={state} />
      ))}
    </Stack>
  )),
  column('Readings missing', ({ gaps }) => {
    const missing = sumOf(gaps, 'missing_sample_count')
    const expected = sumOf(gaps, 'expected_sample_count')
    const complete_pct = expected === 0 ? null : 100 * (1 - missing / expected)
    return noted(
      `${formatNumber(missing, 0)} of ${formatNumber(expected, 0)}`,
      `${formatQuantity(complete_pct, '%')} complete`,
    )
  }),
  column('Alert', ({ gaps }) => {
    const ids = gaps.map(({ alert_id }) => alert_id).filter((id) => id !== null)
    if (ids.length === 0) return none
    return (
      <Group gap={6}>
        {[...new Set(ids)].map((alert_id) => (
          <SiteLink key={alert_id} to={`/alerts?alert_id=${alert_id}`}>
            {alert_id}
          </SiteLink>
        ))}
      </Group>
    )
  }),
]
