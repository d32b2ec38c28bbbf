import type { Database } from '../storage/database.ts'
import { migrations_dir, readMigrations } from '../storage/migrate.ts'

/** Whether requests can be served: the database answers and has every migration of this code. */
export async function readiness(db: Database): Promise<() => Promise<boolean>> {
  const migrations = (await readMigrations(migrations_dir)).length
  return async () => {
    const [row] = await db.query<{ ready: boolean }>(
      'select count(*) >= $1 as ready from schema_migrations',
      [migrations],
    )
    return row?.ready ?? false
  }
}
