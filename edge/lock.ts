import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const sqlite_busy = 5

/**
 * Takes the data directory for the life of this process, or throws: two agents on one journal
 * would destroy it. SQLite's write lock is one of the operating system on an open file, which the
 * kernel drops with the process however that ends, so nothing stale is ever left behind.
 */
export function lockDirectory(dir: string): { release(): void } {
  const database = new DatabaseSync(join(dir, 'lock'), { timeout: 0 })
  try {
    database.exec('BEGIN IMMEDIATE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode !== sqlite_busy) throw error
    throw new Error(`${dir} is in use by another edge agent; stop that one first`)
  }
  return {
    release() {
      if (database.isOpen) database.close()
    },
  }
}
