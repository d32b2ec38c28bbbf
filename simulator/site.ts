/**
 * The simulated site: `at(time_ms)` returns the measurements of every device of `site.yaml` at an
 * instant, from the sun down to each string. They depend only on site, seed, time and faults, so
 * that history can be computed in any order. Only energy counters have a past (counters.ts).
 */
import { circuitOf } from '@heliograph/domain/panel-model'
import type { Place } from '@heliograph/domain/place'
import type { Inverter, Logger, PvString, Site, Station } from '@heliograph/domain/site'
import { mpptCount, stringsOf } from '@heliograph/domain/site'
import type { Surface } from '@heliograph/physics/transposition'
import { ailmentsAt } from './ailments.ts'
import { standingFaults } from './demo/faults.ts'
import { type Fault, isInForce } from './faults.ts'
import { type Grid, temperaturesAt } from './grid-side.ts'
import { type InverterModel, type InverterOutput, inverterOutput } from './inverter.ts'
import { instrumentSurface, measured, type Truth } from './met-station.ts'
import { noise, spread } from './noise.ts'
import { obstacleOf } from './shade.ts'
import { horizontalIrradiance, planeOfArray, type Sun, sunAt } from './sky.ts'
import { createSoiling, type Soiling } from './soiling.ts'
import type { StringModel } from './string.ts'
import { weatherAt } from './weather.ts'

export interface InverterSnapshot extends InverterOutput {
  inverter_id: number
  cabinet_temperature_c: number
  heatsink_temperature_c: number
  insulation_resistance_kohm: number
}

interface StationSnapshot {
  station_id: number
  /** In the order of the station's instruments, at the resolution of their registers. */
  instrument_values: number[]
}

export interface SiteSnapshot extends Grid {
  time_ms: number
  inverters: InverterSnapshot[]
  stations: StationSnapshot[]
  /** At the grid connection, after the losses of transformer and cables. */
  export_power_kw: number
}

export interface Simulation {
  readonly site: Site
  readonly seed: number
  /** Faults of the site, in its history and whenever it runs. */
  readonly faults: readonly Fault[]
  /** `more` faults are added to those of the site. */
  at(time_ms: number, more?: readonly Fault[]): SiteSnapshot
}

const plant_distance_m = 450
const year_ms = 365.25 * 86_400_000
const usual_mismatch_sigma = 0.008
/** Permanent dirt, and dust per day without rain: half to one and a half times this per string. */
const lasting_soiling_ratio = 0.006
const soiling_ratio_per_day = 0.0008
/**
 * The median of D. C. Jordan and S. R. Kurtz, "Photovoltaic Degradation Rates: an Analytical
 * Review", Progress in Photovoltaics 21(1), 2013, most of it lost as current.
 */
const degradation_ratio_per_year = 0.005
const degradation_sigma = 0.0012
/** Per module: usual modules lose 0.2 to 0.6 percent of their power in the wiring. */
const wiring_ohm = 0.008
const wiring_ohm_more = 0.016
const instrument_sigma = 0.004
const standby_ratio = 0.0002
const nominal_efficiency_pct = 97.5
const transformer_idle_kw_per_rated_kw = 0.0008
const transformer_load_loss_ratio = 0.009

const channel = {
  mismatch: 1000,
  instrument: 2000,
  grid: 3000,
  dirt: 5000,
  dust: 5100,
  age: 5200,
  wiring: 5300,
} as const

interface PlantModel {
  logger: Logger
  east_m: number
  commissioned_ms: number | null
  surfaces: Surface[]
  inverters: InverterModel[]
  stations: Station[]
}

interface SimulationOptions {
  faults?: readonly Fault[]
  /** Spread of string currents by the tolerance of their modules. */
  mismatch_sigma?: number
}

export function createSimulation(
  site: Site,
  seed: number,
  { faults = standingFaults(site), mismatch_sigma = usual_mismatch_sigma }: SimulationOptions = {},
): Simulation {
  const place = {
    latitude: site.latitude,
    longitude: site.longitude,
    elevation_m: site.elevation_m ?? 0,
  }
  const soiling = createSoiling(seed, site.longitude)
  const plants = site.loggers.map((logger, index) =>
    plantModel(site, logger, { east_m: index * plant_distance_m, seed, mismatch_sigma }),
  )
  return {
    site,
    seed,
    faults,
    at(time_ms, more = []) {
      const sun = sunAt(place, time_ms)
      const all = more.length > 0 ? [...faults, ...more] : faults
      const moment = { place, sun, seed, time_ms, soiling, faults: all }
      const parts = plants.map((plant) => plantAt(plant, moment))
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

function plantModel(
  site: Site,
  logger: Logger,
  { east_m, ...making }: { east_m: number } & Omit<Making, 'surfaceIndex'>,
): PlantModel {
  const surfaces: Surface[] = []
  const surfaceIndex = ({ azimuth_deg, tilt_deg }: Surface): number => {
    const known = surfaces.findIndex(
      (surface) => surface.azimuth_deg === azimuth_deg && surface.tilt_deg === tilt_deg,
    )
    return known >= 0 ? known : surfaces.push({ azimuth_deg, tilt_deg }) - 1
  }
  const inverters = logger.inverters.map((inverter) =>
    inverterModel(site, inverter, { ...making, surfaceIndex }),
  )
  const stations = logger.stations ?? []
  for (const station of stations) {
    for (const instrument of station.instruments) {
      if (instrument.quantity === 'poa_irradiance_w_m2') surfaceIndex(instrumentSurface(instrument))
    }
  }
  const commissioned = logger.commissioned_date ?? site.commissioned_date
  const commissioned_ms = commissioned === undefined ? null : Date.parse(commissioned)
  return { logger, east_m, commissioned_ms, surfaces, inverters, stations }
}

interface Making {
  seed: number
  mismatch_sigma: number
  surfaceIndex: (surface: Surface) => number
}

function inverterModel(site: Site, inverter: Inverter, making: Making): InverterModel {
  const strings = stringsOf(inverter).map((string) => stringModel(site, inverter, string, making))
  return {
    inverter_id: inverter.inverter_id,
    rated_ac_power_kw: inverter.rated_ac_power_kw,
    nominal_efficiency_ratio: (inverter.nominal_efficiency_pct ?? nominal_efficiency_pct) / 100,
    standby_power_kw: inverter.rated_ac_power_kw * standby_ratio,
    string_count: strings.length,
    mppts: Array.from({ length: mpptCount(inverter) }, (_, mppt) =>
      strings.filter(({ mppt_index }) => mppt_index === mppt),
    ),
  }
}

function stringModel(
  site: Site,
  inverter: Inverter,
  string: PvString,
  { seed, mismatch_sigma, surfaceIndex }: Making,
): StringModel {
  const model = site.panel_models.find(({ params_id }) => params_id === string.params_id)
  const module = model ? circuitOf(model) : null
  if (!module) throw new Error(`panel_models: ${string.params_id}: a simulation needs its circuit`)
  const nth = inverter.inverter_id * 1000 + string.string_index
  const { string_index, mppt_index, module_count, connected, azimuth_deg, tilt_deg } = string
  return {
    string_index,
    mppt_index,
    module,
    module_count,
    connected,
    surface: surfaceIndex({ azimuth_deg, tilt_deg }),
    mismatch_ratio: 1 + spread(seed, channel.mismatch, nth, mismatch_sigma),
    lasting_soiling_ratio: lasting_soiling_ratio * (1 + spread(seed, channel.dirt, nth, 1 / 6)),
    soiling_ratio_per_day: soiling_ratio_per_day * (1 + spread(seed, channel.dust, nth, 1 / 6)),
    degradation_ratio_per_year:
      degradation_ratio_per_year + spread(seed, channel.age, nth, degradation_sigma),
    wiring_ohm: wiring_ohm + wiring_ohm_more * (0.5 + spread(seed, channel.wiring, nth, 1 / 6)),
    obstacle: obstacleOf(seed, nth, { surface: string, latitude: site.latitude }),
  }
}

interface Moment {
  place: Place
  sun: Sun
  seed: number
  time_ms: number
  soiling: Soiling
  faults: readonly Fault[]
}

function plantAt(plant: PlantModel, moment: Moment) {
  const { place, sun, seed, time_ms, soiling, faults } = moment
  const weather = weatherAt(seed, time_ms, { ...place, east_m: plant.east_m })
  const horizontal = horizontalIrradiance(place, sun, weather)
  const planes = plant.surfaces.map((surface) => planeOfArray(surface, sun, horizontal, weather))
  const around = {
    surfaces: planes,
    sun: sun.position,
    dust_days: soiling.dust_days(time_ms),
    years_in_use: Math.max(0, (time_ms - (plant.commissioned_ms ?? time_ms)) / year_ms),
  }
  const ailments = ailmentsAt(faults, time_ms)
  const inverters = plant.inverters.map((model): InverterSnapshot => {
    const output = inverterOutput(model, around, ailments(model.inverter_id))
    const load = Math.max(0, output.ac_power_kw) / model.rated_ac_power_kw
    return {
      ...output,
      inverter_id: model.inverter_id,
      ...temperaturesAt(weather.ambient_temperature_c, load),
      insulation_resistance_kohm: 4200 - 30 * weather.relative_humidity_pct,
    }
  })
  const truth = {
    surfaces: plant.surfaces,
    planes,
    weather,
    ghi_w_m2: horizontal.ghi_w_m2,
    dhi_w_m2: horizontal.dhi_w_m2,
    rain_mm: Math.floor(soiling.rain_mm(time_ms)),
  }
  return { inverters, stations: plant.stations.map((one) => stationAt(one, truth, moment)) }
}

function stationAt(
  { station_id, instruments }: Station,
  truth: Truth,
  { seed, time_ms, faults }: Moment,
): StationSnapshot {
  const instrument_values = instruments.map((instrument, index) => {
    const stuck = faults.find(
      (fault) =>
        fault.kind === 'stuck_sensor' &&
        fault.station_id === station_id &&
        fault.sensor_id === instrument.sensor_id &&
        isInForce(fault, time_ms),
    )
    if (stuck?.kind === 'stuck_sensor') return stuck.value
    const gain = 1 + spread(seed, channel.instrument, station_id * 100 + index, instrument_sigma)
    return measured(instrument, truth, gain)
  })
  return { station_id, instrument_values }
}
