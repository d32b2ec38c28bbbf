import type { Clock } from '@heliograph/domain/clock'
import { type Static, Type } from 'typebox'
import { RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorSeries } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { type ExportItems, pageItems } from '../../http/export-items.ts'
import { LoggerId, limit, Nullable, Timestamp } from '../../http/params.ts'
import { openWindow } from '../../http/windows.ts'
import { At } from '../../plant/frame.ts'
import { causeRule, causes, statuses, statusRule } from './evidence.ts'
import { gapExample } from './examples.ts'
import { gapsExport } from './exports.ts'
import type { GapRequest, GapRow, GapStore } from './listed.ts'
import { sourceTypes } from './sources.ts'

export interface Needs {
  clock: Clock
  loggers: { exists(site_id: string, logger_id: number): Promise<boolean> }
  gaps: GapStore
}

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export type Gap = Static<typeof Gap>
export const Gap = Type.Object(
  {
    gap_id: Type.Integer({
      minimum: 1,
      description:
        'Stays while the gap grows, ends, shrinks and is filled. Parts that back-filled readings ' +
        'split off are gaps of their own for as long as they last.',
    }),
    logger_id: Nullable(
      Type.Integer({
        minimum: 0,
        description:
          'The logger that its source belongs to; null for what is of the site as a whole.',
      }),
    ),
    source_type: Type.Enum([...sourceTypes], {
      description: 'What was not heard; `string` is a combiner of strings.',
    }),
    source_id: Type.String({ description: 'The id of the device, of a combiner its name.' }),
    start_at: At(
      'The last reading before it; for a source that slept, when it should have woken up.',
    ),
    end_at: Nullable(
      At('The first reading after it, or the evening that came before; null while it lasts.'),
    ),
    duration_s: Type.Number({ minimum: 0, description: 'From start to end, or until now.' }),
    expected_sample_count: Count(
      'Readings that should have come, at the usual distance, while the source should be awake.',
    ),
    received_sample_count: Count('Of these, those that came in the end: 0 until it is filled.'),
    missing_sample_count: Count('Those that did not.'),
    completeness_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Received of expected.',
    }),
    cause: Type.Enum([...causes], { description: causeRule }),
    during_daylight: Type.Boolean({
      description: 'Whether the sun was above the horizon at any time of it.',
    }),
    status: Type.Enum([...statuses], { description: statusRule }),
    backfilled_at: Nullable(At('When the last of it was filled; null for one that is not.')),
    backfilled_sample_count: Count(
      'Readings that came into it as it was at first, counted once it is filled or unrecoverable.',
    ),
    alert_id: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'The alert that tells of it: of its source, else of readings that are missing for the ' +
          'same cause, else that its logger or the edge was silent then; null without one.',
      }),
    ),
    detected_at: At('When the server noticed it.'),
  },
  { additionalProperties: false, $id: 'Gap' },
)

const GapSeries = CursorSeries(Gap)

const gaps = { method: 'GET', tag: 'Plant', scope: 'plant:read', module: 'basic_scada' } as const
const gaps_by_default = 100
const gapLimit = limit(500, gaps_by_default)
const rules =
  'A gap is a silence of more than three polls and a minute, and shorter where a jump in the ' +
  'numbers of frames says that readings were lost. Inverters, combiners and loggers without a met ' +
  'station have none at night: ' +
  'they may sleep until a quarter of an hour after the sun has risen 3° high, and from as long ' +
  'before it sinks so low. Given are those that share time ' +
  'with the window, ascending by their start; without a window all. Where `limit` cuts some off, ' +
  'the newest are kept, and `next_cursor` leads to those before them, as `previous_end` does ' +
  'to those that began before; `next_start` is always null.'
const place = { start_at: Timestamp, gap_id: RowId }
const example = {
  answer: {
    data: [gapExample],
    meta: {
      count: 1,
      truncated: false,
      next_start: null,
      previous_end: null,
      next_cursor: null,
    },
  },
}

export const listGaps = endpoint({
  ...gaps,
  path: '/gaps',
  operation_id: 'gaps_list',
  summary: 'The holes in the data of the site',
  description: rules,
  window: openWindow,
  query: { logger_id: Type.Optional(LoggerId), limit: gapLimit },
  cursor: place,
  returns: GapSeries,
  example,
  async handle({ site: { site_id }, query, window, after }, needs: Needs) {
    const { logger_id = null } = query
    if (logger_id !== null) await demandLogger(site_id, logger_id, needs)
    const { limit = gaps_by_default } = query
    return readGaps({ site_id, logger_id, ...window, after, limit }, needs)
  },
  async exports({ site: { site_id }, query, window, after }, needs: Needs) {
    const { logger_id = null } = query
    if (logger_id !== null) await demandLogger(site_id, logger_id, needs)
    return exportGaps({ site_id, logger_id, ...window, after }, query.limit, needs)
  },
})

async function demandLogger(site_id: string, logger_id: number, { loggers }: Needs) {
  if (!(await loggers.exists(site_id, logger_id))) throw new ApiError('not_found', { logger_id })
}

export const listLoggerGaps = endpoint({
  ...gaps,
  path: '/gaps/logger/{logger_id}',
  operation_id: 'gaps_logger_list',
  summary: 'The holes in the data of a logger and its devices',
  description: rules,
  params: { logger_id: LoggerId },
  window: openWindow,
  query: { limit: gapLimit },
  cursor: place,
  returns: GapSeries,
  example,
  async handle({ site: { site_id }, params: { logger_id }, query, window, after }, needs: Needs) {
    await demandLogger(site_id, logger_id, needs)
    const { limit = gaps_by_default } = query
    return readGaps({ site_id, logger_id, ...window, after, limit }, needs)
  },
  async exports({ site: { site_id }, params: { logger_id }, query, window, after }, needs: Needs) {
    await demandLogger(site_id, logger_id, needs)
    return exportGaps({ site_id, logger_id, ...window, after }, query.limit, needs)
  },
})

async function exportGaps(
  asked: Omit<GapRequest, 'limit'>,
  limit: number | undefined,
  needs: Needs,
): Promise<ExportItems> {
  if (limit !== undefined || asked.after !== null) {
    const page = { ...asked, limit: limit ?? gaps_by_default }
    return pageItems((await readGaps(page, needs)).data)
  }
  const now = needs.clock.now()
  return gapsExport(asked, (row) => gapRecord(row, now))
}

async function readGaps(request: GapRequest, needs: Needs): Promise<Static<typeof GapSeries>> {
  const { rows, next_cursor, count } = await needs.gaps.newest(request)
  return {
    data: rows.map((row) => gapRecord(row, needs.clock.now())),
    meta: {
      count,
      truncated: next_cursor !== null,
      next_start: null,
      previous_end: next_cursor === null ? null : (rows[0]?.start_at.toISOString() ?? null),
      next_cursor,
    },
  }
}

function gapRecord(row: GapRow, now: Date): Gap {
  const { expected_count, received_count, backfilled_count, end_at, ...rest } = row
  const duration_ms = (end_at ?? now).getTime() - row.start_at.getTime()
  return {
    gap_id: rest.gap_id,
    logger_id: rest.logger_id,
    source_type: rest.source_type,
    source_id: rest.source_id,
    start_at: row.start_at.toISOString(),
    end_at: end_at?.toISOString() ?? null,
    duration_s: Math.max(0, duration_ms) / 1000,
    expected_sample_count: expected_count,
    received_sample_count: received_count,
    missing_sample_count: Math.max(0, expected_count - received_count),
    completeness_pct: Math.min(100, (100 * received_count) / expected_count),
    cause: rest.cause,
    during_daylight: rest.during_daylight,
    status: rest.status,
    backfilled_at: rest.backfilled_at?.toISOString() ?? null,
    backfilled_sample_count: backfilled_count,
    alert_id: rest.alert_id,
    detected_at: rest.detected_at.toISOString(),
  }
}
