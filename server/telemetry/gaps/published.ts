/** The events of gaps. */
import { publish } from '../../events/publish.ts'
import type { Queries, Transaction } from '../../storage/database.ts'
import { gapColumns, gapRecords } from './endpoints.ts'
import type { Gap, StoredGap } from './gap.ts'

interface Of {
  site_id: string
  now: Date
}

async function readGaps(db: Queries, { site_id, now }: Of, gap_ids: readonly number[]) {
  if (gap_ids.length === 0) return []
  const rows = await db.query<StoredGap>(
    `select ${gapColumns} from gaps where site_id = $1 and gap_id = any ($2) order by gap_id`,
    [site_id, gap_ids],
  )
  return gapRecords(db, site_id, rows, now)
}

/** Those of the gaps that last. Read before the gaps change. */
export const readOpenGaps = async (db: Queries, of: Of, gap_ids: readonly number[]) =>
  (await readGaps(db, of, gap_ids)).filter(({ end_at }) => end_at === null)

/**
 * Publishes new gaps, and gaps that lasted and have ended. A gap that turned out to be none is
 * published as it was.
 */
export async function publishGaps(
  tx: Transaction,
  of: Of,
  { opened, ended }: { opened: readonly number[]; ended: readonly Gap[] },
): Promise<void> {
  const found = await readGaps(tx, of, [...opened, ...ended.map(({ gap_id }) => gap_id)])
  const after = new Map(found.map((gap) => [gap.gap_id, gap]))
  const publishGap = (type: 'gap.opened' | 'gap.closed', record: Gap) => {
    const { site_id, now: at } = of
    publish(tx, { site_id, at, type, subject: `gap/${record.gap_id}`, link: '/gaps', record })
  }
  for (const gap of ended) publishGap('gap.closed', after.get(gap.gap_id) ?? gap)
  for (const gap_id of opened) {
    const gap = after.get(gap_id)!
    publishGap('gap.opened', gap)
    if (gap.end_at !== null) publishGap('gap.closed', gap)
  }
}
