/** Access checks: site of the key, scope, module of the plan, and role. */
import type { Queries } from '../storage/database.ts'
import {
  type Caller,
  type Module,
  type RequestSite,
  type Role,
  roles,
  type Scope,
} from './endpoint.ts'
import { ApiError } from './errors.ts'
import { scopeModules } from './scope-modules.ts'

export const site_id_pattern = /^[a-z0-9][a-z0-9_-]{0,63}$/

const selectSites = {
  name: 'http_sites',
  text: `select site_id, client_id, name, coalesce(inventory ->> 'timezone', 'UTC') as timezone,
                safe_mode_since_at is not null as safe_mode
           from sites
          where (client_id, site_id) in (select * from unnest($1::int[], $2::text[]))`,
}

export const siteKey = (client_id: number, site_id: string) => `${client_id}/${site_id}`

/**
 * Loads sites of the asking client only. Sites of other clients are not read, so that neither the
 * answer nor its duration reveals whether they exist.
 */
export async function loadSites(
  db: Queries,
  site_keys: readonly string[],
): Promise<Map<string, RequestSite>> {
  const keys = site_keys.map((key) => key.split('/') as [string, string])
  const rows = await db.query<RequestSite>(selectSites, [
    keys.map(([client_id]) => Number(client_id)),
    keys.map(([, site_id]) => site_id),
  ])
  return new Map(rows.map((row) => [siteKey(row.client_id, row.site_id), row]))
}

/** True when the caller may access a site of this id, if it exists. */
export const isGiven = (site_id: string, { site_ids }: Caller): boolean =>
  site_id_pattern.test(site_id) && (site_ids === null || site_ids.has(site_id))

export function requireScope(caller: Caller, required_scope: Scope | null): void {
  if (required_scope === null || caller.scopes.has(required_scope)) return
  const challenge = `Bearer realm="heliograph", error="insufficient_scope", scope="${required_scope}"`
  throw new ApiError('forbidden_scope', { required_scope }, { 'www-authenticate': challenge })
}

/** True when the caller may read sections or fields that need a further scope. */
export const mayRead = ({ scopes, modules }: Caller, scope: Scope): boolean =>
  scopes.has(scope) && modules.has(scopeModules[scope])

export function requireRole(caller: Caller, required_role: Role): void {
  const rank = (role: Role | undefined) => (role === undefined ? -1 : roles.indexOf(role))
  if (rank(caller.role) < rank(required_role)) {
    throw new ApiError('forbidden_role', { required_role })
  }
}

export function requireModule(caller: Caller, module: Module | null): void {
  if (module !== null && !caller.modules.has(module)) {
    throw new ApiError('forbidden_module', { module })
  }
}
