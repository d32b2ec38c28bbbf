import { useMemo } from 'react'
import { useMay } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { dayAt } from '../../ui/site-clock.ts'
import { addDays, daysFrom } from '../../ui/site-day.ts'
import { Answered } from '../../ui/states.tsx'
import { useNow } from '../../ui/use-now.ts'
import type { SitePageProps } from '../pages.ts'
import { LastWeek } from './predictions/last-week.tsx'
import { Models } from './predictions/models.tsx'
import { PlantForecasts } from './predictions/plant-forecasts.tsx'
import { PriceForecast } from './predictions/price-forecast.tsx'
import { useForecasts, useModels, usePredictedPrices, useProduction } from './predictions/reads.ts'
import { TwoDays } from './predictions/two-days.tsx'

const week_days = 7

export default function Predictions({ site_id }: SitePageProps) {
  const { timezone } = useSite()
  const may = useMay()
  const today = dayAt(useNow(60_000), timezone)
  const span = useMemo(() => daysFrom(today, 2, timezone), [today, timezone])
  const week = useMemo(
    () => daysFrom(addDays(today, -week_days), week_days, timezone),
    [today, timezone],
  )
  const forecasts = useForecasts(site_id, span)
  const production = useProduction(site_id, span)
  const before = useProduction(site_id, week)
  const prices = usePredictedPrices(site_id, span)
  const models = useModels(site_id)
  return (
    <Page title="Predictions">
      <Answered query={forecasts}>
        {(found) => (
          <>
            <TwoDays
              forecasts={found.site}
              production={production.data ?? []}
              today={today}
              timezone={timezone}
            />
            <Section title="Plants">
              <PlantForecasts plants={found.plants} today={today} />
            </Section>
          </>
        )}
      </Answered>
      <Section title="Last 7 days">
        <Answered query={before}>
          {(steps) => <LastWeek steps={steps} timezone={timezone} />}
        </Answered>
      </Section>
      {may('markets:read') && (
        <Section title="Prices, today and tomorrow">
          <Answered query={prices}>
            {(all) => <PriceForecast prices={all} timezone={timezone} />}
          </Answered>
        </Section>
      )}
      <Section title="Accuracy">
        <Muted mb="xs">
          Past forecasts compared with measurements. The 80 % band should contain 80 % of the
          values.
        </Muted>
        <Answered query={models}>
          {(all) => (
            <Models
              site_id={site_id}
              models={all}
              currencyOf={(model) =>
                prices.data?.find(({ market_code }) => model === `price:${market_code}`)?.currency
              }
            />
          )}
        </Answered>
      </Section>
    </Page>
  )
}
