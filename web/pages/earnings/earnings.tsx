import { Badge, Group } from '@mantine/core'
import { useSite } from '../../shell/site-shell.tsx'
import { formatTime } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { PeriodChoice, usePeriod } from '../../ui/period.tsx'
import { Section } from '../../ui/section.tsx'
import { dayAt } from '../../ui/site-clock.ts'
import { Answered } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useNow } from '../../ui/use-now.ts'
import { inWords } from '../../ui/words.ts'
import type { SitePageProps } from '../pages.ts'
import { Contracts } from './contracts.tsx'
import { Fees } from './fees.tsx'
import { EarningsFigures } from './figures.tsx'
import { MoneyByDay, MoneyByHour } from './money-chart.tsx'
import { PlantEarnings } from './plant-earnings.tsx'
import { useContracts, useEarnings, useEarningsHours, useMarketZone } from './reads.ts'
import { Unknown } from './unknown.tsx'

export default function Earnings({ site_id }: SitePageProps) {
  const site = useSite()
  const { timezone } = site
  const zone = useMarketZone(site)
  const today = dayAt(useNow(60_000), zone ?? timezone)
  const choice = usePeriod('month', today)
  const { period } = choice
  const asked = { site_id, period, today, timezone: zone }
  const earnings = useEarnings(asked)
  const hours = useEarningsHours(asked)
  const contracts = useContracts(site_id)
  return (
    <Page title="Earnings" actions={<PeriodChoice {...choice} />}>
      <Answered query={earnings}>
        {(summary) => (
          <>
            <Group gap="xs">
              <Badge color={summary.price_status === 'final' ? 'teal' : 'yellow'}>
                {inWords(summary.price_status)}
              </Badge>
              <Muted>
                {formatTime(summary.start_date, 'UTC', 'date')}
                {summary.end_date !== summary.start_date &&
                  ` to ${formatTime(summary.end_date, 'UTC', 'date')}`}
                , market days ({summary.timezone}); calculated <Time at={summary.calculated_at} />
              </Muted>
            </Group>
            <Unknown summary={summary} />
            <EarningsFigures summary={summary} />
            <Section title={titles[period.kind]}>
              {period.kind === 'day' ? (
                <Answered query={hours}>
                  {(all) => (
                    <MoneyByHour
                      hours={all}
                      timezone={zone ?? timezone}
                      currency={summary.currency}
                    />
                  )}
                </Answered>
              ) : (
                <MoneyByDay summary={summary} is_year={period.kind === 'year'} />
              )}
            </Section>
            <Section title="Plants">
              <PlantEarnings summary={summary} />
            </Section>
            <Section title="Fees">
              <Fees summary={summary} />
            </Section>
          </>
        )}
      </Answered>
      <Section title="Contracts">
        <Answered query={contracts}>{(all) => <Contracts contracts={all} />}</Answered>
      </Section>
    </Page>
  )
}

const titles = { day: 'By hour', month: 'By day', year: 'By month' } as const
