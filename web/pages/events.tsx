/** Readings that are missing: what was not heard, when, why, and what came of it. */

import type { Gap } from '@heliograph/sdk'
import { Anchor, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { heliograph } from '../api.ts'
import { useSite } from '../shell/site-shell.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { type Devices, useDevices } from '../ui/devices.tsx'
import { formatDuration } from '../ui/duration.ts'
import { FilterSelect } from '../ui/filter-select.tsx'
import { formatNumber, formatQuantity } from '../ui/format.ts'
import { Page } from '../ui/page.tsx'
import { PagesOf } from '../ui/pages-of.tsx'
import { Section } from '../ui/section.tsx'
import { StateBadge } from '../ui/severity.tsx'
import { Answered, Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { inWords } from '../ui/words.ts'
import { causeText, GapFigures, sourceName } from './events/figures.tsx'
import { GapTimeline } from './events/timeline.tsx'
import type { SitePageProps } from './pages.ts'

const day_ms = 86_400_000
const limit = 25

/** The newest that are shown; the API has no more at once. */
const gaps_max = 500

export default function Gaps({ site_id }: SitePageProps) {
  const { number, set } = useFilters()
  const { plants } = useDevices(site_id)
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
    <Page title="Gaps in the readings">
      <Group gap="xs">
        <SegmentedControl
          aria-label="How far back"
          value={String(days)}
          onChange={(value) => set({ days: value === '7' ? null : value })}
          data={['1', '7', '30', '90'].map((value) => ({
            value,
            label: value === '1' ? '1 day' : `${value} days`,
          }))}
        />
        <FilterSelect name="logger_id" label="Plant" all="All plants" data={plants} />
      </Group>
      <Answered query={gaps}>
        {({ data, meta, start_ms, end_ms }) =>
          data.length === 0 ? (
            <Empty title="Nothing is missing">
              Every device was heard of as often as it should, in this time.
            </Empty>
          ) : (
            <Stack>
              <GapFigures gaps={data} />
              {meta.truncated && (
                <Text size="sm">
                  The newest {data.length} of {meta.count} gaps. A shorter time shows them all.
                </Text>
              )}
              <Section title="When">
                <GapTimeline {...{ site_id, gaps: data, start_ms, end_ms }} />
              </Section>
              <GapTable {...{ site_id, gaps: data.toReversed() }} />
            </Stack>
          )
        }
      </Answered>
    </Page>
  )
}

function GapTable({ site_id, gaps }: { site_id: string; gaps: readonly Gap[] }) {
  const { timezone } = useSite()
  const devices = useDevices(site_id)
  const [page, setPage] = useState(1)
  const rows = gaps.slice((page - 1) * limit, page * limit)
  const columns = columnsOf(site_id, timezone, devices)
  const keyOf = ({ gap_id }: Gap) => gap_id
  return (
    <>
      <DataTable label="Gaps" width={860} {...{ columns, rows, keyOf }} />
      <PagesOf {...{ count: gaps.length, limit, page, onPage: setPage, noun: 'gaps' }} />
    </>
  )
}

function columnsOf(site_id: string, timezone: string, devices: Devices): Column<Gap>[] {
  return [
    {
      name: 'Not heard',
      cell: (gap) => (
        <>
          {sourceName(devices, gap)}
          {gap.logger_id !== null && gap.source_type !== 'logger' && (
            <Text size="sm" c="dimmed">
              {devices.plantName(gap.logger_id)}
            </Text>
          )}
        </>
      ),
    },
    {
      name: 'From, to',
      cell: (gap) => (
        <>
          <Time at={gap.start_at} timezone={timezone} />
          <div>{gap.end_at ? <Time at={gap.end_at} timezone={timezone} /> : 'it lasts'}</div>
        </>
      ),
    },
    { name: 'For', cell: ({ duration_s }) => formatDuration(duration_s) },
    {
      name: 'Why',
      cell: ({ cause }) => (
        <>
          {inWords(cause)}
          <Text size="sm" c="dimmed" maw={280} style={{ whiteSpace: 'normal' }}>
            {causeText[cause]}
          </Text>
        </>
      ),
    },
    { name: 'State', cell: ({ status }) => <StateBadge state={status} /> },
    {
      name: 'Readings missing',
      is_number: true,
      cell: (gap) => (
        <>
          {formatNumber(gap.missing_sample_count, 0)} of{' '}
          {formatNumber(gap.expected_sample_count, 0)}
          <Text size="sm" c="dimmed">
            {formatQuantity(gap.completeness_pct, '%')} there
          </Text>
        </>
      ),
    },
    {
      name: 'Alert',
      cell: ({ alert_id }) =>
        alert_id === null ? (
          '–'
        ) : (
          <Anchor component={Link} href={`/sites/${site_id}/alerts?alert_id=${alert_id}`}>
            {alert_id}
          </Anchor>
        ),
    },
  ]
}
