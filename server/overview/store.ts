import {
  type MeterReading,
  type Quality,
  readingKinds,
  type WeatherReading,
} from '@heliograph/domain/readings'
import type { Instrument } from '@heliograph/domain/site'
import type { Measurement } from '../plant/frame.ts'
import type { Queries } from '../storage/database.ts'
import { openDefectStates } from '../work/defect-states.ts'
import { workingStates } from '../work/work-order-states.ts'
import type { LocationRow } from './location.ts'

export interface MeterRow
  extends Pick<MeterReading, 'active_power_kw' | 'reactive_power_kvar' | 'frequency_hz'> {
  measured_at: Date
  quality: Quality
}

export interface StationRow
  extends Measurement,
    Omit<WeatherReading, 'station_id' | 'measured_at' | 'quality'> {
  station_id: number
  logger_id: number
  name: string
  instruments: readonly Instrument[]
}

export interface PlantStore {
  locations(of: {
    site_id: string
    location_id?: number
    /** Whether the counts of work orders and defects are read; else they are null. */
    is_maintenance_read: boolean
  }): Promise<LocationRow[]>
  /** What the meters at the grid connection measured last. */
  gridMeters(site_id: string): Promise<MeterRow[]>
  /** The met stations in service, with what they measured last. */
  stations(site_id: string): Promise<StationRow[]>
  /** Of the hours of all loggers that began since; null where no energy is known. */
  energySince(
    site_id: string,
    since: { month_at: Date; year_at: Date },
  ): Promise<{ month_kwh: number | null; year_kwh: number | null }>
}

export function createPlantStore(db: Queries): PlantStore {
  return {
    locations: ({ site_id, location_id, is_maintenance_read }) =>
      db.query<LocationRow>(locations, [site_id, location_id ?? null, is_maintenance_read]),
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
        `SELECT s.station_id, s.logger_id, s.name, s.instruments,
                l.measured_at, l.received_at, l.quality, ${measured.join(', ')}
         FROM stations s
         LEFT JOIN weather_latest l ON l.site_id = s.site_id AND l.station_id = s.station_id
         WHERE s.site_id = $1 AND s.retired_at IS NULL
         ORDER BY s.station_id`,
        [site_id],
      ),
    async energySince(site_id, { month_at, year_at }) {
      const [energy] = await db.query<{ month_kwh: number | null; year_kwh: number | null }>(
        `SELECT sum(energy_kwh) FILTER (WHERE hour_at >= $2) AS month_kwh,
                sum(energy_kwh) AS year_kwh
         FROM logger_hours WHERE site_id = $1 AND hour_at >= $3`,
        [site_id, month_at, year_at],
      )
      return energy!
    },
  }
}

const measured = Object.keys(readingKinds.weather.columns).map((name) => `l.${name}`)

const idsAt = (table: string, id: string) => `
  ARRAY(SELECT d.${id} FROM ${table} d
        WHERE d.site_id = p.site_id AND d.location_id = p.location_id AND d.retired_at IS NULL
        ORDER BY 1) AS ${id}s`

/** How many at each place, read once for all places, and not at all where $3 is false. */
const openAt = (table: string, states: readonly string[]) => `(
    SELECT location_id, count(*) AS count FROM ${table}
    WHERE $3::boolean AND site_id = $1 AND status IN (${states.map((one) => `'${one}'`).join(', ')})
    GROUP BY location_id)`

const locations = `
  SELECT p.location_id, p.parent_location_id, p.type, p.name, p.code, p.latitude, p.longitude,
         p.elevation_m, p.address, p.access_notes, ${idsAt('loggers', 'logger_id')},
         ${idsAt('inverters', 'inverter_id')}, ${idsAt('stations', 'station_id')},
         ${idsAt('nodes', 'node_id')},
         CASE WHEN $3 THEN coalesce(w.count, 0) END AS open_work_order_count,
         CASE WHEN $3 THEN coalesce(f.count, 0) END AS open_defect_count,
         p.created_at, p.updated_at, p.retired_at
  FROM locations p
  LEFT JOIN ${openAt('work_orders', workingStates)} w USING (location_id)
  LEFT JOIN ${openAt('defects', openDefectStates)} f USING (location_id)
  WHERE p.site_id = $1 AND ($2::int IS NULL OR p.location_id = $2)
  ORDER BY p.location_id`
