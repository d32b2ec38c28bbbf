import {
  type MeterReading,
  type Quality,
  readingKinds,
  type WeatherReading,
} from '@heliograph/domain/readings'
import type { Instrument } from '@heliograph/domain/site'
import type { Measurement } from '../plant/frame.ts'
import type { Queries } from '../storage/database.ts'

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

/** The latest readings of the meters at the grid connection. */
export const latestGridMeters = (db: Queries, site_id: string): Promise<MeterRow[]> =>
  db.query<MeterRow>(
    `SELECT l.measured_at, l.quality, l.active_power_kw, l.reactive_power_kvar, l.frequency_hz
     FROM meters m
     JOIN meter_latest l ON l.site_id = m.site_id AND l.meter_id = m.meter_id
     WHERE m.site_id = $1 AND m.role = 'grid_connection' AND m.retired_at IS NULL
     ORDER BY m.meter_id`,
    [site_id],
  )

const measured = Object.keys(readingKinds.weather.columns).map((name) => `l.${name}`)

/** The met stations in service with their latest readings. */
export const liveStations = (db: Queries, site_id: string): Promise<StationRow[]> =>
  db.query<StationRow>(
    `SELECT s.station_id, s.logger_id, s.name, s.instruments,
            l.measured_at, l.received_at, l.quality, ${measured.join(', ')}
     FROM stations s
     LEFT JOIN weather_latest l ON l.site_id = s.site_id AND l.station_id = s.station_id
     WHERE s.site_id = $1 AND s.retired_at IS NULL
     ORDER BY s.station_id`,
    [site_id],
  )
