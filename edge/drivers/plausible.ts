/** Plausible measurements: a value outside its range becomes `null`, with a reason. */
import { readingKinds } from '@heliograph/domain/readings'
import type { Complaint } from './driver.ts'

export type Range = readonly [min: number, max: number]

/** Ranges by the first pattern that matches the name of a column; wide enough for true values. */
const patterns: readonly (readonly [RegExp, Range])[] = [
  [/^power_factor$/, [-1.01, 1.01]],
  [/^frequency_hz$/, [0, 100]],
  [/^voltage_l\d_(l\d|n)_v$/, [0, 50_000]],
  [/^((dc|mppt)_)?voltage_v$/, [-100, 3000]],
  [/^((dc|mppt)_current|current_l\d)_a$/, [-50_000, 50_000]],
  [/^current_a$/, [-1000, 1000]],
  [/^module_temperature_c$/, [-70, 150]],
  [/^ambient_temperature_c$/, [-70, 120]],
  [/_temperature_c$/, [-60, 250]],
  [/energy_(\w+_)?(total|export|import)_kwh$/, [0, 1e10]],
  [/^(power_limit|relative_humidity)_pct$/, [0, 110]],
  [/_w_m2$/, [-50, 2500]],
  [/^pressure_hpa$/, [300, 1200]],
  [/^wind_speed_m_s$/, [0, 120]],
  [/^wind_direction_deg$/, [0, 360]],
  [/^rain_mm$/, [0, 100_000]],
]

const ranges = new Map(
  Object.values(readingKinds)
    .flatMap(({ columns }) => Object.keys(columns))
    .map((name) => [name, patterns.find(([pattern]) => pattern.test(name))?.[1]]),
)

/** Null for a column that may have any value. */
export const rangeOf = (column: string): Range | null => ranges.get(column) ?? null

type Measured = Readonly<Record<string, unknown>>

/**
 * Returns the values with those outside their range as `null`. `extra` has ranges that depend on
 * the device. Each such value is a complaint, with the index for elements of arrays.
 */
export function plausible<Values extends object>(
  values: Values,
  complaints: Complaint[],
  extra: Readonly<Record<string, Range>> = {},
): Values {
  const check = (name: string, value: unknown, point: string): unknown => {
    const range = extra[name] ?? ranges.get(name)
    if (typeof value !== 'number' || !range) return value
    if (value >= range[0] && value <= range[1]) return value
    complaints.push({ point, reason: `${value} is outside ${range[0]} to ${range[1]}` })
    return null
  }
  const entries = Object.entries(values as Measured).map(([name, value]) => [
    name,
    Array.isArray(value)
      ? value.map((element, index) => check(name, element, `${name}[${index}]`))
      : check(name, value, name),
  ])
  return Object.fromEntries(entries) as Values
}
