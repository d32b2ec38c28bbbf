import type { MeterReading, Quality } from '@heliograph/domain/readings'
import type { Queries } from '../storage/database.ts'

export interface MeterRow
  extends Pick<MeterReading, 'active_power_kw' | 'reactive_power_kvar' | 'frequency_hz'> {
  measured_at: Date
  quality: Quality
}

/** The latest readings of the meters at the grid connection. */
export const latestGridMeters = (db: Queries, site_id: string) =>
  db.query<MeterRow>(
    `SELECT l.measured_at, l.quality, l.active_power_kw, l.reactive_power_kvar, l.frequency_hz
     FROM meters m
     JOIN meter_latest l ON l.site_id = m.site_id AND l.meter_id = m.meter_id
     WHERE m.site_id = $1 AND m.role = 'grid_connection' AND m.retired_at IS NULL
     ORDER BY m.meter_id`,
    [site_id],
  )
