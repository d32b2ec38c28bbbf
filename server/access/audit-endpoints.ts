/** Who wrote what to a client and its sites, and who signed in, for its administrators. */
import { Type } from 'typebox'
import { pageOf, RowId } from '../http/cursor.ts'
import { endpoint } from '../http/endpoint.ts'
import { CursorList, cursorList } from '../http/envelope.ts'
import { limit, Timestamp } from '../http/params.ts'
import { auditExample } from './examples.ts'
import type { PlatformNeeds } from './people-endpoints.ts'
import { AuditEntry } from './schemas.ts'

/** '' stands for the client. */
const site_or_none = '^[a-z0-9_-]{0,64}$'

interface AuditRow {
  audit_id: number
  /** '': of the client. */
  site_id: string
  at: Date
  by: string
  by_name: string
  method: string
  path: string
  body: string | null
  status: number | null
  address: string | null
  request_id: string | null
}

export const getAudit = endpoint({
  tag: 'Platform',
  scope: null,
  module: null,
  role: 'administrator',
  method: 'GET',
  path: '/platform/audit',
  operation_id: 'platform_audit_list',
  summary: 'Who wrote what, and who signed in',
  description:
    'Every write of keys and people and what they did about signing in (`/platform/auth/…`), the ' +
    'newest first, refused ones too; for 400 days. Of wrong passwords in a row the first and each ' +
    'lock-out are there, with their number; of links to a new password that were asked for the ' +
    'first in an hour.',
  query: {
    site_id: Type.Optional(Type.String({ maxLength: 64, description: 'Only of this site.' })),
    before: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only what was written before.' }),
    ),
    limit: limit(500, 100),
  },
  cursor: { at: Timestamp, audit_id: RowId, site_id: Type.String({ pattern: site_or_none }) },
  returns: CursorList(AuditEntry),
  example: { answer: cursorList({ rows: [auditExample], next_cursor: null }) },
  async handle({ caller, query, after }, { db }: PlatformNeeds) {
    const { site_id = null, before = null, limit: at_most = 100 } = query
    const rows = await db.query<AuditRow>(selectAudit, [
      caller.client_id,
      site_id,
      before,
      at_most + 1,
      after?.at ?? null,
      after?.audit_id ?? null,
      after?.site_id ?? null,
    ])
    const placeOf = ({ at, audit_id, site_id }: AuditRow) => ({ at, audit_id, site_id })
    const page = pageOf(rows, at_most, placeOf)
    return cursorList({ ...page, rows: page.rows.map(entryOf) })
  },
})

/** Whole: of one instant there may be several, and an id is of its site or of the client alone. */
const order = 'at desc, audit_id desc, site_id desc'

const selectPage = (table: string, condition: string) => `
  select site_id, audit_id, at, key_id as by, key_name as by_name, method, path, body, status,
    address, request_id
  from ${table}
  where ${condition} and ($3::timestamptz is null or at < $3)
    and ($5::timestamptz is null
      or at <= $5 and (at, audit_id, site_id) < ($5, $6::bigint, $7::text))
  order by ${order} limit $4`

const selectAudit = `
  select * from (
    (${selectPage(
      'write_audit',
      `site_id in (select site_id from sites where client_id = $1)
         and ($2::text is null or site_id = $2)`,
    )})
    union all
    (${selectPage(
      `(select *, '' as site_id from client_audit) as of_client`,
      'client_id = $1 and $2::text is null',
    )})
  ) as w order by ${order} limit $4`

const entryOf = (row: AuditRow) => ({
  ...row,
  audit_id: String(row.audit_id),
  site_id: row.site_id || null,
  at: row.at.toISOString(),
})
