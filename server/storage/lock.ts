import { readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'

export interface Lock {
  /** May be called again. */
  release(): void
}

const sqlite_busy = 5

/** A database that nobody refers to is closed by the garbage collector, and its lock is gone. */
const held = new Set<DatabaseSync>()

/** Another living process holds the lock. */
export class LockHeld extends Error {}

/**
 * Takes a file as a lock for the life of this process, or throws naming the process that holds it.
 *
 * Node has no flock. SQLite's write lock is a lock of the operating system on an open file: the
 * kernel drops it with the process however that ends, so nothing stale is left to judge by process
 * number, and of two processes that try at once exactly one gets it.
 */
export async function takeLock(file: string, what: string): Promise<Lock> {
  const owner_file = `${file}-owner`
  const database = open(file, what)
  try {
    // Nothing is ever written, so no journal either.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode !== sqlite_busy) throw error
    const owner = await readFile(owner_file, 'utf8').catch(() => 'unknown')
    throw new LockHeld(`${what} is in use by process ${owner.trim()}; stop that one first`)
  }
  held.add(database)
  // Only told to people; the lock itself is what decides.
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
