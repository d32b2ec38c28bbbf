import type { Overview } from '@heliograph/sdk'
import { SimpleGrid, Stack } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useOverview } from '../../queries.ts'
import { HealthBadge } from '../../ui/badges.tsx'
import { loaded } from '../../ui/lazy-chart.tsx'
import { Page, Section, SiteLink } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'
import { AttentionList } from './attention-list.tsx'
import { Figures } from './figures.tsx'
import { Flow } from './flow.tsx'
import { dayName, shownDays } from './shown-days.ts'

const DayChart = loaded(() => import('./day-chart.tsx'))
const Ahead = loaded(() => import('./ahead.tsx'))
const PlantTable = loaded(async () => ({
  default: (await import('../../ui/device-tables.tsx')).PlantTable,
}))

export default function OverviewPage() {
  const query = useOverview()
  const health = query.data && <HealthBadge status={query.data.status.health_status} />
  return (
    <Page title="Overview" actions={health}>
      <Answered query={query}>{(overview) => <Parts overview={overview} />}</Answered>
    </Page>
  )
}

const chart_height = 420
const table_height = 200

function Parts({ overview }: { overview: Overview }) {
  const { site, status, generated_at, loggers } = overview
  const days = shownDays(Date.parse(generated_at), site.timezone, status.is_daylight)
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Flow overview={overview} />
        <Figures overview={overview} days={days} />
      </SimpleGrid>
      <AttentionList overview={overview} days={days} />
      <WhenSeen height={chart_height}>
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          <Section title={dayName(days.day, days.today)}>
            <DayChart overview={overview} days={days} />
          </Section>
          <Section
            title={dayName(days.next, days.today)}
            aside={
              <SiteLink to="/predictions" size="sm">
                Predictions
              </SiteLink>
            }
          >
            <Ahead overview={overview} days={days} />
          </Section>
        </SimpleGrid>
      </WhenSeen>
      <WhenSeen height={table_height}>
        <Section title="Plants">
          <PlantTable plants={loggers} />
        </Section>
      </WhenSeen>
    </Stack>
  )
}

interface WhenSeenProps {
  /** Height of the empty place, px. */
  height: number
  children: ReactNode
}

/** Shows and reads its children once a person scrolls near them. */
function WhenSeen({ height, children }: WhenSeenProps) {
  const { ref, entry } = useIntersection({ rootMargin: '100px' })
  const [is_seen, setSeen] = useState(false)
  if (entry?.isIntersecting && !is_seen) setSeen(true)
  return (
    <div ref={ref} style={is_seen ? undefined : { minHeight: height }}>
      {is_seen && children}
    </div>
  )
}
