/** The next day: forecast, prices and battery plans. */
import type { BessSchedule, Forecast, Overview, PredictedPrice } from '@heliograph/sdk'
import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useMayRead } from '../../queries.ts'
import { formatEnergy, formatMoney, formatNumber, formatTime, none } from '../../ui/format.ts'
import { type Line, LineChart } from '../../ui/line-chart.tsx'
import { Muted, NamedFigure, SiteLink } from '../../ui/page.tsx'
import { daysFrom, isWithin, lastsAt, type Span } from '../../ui/site-clock.ts'
import { Empty } from '../../ui/states.tsx'
import { ScheduleBadge, schedulesOf } from '../batteries/battery/shared.tsx'
import { isInForce } from '../batteries/battery-day/handover.ts'
import { bandOf, forecastLines, sumOf } from '../forecasts/predictions/day-energy.ts'
import { useForecasts } from '../forecasts/predictions/reads.ts'
import { priceOf, usePrices } from './figures.tsx'
import type { Shown } from './shown-days.ts'

export default function Ahead({ overview, days }: Shown) {
  const { timezone } = overview.site
  const mayRead = useMayRead()
  const span = useMemo(() => daysFrom(days.next, 1, timezone), [days.next, timezone])
  const forecasts = useForecasts(span, mayRead('predictions:read')).data?.site ?? []
  const all_prices = usePrices(overview, days).data
  const prices = useMemo(
    () => (all_prices ?? []).filter(({ start_at }) => isWithin(span, start_at)),
    [all_prices, span],
  )
  const plans = usePlans(overview, days.next)
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
        <Expected forecasts={forecasts} span={span} date={days.next} />
        <Prices prices={prices} timezone={timezone} />
        <Plans plans={plans} units={overview.bess ?? []} date={days.next} />
      </SimpleGrid>
      <NextChart
        forecasts={forecasts}
        prices={prices}
        plans={plans}
        span={span}
        timezone={timezone}
      />
    </Stack>
  )
}

const pointsIn = (forecasts: readonly Forecast[], span: Span) =>
  forecasts.flatMap(({ points }) => points).filter(({ start_at }) => isWithin(span, start_at))

interface ExpectedProps {
  forecasts: readonly Forecast[]
  span: Span
  date: string
}

const Expected = ({ forecasts, span, date }: ExpectedProps) => {
  const points = pointsIn(forecasts, span)
  return (
    <NamedFigure
      name="Forecast energy"
      value={formatEnergy(sumOf(points))}
      note={bandOf(forecasts, date, points)}
    />
  )
}

interface PricesProps {
  prices: readonly PredictedPrice[]
  timezone: string
}

function Prices({ prices, timezone }: PricesProps) {
  const known = prices.flatMap((period) => {
    const price = priceOf(period)
    return price === null ? [] : [{ price, at: period.start_at }]
  })
  const sorted = known.toSorted((a, b) => a.price - b.price)
  const [lowest, highest] = [sorted[0], sorted.at(-1)]
  if (!lowest || !highest) {
    return <NamedFigure name="Price" value={none} note="Not forecast yet" />
  }
  const mean = known.reduce((sum, { price }) => sum + price, 0) / known.length
  const is_forecast = prices.some(({ actual_price_per_mwh }) => actual_price_per_mwh === null)
  const at = ({ price, at: start_at }: typeof lowest) =>
    `${formatNumber(price, 0)} at ${formatTime(start_at, timezone, 'time')}`
  return (
    <NamedFigure
      name={is_forecast ? 'Price, forecast' : 'Day-ahead price'}
      value={`${formatNumber(mean, 2)} ${prices[0]?.currency}/MWh`}
      note={`${at(lowest)}, ${at(highest)}`}
    />
  )
}

/** The plan in force of each unit, else the proposed one. */
function usePlans({ site, bess }: Overview, date: string): (BessSchedule | undefined)[] {
  const enabled = useMayRead()('bess:read')
  return useQueries({
    queries: (bess ?? []).map(({ bess_id }) => ({
      ...schedulesOf(site.site_id, bess_id, date),
      enabled,
    })),
    combine: (queries) =>
      queries.map(
        ({ data }) =>
          data?.data.find(isInForce) ?? data?.data.find(({ status }) => status === 'proposed'),
      ),
  })
}

interface PlansProps {
  plans: readonly (BessSchedule | undefined)[]
  units: NonNullable<Overview['bess']>
  date: string
}

const Plans = ({ plans, units, date }: PlansProps) =>
  units.map(({ bess_id, name }, nth) => {
    const plan = plans[nth]
    return (
      <div key={bess_id}>
        <Group gap="xs">
          <SiteLink to={`/batteries/${bess_id}/day?day=${date}`} size="sm" underline="always">
            {name}
          </SiteLink>
          <ScheduleBadge status={plan?.status ?? null} />
        </Group>
        {plan && (
          <>
            <Text className="figure" fw={600}>
              {formatMoney(plan.totals.expected_net_amount, plan.totals.currency)}
            </Text>
            <Muted>
              {formatEnergy(plan.totals.charge_kwh)} in, {formatEnergy(plan.totals.discharge_kwh)}{' '}
              out
            </Muted>
          </>
        )}
      </div>
    )
  })

interface NextChartProps {
  forecasts: readonly Forecast[]
  prices: readonly PredictedPrice[]
  plans: readonly (BessSchedule | undefined)[]
  span: Span
  timezone: string
}

const quarter_ms = 900_000

function NextChart({ forecasts, prices, plans, span, timezone }: NextChartProps) {
  const { at_ms, lines } = useMemo(() => {
    const count = (span.end_ms - span.start_ms) / quarter_ms
    const at_ms = Array.from({ length: count }, (_, nth) => span.start_ms + nth * quarter_ms)
    const points = pointsIn(forecasts, span)
    const hours = plans.flatMap((plan) => plan?.hours ?? [])
    const found = at_ms.map((ms) => points.find(lastsAt(ms)))
    const lines: Line[] =
      points.length > 0 ? forecastLines((name) => found.map((one) => one?.[name] ?? null)) : []
    if (hours.length > 0) {
      lines.push({
        label: 'Battery plan',
        unit: 'kW',
        color: 'violet',
        stepped: true,
        fill: true,
        values: at_ms.map((ms) => {
          const own = hours.filter(lastsAt(ms))
          return own.length === 0 ? null : own.reduce((sum, { power_kw }) => sum + power_kw, 0)
        }),
      })
    }
    const [first] = prices
    if (first) {
      lines.push({
        label: 'Price',
        unit: `${first.currency}/MWh`,
        color: 'gray',
        stepped: true,
        digits: 2,
        values: at_ms.map((ms) => {
          const period = prices.find(lastsAt(ms))
          return period ? priceOf(period) : null
        }),
      })
    }
    return { at_ms, lines }
  }, [forecasts, prices, plans, span])
  if (lines.length === 0) return <Empty title="No forecast yet" />
  return (
    <LineChart
      title="Forecast power, battery plan and price of the next day"
      at_ms={at_ms}
      lines={lines}
      timezone={timezone}
      {...(lines[0]?.label === 'Forecast P90' && { band: [0, 2] as const })}
    />
  )
}
