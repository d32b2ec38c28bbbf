import { rounded } from '@heliograph/domain/significant'
import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { pageOf, RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorList, cursorList, List, list } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { exampleOf } from '../../http/example.ts'
import { pageItems } from '../../http/export-items.ts'
import { InverterId, limit, StringIndex } from '../../http/params.ts'
import { default_hours, type SeriesWindow, seriesMeta } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import type { Queries } from '../../storage/database.ts'
import type { StringDiagnosis } from '../diagnostics/iv-diagnosis.ts'
import { nameKey } from '../panels/names.ts'
import { query_characters_max } from '../panels/search.ts'
import { findPanels, readPanel, readPanelByName } from '../panels/store.ts'
import { readPlant } from '../rollups/raw.ts'
import { diagnosePoints, expectationOf, pointRecord } from './comparison.ts'
import { pointsAt, pointsExport } from './exports.ts'
import { libraryRecord, siteRecord } from './panel-record.ts'
import { IvExpectedSeries, PanelModel, PanelModelMatch, ParamsId } from './schemas.ts'
import {
  countStringInstants,
  readModelsInUse,
  readSiteModel,
  readStringInstants,
  type SiteModelRow,
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
  example: { answer: list([exampleOf(PanelModel)]) },
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
    q: Type.String({
      minLength: 1,
      maxLength: query_characters_max,
      description: 'Words of the name. There are no wildcards.',
      examples: ['ja solar 455'],
    }),
    limit: limit(search_rows.max, search_rows.by_default),
  },
  cursor: { rank: RowId },
  returns: CursorList(PanelModelMatch),
  example: { answer: cursorList({ rows: [exampleOf(PanelModelMatch)], next_cursor: null }) },
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
  example: { answer: exampleOf(PanelModel) },
  async handle({ site: { site_id }, params: { params_id } }, { db }: Context) {
    const row = await readSiteModel(db, site_id, params_id)
    if (row) return siteModel(db, row)
    const model = await readPanel(db, params_id)
    if (!model) throw new ApiError('not_found', { params_id })
    return { ...libraryRecord(model), used_by_string_count: 0 }
  },
})

const expected_rows = { max: 5000, by_default: 1000 } as const

export const compareWithExpected = endpoint({
  ...iv,
  path: '/iv/strings/{inverter_id}/{string_index}/expected',
  operation_id: 'iv_expected_list',
  summary: 'Compare a string with its expected I-V data',
  description:
    'Returns one item per reading of the string, ascending. The window defaults to the last 24 ' +
    'hours. The expectation is the CEC single-diode model of the current panels of the string, at ' +
    'the irradiance and cell temperature of the nearest met station reading within 150 s, without ' +
    'instruments that /weather rejects. `current_deviation_at_voltage_pct` compares at the ' +
    'measured voltage and is valid while the inverter is limited, too. Stale values and the ' +
    'diagnosis are based on the points of this page alone: request a day or more at once. Similar ' +
    'strings on the same MPPT take part in the diagnosis when they are measured together with ' +
    'this string. Without an expectation `data` is empty; see `meta.reason`.',
  params: { inverter_id: InverterId, string_index: StringIndex },
  window: rowsWindow(default_hours.telemetry),
  query: { limit: limit(expected_rows.max, expected_rows.by_default) },
  heavy: true,
  returns: IvExpectedSeries,
  example: { answer: exampleOf(IvExpectedSeries, { meta: { count: 1 } }) },
  async handle({ site: { site_id }, params, query, window }, { db }: Context) {
    const { setting, expectation, wanted } = await requireComparison(db, site_id, params, window)
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
  async exports({ site: { site_id }, params, query, window }, { db }: Context) {
    const { expectation, wanted } = await requireComparison(db, site_id, params, window)
    if (typeof expectation === 'string') return pageItems([])
    return pointsExport(expectation, { ...wanted, limit: query.limit ?? null })
  },
})

/** The expectation of a string, or the reason why there is none. */
async function requireComparison(
  db: Queries,
  site_id: string,
  { inverter_id, string_index }: { inverter_id: number; string_index: number },
  window: SeriesWindow,
) {
  const plant = await readPlant(db, site_id, [inverter_id])
  const setting = settingOf(plant, { inverter_id, string_index })
  if (!setting) throw new ApiError('not_found', { inverter_id, string_index })
  const { partner_indexes } = setting
  const wanted = { site_id, inverter_id, string_index, partner_indexes, window }
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
