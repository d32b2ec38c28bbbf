import type { ComparedMarket, Market, MarketPrice } from '@heliograph/sdk'
import { Alert, Group, SegmentedControl, Select } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { heliograph } from '../../api.ts'
import { useRead, useSite } from '../../queries.ts'
import { type Words, wordBadge } from '../../ui/badges.tsx'
import { column, DataTable, numeric, tableOf, wrapped } from '../../ui/data-table.tsx'
import { formatDate, formatNumber, formatQuantity, formatTime, none } from '../../ui/format.ts'
import { LazyLines } from '../../ui/lazy-chart.tsx'
import { Figure, FigureGrid, Muted, noted, Page, Section, Time, useNow } from '../../ui/page.tsx'
import {
  addDays,
  dayAt,
  dayStart,
  daysFrom,
  isWithin,
  lastsAt,
  utcDays,
} from '../../ui/site-clock.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'

const options = { staleTime: 60_000, refetchInterval: 60_000 }

/** Markets that the site sells into come first, then others that have prices. */
const offered = (markets: readonly Market[]) =>
  markets
    .filter((market) => market.last_price_at !== null || market.assigned_logger_ids.length > 0)
    .toSorted((a, b) => b.assigned_logger_ids.length - a.assigned_logger_ids.length)

export default function Markets() {
  const { timezone } = useSite()
  const markets = useRead('markets', 'marketsList', {}, options)
  const filters = useFilters()
  const today = dayAt(useNow(60_000), timezone)
  const all = offered(markets.data?.data ?? [])
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
        {({ data }) =>
          market ? (
            <>
              <DayPrices market={market} today={today} timezone={timezone} />
              <Section title="Market comparison">
                <Comparison dates={[today, addDays(today, 1)]} />
              </Section>
              <Section title="Price sources">
                <Sources markets={data} />
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

interface DayPricesProps {
  market: Market
  today: string
  timezone: string
}

function DayPrices({ market, today, timezone }: DayPricesProps) {
  const { site_id } = useSite()
  const { market_code, currency } = market
  const span = useMemo(() => daysFrom(today, 2, timezone), [today, timezone])
  const prices = useQuery({
    ...options,
    queryKey: ['markets', 'prices', site_id, market_code, span],
    queryFn: async ({ signal }): Promise<MarketPrice[]> => {
      const days = await Promise.all(
        utcDays(span).map((target_date) =>
          heliograph.marketPricesList({ site_id, market_code, target_date }, { signal }),
        ),
      )
      return days.flatMap(({ data }) => data).filter(({ start_at }) => isWithin(span, start_at))
    },
    placeholderData: keepPreviousData,
  })
  const tomorrow_ms = dayStart(addDays(today, 1), timezone)
  const isToday = ({ start_at }: MarketPrice) => Date.parse(start_at) < tomorrow_ms
  return (
    <Answered query={prices}>
      {(all) => (
        <>
          <PriceFigures
            today={all.filter(isToday)}
            tomorrow={all.filter((price) => !isToday(price))}
            market={market}
            timezone={timezone}
          />
          <Section title={`${market.name}, today and tomorrow`}>
            <PriceChart prices={all} currency={currency} timezone={timezone} />
          </Section>
        </>
      )}
    </Answered>
  )
}

const known = (prices: readonly MarketPrice[]) =>
  prices.flatMap(({ price_per_mwh: price, start_at, end_at }) =>
    price === null ? [] : [{ price, start_at, end_at }],
  )

const hours = (prices: readonly { start_at: string; end_at: string }[]) =>
  prices.reduce((sum, { start_at, end_at }) => sum + Date.parse(end_at) - Date.parse(start_at), 0) /
  3_600_000

interface PriceFiguresProps {
  today: readonly MarketPrice[]
  tomorrow: readonly MarketPrice[]
  market: Market
  timezone: string
}

function PriceFigures({ today, tomorrow, market, timezone }: PriceFiguresProps) {
  const now_ms = useNow(30_000)
  const unit = `${market.currency}/MWh`
  const now = today.find(lastsAt(now_ms))
  const price = now?.price_per_mwh ?? null
  const both = [...today, ...tomorrow]
  const below = both.filter(({ is_negative }) => is_negative)
  const [first] = below
  return (
    <FigureGrid>
      <Figure
        label={`Now, ${unit}`}
        value={formatNumber(price, 2)}
        note={now ? `until ${formatTime(now.end_at, timezone, 'time')}` : 'unknown'}
        tone={price !== null && price < 0 && 'bad'}
      />
      <DayFigures name="Today" prices={today} missing="unknown" unit={unit} timezone={timezone} />
      <DayFigures
        name="Tomorrow"
        prices={tomorrow}
        missing={
          market.publication_local
            ? `published about ${market.publication_local} (${market.timezone})`
            : 'not published yet'
        }
        unit={unit}
        timezone={timezone}
      />
      <Figure
        label="Negative, both days"
        value={known(both).length === 0 ? none : `${formatNumber(hours(below), 2)} h`}
        note={first && `first ${formatTime(first.start_at, timezone, 'full')}`}
        tone={first && 'bad'}
      />
    </FigureGrid>
  )
}

interface DayFiguresProps {
  name: string
  unit: string
  prices: readonly MarketPrice[]
  timezone: string
  /** Note without prices. */
  missing: string
}

function DayFigures({ name, unit, prices, timezone, missing }: DayFiguresProps) {
  const all = known(prices)
  if (all.length === 0) return <Figure label={`${name}, ${unit}`} value={none} note={missing} />
  const total = all.reduce((sum, one) => sum + one.price * hours([one]), 0)
  const sorted = all.toSorted((a, b) => a.price - b.price)
  const ends = [sorted[0]!, sorted.at(-1)!].map(
    ({ price, start_at }) =>
      `${formatNumber(price, 2)} at ${formatTime(start_at, timezone, 'time')}`,
  )
  const part = all.length < prices.length ? ', partly published' : ''
  return (
    <Figure
      label={`Mean ${name.toLowerCase()}, ${unit}`}
      value={formatNumber(total / hours(all), 2)}
      note={`${ends.join(' to ')}${part}`}
    />
  )
}

interface PriceChartProps {
  prices: readonly MarketPrice[]
  currency: string
  timezone: string
}

function PriceChart({ prices, currency, timezone }: PriceChartProps) {
  const { at_ms, lines } = useMemo(() => {
    // The last price lasts until its end.
    const ends = prices.slice(-1).map(({ end_at, price_per_mwh }) => ({
      start_at: end_at,
      price_per_mwh,
    }))
    const points = [...prices, ...ends]
    return {
      at_ms: points.map(({ start_at }) => Date.parse(start_at)),
      lines: [
        {
          label: 'Day-ahead',
          unit: `${currency}/MWh`,
          color: 'blue' as const,
          digits: 2,
          stepped: true as const,
          values: points.map(({ price_per_mwh }) => price_per_mwh),
        },
      ],
    }
  }, [prices, currency])
  if (known(prices).length === 0) return <Empty title="No prices for these days" />
  return (
    <>
      <LazyLines
        title="Day-ahead prices of today and tomorrow"
        at_ms={at_ms}
        lines={lines}
        timezone={timezone}
      />
      <Muted>Local time of the site. Prices after the end of the line are not published yet.</Muted>
    </>
  )
}

const published: Words = {
  published: ['Published', 'teal'],
  partial: ['Partly published', 'teal'],
  incomplete: ['Incomplete', 'orange'],
  not_yet_published: ['Not published yet', 'gray'],
  missing: ['Missing', 'red'],
}

const spreadWords = {
  no_exchange_rate: 'No exchange rate',
  no_home_market: 'No home market',
  prices_incomplete: 'Prices incomplete',
} as const

const price = (value: number | null, { currency }: ComparedMarket) =>
  formatQuantity(value, currency, 2)

function spreadOf(market: ComparedMarket, base: string) {
  const { is_home_market, spread_to_home_per_mwh: spread, spread_reason } = market
  if (is_home_market) return none
  if (spread === null) return spread_reason && spreadWords[spread_reason]
  return `${spread > 0 ? '+' : ''}${formatNumber(spread, 2)} ${base}`
}

const comparedTable = (base: string) =>
  tableOf<ComparedMarket>('Market comparison', 980, 'market_code', [
    wrapped('Market', ({ name, market_code, is_home_market }) =>
      noted(name, `${market_code}${is_home_market ? ', home market' : ''}`),
    ),
    column('Prices', ({ status }) => wordBadge(published, status)),
    numeric('Base', (market) => price(market.base_price_per_mwh, market)),
    numeric('Peak', (market) => price(market.peak_price_per_mwh, market)),
    numeric('Lowest', (market) => price(market.min_price_per_mwh, market)),
    numeric('Highest', (market) => price(market.max_price_per_mwh, market)),
    numeric('Negative', ({ negative_period_count: count, resolution_minutes }) =>
      formatQuantity(count === null ? null : (count * resolution_minutes) / 60, 'h', 2),
    ),
    numeric('Solar-weighted', (market) => price(market.solar_weighted_price_per_mwh, market)),
    numeric('Spread to home market', (market) => spreadOf(market, base)),
  ])

function Comparison({ dates }: { dates: readonly string[] }) {
  const [target_date, setDate] = useState(dates[0]!)
  const comparison = useRead(
    'markets',
    'marketsCompare',
    { target_date },
    { ...options, placeholderData: keepPreviousData },
  )
  return (
    <Answered query={comparison}>
      {({ data, meta }) => (
        <>
          <Group mb="xs">
            <SegmentedControl
              aria-label="Day"
              data={dates.map((value) => ({
                value,
                label: formatTime(`${value}T00:00:00Z`, 'UTC', 'day'),
              }))}
              value={target_date}
              onChange={setDate}
            />
            <Muted>
              UTC day; prices per MWh. Solar-weighted: mean weighted by clear-sky production at the
              site.
            </Muted>
          </Group>
          <DataTable
            {...comparedTable(meta.base_currency)}
            rows={data}
            none="No market prices for this day"
          />
        </>
      )}
    </Answered>
  )
}

const states: Words = {
  ok: ['OK', 'teal'],
  waiting: ['Not fetched yet', 'blue'],
  failing: ['Failing', 'red'],
  not_followed: ['Not followed', 'gray'],
}

const sourceWords = {
  entsoe: 'ENTSO-E',
  energy_charts: 'Energy-Charts',
  simulated: 'Simulated',
} as const

const source_table = tableOf<Market>('Price sources', 760, 'market_code', [
  wrapped('Market', ({ name, assigned_logger_ids: { length } }) =>
    noted(name, length === 0 ? 'No plant sells here' : `${length} plants sell here`),
  ),
  column('State', ({ source_state }) => wordBadge(states, source_state)),
  column('Source', ({ source }) => (source ? sourceWords[source] : 'Imported')),
  column('Prices since', ({ has_data_from_date }) => formatDate(has_data_from_date)),
  column('Prices until', ({ last_price_at }) => <Time at={last_price_at} />),
  column('Last fetched', ({ fetched_at }) => <Time at={fetched_at} />),
])

/** Markets with a source, with prices or with plants of the site; others are only counted. */
function Sources({ markets }: { markets: readonly Market[] }) {
  const rows = markets.filter(
    ({ source_state, assigned_logger_ids, last_price_at }) =>
      source_state !== 'not_followed' || assigned_logger_ids.length > 0 || last_price_at !== null,
  )
  const failing = rows.filter(({ source_state }) => source_state === 'failing')
  return (
    <>
      {failing.map((market) => (
        <Alert
          key={market.market_code}
          color="red"
          mb="xs"
          title={`Prices of ${market.name} cannot be fetched`}
        >
          {market.last_failure} {market.failure_count} failed attempts in a row; next attempt at{' '}
          <Time at={market.next_attempt_at} />. Stored prices are unaffected.
        </Alert>
      ))}
      <DataTable {...source_table} rows={rows} />
      <Muted>{`${markets.length - rows.length} other markets are not followed.`}</Muted>
    </>
  )
}
