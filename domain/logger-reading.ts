/** The reading of a whole plant, composed from the newest readings of its devices. */
import type { InverterReading, LoggerReading, WeatherReading } from './readings.ts'
import { significant } from './significant.ts'

export interface PlantReadings {
  logger_id: number
  /** Instant of the reading, Unix ms. */
  measured_at: number
  inverters_total: number
  /** The newest reading of each inverter that has one. */
  inverters: readonly InverterReading[]
  /** The newest reading of each met station of the plant that has one. */
  stations: readonly WeatherReading[]
  /** Age up to which a reading counts, ms. */
  inverter_age_ms_max: number
  station_age_ms_max: number
}

type Summed = 'dc_power_kw' | 'reactive_power_kvar' | 'available_power_kw' | 'energy_total_kwh'
type Averaged = 'poa_irradiance_w_m2' | 'module_temperature_c' | 'ambient_temperature_c'

/**
 * AC power is the sum over the inverters with a fresh reading, `null` without any. The quality is
 * `suspect` if any is missing. Other powers are sums over the same inverters, `null` unless all of
 * them report the quantity, so that ratios to AC power are valid. Counters and available power need
 * every inverter of the plant: otherwise the sum would fall and rise with connections.
 *
 * Apparent power is that of the plant, from its active and reactive power; the power factor is
 * their ratio, 0 to 1.
 *
 * Returns `null` without any fresh reading.
 */
export function loggerReading(plant: PlantReadings): LoggerReading | null {
  const { logger_id, measured_at, inverters_total } = plant
  const online = plant.inverters.filter(isFresh(measured_at, plant.inverter_age_ms_max))
  const stations = plant.stations.filter(isFresh(measured_at, plant.station_age_ms_max))
  if (online.length + stations.length === 0) return null
  const powered = online.filter((reading) => reading.ac_power_kw !== null)
  const complete = powered.length === inverters_total && inverters_total > 0

  const ac_power_kw = sum(powered.map((reading) => reading.ac_power_kw))
  const sumOf = (name: Summed) => sum(powered.map((reading) => reading[name]))
  const meanOf = (name: Averaged) => mean(stations.map((reading) => reading[name]))
  const reactive_power_kvar = sumOf('reactive_power_kvar')
  const apparent_power_kva =
    ac_power_kw === null || reactive_power_kvar === null
      ? null
      : Math.hypot(ac_power_kw, reactive_power_kvar)
  return {
    logger_id,
    measured_at,
    quality: complete && powered.every(({ quality }) => quality === 'good') ? 'good' : 'suspect',
    ac_power_kw,
    dc_power_kw: sumOf('dc_power_kw'),
    reactive_power_kvar,
    apparent_power_kva,
    power_factor: apparent_power_kva ? Math.abs(ac_power_kw ?? 0) / apparent_power_kva : null,
    frequency_hz: mean(online.map((reading) => reading.frequency_hz)),
    energy_total_kwh: energyTotal(online, inverters_total),
    available_power_kw: complete ? sumOf('available_power_kw') : null,
    poa_irradiance_w_m2: meanOf('poa_irradiance_w_m2'),
    module_temperature_c: meanOf('module_temperature_c'),
    ambient_temperature_c: meanOf('ambient_temperature_c'),
    inverters_online: online.length,
    inverters_total,
  }
}

function energyTotal(online: readonly InverterReading[], inverters_total: number): number | null {
  return online.length === inverters_total ? sum(online.map((r) => r.energy_total_kwh)) : null
}

/** A reading from the future, after a step of the clock, counts as fresh. */
function isFresh(now: number, age_ms_max: number) {
  return ({ measured_at }: { measured_at: number }) => now - measured_at <= age_ms_max
}

/** `null` for an empty list, and if any value is null. */
function sum(values: readonly (number | null)[]): number | null {
  if (values.length === 0) return null
  let total = 0
  for (const value of values) {
    if (value === null) return null
    total += value
  }
  return significant(total)
}

function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  const total = sum(known)
  return total === null ? null : significant(total / known.length)
}
