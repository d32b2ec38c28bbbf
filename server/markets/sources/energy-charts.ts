/** Day-ahead prices of energy-charts.info (Fraunhofer ISE): columns of JSON, always EUR/MWh. */
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { microOfNumber } from '../micro.ts'
import type { PeriodSpan, PricePeriod } from '../periods.ts'
import { type Outcome, outcomeOf, published, type Source, SourceFault } from './source.ts'

/** Zone names that differ from our market codes. */
const zones: Readonly<Record<string, string>> = {
  'IT-CALABRIA': 'IT-Calabria',
  'IT-CENTRE-NORTH': 'IT-Centre-North',
  'IT-CENTRE-SOUTH': 'IT-Centre-South',
  'IT-NORTH': 'IT-North',
  'IT-SARDINIA': 'IT-Sardinia',
  'IT-SICILY': 'IT-Sicily',
  'IT-SOUTH': 'IT-South',
}

const Prices = Type.Object({
  unix_seconds: Type.Array(Type.Integer()),
  price: Type.Array(Type.Union([Type.Number(), Type.Null()])),
  unit: Type.String(),
})

export function energyChartsSource({ url }: { url: string }): Source {
  return {
    fetchDay: (market, day, { get, signal }) =>
      outcomeOf(async () => {
        if ((market.sequence ?? 1) !== 1) {
          throw new SourceFault('energy-charts has no prices of this auction')
        }
        const address = new URL(`${url.replace(/\/$/, '')}/price`)
        address.searchParams.set('bzn', zones[market.market_code] ?? market.market_code)
        address.searchParams.set('start', minute(day.start_ms))
        address.searchParams.set('end', minute(day.end_ms))
        const { status, text } = await get(address, signal)
        if (status === 404) return { outcome: 'none_yet' }
        if (status !== 200) throw new SourceFault(`energy-charts answered ${status}`)
        return readColumns(text, day)
      }),
  }
}

const minute = (time_ms: number) => `${new Date(time_ms).toISOString().slice(0, 16)}Z`

/**
 * Prices of a delivery day. The response has only the start of each period; all periods of the day
 * get the shortest distance between two starts as length, so that missing periods stay unknown.
 *
 * @throws SourceFault for an invalid response
 */
export function readColumns(text: string, day: PeriodSpan): Outcome {
  const { unix_seconds, price, unit } = parse(text)
  if (unit.replaceAll(' ', '') !== 'EUR/MWh') throw new SourceFault(`energy-charts: unit '${unit}'`)
  if (price.length !== unix_seconds.length) {
    throw new SourceFault(`energy-charts: ${unix_seconds.length} times, ${price.length} prices`)
  }
  if (unix_seconds.length === 0) return { outcome: 'none_yet' }
  const starts_ms = unix_seconds.map((seconds) => seconds * 1000)
  const steps_ms = starts_ms.slice(1).map((at, index) => at - starts_ms[index]!)
  const isAscending = steps_ms.every((step_ms) => step_ms > 0)
  // Adjacent days may have another resolution.
  const isWithin = (start_ms: number) => start_ms >= day.start_ms && start_ms < day.end_ms
  if (isAscending && !starts_ms.some(isWithin)) return { outcome: 'none_yet' }
  const step_ms = Math.min(...steps_ms.filter((_, index) => isWithin(starts_ms[index]!)))
  if (!isAscending || ![900_000, 1_800_000, 3_600_000].includes(step_ms)) {
    throw new SourceFault('energy-charts: times off the market grid')
  }
  const periods = starts_ms.flatMap((start_ms, index): PricePeriod[] => {
    const value = price[index] ?? null
    if (value === null) return []
    const price_micro = microOfNumber(value)
    if (price_micro === null) throw new SourceFault(`energy-charts: price ${value}`)
    return [{ start_ms, end_ms: start_ms + step_ms, price_micro }]
  })
  return published(periods, day, { currency: 'EUR' })
}

function parse(text: string) {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw new SourceFault('energy-charts answered with invalid JSON')
  }
  if (!Value.Check(Prices, document))
    throw new SourceFault('energy-charts: response is not a list of prices')
  return document
}
