/** A table of endpoints with one of each kind, so that every convention has one to hold for. */

import type { Clock } from '@heliograph/domain/clock'
import { Type } from 'typebox'
import { endpoint } from '../../server/http/endpoint.ts'
import { List, list, Series, SpanList, spanList } from '../../server/http/envelope.ts'
import { ApiError } from '../../server/http/errors.ts'
import { requireMatch } from '../../server/http/etag.ts'
import { JsonText } from '../../server/http/json-text.ts'
import { LoggerId, limit, Nullable, Timestamp } from '../../server/http/params.ts'
import { seriesMeta } from '../../server/http/time-windows.ts'
import { rowsWindow, spanWindow } from '../../server/http/windows.ts'
import type { Queries } from '../../server/storage/database.ts'

export interface Needs {
  clock: Clock
  db: Queries
  /** Waits for the plant, as a release does. */
  plant: { settled(): Promise<void> }
}

const closed = { additionalProperties: false } as const
const Site = Type.Object({ site_id: Type.String(), name: Type.String() }, closed)
const Note = Type.Object({ note_id: Type.Integer(), text: Type.String() }, closed)
const Reading = Type.Object({ time: Timestamp, power_kw: Nullable(Type.Number()) }, closed)
const NoteId = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })
const time = '2026-06-01T00:00:00.000Z'

const listSites = endpoint({
  method: 'GET',
  path: '/v1/sites',
  operation_id: 'sites_list',
  tag: 'Samples',
  scope: null,
  module: null,
  summary: 'The sites of the key',
  returns: List(Site),
  example: { answer: list([{ site_id: 's1', name: 'S' }]) },
  async handle({ caller }, { db }: Needs) {
    return list(
      await db.query<{ site_id: string; name: string }>(
        'select site_id, name from sites where client_id = $1 order by site_id',
        [caller.client_id],
      ),
    )
  },
})

const readHistory = endpoint({
  method: 'GET',
  path: '/loggers/{logger_id}/history',
  operation_id: 'logger_history',
  tag: 'Samples',
  scope: 'plant:read',
  module: 'basic_scada',
  summary: 'A series with a limit',
  params: { logger_id: LoggerId },
  window: rowsWindow(24),
  query: { limit: limit(500, 100) },
  returns: Series(Reading),
  example: {
    answer: {
      data: [],
      meta: { count: 0, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ query, window }, _needs: Needs) {
    const rows = Array.from({ length: query.limit ?? 1 }, () => ({
      time: window.start ?? time,
      power_kw: null,
    }))
    const cut = { count: rows.length, returned: rows.length, first_time: null, last_time: null }
    return { data: rows, meta: seriesMeta(window, cut) }
  },
})

const readMatrix = endpoint({
  method: 'GET',
  path: '/energy/hourly',
  operation_id: 'energy_hourly',
  tag: 'Samples',
  scope: 'energy:read',
  module: 'basic_scada',
  summary: 'A window without a limit; the database writes the JSON',
  window: spanWindow(24),
  query: { status: Type.Optional(Type.Array(Type.Enum(['active', 'resolved']))) },
  returns: SpanList(Reading),
  example: {
    answer: {
      data: [{ time, power_kw: 1 }],
      meta: { count: 1, truncated: false, next_start: null },
    },
  },
  async handle({ window }, _needs: Needs) {
    return new JsonText(JSON.stringify(spanList([{ time: window.start, power_kw: 1 }], window)))
  },
})

const readUnit = endpoint({
  method: 'GET',
  path: '/bess/{bess_id}',
  operation_id: 'bess_unit',
  tag: 'Samples',
  scope: 'bess:read',
  module: 'bess',
  summary: 'A live object beside a fixed path',
  params: { bess_id: NoteId },
  returns: Type.Object({ bess_id: NoteId }, closed),
  example: { answer: { bess_id: 1 } },
  async handle({ params }, _needs: Needs) {
    return { bess_id: params.bess_id }
  },
})

const optimizeAll = endpoint({
  method: 'POST',
  path: '/bess/optimize-all',
  operation_id: 'bess_optimize_all',
  tag: 'Samples',
  scope: 'bess:write',
  module: 'bess',
  summary: 'A write without a body',
  query: { target_date: Type.Optional(Type.String({ format: 'date' })) },
  returns: Type.Object({ optimized: Type.Integer() }, closed),
  example: { answer: { optimized: 1 } },
  async handle({ site, tx }, _needs: Needs) {
    await tx.execute('insert into sample_notes (site_id, text) values ($1, $2)', [
      site.site_id,
      '-',
    ])
    return { optimized: 1 }
  },
})

const noteById = 'select note_id, text from sample_notes where site_id = $1 and note_id = $2'

const readNote = endpoint({
  method: 'GET',
  path: '/notes/{note_id}',
  operation_id: 'note_read',
  tag: 'Samples',
  scope: 'om:read',
  module: 'om',
  summary: 'A single resource with an ETag',
  params: { note_id: NoteId },
  returns: Note,
  cache: 'resource',
  example: { answer: { note_id: 1, text: 'x' } },
  async handle({ site, params }, { db }: Needs) {
    const [note] = await db.query<{ note_id: number; text: string }>(noteById, [
      site.site_id,
      params.note_id,
    ])
    if (!note) throw new ApiError('not_found')
    return note
  },
})

const createNote = endpoint({
  method: 'POST',
  path: '/notes',
  operation_id: 'note_create',
  tag: 'Samples',
  scope: 'om:write',
  module: 'om',
  summary: 'A write with a body that can go wrong in every way',
  body: Type.Object(
    {
      text: Type.String({ minLength: 1, maxLength: 100_000 }),
      start_at: Type.Optional(Timestamp),
      end_at: Type.Optional(Timestamp),
      fail: Type.Optional(Type.Enum(['state', 'missing', 'crash', 'schema', 'commit'])),
      level: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 9 }))),
    },
    closed,
  ),
  status: 201,
  returns: Note,
  example: { body: { text: 'hello' }, answer: { note_id: 1, text: 'hello' } },
  async handle({ site, body, tx }, _needs: Needs) {
    const [note] = await tx.query<{ note_id: number; text: string }>(
      'insert into sample_notes (site_id, text) values ($1, $2) returning note_id, text',
      [body.fail === 'commit' ? 'nowhere' : site.site_id, body.start_at ?? body.text],
    )
    if (body.fail === 'state') throw new ApiError('conflict_state', { current_state: 'closed' })
    if (body.fail === 'missing') throw new ApiError('not_found')
    if (body.fail === 'crash') throw new Error('secret detail')
    if (body.fail === 'schema') return { note_id: 'one' } as never
    return note!
  },
})

const changeNote = endpoint({
  method: 'PUT',
  path: '/notes/{note_id}',
  operation_id: 'note_change',
  tag: 'Samples',
  scope: 'om:write',
  module: 'om',
  summary: 'A change that honours If-Match',
  params: { note_id: NoteId },
  body: Type.Object({ text: Type.String({ minLength: 1 }) }, closed),
  returns: Note,
  cache: 'resource',
  if_match: true,
  example: { body: { text: 'new' }, answer: { note_id: 1, text: 'new' } },
  async handle({ site, params, body, tx, if_match }, _needs: Needs) {
    const place = [site.site_id, params.note_id]
    const [note] = await tx.query(`${noteById} for update`, place)
    if (!note) throw new ApiError('not_found')
    requireMatch(if_match, note)
    await tx.execute('update sample_notes set text = $3 where site_id = $1 and note_id = $2', [
      ...place,
      body.text,
    ])
    return { note_id: params.note_id, text: body.text }
  },
})

const deleteNote = endpoint({
  method: 'DELETE',
  path: '/notes/{note_id}',
  operation_id: 'note_delete',
  tag: 'Samples',
  scope: 'om:write',
  module: 'om',
  summary: 'A deletion with no content',
  params: { note_id: NoteId },
  status: 204,
  returns: Type.Null(),
  example: { answer: null },
  async handle({ site, params, tx }, _needs: Needs) {
    await tx.execute(
      'delete from sample_notes where site_id = $1 and note_id = $2 and note_id > 1',
      [site.site_id, params.note_id],
    )
    return null
  },
})

const release = endpoint({
  method: 'DELETE',
  path: '/curtailment/group/{group_id}',
  operation_id: 'curtailment_release',
  tag: 'Samples',
  scope: 'curtailment:write',
  module: 'basic_scada',
  summary: 'A write that waits for the plant',
  params: { group_id: Type.String({ minLength: 1, maxLength: 100 }) },
  returns: Type.Object({ status: Type.Enum(['releasing', 'cancelled']) }, closed),
  example: { answer: { status: 'cancelled' } },
  async handle({ site, params, tx }, _needs: Needs) {
    await tx.execute('insert into sample_notes (site_id, text) values ($1, $2)', [
      site.site_id,
      params.group_id,
    ])
    return { status: 'releasing' as const }
  },
  async settle(_request, { plant }: Needs) {
    await plant.settled()
    return { status: 'cancelled' as const }
  },
})

export const sampleTables = `
  create table sample_notes (
    site_id text not null, note_id integer generated by default as identity, text text not null,
    primary key (site_id, note_id),
    foreign key (site_id) references sites deferrable initially deferred);
  insert into sample_notes (site_id, text) select site_id, 'first' from sites;
  insert into sample_notes (site_id, note_id, text) select site_id, 1, 'one' from sites
    on conflict do nothing`

export const sampleEndpoints = [
  listSites,
  readHistory,
  readMatrix,
  readUnit,
  optimizeAll,
  readNote,
  createNote,
  changeNote,
  deleteNote,
  release,
]
