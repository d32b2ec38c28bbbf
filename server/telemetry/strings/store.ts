import type { PvStringRow, StringRangeRow, StringsRow } from '../../plant/pv-string.ts'
import type { Queries } from '../../storage/database.ts'
import { hasRow } from '../../storage/rows.ts'
import { isoTime } from '../../storage/values.ts'
import type { BlockValue } from '../blocks/codec.ts'
import { type StoredReading, stringsIn } from '../blocks/store.ts'
import { type DeviceHistory, spanOf } from '../history.ts'
import type { InstantItems } from '../instants.ts'
import { countPacked, instant, rowsSince } from '../stored-readings.ts'

interface StringHistory extends DeviceHistory {
  /** All strings of the inverter without it. */
  string_index?: number | undefined
}

export const stringConfiguration = (db: Queries, site_id: string, inverter_id: number) =>
  db.query<PvStringRow>(
    `SELECT s.inverter_id, s.string_index, s.mppt_index, s.combiner_id, s.combiner_input,
            s.connected, s.module_count, s.params_id, m.name AS panel_model,
            m.power_stc_w AS module_power_wp, s.dc_capacity_kwp, s.azimuth_deg, s.tilt_deg,
            s.updated_at, s.retired_at
     FROM strings s
     LEFT JOIN panel_models m ON m.site_id = s.site_id AND m.params_id = s.params_id
     WHERE s.site_id = $1 AND s.inverter_id = $2
     ORDER BY s.string_index`,
    [site_id, inverter_id],
  )

/** Retired strings exist. */
export const stringExists = (
  db: Queries,
  site_id: string,
  inverter_id: number,
  string_index: number,
) =>
  hasRow(db, 'SELECT FROM strings WHERE site_id = $1 AND inverter_id = $2 AND string_index = $3', [
    site_id,
    inverter_id,
    string_index,
  ])

/** The strings in service of one inverter or of all, including those of retired inverters. */
export const stringsInService = (db: Queries, site_id: string, inverter_id?: number) =>
  db.query<StringsRow>(
    {
      name: 'strings_in_service',
      text: `
        SELECT inverter_id, array_agg(string_index ORDER BY string_index) AS string_indexes,
               coalesce(array_agg(string_index) FILTER (WHERE NOT connected), '{}')
                 AS unconnected_indexes
        FROM strings
        WHERE site_id = $1 AND ($2::int IS NULL OR inverter_id = $2) AND retired_at IS NULL
        GROUP BY inverter_id
        ORDER BY inverter_id`,
    },
    [site_id, inverter_id ?? null],
  )

export const latestStrings = (db: Queries, site_id: string, inverter_id?: number) =>
  db.query<StringRangeRow>(
    `SELECT inverter_id, first_string_index, measured_at, received_at, quality, current_a, voltage_v
     FROM string_latest
     WHERE site_id = $1 AND ($2::int IS NULL OR inverter_id = $2)
     ORDER BY inverter_id, first_string_index`,
    [site_id, inverter_id ?? null],
  )

/** Counts the strings of the readings in the window, from rows and blocks. */
export async function countStrings(db: Queries, request: StringHistory): Promise<number> {
  const { site_id, device_id, string_index, window } = request
  const span = { site_id, device_id, ...spanOf(window) }
  const since_ms = await rowsSince(db, 'string')
  const [rows] = await db.query<{ count: number }>(
    `SELECT coalesce(sum(CASE WHEN $3::int IS NULL THEN length ELSE 1 END), 0)::bigint AS count
     FROM string_readings,
       LATERAL (SELECT greatest(cardinality(current_a), cardinality(voltage_v), 0) AS length) AS l
     WHERE site_id = $1 AND inverter_id = $2 AND measured_at >= $4 AND measured_at < $5
       AND ($3 IS NULL OR $3 >= first_string_index AND $3 < first_string_index + length)`,
    [
      site_id,
      device_id,
      string_index ?? null,
      instant(Math.max(span.from_ms, since_ms)),
      instant(span.to_ms),
    ],
  )
  if (span.from_ms >= since_ms) return rows!.count
  const past = { ...span, to_ms: Math.min(span.to_ms, since_ms) }
  const packed = await countPacked(db, 'string', past, {
    columns: ['current_a', 'voltage_v'],
    countOf: (reading) => indexesOf(reading, string_index).length,
    of_block: stringsOfBlock,
    value: string_index ?? null,
  })
  return rows!.count + packed
}

const stringsOfBlock = `(
  SELECT sum(CASE WHEN $5::int IS NULL THEN string_ranges[i + 1] * string_ranges[i + 2]
    WHEN $5 BETWEEN string_ranges[i] AND string_ranges[i] + string_ranges[i + 1] - 1
      THEN string_ranges[i + 2] ELSE 0 END)
  FROM generate_series(1, cardinality(string_ranges), 3) AS i)`

/** Whether a reading is of a range of strings that contains the string. */
export const holdsString = (reading: StoredReading, string_index: number) =>
  indexesOf(reading, string_index).length > 0

/** The requested strings of a reading of a range. */
function indexesOf(reading: StoredReading, string_index: number | undefined): number[] {
  const first = reading['first_string_index'] as number
  const all = Array.from({ length: stringsIn(reading) }, (_, nth) => first + nth)
  return string_index === undefined ? all : all.filter((index) => index === string_index)
}

export const stringItems: InstantItems<StringHistory> = {
  columns: ['quality', 'current_a', 'voltage_v'],
  itemsOf: (readings, { string_index }) =>
    readings
      .flatMap((reading) => stringReadings(reading, string_index))
      .map((item) => ({ ...item, measured_at: isoTime(item.measured_at) }))
      .sort((a, b) => a.string_index - b.string_index),
  countOf: countStrings,
}

/** The requested strings of a reading of a range. */
export function stringReadings(reading: StoredReading, string_index: number | undefined) {
  const { measured_at, quality } = reading
  const first = reading['first_string_index'] as number
  const valueAt = (values: BlockValue | undefined, index: number) =>
    (values as readonly (number | null)[] | null)?.[index - first] ?? null
  return indexesOf(reading, string_index).map((index) => {
    const current_a = valueAt(reading['current_a'], index)
    const voltage_v = valueAt(reading['voltage_v'], index)
    const power_kw = current_a === null || voltage_v === null ? null : powerOf(current_a, voltage_v)
    return { measured_at, string_index: index, current_a, voltage_v, power_kw, quality }
  })
}

/** To 0.1 W of the stored 4-byte floats, halves to the even side, as PostgreSQL rounds. */
function powerOf(current_a: number, voltage_v: number): number {
  const steps = Math.fround(current_a) * Math.fround(voltage_v) * 10
  const down = Math.floor(steps)
  const rounded = steps - down === 0.5 ? down + (Math.abs(down) % 2) : Math.round(steps)
  return rounded / 10_000 + 0
}
