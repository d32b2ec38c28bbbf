import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database, Transaction } from './database.ts'

export const migrations_dir = fileURLToPath(new URL('migrations', import.meta.url))

interface Migration {
  /** From 1, without gaps. */
  number: number
  /** `0001-plants` */
  name: string
  sql: string
  sha256: string
}

interface AppliedMigration {
  number: number
  name: string
  sha256: string
}

/** Advisory lock of migrations: the letters `hg-migr` as a number. */
const advisory_lock = 0x68672d6d696772n

/** The `0001-name.sql` files of a directory in order. Other .sql files are an error. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1])
      if (number !== index + 1) {
        const expected = String(index + 1).padStart(4, '0')
        throw new Error(`migration ${file} must be named ${expected}-<what-it-does>.sql`)
      }
      const sql = await readFile(path.join(directory, file), 'utf8')
      if (/^\s*(BEGIN|COMMIT|ROLLBACK)\s*;/im.test(sql)) {
        throw new Error(`migration ${file} must leave the transaction to the migrator`)
      }
      const sha256 = createHash('sha256').update(sql).digest('hex')
      return { number, name: file.slice(0, -'.sql'.length), sql, sha256 }
    }),
  )
}

/**
 * Applies pending migrations and returns their names. Each migration runs in a transaction under an
 * advisory lock, so several servers may start at once. Throws when an applied file has changed, or
 * when the database is newer than this version.
 */
export async function migrate(db: Database, directory = migrations_dir): Promise<string[]> {
  const migrations = await readMigrations(directory)
  const applied: string[] = []
  for (;;) {
    const name = await db.transaction((transaction) => applyNext(transaction, migrations))
    if (name === undefined) return applied
    applied.push(name)
  }
}

async function applyNext(
  transaction: Transaction,
  migrations: readonly Migration[],
): Promise<string | undefined> {
  await transaction.query('SET LOCAL statement_timeout = 0')
  await transaction.query('SELECT pg_advisory_xact_lock($1)', [advisory_lock])
  await transaction.execute(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       number int PRIMARY KEY,
       name text NOT NULL,
       sha256 text NOT NULL,
       applied_at timestamptz NOT NULL DEFAULT now()
     )`,
  )
  const applied = await transaction.query<AppliedMigration>(
    'SELECT number, name, sha256 FROM schema_migrations ORDER BY number',
  )
  checkApplied(applied, migrations)
  const next = migrations[applied.length]
  if (!next) return undefined
  try {
    await transaction.execute(next.sql)
  } catch (error) {
    throw new Error(`migration ${next.name} failed`, { cause: error })
  }
  await transaction.execute(
    'INSERT INTO schema_migrations (number, name, sha256) VALUES ($1, $2, $3)',
    [next.number, next.name, next.sha256],
  )
  return next.name
}

function checkApplied(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  for (const [index, { number, name, sha256 }] of applied.entries()) {
    const migration = known[index]
    if (!migration) {
      throw new Error(
        `the database has migration ${name}, which this version does not know: run the version that made it, or a newer one`,
      )
    }
    if (migration.number !== number || migration.name !== name) {
      throw new Error(`the database has migration ${name} where this version has ${migration.name}`)
    }
    if (migration.sha256 !== sha256) {
      throw new Error(
        `migration ${name} has changed since it was applied: restore the file and write a new migration`,
      )
    }
  }
}
