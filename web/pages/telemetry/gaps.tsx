/** Missing readings, with their cause and recovery. */

import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { useDevices } from '../../ui/devices.tsx'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import type { SitePageProps } from '../pages.ts'
import { GapFigures } from './gaps/figures.tsx'
import { OutageTable } from './gaps/outage-table.tsx'
import { GapTimeline } from './gaps/timeline.tsx'

const day_ms = 86_400_000

/** Maximum page size of the API. */
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
    <Page title="Gaps">
      <Group gap="xs">
        <SegmentedControl
          aria-label="Period"
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
                <GapTimeline {...{ site_id, gaps: data, start_ms, end_ms }} />
              </Section>
              <OutageTable {...{ site_id, gaps: data.toReversed() }} />
            </Stack>
          )
        }
      </Answered>
    </Page>
  )
}
