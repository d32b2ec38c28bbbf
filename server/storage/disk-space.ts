/**
 * Protects the embedded database from a full disk. PostgreSQL stops when it cannot write its log,
 * so writes are rejected while some space is left: edges keep unacknowledged readings, and writes
 * of the API get 503 until space is available again.
 */
import { statfs } from 'node:fs/promises'
import path from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from './database.ts'
import type { Log } from './log.ts'

interface DiskSettings {
  data_dir: string
  timers: Timers
  log: Log
  metrics: Registry
  /** Writes are rejected below this and accepted again a quarter above it. */
  free_bytes_min?: number
  /** Free bytes for unprivileged programs; replaced in tests. */
  freeBytes?(directory: string): Promise<number>
}

/** Has the SQLSTATE of PostgreSQL for a full disk. */
class DiskFull extends Error {
  readonly code = '53100'

  constructor(free_bytes: number) {
    super(`the disk of the database is full: ${free_bytes} bytes are left`)
  }
}

const look_ms = 2000
const free_bytes_min_default = 256 * 2 ** 20

/** Guards a database on a local disk. Jobs that free space must use the unguarded database. */
export async function guardDisk(db: Database, settings: DiskSettings) {
  const { data_dir, timers, log, metrics, freeBytes = freeBytesOf } = settings
  const { free_bytes_min = free_bytes_min_default } = settings
  const cluster_dir = path.join(data_dir, 'postgres/cluster')
  const gauges = gaugesIn(metrics)
  let is_full = false
  let free_bytes = Number.POSITIVE_INFINITY
  let cancel: () => void = () => {}
  let is_stopped = false

  async function look(): Promise<void> {
    // The write-ahead log may be on a separate disk.
    const disks = [cluster_dir, path.join(cluster_dir, 'pg_wal')]
    free_bytes = Math.min(...(await Promise.all(disks.map(freeBytes))))
    const was_full = is_full
    is_full = free_bytes < (was_full ? free_bytes_min * 1.25 : free_bytes_min)
    gauges.free.set(free_bytes)
    gauges.full.set(is_full ? 1 : 0)
    if (is_full && !was_full) {
      log.error({ free_bytes, free_bytes_min }, 'the disk is full: writes are rejected')
    } else if (was_full && !is_full) {
      log.info({ free_bytes }, 'the disk has space again: writes are accepted')
    }
  }

  function lookLater(): void {
    if (is_stopped) return
    cancel = timers.after(look_ms, () => {
      look()
        .catch((error: unknown) => log.error({ err: error }, 'the free disk space cannot be read'))
        .finally(lookLater)
    })
  }

  await look()
  lookLater()
  /** Write transactions throw `DiskFull` while the disk is full. */
  const guarded: Database = {
    ...db,
    transaction: async (work, options) => {
      if (is_full && !options?.read_only) throw new DiskFull(free_bytes)
      return db.transaction(work, options)
    },
  }
  return {
    db: guarded,
    /** Checks the disk now instead of at the next interval. */
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
      help: 'Free disk space for the embedded database',
      registers,
    }),
    full: new Gauge({
      name: 'heliograph_disk_full',
      help: '1 while writes are rejected because the disk is full',
      registers,
    }),
  }
}
