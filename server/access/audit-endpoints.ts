/** The audit log of a client: writes and sign-ins, for its administrators. */

import { Type } from 'typebox'
import { pageOf, RowId } from '../http/cursor.ts'
import { endpoint } from '../http/endpoint.ts'
import { CursorList, cursorList } from '../http/envelope.ts'
import * as field from '../http/fields.ts'
import { limit, Timestamp } from '../http/params.ts'
import { served } from '../storage/records.ts'
import { forAdministrators, type PlatformNeeds } from './platform-operation.ts'
import { AuditEntry } from './schemas.ts'

/** Empty for writes to the client itself. */
const site_or_none = '^[a-z0-9_-]{0,64}$'

/** `site_id` is empty for writes to the client itself. */
type AuditRow = Omit<AuditEntry, 'audit_id' | 'site_id' | 'at'> & {
  audit_id: number
  site_id: string
  at: Date
}

export const getAudit = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/audit',
  operation_id: 'platform_audit_list',
  summary: 'List the audit log',
  description:
    'Returns the writes of keys and users, rejected ones included, and the sign-in operations ' +
    '(`/platform/auth/…`), newest first. Entries are kept for 400 days. Of consecutive wrong ' +
    'passwords, the first and each lock-out are logged, with their count. Of requests for a ' +
    'password reset, the first in an hour is logged.',
  query: {
    site_id: Type.Optional(field.Text('Returns only writes to this site.', { maxLength: 64 })),
    before: Type.Optional(field.At('Returns only entries before this instant.')),
    limit: limit(500, 100),
  },
  cursor: { at: Timestamp, audit_id: RowId, site_id: Type.String({ pattern: site_or_none }) },
  returns: CursorList(AuditEntry),
  async handle({ caller, query, after }, { db }: PlatformNeeds) {
    const { site_id = null, before = null, limit: page_size = 100 } = query
    const rows = await db.query<AuditRow>(selectAudit, [
      caller.client_id,
      site_id,
      before,
      page_size + 1,
      after?.at ?? null,
      after?.audit_id ?? null,
      after?.site_id ?? null,
    ])
    const placeOf = ({ at, audit_id, site_id }: AuditRow) => ({ at, audit_id, site_id })
    const page = pageOf(rows, page_size, placeOf)
    return cursorList({ ...page, rows: page.rows.map(entryOf) })
  },
})

/**
 * Total order: several entries may share an instant, and ids are unique per site or client only.
 */
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

const entryOf = (row: AuditRow) =>
  served(AuditEntry, {
    ...row,
    audit_id: String(row.audit_id),
    site_id: row.site_id || null,
  })
