/** What an operator does once on the server's machine: a client, its site, an edge, a key. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withDatabase } from '@heliograph/cli/database'
import { systemClock } from '@heliograph/domain/clock'
import { createClient } from '@heliograph/server/access/clients'
import { createEdge } from '@heliograph/server/access/edges'
import { createKey, type KeyOrder } from '@heliograph/server/access/keys'
import { createSite } from '@heliograph/server/access/sites'
import { modules } from '@heliograph/server/http/endpoint'
import type { Database } from '@heliograph/server/storage/database'
import type { Programs } from './programs.ts'

const silent = { info() {}, warn() {}, error() {} }

/** Works on the embedded database of the programs, beside their server. */
export function onDatabase<Result>(
  { server_dir }: Programs,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  return withDatabase({ database_url: null, data_dir: server_dir }, silent, work)
}

/** Writes the edge's token where it looks for it, and gives a key that may read, or more. */
export function enrol(
  programs: Programs,
  rights: Partial<Pick<KeyOrder, 'scopes' | 'general_per_minute' | 'write_per_minute'>> = {},
): Promise<string> {
  const { dir, site } = programs
  return onDatabase(programs, async (db) => {
    const admin = { db, clock: systemClock, randomBytes }
    const client = 'Tester'
    await createClient(admin, { name: client, modules })
    const { site_id, name } = site
    await createSite(admin, { client, site_id, name, safe_mode: false })
    const { token } = await createEdge(admin, { site_id: site.site_id, name: 'gateway' })
    writeFileSync(join(dir, 'token'), token, { mode: 0o600 })
    const order = { scopes: ['plant:read'], site_ids: null, expires_at: null, created_by: 'test' }
    return (await createKey(admin, { client, name: 'test', ...order, ...rights })).key
  })
}
