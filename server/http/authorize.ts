/** Who may do what: first whether the key sees the site, then its scope, then its client's plan. */
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

export const site_id_pattern = /^[a-z0-9][a-z0-9_-]{0,63}$/

const selectSites = {
  name: 'http_sites',
  text: `select site_id, client_id, name, coalesce(inventory ->> 'timezone', 'UTC') as timezone,
                safe_mode_since_at is not null as safe_mode
           from sites where site_id = any($1::text[])`,
}

export async function loadSites(
  db: Queries,
  site_ids: readonly string[],
): Promise<Map<string, RequestSite>> {
  const rows = await db.query<RequestSite>(selectSites, [site_ids])
  return new Map(rows.map((row) => [row.site_id, row]))
}

/** A site of another client, or one the key was not given, is not found: ids cannot be probed. */
export function visibleSite(site: RequestSite | null, caller: Caller): RequestSite {
  const visible =
    site !== null &&
    site.client_id === caller.client_id &&
    (caller.site_ids === null || caller.site_ids.has(site.site_id))
  if (!visible) throw new ApiError('not_found')
  return site
}

export function requireScope(caller: Caller, required_scope: Scope | null): void {
  if (required_scope === null || caller.scopes.has(required_scope)) return
  const challenge = `Bearer realm="heliograph", error="insufficient_scope", scope="${required_scope}"`
  throw new ApiError('forbidden_scope', { required_scope }, { 'www-authenticate': challenge })
}

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
