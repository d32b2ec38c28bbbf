import { readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'

export interface Lock {
  /** May be called again. */
  release(): void
}

const sqlite_busy = 5

/** References that keep the garbage collector from closing databases, which would unlock them. */
const held = new Set<DatabaseSync>()

/** Another living process holds the lock. */
export class LockHeld extends Error {}

/**
 * Locks a file for the life of this process. Throws with the id of the process that holds the lock.
 *
 * Node has no flock. The write lock of SQLite is an operating system lock on an open file: the
 * kernel releases it when the process ends, so there are no stale locks, and exactly one of
 * concurrent processes gets it.
 */
export async function takeLock(file: string, what: string): Promise<Lock> {
  const owner_file = `${file}-owner`
  const database = open(file, what)
  try {
    // Nothing is written, so no journal is needed.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode !== sqlite_busy) throw error
    const owner = await readFile(owner_file, 'utf8').catch(() => 'unknown')
    throw new LockHeld(`${what} is in use by process ${owner.trim()}; stop that one first`)
  }
  held.add(database)
  // For the error message only.
  await writeFile(owner_file, `${process.pid}\n`)
  return {
    release() {
      if (held.delete(database)) database.close()
    },
  }
}

function open(file: string, what: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 0 })
  } catch (error) {
    throw new Error(`${what} cannot be locked: ${file} cannot be opened`, { cause: error })
  }
}
