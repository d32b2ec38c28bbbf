import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import { rounded, significant } from '@heliograph/domain/significant'
import {
  type CecModule,
  cecSingleDiode,
  maximumPowerPoint,
  openCircuitVoltage,
  shortCircuitCurrent,
} from '@heliograph/physics/single-diode'
import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { pageOf, RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorList, cursorList, List, list } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { pageItems } from '../../http/export-items.ts'
import * as field from '../../http/fields.ts'
import { InverterId, limit, StringIndex } from '../../http/params.ts'
import { default_hours, type SeriesWindow, seriesMeta } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import type { Queries } from '../../storage/database.ts'
import { isoTime } from '../../storage/values.ts'
import { stepOf } from '../../telemetry/steps.ts'
import type { StringDiagnosis } from '../diagnostics/iv-diagnosis.ts'
import { type PanelFields, panelFields } from '../panels/model.ts'
import { nameKey } from '../panels/names.ts'
import { query_characters_max } from '../panels/search.ts'
import {
  findPanels,
  type PanelModel as LibraryModel,
  readPanel,
  readPanelByName,
} from '../panels/store.ts'
import { apart_ms_max, screenedReadings } from '../rollups/plant-light.ts'
import { type RawWeather, readInverters, readPlant, readWeather } from '../rollups/raw.ts'
import {
  type ComparedPoint,
  comparePoints,
  diagnosePoints,
  type Expectation,
  expectationOf,
  pointRecord,
  spansAround,
} from './comparison.ts'
import { IvExpectedSeries, PanelModel, PanelModelMatch, ParamsId } from './schemas.ts'
import {
  countStringInstants,
  type ReadingsRequest,
  readModelsInUse,
  readSiteModel,
  readStringInstants,
  readWithin,
  type SiteModelRow,
  type StringInstant,
  settingOf,
} from './store.ts'

const iv = {
  method: 'GET',
  tag: 'I-V curves',
  scope: 'diagnostics:read',
  module: 'basic_scada',
} as const

export const listPanelModels = endpoint({
  ...iv,
  path: '/iv/modules',
  operation_id: 'iv_modules_list',
  summary: 'List the panel models in use at the site',
  description:
    'Returns the models of the strings of the site by id. Fields that the site does not announce ' +
    'come from the library; unknown fields are `null`.',
  returns: List(PanelModel),
  async handle({ site: { site_id } }, { db }: Context) {
    const rows = await readModelsInUse(db, site_id)
    return list(await Promise.all(rows.map((row) => siteModel(db, row))))
  },
})

async function siteModel(db: Queries, row: SiteModelRow) {
  const library =
    (await readPanel(db, row.params_id)) ??
    (row.a_ref_v === null ? null : await readPanelByName(db, row.name))
  return { ...siteRecord(row, library), used_by_string_count: row.used_by_string_count }
}

const search_rows = { max: 50, by_default: 20 } as const

export const searchPanelModels = endpoint({
  ...iv,
  path: '/iv/modules/search',
  operation_id: 'iv_modules_search',
  summary: 'Search panel models of the library by name',
  description:
    'Returns bundled models and models of imported lists, best match first. A name matches when it ' +
    'contains every word of `q`; case, accents, hyphens and punctuation are ignored, and other ' +
    'names of the manufacturer count. Without such a name, names with some of the words match. ' +
    '`meta.count` counts all matches.',
  query: {
    q: field.Text('Words of the name. There are no wildcards.', {
      minLength: 1,
      maxLength: query_characters_max,
      examples: ['ja solar 455'],
    }),
    limit: limit(search_rows.max, search_rows.by_default),
  },
  cursor: { rank: RowId },
  returns: CursorList(PanelModelMatch),
  async handle({ site: { site_id }, query, after }, { db }: Context) {
    const { q, limit = search_rows.by_default } = query
    const offset = after?.rank ?? 0
    const [{ rows, count }, used] = await Promise.all([
      findPanels(db, q, { limit: limit + 1, offset }),
      readModelsInUse(db, site_id),
    ])
    const ids = new Set(used.map(({ params_id }) => params_id))
    const names = new Set(used.map(({ name }) => nameKey(name)))
    const matches = rows.map((model, nth) => ({
      ...libraryRecord(model),
      in_library: ids.has(model.params_id) || names.has(nameKey(model.name)),
      rank: offset + nth + 1,
    }))
    const placeOf = ({ rank }: { rank: number }) => ({ rank })
    return cursorList(pageOf(matches, limit, placeOf), count)
  },
})

export const getPanelModel = endpoint({
  ...iv,
  path: '/iv/modules/{params_id}',
  operation_id: 'iv_modules_get',
  summary: 'Get a panel model of the site or the library',
  description:
    'Returns the model that the site announced under this id, else the model of the library.',
  params: { params_id: ParamsId },
  cache: 'resource',
  returns: PanelModel,
  async handle({ site: { site_id }, params: { params_id } }, { db }: Context) {
    const row = await readSiteModel(db, site_id, params_id)
    if (row) return siteModel(db, row)
    const model = await readPanel(db, params_id)
    if (!model) throw new ApiError('not_found', { params_id })
    return { ...libraryRecord(model), used_by_string_count: 0 }
  },
})

const expected_rows = { max: 5000, by_default: 1000 } as const
const step_names = ['60s', '300s', '900s'] as const

export const compareWithExpected = endpoint({
  ...iv,
  path: '/iv/strings/{inverter_id}/{string_index}/expected',
  operation_id: 'iv_expected_list',
  summary: 'Compare a string with its expected I-V data',
  description:
    'Returns one item per reading of the string, ascending. The window defaults to the last 24 ' +
    'hours. `every` returns the first reading of each step instead. The expectation is the CEC single-diode model of the current panels of the string, at ' +
    'the irradiance and cell temperature of the nearest met station reading within 150 s, without ' +
    'instruments that /weather rejects. `current_deviation_at_voltage_pct` compares at the ' +
    'measured voltage and is valid while the inverter is limited, too. Stale values and the ' +
    'diagnosis are based on the points of this page alone: request a day or more at once. Similar ' +
    'strings on the same MPPT take part in the diagnosis when they are measured together with ' +
    'this string. Without an expectation `data` is empty; see `meta.reason`.',
  params: { inverter_id: InverterId, string_index: StringIndex },
  window: rowsWindow(default_hours.telemetry),
  query: {
    limit: limit(expected_rows.max, expected_rows.by_default),
    every: Type.Optional(
      field.OneOf(
        step_names,
        'Returns the first reading of each step of this length, for charts of a day. A step is in ' +
          'the window if its start is; steps are whole in UTC.',
      ),
    ),
  },
  heavy: true,
  returns: IvExpectedSeries,
  async handle({ site, params, query, window }, { db }: Context) {
    const { setting, expectation, wanted } = await requireComparison(
      db,
      site,
      params,
      window,
      query.every,
    )
    const { params_id, module_count } = setting.string
    const model = { model: 'cec_single_diode', params_id, module_count } as const
    if (typeof expectation === 'string') {
      const none = { count: 0, returned: 0, first_time: null, last_time: null }
      const meta = { ...seriesMeta(window, none), ...model, reason: expectation }
      return { data: [], meta: { ...meta, ...diagnosisRecord(null) } }
    }
    const request = { ...wanted, limit: query.limit ?? expected_rows.by_default }
    const instants = await readStringInstants(db, request)
    const points = await pointsAt(db, instants, expectation, request)
    const rows = {
      // A page that is not full is complete. A reading may arrive between the two statements.
      count:
        instants.length < request.limit
          ? instants.length
          : Math.max(instants.length, await countStringInstants(db, request)),
      returned: instants.length,
      first_time: instants[0]?.measured_at.toISOString() ?? null,
      last_time: instants.at(-1)?.measured_at.toISOString() ?? null,
    }
    const diagnosis = diagnosisRecord(diagnosePoints(expectation, points))
    return {
      data: points.map(pointRecord),
      meta: { ...seriesMeta(window, rows), ...model, reason: null, ...diagnosis },
    }
  },
  async exports({ site, params, query, window }, { db }: Context) {
    const { expectation, wanted } = await requireComparison(db, site, params, window, query.every)
    if (typeof expectation === 'string') return pageItems([])
    const { limit } = query
    return {
      async *items(queries) {
        if (limit === undefined) return yield* wholeWindow(queries, expectation, wanted)
        const instants = await readStringInstants(queries, { ...wanted, limit })
        yield (await pointsAt(queries, instants, expectation, wanted)).map(pointRecord)
      },
    }
  },
})

/** The expectation of a string, or the reason why there is none. */
async function requireComparison(
  db: Queries,
  { site_id, timezone }: { site_id: string; timezone: string },
  { inverter_id, string_index }: { inverter_id: number; string_index: number },
  window: SeriesWindow,
  every: (typeof step_names)[number] | undefined,
) {
  const plant = await readPlant(db, site_id, [inverter_id])
  const setting = settingOf(plant, { inverter_id, string_index })
  if (!setting) throw new ApiError('not_found', { inverter_id, string_index })
  const { partner_indexes } = setting
  const step = every === undefined ? null : stepOf(every, timezone)
  const wanted = { site_id, inverter_id, string_index, partner_indexes, window, step }
  return { setting, expectation: expectationOf(setting, plant), wanted }
}

const diagnosisRecord = (made: StringDiagnosis | null) => ({
  diagnosis: made?.diagnosis ?? null,
  diagnosis_reason: made?.reason ?? null,
  current_loss_pct: rounded(made?.current_loss_pct ?? null, 2),
  voltage_loss_pct: rounded(made?.voltage_loss_pct ?? null, 2),
  confidence_pct: rounded(made?.confidence_pct ?? null, 2),
  diagnosed_point_count: made?.point_count ?? 0,
})

/** Temperature coefficients are means from 25 °C to a working temperature. */
const stc_c = 25
const warm_c = 50

function libraryRecord({ is_bundled: _, ...model }: LibraryModel): PanelFields {
  return model
}

/**
 * A model that the site announced. `library` is the matching model of the library or null: matched
 * by id, or by name when the site announced the circuit.
 */
function siteRecord(row: SiteModelRow, library: LibraryModel | null): PanelFields {
  const { params_id, name, manufacturer, technology, power_stc_w } = row
  const cells_in_series = row.cells_in_series ?? library?.cells_in_series ?? null
  const own = { params_id, name, manufacturer, technology, power_stc_w, cells_in_series }
  const model = name.startsWith(`${manufacturer} `) ? name.slice(manufacturer.length + 1) : null
  const listed =
    library === null ? { ...unlisted, ...own, model } : { ...libraryRecord(library), ...own }
  const circuit = circuitOf(row)
  if (circuit === null) return listed
  const from = { source: 'site', source_version: null, source_date: null } as const
  return { ...listed, ...circuit, ...curveOf(circuit), ...from }
}

const nulls = Object.fromEntries(Object.keys(panelFields).map((name) => [name, null]))
const unlisted = { ...(nulls as unknown as PanelFields), source: 'site' as const }

function circuitOf(row: SiteModelRow): CecModule | null {
  const { alpha_sc_a_per_c, a_ref_v, i_l_ref_a, i_o_ref_a, r_s_ohm, r_sh_ref_ohm } = row
  const circuit = { alpha_sc_a_per_c, a_ref_v, i_l_ref_a, i_o_ref_a, r_s_ohm, r_sh_ref_ohm }
  const whole = { ...circuit, adjust_pct: row.adjust_pct }
  return Object.values(whole).includes(null) ? null : (whole as CecModule)
}

/** Datasheet values computed from the circuit. */
function curveOf(circuit: CecModule) {
  const at = (temperature_c: number) => {
    const diode = cecSingleDiode(circuit, 1000, temperature_c)
    return { ...maximumPowerPoint(diode), v_oc_v: openCircuitVoltage(diode), diode }
  }
  const rated = at(stc_c)
  const warm = at(warm_c)
  const kelvin = warm_c - stc_c
  return {
    i_sc_a: significant(shortCircuitCurrent(rated.diode)),
    v_oc_v: significant(rated.v_oc_v),
    i_mp_a: significant(rated.current_a),
    v_mp_v: significant(rated.voltage_v),
    beta_oc_v_per_c: significant((warm.v_oc_v - rated.v_oc_v) / kelvin),
    gamma_pmp_pct_per_c: significant((100 * (warm.power_w / rated.power_w - 1)) / kelvin),
  }
}

/** Length of a part: a few thousand readings at the usual intervals. */
const part_ms = 6 * hour_ms
/** Stale readings are detected from the half hour around them. */
const margin_ms = hour_ms
/** No effective limit: the window is the limit. */
const readings_max = 1_000_000

async function* wholeWindow(
  db: Queries,
  expectation: Expectation,
  wanted: Omit<ReadingsRequest, 'limit'>,
) {
  const { end } = wanted.window
  const first_ms = wanted.window.start === null ? -Infinity : Date.parse(wanted.window.start)
  const within = (start: string | null, before: string, limit: number) =>
    readStringInstants(db, { ...wanted, window: { start, end: before, newest: false }, limit })
  for (let start = wanted.window.start; start === null || start < end; ) {
    const [next] = await within(start, end, 1)
    if (!next) return
    const from_ms = next.measured_at.getTime()
    const to_ms = Math.min(from_ms + part_ms, Date.parse(end))
    const last = isoTime(Math.min(to_ms + margin_ms, Date.parse(end)))
    const instants = await within(
      isoTime(Math.max(first_ms, from_ms - margin_ms)),
      last,
      readings_max,
    )
    const points = await pointsAt(db, instants, expectation, wanted)
    const isWithin = (time_ms: number) => time_ms >= from_ms && time_ms < to_ms
    yield points.filter((_, nth) => isWithin(instants[nth]!.measured_at.getTime())).map(pointRecord)
    start = isoTime(to_ms)
  }
}

async function pointsAt(
  db: Queries,
  instants: readonly StringInstant[],
  expectation: Expectation,
  inverter: Pick<ReadingsRequest, 'site_id' | 'inverter_id'>,
): Promise<ComparedPoint[]> {
  // Sequential: the transaction of an export has one connection.
  const { site_id, inverter_id } = inverter
  const spans = spansAround(instants)
  const found = await readWithin(readInverters, db, { site_id, ids: [inverter_id], spans })
  const readings = found.get(inverter_id)!
  const weather = await screenedAround(db, instants, expectation, site_id)
  return comparePoints(expectation, { instants, readings, weather })
}

/**
 * Screened readings of the met stations around the instants, one day at a time so that other work
 * can run between two days.
 */
async function screenedAround(
  db: Queries,
  instants: readonly StringInstant[],
  { place, stations_around }: Expectation,
  site_id: string,
): Promise<Map<number, RawWeather[]>> {
  const ids = stations_around.map(({ station_id }) => station_id)
  const screened = new Map<number, RawWeather[]>(ids.map((id) => [id, []]))
  const dayOf = ({ measured_at }: StringInstant) => Math.floor(measured_at.getTime() / day_ms)
  for (const day of Map.groupBy(instants, dayOf).values()) {
    const spans = spansAround(day, reach_ms)
    const readings = await readWithin(readWeather, db, { site_id, ids, spans })
    const from_ms = day[0]!.measured_at.getTime() - apart_ms_max
    const to_ms = day.at(-1)!.measured_at.getTime() + apart_ms_max
    for (const [id, own] of screenedReadings(place, stations_around, readings)) {
      const known = screened.get(id)!
      // Readings around midnight were already added with the day before.
      const after_ms = known.at(-1)?.time_ms ?? Number.NEGATIVE_INFINITY
      for (const reading of own) {
        const { time_ms } = reading
        if (time_ms > after_ms && time_ms >= from_ms && time_ms <= to_ms) known.push(reading)
      }
    }
  }
  return screened
}
