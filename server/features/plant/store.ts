import type { MeterReading, Quality, WeatherReading } from '@heliograph/domain/readings'
import type { Queries } from '../../storage/database.ts'
import type { LocationRow } from './location.ts'

export interface MeterRow
  extends Pick<MeterReading, 'active_power_kw' | 'reactive_power_kvar' | 'frequency_hz'> {
  measured_at: Date
  quality: Quality
}

export interface StationRow
  extends Pick<
    WeatherReading,
    'poa_irradiance_w_m2' | 'module_temperature_c' | 'ambient_temperature_c'
  > {
  measured_at: Date
  quality: Quality
}

export interface PlantStore {
  locations(site_id: string, location_id?: number): Promise<LocationRow[]>
  /** What the meters at the grid connection measured last. */
  gridMeters(site_id: string): Promise<MeterRow[]>
  /** What the met stations measured last. */
  stations(site_id: string): Promise<StationRow[]>
}

export function createPlantStore(db: Queries): PlantStore {
  return {
    locations: (site_id, location_id) =>
      db.query<LocationRow>(locations, [site_id, location_id ?? null]),
    gridMeters: (site_id) =>
      db.query<MeterRow>(
        `SELECT l.measured_at, l.quality, l.active_power_kw, l.reactive_power_kvar, l.frequency_hz
         FROM meters m
         JOIN meter_latest l ON l.site_id = m.site_id AND l.meter_id = m.meter_id
         WHERE m.site_id = $1 AND m.role = 'grid_connection' AND m.retired_at IS NULL
         ORDER BY m.meter_id`,
        [site_id],
      ),
    stations: (site_id) =>
      db.query<StationRow>(
        `SELECT l.measured_at, l.quality, l.poa_irradiance_w_m2, l.module_temperature_c,
                l.ambient_temperature_c
         FROM stations s
         JOIN weather_latest l ON l.site_id = s.site_id AND l.station_id = s.station_id
         WHERE s.site_id = $1 AND s.retired_at IS NULL
         ORDER BY s.station_id`,
        [site_id],
      ),
  }
}

const idsAt = (table: string, id: string) => `
  ARRAY(SELECT d.${id} FROM ${table} d
        WHERE d.site_id = p.site_id AND d.location_id = p.location_id AND d.retired_at IS NULL
        ORDER BY 1) AS ${id}s`

const locations = `
  SELECT p.location_id, p.parent_location_id, p.type, p.name, p.code, p.latitude, p.longitude,
         p.elevation_m, p.address, p.access_notes, ${idsAt('loggers', 'logger_id')},
         ${idsAt('inverters', 'inverter_id')}, ${idsAt('stations', 'station_id')},
         p.created_at, p.updated_at, p.retired_at
  FROM locations p
  WHERE p.site_id = $1 AND ($2::int IS NULL OR p.location_id = $2)
  ORDER BY p.location_id`
