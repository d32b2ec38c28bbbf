import { useOverview } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { Page } from '../../ui/page.tsx'
import { PeriodChoice, usePeriod } from '../../ui/period.tsx'
import { Section } from '../../ui/section.tsx'
import { dayAt } from '../../ui/site-clock.ts'
import { Answered } from '../../ui/states.tsx'
import { useNow } from '../../ui/use-now.ts'
import type { SitePageProps } from '../pages.ts'
import { EnergyChart } from './energy/energy-chart.tsx'
import { EnergyFigures } from './energy/figures.tsx'
import { Losses } from './energy/losses.tsx'
import { PlantYields } from './energy/plant-yields.tsx'
import { useBuckets, useLosses, usePerformance } from './energy/reads.ts'

export default function Energy({ site_id }: SitePageProps) {
  const { timezone } = useSite()
  const today = dayAt(useNow(60_000), timezone)
  const choice = usePeriod('month', today)
  const { period } = choice
  const plant_count = useOverview(site_id).data?.loggers.length
  const asked = { site_id, period, timezone, today, plant_count }
  const buckets = useBuckets(asked)
  const performance = usePerformance(asked)
  const losses = useLosses(asked)
  return (
    <Page title="Energy" actions={<PeriodChoice {...choice} />}>
      <Answered query={performance}>
        {(plants) => <EnergyFigures plants={plants} buckets={buckets.data ?? []} />}
      </Answered>
      <Section title={titles[period.kind]}>
        <Answered query={buckets}>
          {(all) => (
            <EnergyChart
              buckets={all}
              plants={performance.data ?? []}
              period={period}
              timezone={timezone}
            />
          )}
        </Answered>
      </Section>
      <Section title="Plants">
        <Answered query={performance}>{(plants) => <PlantYields plants={plants} />}</Answered>
      </Section>
      <Section title="Losses">
        <Answered query={losses}>
          {(inverters) => <Losses inverters={inverters} plants={performance.data ?? []} />}
        </Answered>
      </Section>
    </Page>
  )
}

const titles = { day: 'By hour', month: 'By day', year: 'By month' } as const
