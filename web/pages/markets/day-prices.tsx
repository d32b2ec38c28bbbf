import type { Market, MarketPrice } from '@heliograph/sdk'
import { useMemo } from 'react'
import { Figure } from '../../ui/figure.tsx'
import { FigureGrid } from '../../ui/figure-grid.tsx'
import { formatNumber, formatTime, none } from '../../ui/format.ts'
import { LazyLines } from '../../ui/lazy-chart.tsx'
import { Muted } from '../../ui/muted.tsx'
import { Section } from '../../ui/section.tsx'
import { addDays, dayStart, daysFrom } from '../../ui/site-day.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useNow } from '../../ui/use-now.ts'
import { usePrices } from './reads.ts'

interface DayPricesProps {
  site_id: string
  market: Market
  today: string
  timezone: string
}

export function DayPrices({ site_id, market, today, timezone }: DayPricesProps) {
  const { market_code, currency } = market
  const span = useMemo(() => daysFrom(today, 2, timezone), [today, timezone])
  const prices = usePrices({ site_id, market_code, span })
  const tomorrow_ms = dayStart(addDays(today, 1), timezone)
  return (
    <Answered query={prices}>
      {(all) => {
        const isToday = ({ start_at }: MarketPrice) => Date.parse(start_at) < tomorrow_ms
        return (
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
        )
      }}
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
  const now = today.find(
    ({ start_at, end_at }) => Date.parse(start_at) <= now_ms && now_ms < Date.parse(end_at),
  )
  const price = now?.price_per_mwh ?? null
  const is_negative = price !== null && price < 0
  return (
    <FigureGrid>
      <Figure
        label={`Now, ${unit}`}
        value={formatNumber(price, 2)}
        note={now ? `until ${formatTime(now.end_at, timezone, 'time')}` : 'unknown'}
        {...(is_negative && { tone: 'bad' as const })}
      />
      <DayFigures name="Today" unit={unit} prices={today} timezone={timezone} />
      <DayFigures
        name="Tomorrow"
        unit={unit}
        prices={tomorrow}
        timezone={timezone}
        missing={
          market.publication_local
            ? `published about ${market.publication_local} (${market.timezone})`
            : 'not published yet'
        }
      />
      <Negative prices={[...today, ...tomorrow]} timezone={timezone} />
    </FigureGrid>
  )
}

interface DayFiguresProps {
  name: string
  unit: string
  prices: readonly MarketPrice[]
  timezone: string
  missing?: string
}

function DayFigures({ name, unit, prices, timezone, missing = 'unknown' }: DayFiguresProps) {
  const all = known(prices)
  if (all.length === 0) return <Figure label={`${name}, ${unit}`} value={none} note={missing} />
  const total = all.reduce((sum, one) => sum + one.price * hours([one]), 0)
  const sorted = all.toSorted((a, b) => a.price - b.price)
  const [low, high] = [sorted[0]!, sorted.at(-1)!]
  const at = (one: { start_at: string }) => formatTime(one.start_at, timezone, 'time')
  const part = all.length < prices.length ? ', partly published' : ''
  return (
    <Figure
      label={`Mean ${name.toLowerCase()}, ${unit}`}
      value={formatNumber(total / hours(all), 2)}
      note={
        `${formatNumber(low.price, 2)} at ${at(low)} to ` +
        `${formatNumber(high.price, 2)} at ${at(high)}${part}`
      }
    />
  )
}

function Negative({ prices, timezone }: { prices: readonly MarketPrice[]; timezone: string }) {
  const below = prices.filter(({ is_negative }) => is_negative)
  const first = below[0]
  return (
    <Figure
      label="Negative, both days"
      value={known(prices).length === 0 ? none : `${formatNumber(hours(below), 2)} h`}
      note={first ? `first ${formatTime(first.start_at, timezone, 'full')}` : null}
      {...(first && { tone: 'bad' as const })}
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
    const last = prices.at(-1)
    const values = prices.map(({ price_per_mwh }) => price_per_mwh)
    return {
      // The last price lasts until its end.
      at_ms: [
        ...prices.map(({ start_at }) => Date.parse(start_at)),
        ...(last ? [Date.parse(last.end_at)] : []),
      ],
      lines: [
        {
          label: 'Day-ahead',
          unit: `${currency}/MWh`,
          color: 'blue' as const,
          digits: 2,
          stepped: true as const,
          values: [...values, ...(last ? [last.price_per_mwh] : [])],
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
