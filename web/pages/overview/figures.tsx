/** Money, prices and energy of the shown day, the month and the year. */
import type { EarningsSummary, Overview, PredictedPrice } from '@heliograph/sdk'
import { useMemo } from 'react'
import { useMayRead } from '../../queries.ts'
import {
  formatEnergy,
  formatMoney,
  formatNumber,
  formatQuantity,
  formatTime,
  sumKnown,
} from '../../ui/format.ts'
import { Figure, FigureGrid, SiteLink } from '../../ui/page.tsx'
import { type PeriodKind, periodOf } from '../../ui/periods.ts'
import { daysFrom, lastsAt } from '../../ui/site-clock.ts'
import { unknownWords } from '../earnings/reads.ts'
import { usePredictedPrices } from '../forecasts/predictions/reads.ts'
import { performanceIndex } from '../performance/energy/means.ts'
import { type Bucket, usePerformance } from '../performance/energy/reads.ts'
import { useEarned, useHours } from './reads.ts'
import { dayName, type Shown, type ShownDays } from './shown-days.ts'
import { shareOf } from './words.ts'

export function Figures({ overview, days }: Shown) {
  const mayRead = useMayRead()
  return (
    <FigureGrid cols={2}>
      {mayRead('earnings:read') && <Money overview={overview} days={days} />}
      {mayRead('predictions:read') && <PriceNow overview={overview} days={days} />}
      <EnergyOfDay overview={overview} days={days} />
      <EnergyOfPeriod kind="month" overview={overview} days={days} />
      <EnergyOfPeriod kind="year" overview={overview} days={days} />
      <Weather overview={overview} />
    </FigureGrid>
  )
}

function Money({ overview, days }: Shown) {
  const { data, isError } = useEarned(overview, days)
  const day = data?.by_day.find(({ date }) => date === days.day)
  return (
    <Figure
      label={`Net revenue ${dayName(days.day, days.today).toLowerCase()}`}
      value={formatMoney(day?.net_amount, data?.currency ?? null)}
      note={
        <>
          {isError && !data && 'Unavailable. '}
          {data && day?.net_amount === null && `Incomplete: ${reasonOf(data)}. `}
          {data && `${monthNote(data, days)} `}
          {data && data.timezone !== overview.site.timezone && `Market days (${data.timezone}). `}
          <SiteLink to="/earnings" size="sm" underline="always">
            Earnings
          </SiteLink>
        </>
      }
    />
  )
}

const reasonOf = ({ reason }: EarningsSummary) =>
  reason === null ? 'an hour is unknown' : unknownWords[reason]

function monthNote({ by_day, currency }: EarningsSummary, { today }: ShownDays): string {
  const month = by_day.filter(({ date }) => date.startsWith(today.slice(0, 7)))
  return `${formatMoney(
    sumKnown(month, ({ net_amount }) => net_amount),
    currency,
  )} this month.`
}

export const usePrices = ({ site }: Overview, { day }: ShownDays) => {
  const { timezone } = site
  const span = useMemo(() => daysFrom(day, 2, timezone), [day, timezone])
  return usePredictedPrices(span, useMayRead()('predictions:read'))
}

/** Published price, else the median of its forecast. */
export const priceOf = ({ actual_price_per_mwh, p50_price_per_mwh }: PredictedPrice) =>
  actual_price_per_mwh ?? p50_price_per_mwh

function PriceNow({ overview, days }: Shown) {
  const { timezone } = overview.site
  const { data } = usePrices(overview, days)
  const now_ms = Date.parse(overview.generated_at)
  const now = data?.find(lastsAt(now_ms))
  const price = now ? priceOf(now) : null
  return (
    <Figure
      label={`Price now, ${now?.currency ?? overview.site.currency ?? 'EUR'}/MWh`}
      value={formatNumber(price, 2)}
      tone={price !== null && price < 0 && 'bad'}
      note={
        now
          ? `${now.actual_price_per_mwh === null ? 'Forecast' : 'Day-ahead'}, until ${formatTime(now.end_at, timezone, 'time')}`
          : 'Unknown'
      }
    />
  )
}

/** Measured energy as a share of the expected energy of the same hours, %. */
function shareOfHours(hours: readonly Bucket[]): number | null {
  const known = hours.filter(({ expected_kwh }) => expected_kwh !== null)
  return shareOf(
    sumKnown(known, energyOf),
    sumKnown(known, ({ expected_kwh }) => expected_kwh),
  )
}

export const energyOf = ({ by_logger }: Bucket) => sumKnown([...by_logger.values()], (kwh) => kwh)

const low_share_pct = 85

function EnergyOfDay({ overview, days }: Shown) {
  const hours = useHours(overview, days.day, days.today)
  const share_pct = shareOfHours(hours)
  const is_today = days.day === days.today
  const { energy_today_kwh } = overview.status
  return (
    <Figure
      label={`Energy ${dayName(days.day, days.today).toLowerCase()}`}
      value={formatEnergy(is_today ? energy_today_kwh : sumKnown(hours, energyOf))}
      tone={share_pct !== null && share_pct < low_share_pct && 'bad'}
      note={shareNote(share_pct)}
    />
  )
}

const shareNote = (share_pct: number | null, unknown = 'Expected energy unknown') =>
  share_pct === null ? unknown : `${formatNumber(share_pct, 0)} % of expected`

function EnergyOfPeriod({ overview, days, kind }: Shown & { kind: Exclude<PeriodKind, 'day'> }) {
  const { site, status, loggers } = overview
  const { data } = usePerformance({
    site_id: site.site_id,
    timezone: site.timezone,
    period: periodOf(kind, days.today),
    today: days.today,
    plant_count: loggers.length,
  })
  return (
    <Figure
      label={`Energy this ${kind}`}
      value={formatEnergy(status[`energy_${kind}_kwh`])}
      note={
        data === undefined
          ? '\u00a0'
          : shareNote(performanceIndex(data), 'Too little data to compare')
      }
    />
  )
}

const Weather = ({ overview: { status } }: Pick<Shown, 'overview'>) => (
  <Figure
    label="Air temperature"
    value={formatQuantity(status.ambient_temperature_c, '°C')}
    note={
      status.is_daylight === false
        ? 'Night'
        : `${formatQuantity(status.poa_irradiance_w_m2, 'W/m²', 0)}, panels ${formatQuantity(status.module_temperature_c, '°C')}`
    }
  />
)
