/** Readings of met stations as time series. */
import type { Instrument } from '@heliograph/domain/site'
import { bucket_ms, type StationSeries } from './station-screening.ts'

/**
 * How far beyond a bucket readings affect it: more than the screening needs, since nearby steps
 * define what counts as a gap.
 */
export const margin_ms = 3_600_000 + bucket_ms

/** The readings of one station and its time in service. */
export interface WeatherSeries extends StationSeries {
  /** 1 for readings whose quality is not good. */
  is_suspect: ArrayLike<number>
  created_ms: number
  retired_ms: number | null
}

/** The part of a series from an instant on. */
export function seriesFrom(series: StationSeries, from_ms: number): StationSeries {
  const found = series.times_ms.findIndex((time_ms) => time_ms >= from_ms)
  const from = found < 0 ? series.times_ms.length : found
  return {
    ...series,
    times_ms: series.times_ms.slice(from),
    values: series.values.map((values) => values.subarray(from)),
  }
}

/** The part of a series measured by instruments of some quantities. */
export function seriesOfQuantities<Of extends StationSeries>(
  series: Of,
  quantities: readonly Instrument['quantity'][],
): Of {
  const isAsked = (_: unknown, index: number) =>
    quantities.includes(series.instruments[index]!.quantity)
  return {
    ...series,
    instruments: series.instruments.filter(isAsked),
    values: series.values.filter(isAsked),
  }
}
