/** Restores a backup into a scratch cluster, to know that it can be restored. */
import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { restoreThen } from './backup-restore.ts'
import type { Log } from './log.ts'
import { countRows, wrongCounts } from './row-counts.ts'

interface VerifyOrder {
  backup: string
  /** The folder of the scratch cluster, which takes as much space as the database. */
  scratch_dir: string
  log: Log
}

export interface VerifyReport {
  backup: string
  backup_finished_at: string
  tables: number
  rows: number
  /** Counts that differ from those of the backed up database; empty when all agree. */
  wrong: string[]
}

/**
 * Verifies the checksums, lets PostgreSQL recover the backup, and compares the rows of every table
 * with those of the backed up database. Throws when the backup cannot be restored.
 */
export async function verifyBackup(order: VerifyOrder): Promise<VerifyReport> {
  const { backup, scratch_dir, log } = order
  const data_dir = await mkdtemp(path.join(scratch_dir, 'heliograph-verify-'))
  try {
    return await restoreThen({ backup, data_dir, log }, async (db, { finished_at, tables }) => {
      const found = await countRows((statement) => db.query(statement))
      return {
        backup,
        backup_finished_at: finished_at,
        tables: found.size,
        rows: [...found.values()].reduce((sum, { rows }) => sum + rows, 0),
        wrong:
          tables === undefined
            ? ['the backup is of an earlier version and has no counts to compare with']
            : wrongCounts(tables, found),
      }
    })
  } finally {
    await rm(data_dir, { recursive: true, force: true })
  }
}
