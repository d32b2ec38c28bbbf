/** Power of the shown day beside the expected power, the day before and the forecast. */
import type { Overview } from '@heliograph/sdk'
import { SimpleGrid, Stack } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { formatEnergy, formatNumber, formatPower, none, sumAll, sumKnown } from '../../ui/format.ts'
import { type History, historyOf } from '../../ui/history.ts'
import { type Line, LineChart } from '../../ui/line-chart.tsx'
import { NamedFigure } from '../../ui/page.tsx'
import { clockAt, daysFrom, lastsAt } from '../../ui/site-clock.ts'
import { forecastLines } from '../forecasts/predictions/day-energy.ts'
import type { Bucket } from '../performance/energy/reads.ts'
import { energyOf } from './figures.tsx'
import { useHours } from './reads.ts'
import { dayName, type Shown, type ShownDays } from './shown-days.ts'

/** With more plants, steps of five minutes take longer to download than the chart can show. */
const plants_in_detail_max = 9
const hour_ms = 3_600_000

export default function DayChart({ overview, days }: Shown) {
  const { site, loggers } = overview
  const { timezone } = site
  const hours = useHours(overview, days.day, days.today)
  const before = useHours(overview, days.before, days.today)
  const at_ms = useSteps(days.day, timezone, loggers.length)
  const power = usePower(overview, at_ms)
  const now_ms = Date.parse(overview.generated_at)
  const name = days.day === days.today ? 'Yesterday' : 'Day before'
  const forecast = useForecast(overview, at_ms, days)
  const drawn = useMemo(() => {
    const expected = powerOf(hours, ({ expected_kwh }) => expected_kwh)
    const earlier = new Map(before.map((hour) => [clockOf(hour.key, timezone), hour]))
    const lines: Line[] = [
      { label: 'Measured', unit: 'kW', color: 'blue', fill: true, values: power },
      {
        label: 'Expected',
        unit: 'kW',
        color: 'green',
        stepped: true,
        // The running hour is not complete.
        values: at_ms.map((ms) => (hourOf(ms) + hour_ms > now_ms ? null : expected(hourOf(ms)))),
      },
      {
        label: name,
        unit: 'kW',
        color: 'gray',
        stepped: true,
        dash: true,
        values: at_ms.map((ms) => {
          const hour = earlier.get(clockOf(hourOf(ms), timezone))
          return hour ? energyOf(hour) : null
        }),
      },
    ]
    return lines
  }, [hours, before, at_ms, power, timezone, name, now_ms])
  return (
    <Stack gap="sm">
      <Totals
        hours={hours}
        before={before}
        name={name}
        now_ms={now_ms}
        timezone={timezone}
        peak_kw={peakOf(power)}
      />
      <LineChart
        title={`Power ${dayName(days.day, days.today).toLowerCase()}: measured, expected, ${name.toLowerCase()}`}
        lines={[...drawn, ...forecast]}
        at_ms={at_ms}
        timezone={timezone}
        {...(forecast.length > 0 && { band: [drawn.length, drawn.length + 2] as const })}
      />
    </Stack>
  )
}

const hourOf = (ms: number) => Math.floor(ms / hour_ms) * hour_ms
const clockOf = (at: string | number, timezone: string) =>
  clockAt(typeof at === 'number' ? at : Date.parse(at), timezone).slice(11)

function powerOf(hours: readonly Bucket[], of: (hour: Bucket) => number | null) {
  const known = new Map(hours.map((hour) => [Date.parse(hour.key), of(hour)]))
  return (ms: number) => known.get(ms) ?? null
}

const peakOf = (power: readonly (number | null)[]) => {
  const known = power.filter((kw) => kw !== null)
  return known.length === 0 ? null : Math.max(...known)
}

const stepOf = (plant_count: number) => (plant_count > plants_in_detail_max ? 900 : 300)

function useSteps(date: string, timezone: string, plant_count: number): number[] {
  const step_ms = stepOf(plant_count) * 1000
  return useMemo(() => {
    const { start_ms, end_ms } = daysFrom(date, 1, timezone)
    const count = Math.ceil((end_ms - start_ms) / step_ms)
    return Array.from({ length: count }, (_, nth) => start_ms + nth * step_ms)
  }, [date, timezone, step_ms])
}

const names = ['ac_power_kw']

/** Power of the site at each step; null where a plant is unknown. */
function usePower({ site, loggers }: Overview, at_ms: readonly number[]) {
  const { site_id } = site
  const step_s = stepOf(loggers.length)
  const start_ms = at_ms[0]!
  const span = { start_ms, end_ms: at_ms.at(-1)! + step_s * 1000 }
  const every = step_s === 300 ? '300s' : '900s'
  const histories = useQueries({
    queries: loggers.map(({ logger_id }) =>
      historyOf('loggersHistoryList', { site_id, logger_id }, { span, names, every }),
    ),
    combine: (queries) => queries.map(({ data }) => data),
  })
  return useMemo(() => sumAt(histories, at_ms), [histories, at_ms])
}

function sumAt(histories: readonly (History | undefined)[], at_ms: readonly number[]) {
  const parts = histories.flatMap((history) =>
    history && history.at_ms.length > 0
      ? [new Map(history.at_ms.map((ms, nth) => [ms, history.columns['ac_power_kw']?.[nth]]))]
      : [],
  )
  return at_ms.map((ms) => {
    const values = parts.map((part) => part.get(ms) ?? null)
    return values.length === 0 ? null : sumAll(values)
  })
}

/** The coming hours of today. */
function useForecast({ predictions }: Overview, at_ms: readonly number[], days: ShownDays) {
  const steps = predictions?.next_hours
  const is_today = days.day === days.today
  return useMemo(() => {
    if (!is_today || !steps || steps.length === 0) return []
    const found = at_ms.map((ms) => steps.find(lastsAt(ms)))
    return forecastLines((name) => found.map((step) => step?.[name] ?? null))
  }, [steps, at_ms, is_today])
}

interface TotalsProps {
  hours: readonly Bucket[]
  before: readonly Bucket[]
  name: string
  now_ms: number
  timezone: string
  peak_kw: number | null
}

/** Complete hours only, so that both days cover the same time. */
function Totals({ hours, before, name, now_ms, timezone, peak_kw }: TotalsProps) {
  const over = hours.filter(({ key }) => Date.parse(key) + hour_ms <= now_ms)
  const clocks = new Set(over.map(({ key }) => clockOf(key, timezone)))
  const same = before.filter(({ key }) => clocks.has(clockOf(key, timezone)))
  const energy_kwh = sumKnown(over, energyOf)
  const before_kwh = sumKnown(same, energyOf)
  const is_whole = over.length === hours.length
  const note = is_whole ? null : 'same hours'
  return (
    <SimpleGrid cols={{ base: 2, xs: 4 }} spacing="xs">
      <NamedFigure
        name="Measured"
        value={formatEnergy(energy_kwh)}
        note={is_whole ? null : 'complete hours'}
      />
      <NamedFigure
        name="Expected"
        value={formatEnergy(sumKnown(over, ({ expected_kwh }) => expected_kwh))}
        note={note}
      />
      <NamedFigure
        name={name}
        value={formatEnergy(before_kwh)}
        note={changeNote(energy_kwh, before_kwh) ?? note}
      />
      <NamedFigure name="Peak" value={peak_kw === null ? none : formatPower(peak_kw)} />
    </SimpleGrid>
  )
}

function changeNote(energy_kwh: number | null, before_kwh: number | null): string | null {
  if (energy_kwh === null || before_kwh === null || before_kwh <= 0) return null
  const change_pct = 100 * (energy_kwh / before_kwh - 1)
  return `${formatNumber(Math.abs(change_pct), 0)} % ${change_pct < 0 ? 'less' : 'more'}`
}
