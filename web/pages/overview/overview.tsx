import { SimpleGrid, Stack } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useOverview } from '../../queries.ts'
import { Page } from '../../ui/page.tsx'
import { PlantTable } from '../../ui/plant-table.tsx'
import { Section } from '../../ui/section.tsx'
import { Answered, Loading } from '../../ui/states.tsx'
import type { SitePageProps } from '../pages.ts'
import { OpenAlerts } from './alerts.tsx'
import { BatteryCards } from './battery.tsx'
import { Figures } from './figures.tsx'
import { InverterStates } from './inverters.tsx'
import { Limits } from './limits.tsx'
import { useMayRead } from './may-read.ts'
import { Verdict } from './verdict.tsx'
import { WeatherNow } from './weather.tsx'

const TodayChart = lazy(() => import('./today-chart.tsx'))

/** Answers at a glance whether the site performs as expected, and if not, why. */
export default function OverviewPage({ site_id }: SitePageProps) {
  const query = useOverview(site_id)
  const mayRead = useMayRead()
  return (
    <Page title="Overview">
      <Answered query={query}>
        {(overview) => (
          <Stack gap="md">
            <Verdict overview={overview} />
            <Figures overview={overview} />
            <Section title="Today">
              <Suspense fallback={<Loading />}>
                <TodayChart overview={overview} />
              </Suspense>
            </Section>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Limits overview={overview} />
              {mayRead('alerts:read') && <OpenAlerts overview={overview} />}
              <InverterStates overview={overview} />
              <WeatherNow overview={overview} />
              <BatteryCards overview={overview} />
            </SimpleGrid>
            <Section title="Plants">
              <PlantTable site_id={site_id} plants={overview.loggers} />
            </Section>
          </Stack>
        )}
      </Answered>
    </Page>
  )
}
