/** Thins the readings of blocks: the blocks of an hour are read, thinned and written again. */
import { hour_ms } from '@heliograph/domain/durations'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Database, Transaction } from '../../storage/database.ts'
import { lockSite } from './packing.ts'
import {
  type BlockRow,
  block_columns,
  blockStart,
  type StoredReading,
  storeBlock,
  thinned,
  unpacked,
} from './store.ts'

interface BlockTier {
  step_s: number
  /** Weeks that end by this instant are thinned. */
  before: Date
  /** Called between the weeks of a device; false ends the run, and the next one continues. */
  goesOn(): boolean
  /** Whether the sums of the week that starts at this instant, Unix ms, are final. */
  isFinal(start_ms: number): Promise<boolean>
}

interface DeviceOf {
  site_id: string
  kind: ReadingKind
  device_id: number
}

export async function thinBlocks(db: Database, tier: BlockTier): Promise<void> {
  for (const kind of Object.keys(readingKinds) as ReadingKind[]) {
    const [key] = readingKinds[kind].keys
    // Every device with readings has a latest reading.
    const devices = await db.query<{ site_id: string; device_id: number }>(
      `select distinct site_id, ${key} as device_id from ${kind}_latest order by 1, 2`,
    )
    for (const device of devices) {
      const weeks = await db.query<{ start: Date }>(
        `select distinct date_trunc('week', hour_at, 'UTC') as start from reading_blocks
         where site_id = $1 and kind = $2 and device_id = $3 and coalesce(resolution_s, 1) < $4
           and hour_at < date_trunc('week', $5::timestamptz, 'UTC')
         order by 1`,
        [device.site_id, kind, device.device_id, tier.step_s, tier.before.toISOString()],
      )
      for (const { start } of weeks) {
        if (!tier.goesOn()) return
        if (!(await tier.isFinal(start.getTime()))) continue
        await thinWeek(db, { ...device, kind }, start, tier.step_s)
      }
    }
  }
}

async function thinWeek(db: Database, of: DeviceOf, start: Date, step_s: number): Promise<void> {
  await db.transaction(async (transaction) => {
    await lockSite(transaction, of.site_id)
    const blocks = await transaction.query<{ hour_at: Date }>(
      `select hour_at from reading_blocks
       where site_id = $1 and kind = $2 and device_id = $3 and coalesce(resolution_s, 1) < $4
         and hour_at >= $5 and hour_at < $5::timestamptz + interval '7 days'
       order by 1`,
      [of.site_id, of.kind, of.device_id, step_s, start.toISOString()],
    )
    const hourOf = ({ hour_at }: { hour_at: Date }) => Math.floor(hour_at.getTime() / hour_ms)
    for (const hour of Map.groupBy(blocks, hourOf).values()) {
      await thinHour(transaction, of, hour, step_s)
    }
  })
}

/** A step is longer than some blocks: their readings are thinned together, a block at a time. */
async function thinHour(
  transaction: Transaction,
  { site_id, kind, device_id }: DeviceOf,
  blocks: readonly { hour_at: Date }[],
  step_s: number,
): Promise<void> {
  let readings: StoredReading[] = []
  for (const { hour_at } of blocks) {
    const [block] = await transaction.query<BlockRow>(
      `delete from reading_blocks
       where site_id = $1 and kind = $2 and device_id = $3 and hour_at = $4
       returning ${block_columns}`,
      [site_id, kind, device_id, hour_at],
    )
    readings = thinned(kind, [...readings, ...unpacked(kind, block!)], step_s)
  }
  const startOf = ({ measured_at }: StoredReading) => blockStart(kind, measured_at)
  for (const [start_ms, own] of Map.groupBy(readings, startOf)) {
    const of = { site_id, device_id, hour_at: new Date(start_ms), resolution_s: step_s }
    await storeBlock(transaction, kind, own, of)
  }
}
