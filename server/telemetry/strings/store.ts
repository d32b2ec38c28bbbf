import type { ExportItems } from '../../http/export-items.ts'
import { type ExportColumn, type ExportRows, itemJson } from '../../http/export-rows.ts'
import type { JsonText } from '../../http/json-text.ts'
import { telemetry_rows } from '../../http/params.ts'
import type { SeriesWindow } from '../../http/time-windows.ts'
import type { PvStringRow, StringRangeRow, StringsRow } from '../../plant/pv-string.ts'
import type { Queries } from '../../storage/database.ts'
import { hasRow } from '../../storage/rows.ts'
import type { BlockValue } from '../blocks/codec.ts'
import { type StoredReading, stringsIn } from '../blocks/store.ts'
import { isPackedIn, seriesText, spanOf } from '../history.ts'
import { exportInstants, type Instant, instantsPage, textOf, wholeInstants } from '../instants.ts'
import { countPacked, instant, rowsSince } from '../stored-readings.ts'

interface StringHistory {
  site_id: string
  inverter_id: number
  /** All strings of the inverter without it. */
  string_index?: number | undefined
  window: SeriesWindow
  /** Defaults to `telemetry_rows.by_default` for a page, and to the whole window for an export. */
  limit?: number | undefined
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

/** The readings of the strings of an inverter as the text of a `Series`, ascending. */
export async function readStringHistory(db: Queries, request: StringHistory): Promise<JsonText> {
  const { window } = request
  const limit = request.limit ?? telemetry_rows.by_default
  const [page, count] = await Promise.all([
    (await isPackedIn(db, 'string', window))
      ? instantsPage(db, instantsOf(request), limit)
      : readInstants(db, request, limit),
    countStrings(db, request),
  ])
  const { site_id, inverter_id: device_id } = request
  return seriesText(db, { site_id, kind: 'string', device_id, window }, { ...textOf(page), count })
}

async function readInstants(db: Queries, request: StringHistory, limit: number) {
  const { window } = request
  const values = [...boundsOf(request), limit]
  const instants = await db.query<Instant>(historyStatement(window), values)
  return wholeInstants(instants, { limit, newest: window.newest })
}

/** Counts the strings of the readings in the window, from rows and blocks. */
export async function countStrings(
  db: Queries,
  { window, ...request }: Omit<StringHistory, 'limit'>,
): Promise<number> {
  const { site_id, inverter_id: device_id, string_index } = request
  const span = { site_id, device_id, ...spanOf(window) }
  const since_ms = await rowsSince(db, 'string')
  const recent = span.from_ms < since_ms ? { ...window, start: instant(since_ms) } : window
  const [rows] = await db.query<{ count: number }>(
    `SELECT coalesce(sum(strings), 0)::bigint AS count FROM (${rangesIn(recent)}) AS r`,
    boundsOf({ ...request, window: recent }),
  )
  if (recent === window) return rows!.count
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

/** The same items as `stringColumns`. */
const itemsOf = (readings: readonly StoredReading[], string_index: number | undefined) =>
  readings
    .flatMap((reading) => stringReadings(reading, string_index))
    .map((item) => ({ ...item, measured_at: new Date(item.measured_at).toISOString() }))
    .sort((a, b) => a.string_index - b.string_index)

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

const instantsOf = ({ site_id, inverter_id, string_index, window }: StringHistory) => ({
  kind: 'string' as const,
  site_id,
  device_id: inverter_id,
  window,
  columns: ['quality', 'current_a', 'voltage_v'],
  itemsOf: (readings: readonly StoredReading[]) => itemsOf(readings, string_index),
})

export async function exportStringHistory(
  db: Queries,
  request: StringHistory,
): Promise<ExportRows | ExportItems> {
  const { limit, window } = request
  if (!(await isPackedIn(db, 'string', window))) return stringHistoryRows(request)
  return exportInstants(instantsOf(request), limit)
}

function stringHistoryRows(request: StringHistory): ExportRows {
  const { limit = null } = request
  return {
    columns: stringColumns,
    from: limit === null ? wholeWindow(request.window) : page(request.window),
    values: limit === null ? boundsOf(request) : [...boundsOf(request), limit],
  }
}

const boundsOf = ({ site_id, inverter_id, string_index, window }: StringHistory) => [
  site_id,
  inverter_id,
  string_index ?? null,
  window.end,
  window.start,
]

/** Readings of ranges of strings, and how many strings of each range are requested. */
const rangesIn = ({ start }: SeriesWindow) => `
  SELECT measured_at, first_string_index, quality, current_a, voltage_v,
         CASE WHEN $3::int IS NULL THEN length ELSE 1 END AS strings
  FROM string_readings,
    LATERAL (SELECT greatest(cardinality(current_a), cardinality(voltage_v), 0) AS length) AS l
  WHERE site_id = $1 AND inverter_id = $2 AND measured_at < $4
    AND ${start === null ? '$5::timestamptz IS NULL' : 'measured_at >= $5'}
    AND length > 0
    AND ($3::int IS NULL OR $3 >= first_string_index AND $3 < first_string_index + length)`

/** One row for each requested string of the ranges. */
const stringsOf = (ranges: string) => `
  SELECT r.*, first_string_index + i - 1 AS string_index, current_a[i] AS amperes,
         voltage_v[i] AS volts
  FROM ${ranges} AS r,
    LATERAL generate_series(1, greatest(cardinality(current_a), cardinality(voltage_v))) AS i
  WHERE $3::int IS NULL OR first_string_index + i - 1 = $3`

/**
 * Reads ranges from the near end of the window until they hold enough strings, and splits them into
 * strings. Instants are whole, except a single one with more strings than the limit.
 */
function nearestStrings(window: SeriesWindow): string {
  const direction = window.newest ? 'DESC' : 'ASC'
  return `
    WITH ranges AS (
      SELECT *, sum(strings) OVER (
        ORDER BY measured_at ${direction}, first_string_index
        ROWS UNBOUNDED PRECEDING) - strings AS strings_before
      FROM (${rangesIn(window)} ORDER BY measured_at ${direction}, first_string_index
            LIMIT $6::int + 1) AS nearest
    )
    SELECT *, row_number() OVER (PARTITION BY measured_at ORDER BY string_index) AS nth,
           count(*) OVER (PARTITION BY measured_at) AS strings_at_once
    FROM (${stringsOf('(SELECT * FROM ranges WHERE strings_before <= $6::int)')}) AS one`
}

const historyStatement = (window: SeriesWindow) => `
  SELECT measured_at, count(*)::int AS returned, max(strings_at_once) > $6::int AS is_cut,
         string_agg(${itemJson(stringColumns)}, ',' ORDER BY string_index) AS items
  FROM (${nearestStrings(window)}) AS items
  WHERE nth <= $6::int
  GROUP BY measured_at
  ORDER BY measured_at`

const wholeWindow = (window: SeriesWindow) =>
  `FROM (${stringsOf(`(${rangesIn(window)})`)}) AS items ORDER BY measured_at, string_index`

/** As many whole instants as `wholeInstants` takes. */
const page = (window: SeriesWindow) => `
  FROM (
    SELECT *, count(*) OVER (ORDER BY measured_at ${window.newest ? 'DESC' : 'ASC'}) AS up_to_instant
    FROM (${nearestStrings(window)}) AS items
    WHERE nth <= $6::int
  ) AS counted
  WHERE up_to_instant <= $6::int
  ORDER BY measured_at, string_index`

export const stringColumns: readonly ExportColumn[] = [
  { name: 'measured_at', sql: 'measured_at', type: 'instant' },
  { name: 'string_index', sql: 'string_index', type: 'number' },
  { name: 'current_a', sql: 'amperes', type: 'number' },
  { name: 'voltage_v', sql: 'volts', type: 'number' },
  // To 0.1 W, as of strings now; zero is added since a rounded loss of nothing would be -0.
  {
    name: 'power_kw',
    sql: '(round(amperes::float8 * volts * 10) / 10000 + 0)',
    type: 'number',
  },
  { name: 'quality', sql: 'quality', type: 'word' },
]
