import type { WeatherReading } from './readings.ts'
import { type Instrument, instrumentQuantities } from './site.ts'

type Quantity = (typeof instrumentQuantities)[number]

/**
 * The averages of a met station: per quantity, the mean of the instruments that measured it, and
 * the circular mean of wind directions; `null` without a measurement. `values` are in the order of
 * the instruments.
 */
export function plotAverages(
  instruments: readonly Instrument[],
  values: readonly (number | null)[],
): Pick<WeatherReading, Quantity> {
  const averages = Object.fromEntries(
    instrumentQuantities.map((quantity) => {
      const measured = values.filter(
        (value, index): value is number =>
          value !== null && instruments[index]?.quantity === quantity,
      )
      return [quantity, quantity === 'wind_direction_deg' ? bearing(measured) : mean(measured)]
    }),
  )
  return averages as Pick<WeatherReading, Quantity>
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** Circular mean; `null` if the directions cancel out. */
function bearing(values: readonly number[]): number | null {
  if (values.length === 0) return null
  if (values.length === 1) return values[0]!
  const radians = values.map((value) => (value * Math.PI) / 180)
  const north = radians.reduce((sum, angle) => sum + Math.cos(angle), 0)
  const east = radians.reduce((sum, angle) => sum + Math.sin(angle), 0)
  if (Math.hypot(north, east) < 1e-9 * values.length) return null
  return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
}
