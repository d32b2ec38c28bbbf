import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const sqlite_busy = 5

/**
 * Takes the data directory for the life of this process, or throws: two agents on one journal
 * would destroy it. SQLite's write lock is one of the operating system on an open file, which the
 * kernel drops with the process however that ends, so nothing stale is ever left behind.
 */
export function lockDirectory(dir: string): { release(): void } {
  const file = join(dir, 'lock')
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    database.exec('BEGIN IMMEDIATE')
  } catch (error) {
    database?.close()
    const is_taken = (error as { errcode?: number }).errcode === sqlite_busy
    if (is_taken) throw new Error(`${dir} is in use by another edge agent; stop that one first`)
    throw new Error(`EDGE_DATA_DIR: cannot lock ${file}: ${(error as Error).message}`, {
      cause: error,
    })
  }
  const locked = database
  return {
    release() {
      if (locked.isOpen) locked.close()
    },
  }
}
