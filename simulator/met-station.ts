import type { Station } from '@heliograph/domain/site'
import type { Surface } from '@heliograph/physics/transposition'
import type { PlaneOfArray } from './sky.ts'
import type { Weather } from './weather.ts'

export type Instrument = Station['instruments'][number]

export interface Truth {
  surfaces: readonly Surface[]
  /** In the order of the surfaces. */
  planes: readonly PlaneOfArray[]
  weather: Weather
  ghi_w_m2: number
  dhi_w_m2: number
  /** Counter of the gauge since the solar midnight of the place, in whole millimetres. */
  rain_mm: number
}

export const instrumentSurface = ({ azimuth_deg = 180, tilt_deg = 0 }: Instrument): Surface => ({
  azimuth_deg,
  tilt_deg,
})

/** Reading of an instrument: the true value times its gain, at the resolution of its register. */
export function measured(instrument: Instrument, truth: Truth, gain: number): number {
  const { weather } = truth
  switch (instrument.quantity) {
    case 'poa_irradiance_w_m2': {
      const plane = planeOf(instrument, truth)
      return Math.round(
        gain *
          (instrument.type === 'reference_cell'
            ? plane.effective_irradiance_w_m2
            : plane.poa_irradiance_w_m2),
      )
    }
    case 'ghi_w_m2':
      return Math.round(gain * truth.ghi_w_m2)
    case 'dhi_w_m2':
      return Math.round(gain * truth.dhi_w_m2)
    case 'module_temperature_c':
      return Math.round(10 * (truth.planes[0]!.module_temperature_c + (gain - 1) * 100)) / 10
    case 'ambient_temperature_c':
      return Math.round(10 * weather.ambient_temperature_c) / 10
    case 'relative_humidity_pct':
      return Math.round(weather.relative_humidity_pct)
    case 'pressure_hpa':
      return Math.round(weather.pressure_hpa)
    case 'wind_speed_m_s':
      return Math.round(weather.wind_speed_m_s)
    case 'wind_direction_deg':
      return Math.round(weather.wind_direction_deg) % 360
    case 'rain_mm':
      return truth.rain_mm
  }
}

function planeOf(instrument: Instrument, { surfaces, planes }: Truth): PlaneOfArray {
  const own = instrumentSurface(instrument)
  const at = surfaces.findIndex(
    ({ azimuth_deg, tilt_deg }) => azimuth_deg === own.azimuth_deg && tilt_deg === own.tilt_deg,
  )
  return planes[Math.max(0, at)]!
}
