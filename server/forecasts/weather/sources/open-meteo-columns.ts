/**
 * Converts the columns of Open-Meteo, {time: [], shortwave_radiation: [], …}, into steps.
 * Radiation at a time is the mean of the interval that ends then. All other variables, and the
 * `_instant` forms of radiation, are instantaneous. A step takes the radiation at its end, and the
 * mean of the instantaneous values at both ends.
 */
import { SourceFault } from '../../../markets/sources/source.ts'
import { type ForecastStep, type Quantity, resolutions_minutes } from '../run.ts'

interface Column {
  name: string
  /** Plausible range in our unit. */
  minimum: number
  maximum: number
  is_mean?: boolean
}

const radiation = (name: string): Column => ({ name, minimum: 0, maximum: 1600, is_mean: true })
const share = (name: string): Column => ({ name, minimum: 0, maximum: 100 })

export const columns = {
  ghi_w_m2: radiation('shortwave_radiation'),
  dni_w_m2: radiation('direct_normal_irradiance'),
  dhi_w_m2: radiation('diffuse_radiation'),
  temperature_c: { name: 'temperature_2m', minimum: -90, maximum: 65 },
  wind_speed_m_s: { name: 'wind_speed_10m', minimum: 0, maximum: 120 },
  cloud_cover_pct: share('cloud_cover'),
  relative_humidity_pct: share('relative_humidity_2m'),
} satisfies { [quantity in Quantity]?: Column }

const factors: Record<string, number> = {
  'W/m²': 1,
  'W/m2': 1,
  '°C': 1,
  '%': 1,
  'm/s': 1,
  'km/h': 1 / 3.6,
  mph: 0.44704,
  kn: 1852 / 3600,
}

type Values = readonly (number | null)[]
type Block = Record<string, unknown>

export interface Columns {
  /** Unix ms, ascending and evenly spaced. */
  times_ms: number[]
  step_ms: number
  block: Block
  units: Block
}

/** @throws {SourceFault} for a body without columns over time */
export function columnsOf(body: unknown, resolution: 'hourly' | 'minutely_15'): Columns {
  const answer = recordOf(body)
  const block = recordOf(answer?.[resolution])
  if (!answer || !block) throw new SourceFault(`open_meteo: an answer without '${resolution}'`)
  const times = Array.isArray(block['time']) ? block['time'] : []
  const offset_s = answer['utc_offset_seconds']
  const times_ms = times.map((time) => instantOf(time, typeof offset_s === 'number' ? offset_s : 0))
  const step_ms = (times_ms[1] ?? Number.NaN) - (times_ms[0] ?? Number.NaN)
  const is_even = times_ms.every((time_ms, index) => time_ms === times_ms[0]! + index * step_ms)
  const is_known = resolutions_minutes.some((minutes) => minutes * 60_000 === step_ms)
  if (!is_even || !is_known) throw new SourceFault("open_meteo: 'time' is not evenly spaced")
  return { times_ms, step_ms, block, units: recordOf(answer[`${resolution}_units`]) ?? {} }
}

/** `suffix` of the variable names, such as `_previous_day1`. */
export function stepsOf(table: Columns, suffix = ''): ForecastStep[] {
  const { times_ms, step_ms } = table
  const read = Object.entries(columns).map(([quantity, column]) => {
    return [quantity, meansOf(table, column, suffix)] as const
  })
  return times_ms.slice(1).map((end_ms, index) => ({
    start_ms: end_ms - step_ms,
    end_ms,
    ...(Object.fromEntries(read.map(([quantity, means]) => [quantity, means[index] ?? null])) as {
      [quantity in keyof typeof columns]: number | null
    }),
    ghi_p10_w_m2: null,
    ghi_p90_w_m2: null,
  }))
}

function meansOf(table: Columns, column: Column, suffix: string): Values {
  const instant = `${column.name}_instant${suffix}`
  if (column.is_mean && !(instant in table.block)) {
    return valuesOf(table, `${column.name}${suffix}`, column).slice(1)
  }
  const values = valuesOf(table, column.is_mean ? instant : `${column.name}${suffix}`, column)
  return values.slice(1).map((value, index) => {
    const before = values[index] ?? null
    return value === null || before === null ? null : (before + value) / 2
  })
}

/** Values at each time; null for missing and implausible ones. */
function valuesOf({ times_ms, block, units }: Columns, key: string, column: Column): Values {
  const values = Array.isArray(block[key]) ? block[key] : []
  const unit = units[key]
  const factor = typeof unit === 'string' ? factors[unit] : 1
  return times_ms.map((_, index) => {
    const given: unknown = values[index]
    if (factor === undefined || typeof given !== 'number') return null
    const value = given * factor
    return value >= column.minimum && value <= column.maximum ? value : null
  })
}

const members_min = 5

/** P10 and P90 of an ensemble, by the end of the step. */
export function spreadOf(table: Columns): Map<number, { p10: number; p90: number }> {
  const keys = Object.keys(table.block).filter((key) => /^shortwave_radiation_member\d+$/.test(key))
  const members = ['shortwave_radiation', ...keys].map((key) => {
    return valuesOf(table, key, columns.ghi_w_m2)
  })
  return new Map(
    table.times_ms.flatMap((time_ms, index) => {
      const values = members
        .map((member) => member[index] ?? null)
        .filter((value) => value !== null)
      if (values.length < members_min) return []
      values.sort((a, b) => a - b)
      return [[time_ms, { p10: quantile(values, 0.1), p90: quantile(values, 0.9) }]]
    }),
  )
}

/** Quantile with linear interpolation. */
function quantile(sorted: readonly number[], ratio: number): number {
  const at = ratio * (sorted.length - 1)
  const below = sorted[Math.floor(at)]!
  const above = sorted[Math.ceil(at)]!
  return below + (above - below) * (at - Math.floor(at))
}

/** Unix seconds, or local time by the offset from UTC. */
function instantOf(time: unknown, offset_s: number): number {
  if (typeof time === 'number') return time * 1000
  return typeof time === 'string' ? Date.parse(`${time}Z`) - offset_s * 1000 : Number.NaN
}

const recordOf = (value: unknown): Block | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Block) : null
