import { pressureAtAltitude } from './atmosphere.ts'
import { type FaimanCoefficients, faiman, faiman_mean } from './cell-temperature.ts'
import { clearSkyIrradiance } from './clear-sky.ts'
import { requireRoom, roomFor } from './series.ts'
import { type CecModule, cecSingleDiode, maximumPowerPoint } from './single-diode.ts'
import { extraterrestrialDni, solarPositions } from './solar-position.ts'
import { hayDavies, type Surface } from './transposition.ts'

/** A module in a place, under a sky without clouds. */
export interface ClearSkyModule {
  /** North positive, -90 to 90. */
  latitude_deg: number
  /** East positive. */
  longitude_deg: number
  /** Above sea level. */
  altitude_m: number
  /** Air pressure, yearly mean; by default that of the standard atmosphere. */
  pressure_pa?: number
  surface: Surface
  /** Turbidity at air mass 2, 1 to 10, as `ineichenPerez` has it. */
  linke_turbidity: number
  /** Share of the light that the ground throws back, 0 to 1. */
  albedo_ratio: number
  module: CecModule
  /** Cooling by the air; the mean of the paper by default. */
  cooling?: FaimanCoefficients
  /** Terrestrial time less universal time; by default as `solarPosition`. */
  delta_t_s?: number
}

/** Instants, ms since 1970 and in any order, and the weather at each of them: equally long. */
interface WeatherSeries {
  times_ms: Float64Array
  air_temperature_c: Float64Array
  wind_speed_m_s: Float64Array
}

/** One element for each instant; night is 0 power at air temperature. */
interface ClearSkySeries {
  ghi_w_m2: Float64Array
  /** Global irradiance in the plane of the module, before reflection at its glass. */
  poa_w_m2: Float64Array
  cell_temperature_c: Float64Array
  v_mp_v: Float64Array
  i_mp_a: Float64Array
  p_mp_w: Float64Array
}

/**
 * What a module would give under a clear sky, from the position of the sun to the point of maximum
 * power: `solarPosition`, `ineichenPerez`, `hayDavies`, `faiman`, `cecSingleDiode`,
 * `maximumPowerPoint`, each with its own ranges. Losses by reflection, spectrum, dirt and shade are
 * not taken off.
 * `out` is filled from its start and given back; without it a new one is. Throws a RangeError for
 * series of different lengths and where `out` is too short; an element that is not a number spoils
 * that instant and no other.
 */
export function clearSkyPower(
  place: ClearSkyModule,
  weather: WeatherSeries,
  out: ClearSkySeries = clearSkySeries(weather.times_ms.length),
): ClearSkySeries {
  const { times_ms, air_temperature_c, wind_speed_m_s } = weather
  const count = times_ms.length
  for (const [name, { length }] of Object.entries({ air_temperature_c, wind_speed_m_s })) {
    if (length !== count) throw new RangeError(`${name} has ${length} elements, not ${count}`)
  }
  const pressure_pa = place.pressure_pa ?? pressureAtAltitude(place.altitude_m)
  const sun = solarPositions(times_ms, place.latitude_deg, place.longitude_deg, {
    elevation_m: place.altitude_m,
    pressure_pa,
    ...(place.delta_t_s === undefined ? {} : { delta_t_s: place.delta_t_s }),
  })
  requireRoom(out, count)
  for (const values of Object.values(out)) values.fill(0, 0, count)
  const { surface, module, linke_turbidity, altitude_m, albedo_ratio } = place
  const cooling = place.cooling ?? faiman_mean
  for (let i = 0; i < count; i++) {
    const apparent_zenith_deg = sun.apparent_zenith_deg[i]!
    const dni_extra_w_m2 = extraterrestrialDni(sun.distance_au[i]!)
    const sky = clearSkyIrradiance({
      apparent_zenith_deg,
      pressure_pa,
      linke_turbidity,
      altitude_m,
      dni_extra_w_m2,
    })
    out.ghi_w_m2[i] = sky.ghi_w_m2
    const air_c = air_temperature_c[i]!
    if (sky.ghi_w_m2 === 0) {
      out.cell_temperature_c[i] = air_c
      continue
    }
    const direction = { zenith_deg: apparent_zenith_deg, azimuth_deg: sun.azimuth_deg[i]! }
    const horizontal = { ...sky, dni_extra_w_m2, albedo_ratio }
    const poa_w_m2 = hayDavies(surface, direction, horizontal).global_w_m2
    const wind_speed = wind_speed_m_s[i]!
    const cell_c = faiman(
      { poa_w_m2, air_temperature_c: air_c, wind_speed_m_s: wind_speed },
      cooling,
    )
    const point = maximumPowerPoint(cecSingleDiode(module, poa_w_m2, cell_c))
    out.poa_w_m2[i] = poa_w_m2
    out.cell_temperature_c[i] = cell_c
    out.v_mp_v[i] = point.voltage_v
    out.i_mp_a[i] = point.current_a
    out.p_mp_w[i] = point.power_w
  }
  return out
}

function clearSkySeries(count: number): ClearSkySeries {
  const light = ['ghi_w_m2', 'poa_w_m2', 'cell_temperature_c'] as const
  return roomFor([...light, 'v_mp_v', 'i_mp_a', 'p_mp_w'], count)
}
