/**
 * The simulated site: `at(time_ms)` is what every device of `site.yaml` would measure at an
 * instant, from the sun down to each string. It depends on the site, the seed, the time and the
 * faults alone, so that history can be made in any order; only energy counters have a past, and
 * are kept apart (counters.ts).
 */
import type { Inverter, Logger, Site, Station } from '@heliograph/domain/site'
import { mpptCount, stringsOf } from '@heliograph/domain/site'
import type { Surface } from '@heliograph/physics/transposition'
import type { Fault } from './faults.ts'
import {
  type InverterFaults,
  type InverterModel,
  type InverterOutput,
  inverterOutput,
} from './inverter.ts'
import { noise, spread } from './noise.ts'
import { horizontalIrradiance, type Place, planeOfArray, type Sun, sunAt } from './sky.ts'
import { type Weather, weatherAt } from './weather.ts'

export interface InverterSnapshot extends InverterOutput {
  inverter_id: number
  cabinet_temperature_c: number
  heatsink_temperature_c: number
  insulation_resistance_kohm: number
}

export interface StationSnapshot {
  station_id: number
  /** In the order of the station's instruments, at the resolution of their registers. */
  instrument_values: number[]
}

export interface SiteSnapshot {
  time_ms: number
  frequency_hz: number
  /** Share of the nominal voltage at the inverters' terminals. */
  voltage_ratio: number
  inverters: InverterSnapshot[]
  stations: StationSnapshot[]
  /** At the grid connection, after the losses of transformer and cables. */
  export_power_kw: number
}

export interface Simulation {
  readonly site: Site
  at(time_ms: number, faults?: readonly Fault[]): SiteSnapshot
}

const plant_distance_m = 450
const soiling_ratio = 0.985
const mismatch_sigma = 0.008
const instrument_sigma = 0.004
const standby_ratio = 0.0002
const transformer_idle_kw_per_rated_kw = 0.0008
const transformer_load_loss_ratio = 0.009

const channel = { mismatch: 1000, instrument: 2000, grid: 3000 } as const

interface PlantModel {
  logger: Logger
  east_m: number
  surfaces: Surface[]
  inverters: InverterModel[]
  stations: Station[]
}

export function createSimulation(site: Site, seed: number): Simulation {
  const place = {
    latitude: site.latitude,
    longitude: site.longitude,
    elevation_m: site.elevation_m ?? 0,
  }
  const plants = site.loggers.map((logger, index) =>
    plantModel(site, logger, index * plant_distance_m, seed),
  )
  return {
    site,
    at(time_ms, faults = []) {
      const sun = sunAt(place, time_ms)
      const parts = plants.map((plant) => plantAt(plant, { place, sun, seed, time_ms, faults }))
      const inverters = parts.flatMap((part) => part.inverters)
      return {
        time_ms,
        frequency_hz: 50 + 0.04 * (noise(seed, channel.grid, time_ms / 15_000) - 0.5),
        voltage_ratio: 1 + 0.02 * (noise(seed, channel.grid + 1, time_ms / 120_000) - 0.5),
        inverters,
        stations: parts.flatMap((part) => part.stations),
        export_power_kw: exportPower(inverters, site),
      }
    },
  }
}

function exportPower(inverters: readonly InverterSnapshot[], site: Site): number {
  const rated_kw = site.loggers.reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0)
  const sum_kw = inverters.reduce((sum, { ac_power_kw }) => sum + ac_power_kw, 0)
  const load = rated_kw > 0 ? sum_kw / rated_kw : 0
  const idle_kw = transformer_idle_kw_per_rated_kw * rated_kw
  return sum_kw - idle_kw - transformer_load_loss_ratio * load * load * rated_kw
}

function plantModel(site: Site, logger: Logger, east_m: number, seed: number): PlantModel {
  const surfaces: Surface[] = []
  const surfaceIndex = ({ azimuth_deg, tilt_deg }: Surface): number => {
    const known = surfaces.findIndex(
      (surface) => surface.azimuth_deg === azimuth_deg && surface.tilt_deg === tilt_deg,
    )
    return known >= 0 ? known : surfaces.push({ azimuth_deg, tilt_deg }) - 1
  }
  const inverters = logger.inverters.map((inverter) =>
    inverterModel(site, inverter, seed, surfaceIndex),
  )
  const stations = logger.stations ?? []
  for (const station of stations) {
    for (const instrument of station.instruments) {
      if (instrument.quantity === 'poa_irradiance_w_m2') surfaceIndex(instrumentSurface(instrument))
    }
  }
  return { logger, east_m, surfaces, inverters, stations }
}

function inverterModel(
  site: Site,
  inverter: Inverter,
  seed: number,
  surfaceIndex: (surface: Surface) => number,
): InverterModel {
  const modules = new Map(site.panel_models.map((model) => [model.params_id, model]))
  const strings = stringsOf(inverter).map((string) => {
    const module = modules.get(string.params_id)
    if (!module) throw new Error(`inverter ${inverter.inverter_id}: no panel ${string.params_id}`)
    const nth = inverter.inverter_id * 1000 + string.string_index
    const light_ratio = soiling_ratio * (1 + spread(seed, channel.mismatch, nth, mismatch_sigma))
    return { ...string, module, surface: surfaceIndex(string), light_ratio }
  })
  return {
    inverter_id: inverter.inverter_id,
    rated_ac_power_kw: inverter.rated_ac_power_kw,
    standby_power_kw: inverter.rated_ac_power_kw * standby_ratio,
    string_count: strings.length,
    mppts: Array.from({ length: mpptCount(inverter) }, (_, mppt) =>
      strings.filter(({ mppt_index }) => mppt_index === mppt),
    ),
  }
}

interface Moment {
  place: Place
  sun: Sun
  seed: number
  time_ms: number
  faults: readonly Fault[]
}

function plantAt(plant: PlantModel, moment: Moment) {
  const { place, sun, seed, time_ms, faults } = moment
  const weather = weatherAt(seed, time_ms, { ...place, east_m: plant.east_m })
  const horizontal = horizontalIrradiance(place, sun, weather)
  const planes = plant.surfaces.map((surface) => planeOfArray(surface, sun, horizontal, weather))
  const inverters = plant.inverters.map((model): InverterSnapshot => {
    const output = inverterOutput(model, planes, faultsOf(model.inverter_id, faults))
    const load = Math.max(0, output.ac_power_kw) / model.rated_ac_power_kw
    return {
      ...output,
      inverter_id: model.inverter_id,
      cabinet_temperature_c: weather.ambient_temperature_c + 6 + 18 * load,
      heatsink_temperature_c: weather.ambient_temperature_c + 8 + 34 * load,
      insulation_resistance_kohm: 4200 - 30 * weather.relative_humidity_pct,
    }
  })
  const stations = plant.stations.map((station): StationSnapshot => {
    const truth = { plant, planes, weather, ghi: horizontal.ghi_w_m2, dhi: horizontal.dhi_w_m2 }
    return {
      station_id: station.station_id,
      instrument_values: station.instruments.map((instrument, index) => {
        const stuck = faults.find(
          (fault) =>
            fault.kind === 'stuck_sensor' &&
            fault.station_id === station.station_id &&
            fault.sensor_id === instrument.sensor_id,
        )
        if (stuck?.kind === 'stuck_sensor') return stuck.value
        const gain =
          1 + spread(seed, channel.instrument, station.station_id * 100 + index, instrument_sigma)
        return measured(instrument, truth, gain)
      }),
    }
  })
  return { inverters, stations }
}

function faultsOf(inverter_id: number, faults: readonly Fault[]): InverterFaults {
  const own = faults.filter((fault) => 'inverter_id' in fault && fault.inverter_id === inverter_id)
  return {
    dead: own.some(({ kind }) => kind === 'dead_inverter'),
    open_strings: new Set(
      own.flatMap((fault) => (fault.kind === 'open_string' ? [fault.string_index] : [])),
    ),
  }
}

type Instrument = Station['instruments'][number]

const instrumentSurface = ({ azimuth_deg = 180, tilt_deg = 0 }: Instrument): Surface => ({
  azimuth_deg,
  tilt_deg,
})

interface Truth {
  plant: PlantModel
  planes: readonly ReturnType<typeof planeOfArray>[]
  weather: Weather
  ghi: number
  dhi: number
}

/** What an instrument reports: the truth by its gain, at the resolution of its register. */
function measured(instrument: Instrument, truth: Truth, gain: number): number {
  const { weather } = truth
  const own = instrumentSurface(instrument)
  const at = truth.plant.surfaces.findIndex(
    ({ azimuth_deg, tilt_deg }) => azimuth_deg === own.azimuth_deg && tilt_deg === own.tilt_deg,
  )
  const plane = truth.planes[Math.max(0, at)]!
  switch (instrument.quantity) {
    case 'poa_irradiance_w_m2':
      return Math.round(
        gain *
          (instrument.type === 'reference_cell'
            ? plane.effective_irradiance_w_m2
            : plane.poa_irradiance_w_m2),
      )
    case 'ghi_w_m2':
      return Math.round(gain * truth.ghi)
    case 'dhi_w_m2':
      return Math.round(gain * truth.dhi)
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
      return 0
  }
}
