/** The present scopes of the key or person that ordered a report. */
import { type Module, type Role, type Scope, scopes } from '../http/endpoint.ts'
import { scopesOf } from '../http/roles.ts'
import { scopeModules } from '../http/scope-modules.ts'
import type { Queries } from '../storage/database.ts'
import type { RunKey } from './runs.ts'

interface ReaderRow {
  key_id: string | null
  modules: Module[]
  key_scopes: Scope[] | null
  role: Role | null
}

/** Empty once the key or person has ended or lost access to the site. */
export async function readableScopes(
  db: Queries,
  { site_id, run_id }: RunKey,
  now: Date,
): Promise<ReadonlySet<Scope>> {
  const [row] = await db.query<ReaderRow>(
    `select r.key_id, c.modules, k.scopes as key_scopes, u.role
     from report_runs r
     join sites here on here.site_id = r.site_id
     join clients c on c.client_id = here.client_id
     left join api_keys k on k.key_id = r.key_id and k.revoked_at is null
       and (k.expires_at is null or k.expires_at > $3)
       and (k.site_ids is null or r.site_id = any (k.site_ids))
     left join users u on u.id = r.key_id and u.disabled_at is null
       and (u.site_ids is null or r.site_id = any (u.site_ids))
     where r.site_id = $1 and r.run_id = $2`,
    [site_id, run_id, now],
  )
  if (!row) return new Set()
  const { key_id, key_scopes, role, modules } = row
  const of_person = role === null ? [] : scopesOf[role]
  // Orders from before keys were recorded have every scope of their template.
  const granted = key_id === null ? scopes : (key_scopes ?? of_person)
  return new Set(granted.filter((scope) => modules.includes(scopeModules[scope])))
}

/** Whether the key or person that ordered the report has lost a scope of its file. */
export async function isWithheld(db: Queries, run: RunKey, now: Date): Promise<boolean> {
  const [row] = await db.query<{ required_scopes: Scope[] | null }>(
    'select required_scopes from report_runs where site_id = $1 and run_id = $2',
    [run.site_id, run.run_id],
  )
  const readable = await readableScopes(db, run, now)
  return !row?.required_scopes?.every((scope) => readable.has(scope))
}
