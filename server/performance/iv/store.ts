import type { Quality } from '@heliograph/domain/readings'
import type { CecModule } from '@heliograph/physics/single-diode'
import type { SeriesWindow } from '../../http/time-windows.ts'
import type { Queries } from '../../storage/database.ts'
import { isoTime } from '../../storage/values.ts'
import type { PanelFields } from '../panels/model.ts'
import type { Plant, PlantString, RawInverter, RawWeather } from '../rollups/raw.ts'

/** A panel model as the site announced it. */
export interface SiteModelRow
  extends Pick<PanelFields, 'params_id' | 'name' | 'manufacturer' | 'technology' | 'power_stc_w'>,
    Pick<PanelFields, 'cells_in_series' | keyof CecModule> {
  used_by_string_count: number
}

/** One string with its inverter and MPPT partners. */
export type StringSetting = NonNullable<ReturnType<typeof settingOf>>

export interface ReadingsRequest {
  site_id: string
  inverter_id: number
  string_index: number
  /** Strings whose currents are read too, if the same reading contains them. */
  partner_indexes: readonly number[]
  window: SeriesWindow
  limit: number
}

export interface StringInstant {
  measured_at: Date
  quality: Quality
  /** Index of the string of the first current. */
  from_index: number
  current_a: readonly (number | null)[] | null
  /** Voltage of the requested string. */
  voltage_v: number | null
}

export type InverterInstant = Omit<RawInverter, 'dc_power_kw' | 'energy_total_kwh'>

export interface Span {
  from_ms: number
  /** Inclusive. */
  to_ms: number
}

/** Models that the strings in service are made of, by id. */
export async function readModelsInUse(db: Queries, site_id: string): Promise<SiteModelRow[]> {
  const rows = await db.query<SiteModelRow>(siteModels, [site_id, null])
  return rows.filter(({ used_by_string_count }) => used_by_string_count > 0)
}

/** A model that the site announced, in use or not; else null. */
export const readSiteModel = (db: Queries, site_id: string, params_id: number) =>
  db.queryOne<SiteModelRow>(siteModels, [site_id, params_id])

/** Ascending; counted from the end of the window when the window takes the newest. */
export async function readStringInstants(db: Queries, request: ReadingsRequest) {
  const { newest } = request.window
  const indexes = [request.string_index, ...request.partner_indexes]
  const rows = await db.query<StringInstant>(
    `SELECT measured_at, quality, from_index,
            current_a[from_index - first_string_index + 1 : $7 - first_string_index + 1]
              AS current_a,
            voltage_v[$5 - first_string_index + 1] AS voltage_v
     FROM string_readings, greatest(first_string_index, $6::int) AS from_index
     WHERE ${readingsOf}
     ORDER BY measured_at ${newest ? 'DESC' : 'ASC'} LIMIT $8`,
    [...boundsOf(request), Math.min(...indexes), Math.max(...indexes), request.limit],
  )
  return newest ? rows.reverse() : rows
}

export async function countStringInstants(db: Queries, request: ReadingsRequest): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM string_readings WHERE ${readingsOf}`,
    boundsOf(request),
  )
  return row!.count
}

/** Reads the readings within spans by device, ascending. Spans ascend and do not overlap. */
const readerWithin =
  <Row extends { time_ms: number }>(table: string, id: string, columns: string) =>
  async (
    db: Queries,
    site_id: string,
    ids: readonly number[],
    spans: readonly Span[],
  ): Promise<Map<number, Row[]>> => {
    if (spans.length === 0) return new Map()
    // The outer bounds let the planner skip partitions.
    const rows = await db.query<Row & { device_id: number }>(
      `SELECT ${id} AS device_id, (extract(epoch FROM measured_at) * 1000)::float8 AS time_ms,
              ${columns}
       FROM unnest($3::timestamptz[], $4::timestamptz[]) AS span (from_at, to_at)
       JOIN ${table} ON measured_at >= span.from_at AND measured_at <= span.to_at
         AND measured_at >= ($3::timestamptz[])[1] AND measured_at <= $5
       WHERE site_id = $1 AND ${id} = ANY($2)
       ORDER BY ${id}, measured_at`,
      [
        site_id,
        ids,
        spans.map(({ from_ms }) => isoTime(from_ms)),
        spans.map(({ to_ms }) => isoTime(to_ms)),
        isoTime(spans.at(-1)!.to_ms),
      ],
    )
    return Map.groupBy(rows, ({ device_id }) => device_id)
  }

export const readInvertersWithin = readerWithin<InverterInstant>(
  'inverter_readings',
  'inverter_id',
  'state, ac_power_kw, power_limit_pct',
)

export const readWeatherWithin = readerWithin<RawWeather>(
  'weather_readings',
  'station_id',
  `coalesce(instrument_values, '{}') AS instrument_values`,
)

const siteModels = `
  SELECT m.params_id, m.name, m.manufacturer, m.technology, m.power_stc_w, m.cells_in_series,
         m.alpha_sc_a_per_c, m.a_ref_v, m.i_l_ref_a, m.i_o_ref_a, m.r_s_ohm, m.r_sh_ref_ohm,
         m.adjust_pct, count(s.string_index) AS used_by_string_count
  FROM panel_models m
  LEFT JOIN strings s ON s.site_id = m.site_id AND s.params_id = m.params_id AND s.connected
    AND s.retired_at IS NULL
  WHERE m.site_id = $1 AND ($2::int IS NULL OR m.params_id = $2)
  GROUP BY m.site_id, m.params_id
  ORDER BY m.params_id`

/** Undefined when the inverter does not exist or has no such string. */
export function settingOf(
  plant: Plant,
  { inverter_id, string_index }: Pick<ReadingsRequest, 'inverter_id' | 'string_index'>,
) {
  const inverter = plant.inverters.get(inverter_id)
  const string = inverter?.strings.find((each) => each.string_index === string_index)
  if (!inverter || !string) return undefined
  const strings = inverter.strings.filter(({ is_retired }) => !is_retired)
  const partners = strings.filter((each) => each !== string && isPartner(each, string))
  return {
    /** In service or retired. */
    string,
    /** With its strings in service. */
    inverter: { ...inverter, strings },
    /** Connected strings in service on the same MPPT with the same panels and orientation. */
    partner_indexes: partners.map((each) => each.string_index),
  }
}

const alike = ['mppt_index', 'params_id', 'module_count', 'azimuth_deg', 'tilt_deg'] as const

const isPartner = (one: PlantString, other: PlantString) =>
  one.connected && alike.every((name) => one[name] === other[name])

/** Readings of the range of strings that contains the requested string. */
const readingsOf = `
  site_id = $1 AND inverter_id = $2 AND measured_at < $3
  AND measured_at >= coalesce($4::timestamptz, '-infinity')
  AND first_string_index <= $5
  AND first_string_index + greatest(cardinality(current_a), cardinality(voltage_v), 0) > $5`

const boundsOf = ({ site_id, inverter_id, string_index, window }: ReadingsRequest) => [
  site_id,
  inverter_id,
  window.end,
  window.start,
  string_index,
]
