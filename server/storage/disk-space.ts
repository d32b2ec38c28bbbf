/**
 * PostgreSQL answers reads on a full disk, but ends where it cannot write its log. So writes are
 * refused while there is still room for that: edges keep what was not acknowledged, writes of the
 * API get 503, and both are accepted again when space has returned.
 */
import { statfs } from 'node:fs/promises'
import path from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from './database.ts'
import type { Log } from './log.ts'

interface DiskSettings {
  /** Of the embedded database. */
  data_dir: string
  timers: Timers
  log: Log
  metrics: Registry
  /** Below this writes are refused, a quarter above it they are accepted again. */
  free_bytes_min?: number
  /** Bytes that an unprivileged program can still write; tests give a disk of their own. */
  freeBytes?(directory: string): Promise<number>
}

interface DiskGuard {
  /** The database, whose transactions throw `DiskFull` while the disk is full. */
  db: Database
  /** Looks now instead of at the next of the looks every two seconds. */
  look(): Promise<void>
  stop(): void
}

/** The code is that of PostgreSQL for a disk that is full. */
class DiskFull extends Error {
  readonly code = '53100'

  constructor(free_bytes: number) {
    super(`the disk of the database is full: ${free_bytes} bytes are left`)
  }
}

const look_ms = 2000
const free_bytes_min_default = 256 * 2 ** 20

/** Guards a database whose files lie on this machine. Work that makes room must go around it. */
export async function guardDisk(db: Database, settings: DiskSettings): Promise<DiskGuard> {
  const { data_dir, timers, log, metrics, freeBytes = freeBytesOf } = settings
  const { free_bytes_min = free_bytes_min_default } = settings
  const cluster_dir = path.join(data_dir, 'postgres/cluster')
  const gauges = gaugesIn(metrics)
  let is_full = false
  let free_bytes = Number.POSITIVE_INFINITY
  let cancel: () => void = () => {}
  let is_stopped = false

  async function look(): Promise<void> {
    // The log may have been given a disk of its own.
    const disks = [cluster_dir, path.join(cluster_dir, 'pg_wal')]
    free_bytes = Math.min(...(await Promise.all(disks.map(freeBytes))))
    const was_full = is_full
    is_full = free_bytes < (was_full ? free_bytes_min * 1.25 : free_bytes_min)
    gauges.free.set(free_bytes)
    gauges.full.set(is_full ? 1 : 0)
    if (is_full && !was_full) {
      log.error({ free_bytes, free_bytes_min }, 'the disk is full: writes are refused')
    } else if (was_full && !is_full) {
      log.info({ free_bytes }, 'the disk has room again: writes are accepted')
    }
  }

  function lookLater(): void {
    if (is_stopped) return
    cancel = timers.after(look_ms, () => {
      look()
        .catch((error: unknown) => log.error({ err: error }, 'the disk cannot be looked at'))
        .finally(lookLater)
    })
  }

  await look()
  lookLater()
  return {
    db: {
      ...db,
      transaction: async (work, options) => {
        if (is_full && !options?.read_only) throw new DiskFull(free_bytes)
        return db.transaction(work, options)
      },
    },
    look,
    stop() {
      is_stopped = true
      cancel()
    },
  }
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

function gaugesIn(registry: Registry) {
  const registers = [registry]
  return {
    free: new Gauge({
      name: 'heliograph_disk_free_bytes',
      help: 'Room that is left for the embedded database',
      registers,
    }),
    full: new Gauge({
      name: 'heliograph_disk_full',
      help: '1 while writes are refused because the disk is full',
      registers,
    }),
  }
}
