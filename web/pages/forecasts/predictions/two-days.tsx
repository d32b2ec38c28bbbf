import type { Forecast, ForecastPoint, PredictedProduction } from '@heliograph/sdk'
import { Alert, Badge } from '@mantine/core'
import { useMemo } from 'react'
import { bandOption } from '../../../ui/band-option.ts'
import { formatEnergy, formatPower, formatTime, inWords, none } from '../../../ui/format.ts'
import { Chart } from '../../../ui/lazy-chart.tsx'
import { FigureGrid, figures, Muted, Section, Time, useNow } from '../../../ui/page.tsx'
import { addDays, daysFrom, isWithin, lastsAt } from '../../../ui/site-clock.ts'
import { Empty } from '../../../ui/states.tsx'
import { bandOf, sumOf } from './day-energy.ts'
import { fallbackWords } from './reads.ts'

interface TwoDaysProps {
  /** Forecasts of the site, by UTC day. */
  forecasts: readonly Forecast[]
  production: readonly PredictedProduction[]
  today: string
  timezone: string
}

export function TwoDays({ forecasts, production, today, timezone }: TwoDaysProps) {
  const now_ms = useNow(60_000)
  const points = useMemo(() => {
    const span = daysFrom(today, 2, timezone)
    return forecasts
      .flatMap((forecast) => forecast.points)
      .filter(({ start_at }) => isWithin(span, start_at))
  }, [forecasts, today, timezone])
  const main = forecasts.find(({ date }) => date === today)
  return (
    <>
      {main && <Fallback forecast={main} />}
      <Figures
        forecasts={forecasts}
        production={production}
        points={points}
        today={today}
        timezone={timezone}
        now_ms={now_ms}
      />
      <Section title="Power, today and tomorrow">
        <PowerChart points={points} production={production} timezone={timezone} now_ms={now_ms} />
        {main && (
          <Muted>
            Issued <Time at={main.run_at} /> with weather from{' '}
            {main.weather_source ? inWords(main.weather_source) : 'no source'} (
            <Time at={main.weather_run_at} />
            ); next forecast due <Time at={main.next_run_at} />.
          </Muted>
        )}
      </Section>
    </>
  )
}

function Fallback({ forecast }: { forecast: Forecast }) {
  const { status, fallback_reason } = forecast
  if (status === 'ok') return null
  return (
    <Alert color="orange" title={status === 'stale' ? 'Stale forecast' : 'Fallback forecast'}>
      {status === 'stale' ? (
        <>
          Based on the weather forecast of <Time at={forecast.weather_run_at} />.
        </>
      ) : (
        `Reason: ${fallback_reason ? fallbackWords[fallback_reason] : 'no model'}.`
      )}
    </Alert>
  )
}

interface FiguresProps extends TwoDaysProps {
  points: readonly ForecastPoint[]
  now_ms: number
}

function Figures({ forecasts, production, points, today, timezone, now_ms }: FiguresProps) {
  const inDay = (date: string) => {
    const span = daysFrom(date, 1, timezone)
    return points.filter(({ start_at }) => isWithin(span, start_at))
  }
  const of_today = inDay(today)
  const tomorrow = addDays(today, 1)
  const to_come = of_today.filter(({ start_at }) => Date.parse(start_at) > now_ms)
  const day = daysFrom(today, 1, timezone)
  const measured = production.filter(
    ({ start_at, actual_kwh }) => isWithin(day, start_at) && actual_kwh !== null,
  )
  const measured_kwh = measured.reduce((sum, { actual_kwh }) => sum + (actual_kwh ?? 0), 0)
  const main = forecasts.find(({ date }) => date === today)
  return (
    <FigureGrid>
      {figures([
        ['Expected today', formatEnergy(sumOf(of_today)), bandOf(forecasts, today, of_today)],
        [
          'Measured so far',
          measured.length === 0 ? none : formatEnergy(measured_kwh),
          `${formatEnergy(to_come.length === 0 ? 0 : sumOf(to_come))} still expected`,
        ],
        [
          'Expected tomorrow',
          formatEnergy(sumOf(inDay(tomorrow))),
          bandOf(forecasts, tomorrow, inDay(tomorrow)),
        ],
        [
          'Peak today',
          formatPower(main?.peak_p50_kw),
          main && (
            <>
              {main.peak_at && `at ${formatTime(main.peak_at, timezone, 'time')} `}
              <Badge miw="max-content" color={main.confidence === 'low' ? 'orange' : 'teal'}>
                {main.confidence} confidence
              </Badge>
            </>
          ),
        ],
      ])}
    </FigureGrid>
  )
}

interface PowerChartProps {
  points: readonly ForecastPoint[]
  production: readonly PredictedProduction[]
  timezone: string
  now_ms: number
}

function PowerChart({ points, production, timezone, now_ms }: PowerChartProps) {
  const now = points.findIndex(lastsAt(now_ms))
  const option = useMemo(() => {
    const measured = new Map(production.map((step) => [step.start_at, powerOf(step)]))
    const is_limited = points.some(({ limited_p50_kw, p50_kw }) => limited_p50_kw < p50_kw)
    return bandOption({
      labels: points.map(({ start_at }) => labelOf(start_at, timezone)),
      p10: points.map(({ p10_kw }) => p10_kw),
      p50: points.map(({ p50_kw }) => p50_kw),
      p90: points.map(({ p90_kw }) => p90_kw),
      lines: [
        {
          name: 'Measured',
          // The present step is incomplete and would look like a drop.
          values: points.map(({ start_at }, nth) =>
            nth === now ? null : (measured.get(start_at) ?? null),
          ),
        },
        ...(is_limited
          ? [
              {
                name: 'Expected with limits',
                dashed: true as const,
                values: points.map(({ limited_p50_kw }) => limited_p50_kw),
              },
            ]
          : []),
      ],
      unit: 'kW',
      now: now < 0 ? null : now,
    })
  }, [points, production, timezone, now])
  if (points.length === 0) return <Empty title="No forecast for these days" />
  return <Chart title="Expected power with its band, and measured power" option={option} />
}

function powerOf({ actual_kwh, start_at, end_at }: PredictedProduction): number | null {
  if (actual_kwh === null) return null
  return actual_kwh / ((Date.parse(end_at) - Date.parse(start_at)) / 3_600_000)
}

/** `Mon 13:00`. */
export const labelOf = (at: string, timezone: string) =>
  `${formatTime(at, timezone, 'day').slice(0, 3)} ${formatTime(at, timezone, 'time')}`
