/** Features of a step for a production model: physics, then weather. */
import { day_ms } from '@heliograph/domain/durations'
import { type FeatureTable, featureTable } from './feature-table.ts'
import { type Step, stepHours } from './plant.ts'
import type { PlantPhysics } from './plant-physics.ts'
import type { ForecastWeather, StepAhead } from './production-samples.ts'

const year_ms = 365.25 * day_ms

interface FeatureSource {
  /** In ascending series. */
  steps: readonly StepAhead[]
  physics: PlantPhysics
  /** The day of a step; neighbours and sums stay within it, as it is forecast at once. */
  dayOf: (step: Step) => number
}

/**
 * One row per step, nights included. Columns are shares of rated power unless stated: power by
 * physics (`physical` after clipping, `potential` before, `clear` under a clear sky), irradiance,
 * clear-sky index and clouds with those of the steps before and after, air, sun, season, the day's
 * potential (hours at rated power) and clear-sky index, lead time, spread of the ensemble. NaN for
 * missing weather, and for neighbours that do not adjoin. Sums of a day are those of the given
 * steps, so give whole days.
 */
export function productionFeatures(source: FeatureSource): FeatureTable {
  const { steps, physics } = source
  const of = (value: (weather: ForecastWeather) => number | null | undefined) =>
    Float64Array.from(steps, ({ weather }) => (weather && value(weather)) ?? Number.NaN)
  const cloud = of(({ cloud_cover_pct }) => cloud_cover_pct)
  const season = Float64Array.from(
    steps,
    ({ start_ms }) => ((start_ms % year_ms) / year_ms) * 2 * Math.PI,
  )
  const days = dayNumbers(steps, source.dayOf)
  const day = daySums(source, days)
  const beside = (values: Float64Array, side: -1 | 1) => neighbours(values, side, { steps, days })
  return featureTable({
    physical: physics.ac_ratio,
    potential: physics.potential_ratio,
    clear: physics.clear_ratio,
    poa_w_m2: physics.poa_w_m2,
    ghi_w_m2: of(({ ghi_w_m2 }) => ghi_w_m2),
    diffuse: of(({ ghi_w_m2, dhi_w_m2 }) =>
      ghi_w_m2 === null || dhi_w_m2 === null || ghi_w_m2 <= 0 ? null : dhi_w_m2 / ghi_w_m2,
    ),
    clear_index: physics.clear_index,
    clear_index_before: beside(physics.clear_index, -1),
    clear_index_after: beside(physics.clear_index, 1),
    potential_before: beside(physics.potential_ratio, -1),
    potential_after: beside(physics.potential_ratio, 1),
    cloud_pct: cloud,
    cloud_before_pct: beside(cloud, -1),
    cloud_after_pct: beside(cloud, 1),
    temperature_c: of(({ temperature_c }) => temperature_c),
    wind_speed_m_s: of(({ wind_speed_m_s }) => wind_speed_m_s),
    humidity_pct: of(({ relative_humidity_pct }) => relative_humidity_pct),
    elevation_deg: physics.elevation_deg,
    azimuth_deg: physics.azimuth_deg,
    season_sin: season.map(Math.sin),
    season_cos: season.map(Math.cos),
    day_potential_h: day.potential_h,
    day_clear_index: day.clear_index,
    lead_time_h: Float64Array.from(steps, ({ lead_time_h }) => lead_time_h),
    ghi_spread_w_m2: of(({ ghi_spread_w_m2 }) => ghi_spread_w_m2),
  })
}

/** The values of the steps just before (-1) or after (1), NaN if none of the day adjoins. */
function neighbours(
  values: Float64Array,
  side: -1 | 1,
  { steps, days }: { steps: readonly Step[]; days: Int32Array },
): Float64Array {
  return values.map((_, i) => {
    const [earlier, later] = side < 0 ? [steps[i - 1], steps[i]] : [steps[i], steps[i + 1]]
    const adjoin = earlier !== undefined && earlier.end_ms === later?.start_ms
    return adjoin && days[i] === days[i + side] ? values[i + side]! : Number.NaN
  })
}

/** The UTC day in which a step begins, counted from 1970. */
export const utcDay = ({ start_ms }: Step): number => Math.floor(start_ms / day_ms)

/** Numbers of the days of the steps, counted anew in each series. */
export function dayNumbers(steps: readonly Step[], dayOf: FeatureSource['dayOf']): Int32Array {
  let number = -1
  let day = Number.NaN
  return Int32Array.from(steps, (step, i) => {
    const own_day = dayOf(step)
    const goes_back = i > 0 && step.start_ms < steps[i - 1]!.end_ms
    if (own_day !== day || goes_back) number += 1
    day = own_day
    return number
  })
}

function daySums({ steps, physics }: FeatureSource, days: Int32Array) {
  const sums = Array.from({ length: (days.at(-1) ?? -1) + 1 }, () => ({ got_h: 0, clear_h: 0 }))
  for (const [i, step] of steps.entries()) {
    const potential = physics.potential_ratio[i]!
    if (Number.isNaN(potential)) continue
    const sum = sums[days[i]!]!
    sum.got_h += potential * stepHours(step)
    sum.clear_h += physics.clear_ratio[i]! * stepHours(step)
  }
  return {
    potential_h: Float64Array.from(days, (day) => sums[day]!.got_h),
    clear_index: Float64Array.from(days, (day) => {
      const { got_h, clear_h } = sums[day]!
      return clear_h > 0 ? got_h / clear_h : Number.NaN
    }),
  }
}
