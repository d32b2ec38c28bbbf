import { readStringHours } from '../../rollups/store.ts'
import type { StoredStrings } from '../../rollups/string-codec.ts'
import type { Queries } from '../../storage/database.ts'
import { type EnergySource, energySources } from './figures.ts'

export interface LoggerInService {
  logger_id: number
  logger_name: string
  dc_capacity_kwp: number
  /** Of its inverters those in service at the start. */
  inverter_count: number
}

/** What the inverters of a logger did in an hour together; see the migration of the table. */
export interface LoggerHour {
  inverter_count: number
  known_count: number
  energy_kwh: number | null
  estimated_energy_kwh: number
  energy_source: EnergySource | null
  awake_covered_s: number
  sun_covered_s: number
  expected_energy_kwh: number | null
  curtailment_loss_kwh: number | null
}

export interface LoggerHourInFull extends LoggerHour {
  logger_id: number
  hour_at: Date
  sample_count: number | null
  insolation_kwh_m2: number | null
  peak_power_kw: number | null
  peak_power_at: Date | null
  first_production_at: Date | null
  last_production_at: Date | null
}

export interface HoursAsked {
  start_at: Date
  end_at: Date
  /** null: all. */
  logger_ids: readonly number[] | null
}

export interface EnergyStore {
  /** By id; retired ones too, up to the day on which they were. */
  loggers(site_id: string, asked: HoursAsked): Promise<LoggerInService[]>
  /** Hours that begin in the window, by logger and time. */
  hours(site_id: string, asked: HoursAsked): Promise<LoggerHourInFull[]>
  /** By logger and beginning (Unix ms); for many, without what a matrix does not show. */
  hoursByLogger(site_id: string, asked: HoursAsked): Promise<Map<number, Map<number, LoggerHour>>>
  stringHours(
    site_id: string,
    inverter_id: number,
    asked: Pick<HoursAsked, 'start_at' | 'end_at'>,
  ): Promise<(StoredStrings & { hour_at: Date })[]>
}

const values = (site_id: string, { start_at, end_at, logger_ids }: HoursAsked) => [
  site_id,
  start_at.toISOString(),
  end_at.toISOString(),
  logger_ids,
]

const within = `site_id = $1 AND hour_at >= $2 AND hour_at < $3
  AND ($4::int[] IS NULL OR logger_id = any($4))`

export function createEnergyStore(db: Queries): EnergyStore {
  return {
    loggers: (site_id, asked) =>
      db.query<LoggerInService>(
        `SELECT l.logger_id, l.name AS logger_name, l.dc_capacity_kwp,
                (SELECT count(*)::int FROM inverters i
                 WHERE i.site_id = $1 AND i.logger_id = l.logger_id
                   AND (i.retired_at IS NULL OR i.retired_at > $2)) AS inverter_count
         FROM loggers l
         WHERE site_id = $1 AND (retired_at IS NULL OR retired_at > $2)
           AND ($3::int[] IS NULL OR logger_id = any($3))
         ORDER BY logger_id`,
        [site_id, asked.start_at.toISOString(), asked.logger_ids],
      ),
    hours: (site_id, asked) =>
      db.query<LoggerHourInFull>(
        `SELECT logger_id, hour_at, inverter_count, known_count, energy_kwh, estimated_energy_kwh,
                energy_source, sample_count, awake_covered_s, sun_covered_s, expected_energy_kwh,
                curtailment_loss_kwh, insolation_kwh_m2, peak_power_kw, peak_power_at,
                first_production_at, last_production_at
         FROM logger_hours WHERE ${within}
         ORDER BY logger_id, hour_at`,
        values(site_id, asked),
      ),
    async hoursByLogger(site_id, asked) {
      const rows = await db.query<{ logger_id: number; hours: Buffer }>(
        packedHours,
        values(site_id, asked),
      )
      return new Map(rows.map(({ logger_id, hours }) => [logger_id, unpacked(hours)]))
    },
    stringHours: (site_id, inverter_id, { start_at, end_at }) =>
      readStringHours(db, site_id, {
        inverter_ids: [inverter_id],
        from_ms: start_at.getTime(),
        to_ms: end_at.getTime(),
      }),
  }
}

const numbers = [
  'inverter_count',
  'known_count',
  'energy_kwh',
  'estimated_energy_kwh',
  'awake_covered_s',
  'sun_covered_s',
  'expected_energy_kwh',
  'curtailment_loss_kwh',
] as const

/** Of an hour: when it begins (Unix s), the place of its source among the sources, the numbers. */
const packed = [
  'extract(epoch FROM hour_at)::float8',
  `coalesce(array_position('{${energySources.join(',')}}'::text[], energy_source), 0)::float8`,
  ...numbers.map((name) => `coalesce(${name}::float8, 'NaN')`),
].map((value) => `float8send(${value})`)

/**
 * Twenty thousand rows of a month of a large site as one value for each logger: 8-byte floats, big
 * endian, NaN for null. As text they would take several times as long.
 */
const packedHours = `
  SELECT logger_id, string_agg(${packed.join(' || ')}, ''::bytea) AS hours
  FROM logger_hours WHERE ${within}
  GROUP BY logger_id`

function unpacked(hours: Buffer): Map<number, LoggerHour> {
  const bytes = Uint8Array.from(hours)
  const floats = new Float64Array(Buffer.from(bytes.buffer).swap64().buffer)
  const rows = new Map<number, LoggerHour>()
  for (let at = 0; at < floats.length; at += packed.length) {
    const known = (nth: number) => floats[at + 2 + nth]!
    const orNull = (nth: number) => (Number.isNaN(known(nth)) ? null : known(nth))
    rows.set(floats[at]! * 1000, {
      inverter_count: known(0),
      known_count: known(1),
      energy_kwh: orNull(2),
      estimated_energy_kwh: known(3),
      energy_source: energySources[floats[at + 1]! - 1] ?? null,
      awake_covered_s: known(4),
      sun_covered_s: known(5),
      expected_energy_kwh: orNull(6),
      curtailment_loss_kwh: orNull(7),
    })
  }
  return rows
}
