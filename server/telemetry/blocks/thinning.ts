/** Thins the readings of blocks: a block is read, thinned and written again. */
import { readingKinds } from '@heliograph/domain/readings'
import type { Database } from '../../storage/database.ts'
import { lockSite } from './packing.ts'
import {
  type BlockRow,
  block_columns,
  type PackedKind,
  packedKinds,
  storeBlock,
  thinned,
  unpacked,
} from './store.ts'

export interface BlockTier {
  step_s: number
  /** Weeks that end by this instant are thinned. */
  before: Date
  /** Called between the weeks of a device; false ends the run, and the next one continues. */
  goesOn(): boolean
  /** Whether the sums of the week that starts at this instant, Unix ms, are final. */
  isFinal(start_ms: number): Promise<boolean>
}

export async function thinBlocks(db: Database, tier: BlockTier): Promise<void> {
  for (const kind of packedKinds) {
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
        await thinWeek(db, { ...device, kind, start }, tier.step_s)
      }
    }
  }
}

async function thinWeek(
  db: Database,
  of: { site_id: string; kind: PackedKind; device_id: number; start: Date },
  step_s: number,
): Promise<void> {
  const { site_id, kind, device_id, start } = of
  await db.transaction(async (transaction) => {
    await lockSite(transaction, site_id)
    const blocks = await transaction.query<BlockRow>(
      `select ${block_columns} from reading_blocks
       where site_id = $1 and kind = $2 and device_id = $3 and coalesce(resolution_s, 1) < $4
         and hour_at >= $5 and hour_at < $5::timestamptz + interval '7 days'`,
      [site_id, kind, device_id, step_s, start.toISOString()],
    )
    for (const block of blocks) {
      const readings = thinned(kind, unpacked(kind, block), step_s)
      const { hour_at } = block
      await storeBlock(transaction, kind, readings, {
        site_id,
        device_id,
        hour_at,
        resolution_s: step_s,
      })
    }
  })
}
