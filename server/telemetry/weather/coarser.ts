/** Buckets of five minutes combined to longer ones. */
import { bearing, mean, type WeatherBucket } from './buckets.ts'
import { bucket_ms } from './station-screening.ts'

/** A bucket without intervals has a plain mean, which counts where no other bucket has more. */
const weight_min = 1e-6

/**
 * One bucket for all of a longer step. Averages are weighted by the covered time, sums and extremes
 * are those of the buckets.
 */
export function combined(
  buckets: readonly WeatherBucket[],
  { start_ms, end_ms }: { start_ms: number; end_ms: number },
): WeatherBucket {
  type Name = keyof WeatherBucket
  const known = (name: Name) =>
    buckets.flatMap((bucket) => {
      const value = bucket[name] as number | null
      return value === null
        ? []
        : [{ value, weight: Math.max(weight_min, bucket.completeness_pct), bucket }]
    })
  const average = (name: Name, of = (value: number) => value) => {
    const parts = known(name)
    const weight = parts.reduce((sum, part) => sum + part.weight, 0)
    if (weight === 0) return null
    return parts.reduce((sum, part) => sum + of(part.value) * part.weight, 0) / weight
  }
  const sum = (name: Name) => {
    const parts = known(name)
    return parts.length === 0 ? null : parts.reduce((total, { value }) => total + value, 0)
  }
  const extreme = (name: Name, of: (...values: number[]) => number) => {
    const values = known(name).map(({ value }) => value)
    return values.length === 0 ? null : of(...values)
  }
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  // The mean square of all samples, less the square of their mean.
  const squares = known('poa_irradiance_stddev_w_m2').map(
    ({ value, bucket }) => value ** 2 + bucket.poa_irradiance_w_m2! ** 2,
  )
  const averages = known('poa_irradiance_stddev_w_m2').map(
    ({ bucket }) => bucket.poa_irradiance_w_m2!,
  )
  const stddev =
    squares.length === 0 ? null : Math.sqrt(Math.max(0, mean(squares)! - mean(averages)! ** 2))
  const covered_ms = buckets.reduce(
    (total, { completeness_pct }) => total + completeness_pct * bucket_ms,
    0,
  )
  return {
    start_ms,
    poa_irradiance_w_m2: average('poa_irradiance_w_m2'),
    ghi_w_m2: average('ghi_w_m2'),
    dhi_w_m2: average('dhi_w_m2'),
    module_temperature_c: average('module_temperature_c'),
    ambient_temperature_c: average('ambient_temperature_c'),
    relative_humidity_pct: average('relative_humidity_pct'),
    pressure_hpa: average('pressure_hpa'),
    wind_speed_m_s: average('wind_speed_m_s'),
    wind_direction_deg: bearing(
      average('wind_direction_deg', (degrees) => Math.cos(radians(degrees))),
      average('wind_direction_deg', (degrees) => Math.sin(radians(degrees))),
    ),
    poa_irradiance_max_w_m2: extreme('poa_irradiance_max_w_m2', Math.max),
    poa_irradiance_min_w_m2: extreme('poa_irradiance_min_w_m2', Math.min),
    poa_irradiance_stddev_w_m2: stddev,
    poa_insolation_kwh_m2: sum('poa_insolation_kwh_m2'),
    ghi_insolation_kwh_m2: sum('ghi_insolation_kwh_m2'),
    rain_mm: sum('rain_mm'),
    sample_count: sum('sample_count')!,
    completeness_pct: covered_ms / (end_ms - start_ms),
    sensors_rejected: extreme('sensors_rejected', Math.max)!,
    is_suspect: buckets.some(({ is_suspect }) => is_suspect),
  }
}
