import { SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { heliograph } from '../../api.ts'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Answered, Empty, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import type { SitePageProps } from '../pages.ts'
import { Legend } from './string-health/legend.tsx'
import { HealthTable } from './string-health/table.tsx'

const HeatMap = lazy(() => import('./string-health/heat-map.tsx'))

const day_ms = 86_400_000

/** Health of all strings of the site, compared with their peers. */
export default function StringHealthPage({ site_id }: SitePageProps) {
  const filters = useFilters()
  const days = filters.get('days') ?? '7'
  const query = useQuery({
    queryKey: ['health-matrix', site_id, days],
    staleTime: 300_000,
    refetchInterval: 300_000,
    queryFn: ({ signal }) => {
      const window = { start: new Date(Date.now() - Number(days) * day_ms), end: new Date() }
      return heliograph.efficiencyHealthList({ site_id, ...(days !== '7' && window) }, { signal })
    },
  })
  return (
    <Page
      title="String health"
      actions={
        <SegmentedControl
          aria-label="Period"
          data={[
            { value: '1', label: '1 day' },
            { value: '7', label: '7 days' },
            { value: '30', label: '30 days' },
          ]}
          value={days}
          onChange={(value) => filters.set({ days: value })}
        />
      }
    >
      <Answered query={query}>
        {({ data, meta }) => {
          const first = data[0]
          if (!first) return <Empty title="No strings at this site" />
          return (
            <Stack>
              <Text>
                Power of each string compared with its peers, from <Time at={first.start_at} /> to{' '}
                <Time at={first.end_at} />.
              </Text>
              <Legend strings={data} thresholds={meta.thresholds} />
              <Section title="Map">
                <Suspense fallback={<Loading />}>
                  <HeatMap site_id={site_id} strings={data} />
                </Suspense>
              </Section>
              <Section title="Table, most severe first">
                <HealthTable site_id={site_id} strings={data} />
              </Section>
            </Stack>
          )
        }}
      </Answered>
    </Page>
  )
}
