import type { Market } from '@heliograph/sdk'
import { Select } from '@mantine/core'
import { useSite } from '../../shell/site-shell.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { dayAt } from '../../ui/site-clock.ts'
import { addDays } from '../../ui/site-day.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useNow } from '../../ui/use-now.ts'
import type { SitePageProps } from '../pages.ts'
import { Comparison } from './comparison.tsx'
import { DayPrices } from './day-prices.tsx'
import { useMarkets } from './reads.ts'
import { Sources } from './sources.tsx'

/** Markets that the site sells into come first, then others that have prices. */
function offered(markets: readonly Market[]): Market[] {
  const rankOf = (market: Market) => -market.assigned_logger_ids.length
  return markets
    .filter((market) => market.last_price_at !== null || market.assigned_logger_ids.length > 0)
    .toSorted((a, b) => rankOf(a) - rankOf(b))
}

export default function Markets({ site_id }: SitePageProps) {
  const { timezone } = useSite()
  const markets = useMarkets(site_id)
  const filters = useFilters()
  const today = dayAt(useNow(60_000), timezone)
  const all = offered(markets.data ?? [])
  const market = all.find(({ market_code }) => market_code === filters.get('market')) ?? all[0]
  const choice = all.length > 1 && market && (
    <Select
      aria-label="Market"
      searchable
      allowDeselect={false}
      data={all.map(({ market_code, name }) => ({ value: market_code, label: name }))}
      value={market.market_code}
      onChange={(market_code) => filters.set({ market: market_code })}
    />
  )
  return (
    <Page title="Markets" actions={choice}>
      <Answered query={markets}>
        {(list) =>
          market ? (
            <>
              <DayPrices site_id={site_id} market={market} today={today} timezone={timezone} />
              <Section title="Market comparison">
                <Comparison site_id={site_id} dates={[today, addDays(today, 1)]} />
              </Section>
              <Section title="Price sources">
                <Sources markets={list} />
              </Section>
            </>
          ) : (
            <Empty title="No prices yet">
              No market is assigned to this site, and no market is followed.
            </Empty>
          )
        }
      </Answered>
    </Page>
  )
}
