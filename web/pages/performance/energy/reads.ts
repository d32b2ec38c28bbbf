/** Energy of a period by local hour, day or month. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import { daysOf, monthName, type Period } from '../../../ui/periods.ts'
import { addDays, clockAt, dayAt, dayStart, windowOf } from '../../../ui/site-clock.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const hour_ms = 3_600_000

export interface Bucket {
  /** Start of the hour, day or month. */
  key: string
  by_logger: Map<number, number>
  /** From measured irradiance; null without any. */
  expected_kwh: number | null
  is_partial: boolean
}

interface Asked {
  site_id: string
  period: Period
  timezone: string
  today: string
  /** Undefined while loading. */
  plant_count: number | undefined
}

const sum = (before: number | null, more: number | null) =>
  more === null ? before : (before ?? 0) + more

function keysOf({ period, timezone, today }: Asked): string[] {
  const days = daysOf(period, today)
  if (period.kind === 'month') return days
  if (period.kind === 'year') return [...new Set(days.map((day) => day.slice(0, 7)))]
  // Energy is stored by UTC hour: an hour belongs to the day in which it starts.
  const start_ms = Math.ceil(dayStart(period.start_date, timezone) / hour_ms) * hour_ms
  const end_ms = dayStart(addDays(period.start_date, 1), timezone)
  const count = Math.ceil((end_ms - start_ms) / hour_ms)
  return Array.from({ length: count }, (_, nth) => iso(start_ms + nth * hour_ms))
}

function keyAt(start_at: string, { period, timezone }: Asked): string {
  if (period.kind === 'day') return new Date(start_at).toISOString()
  return dayAt(Date.parse(start_at), timezone).slice(0, period.kind === 'year' ? 7 : 10)
}

/** Plant days per request: larger answers are slow to parse in a browser. */
const plant_days_max = 4400

export async function readBuckets(asked: Asked, signal: AbortSignal): Promise<Bucket[]> {
  const { site_id, period, timezone, today, plant_count } = asked
  const buckets = new Map(
    keysOf(asked).map((key): [string, Bucket] => [
      key,
      { key, by_logger: new Map(), expected_kwh: null, is_partial: false },
    ]),
  )
  const days = daysOf(period, today)
  const at_once = Math.max(31, Math.floor(plant_days_max / Math.max(1, plant_count ?? 1)))
  for (let nth = 0; nth < days.length; nth += at_once) {
    const some = days.slice(nth, nth + at_once)
    const start = iso(dayStart(some[0]!, timezone))
    const end = iso(dayStart(addDays(some.at(-1)!, 1), timezone))
    const { data } = await heliograph.energyHourlyList({ site_id, start, end }, { signal })
    for (const { logger_id, hours } of data) {
      for (const hour of hours) {
        if (hour.start_at < start || hour.start_at >= end) continue
        const bucket = buckets.get(keyAt(hour.start_at, asked))
        if (!bucket) continue
        const energy_kwh = sum(bucket.by_logger.get(logger_id) ?? null, hour.energy_kwh)
        if (energy_kwh !== null) bucket.by_logger.set(logger_id, energy_kwh)
        bucket.expected_kwh = sum(bucket.expected_kwh, hour.expected_energy_kwh)
        if (hour.is_partial) bucket.is_partial = true
      }
    }
  }
  return [...buckets.values()]
}

const often = ({ period, today }: Asked) => (period.end_date >= today ? 60_000 : false)

const options = { staleTime: 60_000, placeholderData: keepPreviousData }

export const useBuckets = (asked: Asked) =>
  useQuery({
    ...options,
    queryKey: ['energy', asked.site_id, asked.period, asked.today],
    queryFn: ({ signal }) => readBuckets(asked, signal),
    enabled: asked.plant_count !== undefined,
    refetchInterval: asked.period.kind === 'year' ? false : often(asked),
  })

/** The period up to the present time, which is why it is no part of a query key. */
const askedOf = ({ site_id, period, timezone }: Asked) => ({
  site_id,
  ...windowOf({
    start_ms: dayStart(period.start_date, timezone),
    end_ms: Math.min(Date.now(), dayStart(addDays(period.end_date, 1), timezone)),
  }),
})

export const usePerformance = (asked: Asked) =>
  useQuery({
    ...options,
    queryKey: ['performance', asked.site_id, asked.period],
    queryFn: async ({ signal }) =>
      (await heliograph.efficiencyLoggersList(askedOf(asked), { signal })).data,
    refetchInterval: often(asked),
  })

export const useLosses = (asked: Asked) =>
  useQuery({
    ...options,
    queryKey: ['losses', asked.site_id, asked.period],
    queryFn: async ({ signal }) =>
      (await heliograph.efficiencyLossesList(askedOf(asked), { signal })).data,
    refetchInterval: often(asked),
  })

/** Short axis label: `13:00`, `14` or `Mar`. */
export function labelOf(key: string, { period, timezone }: Pick<Asked, 'period' | 'timezone'>) {
  if (period.kind === 'day') return clockAt(Date.parse(key), timezone).slice(11)
  if (period.kind === 'month') return String(Number(key.slice(8)))
  return monthName(key, 'short')
}
