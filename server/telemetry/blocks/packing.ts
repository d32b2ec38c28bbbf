/**
 * Takes the rows of packed readings away once every one of them is in a block. The roll-up makes
 * the blocks of ended hours; here each partition is compared with its blocks before it goes.
 *
 * Readers learn of a new bound hours before the first partition before it goes, so that no reader
 * and no snapshot looks for rows that are gone.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { JobContext } from '../../jobs/job.ts'
import type { Database, Queries, Transaction } from '../../storage/database.ts'
import { dropPartition, partitionName, type Week, weeksBefore } from '../../storage/partitions.ts'
import { hasRow } from '../../storage/rows.ts'
import { blockLength, packHours, packing_lock_class } from './store.ts'

/** Live reads look back three days at most, and find rows alone. */
const rows_days = 4
/** The longest read, an export, takes an hour. */
const announced_ms = 2 * hour_ms
/** A run stops after this, and the next run continues. */
const run_ms_max = hour_ms / 2
/** Limits the wait of other users of a locked table. */
const lock_ms_max = 2000

const kindOf = new Map<string, ReadingKind>(
  (Object.keys(readingKinds) as ReadingKind[]).map((kind) => [readingKinds[kind].table, kind]),
)

export async function packRows({ db, clock, log, signal }: JobContext): Promise<void> {
  const now_ms = clock.now().getTime()
  const stop_ms = now_ms + run_ms_max
  const goesOn = () => {
    signal.throwIfAborted()
    return clock.now().getTime() < stop_ms
  }
  const bounds = await readBounds(db, now_ms)
  const rows_from = new Date(now_ms - rows_days * day_ms)
  for (const { table, week } of await weeksBefore(db, [...kindOf.keys()], rows_from)) {
    const kind = kindOf.get(table)!
    const { announced, settled } = bounds.get(kind) ?? { announced: never, settled: null }
    const is_announced = week.end <= announced
    if (!(await packWeek(db, { kind, week, is_late: is_announced }, goesOn))) return
    if (!is_announced) {
      await db.execute(
        `insert into packed_before (kind, before_at, announced_at) values ($1, $2, $3)
         on conflict do nothing`,
        [kind, week.end.toISOString(), clock.now().toISOString()],
      )
    } else if (week.end <= (settled ?? never) && (await dropPacked(db, kind, week))) {
      log.info({ week: week.start, kind }, 'rows of readings that are in blocks were dropped')
    }
  }
}

interface Bounds {
  announced: Date
  settled: Date | null
}

const never = new Date(0)

/** Up to where readings of a kind are packed, and up to where every reader knows it. */
async function readBounds(db: Queries, now_ms: number): Promise<Map<string, Bounds>> {
  const rows = await db.query<Bounds & { kind: string }>(
    `select kind, max(before_at) as announced,
       max(before_at) filter (where announced_at <= $1) as settled
     from packed_before group by kind`,
    [new Date(now_ms - announced_ms).toISOString()],
  )
  return new Map(rows.map((row) => [row.kind, row]))
}

interface PackedWeek {
  kind: ReadingKind
  week: Week
  /** Whether its rows went before, so that these came later. */
  is_late: boolean
}

interface Device {
  site_id: string
  device_id: number
}

/** Packs what the blocks of a week lack. Returns false when `goesOn` returned false. */
async function packWeek(db: Database, of: PackedWeek, goesOn: () => boolean): Promise<boolean> {
  const name = partitionName(readingKinds[of.kind].table, of.week)
  // The rows were thinned before they were packed by an earlier release.
  const thinned = await db.queryOne<{ step_s: number }>(
    'select step_s from thinned_partitions where name = $1',
    [name],
  )
  for (let last: Device | null = null; ; ) {
    if (!goesOn()) return false
    const device: Device | null = await nextDevice(db, of.kind, name, last)
    if (!device) return true
    const hours = await unpackedHours(db, of, name, device)
    if (hours.length > 0) {
      await db.transaction(async (transaction) => {
        await transaction.execute('set local statement_timeout = 0')
        await lockSite(transaction, device.site_id)
        await packHours(transaction, device.site_id, of.kind, hours, thinned?.step_s ?? null)
      })
    }
    last = device
  }
}

/** Waits for whoever sums up or packs the site. */
export const lockSite = (transaction: Transaction, site_id: string) =>
  transaction.query('select pg_advisory_xact_lock($1, hashtext($2))', [packing_lock_class, site_id])

async function nextDevice(
  db: Queries,
  kind: ReadingKind,
  name: string,
  last: Device | null,
): Promise<Device | null> {
  const [key] = readingKinds[kind].keys
  const [next] = await db.query<Device>(
    `select site_id, ${key} as device_id from ${name}
     ${last ? `where (site_id, ${key}) > ($1, $2)` : ''} order by site_id, ${key} limit 1`,
    last ? [last.site_id, last.device_id] : [],
  )
  return next ?? null
}

/** The hours of a device whose rows may not all be in blocks. */
async function unpackedHours(
  db: Queries,
  { kind, is_late }: PackedWeek,
  name: string,
  { site_id, device_id }: Device,
) {
  const [key] = readingKinds[kind].keys
  const hours = await db.query<{ hour_at: Date }>(
    `select distinct date_bin('1 hour', r.start_at, 'epoch') as hour_at from (
       select date_bin($5::int * interval '1 ms', measured_at, 'epoch') as start_at,
         count(*) as count
       from ${name} where site_id = $1 and ${key} = $2 group by 1
     ) as r
     left join reading_blocks b on b.site_id = $1 and b.kind = $3 and b.device_id = $2
       and b.hour_at = r.start_at
     where $4 or b.reading_count is distinct from r.count
     order by 1`,
    [site_id, device_id, kind, is_late, blockLength(kind)],
  )
  return hours.map(({ hour_at }) => ({ device_id, hour_at }))
}

/**
 * Drops a partition, unless readings arrived that the roll-up has not packed yet, or the table is
 * in use; the next run tries again.
 */
function dropPacked(db: Database, kind: ReadingKind, week: Week): Promise<boolean> {
  const { table } = readingKinds[kind]
  const dropping = db.transaction(async (transaction) => {
    await transaction.execute(`set local lock_timeout = ${lock_ms_max}`)
    // Waits for the transactions that store readings: their marks can be seen now.
    await transaction.execute(`lock table only ${table} in access exclusive mode`)
    const is_marked = await hasRow(
      transaction,
      `select from touched_hours where kind = $1 and hour_at >= $2 and hour_at < $3 limit 1`,
      [kind, week.start.toISOString(), week.end.toISOString()],
    )
    if (is_marked) return false
    const name = partitionName(table, week)
    await dropPartition(transaction, name)
    await transaction.execute('delete from thinned_partitions where name = $1', [name])
    return true
  })
  return dropping.catch((error: unknown) => {
    if (isInUse(error)) return false
    throw error
  })
}

/** Lock timeout or deadlock. */
const isInUse = (error: unknown) =>
  ['55P03', '40P01'].includes(String((error as { code?: unknown } | null)?.code))
