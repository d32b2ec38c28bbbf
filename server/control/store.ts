import type { Context } from '../http/context.ts'
import { type ExportItems, fetched } from '../http/export-items.ts'
import { isUnconfirmed, overAt, reported_channel } from '../storage/curtailment.ts'
import type { Queries } from '../storage/database.ts'
import {
  type CurtailmentRow,
  openStatuses,
  type RowStatus,
  rowColumns,
  rowStatuses,
  type StoredRow,
} from './curtailment-row.ts'
import { type RowReader, withMoney } from './curtailment-worth.ts'

interface GroupId {
  site_id: string
  group_id: string
}

/** Rows that are not over, by start. */
export async function openRows(db: Queries, reader: RowReader, now: Date) {
  const rows = await db.query<StoredRow>(open, [reader.site_id, now, openStatuses])
  return withMoney(db, reader, rows)
}

/** Rows that became over since an instant, newest first. */
export async function pastRows(db: Queries, reader: RowReader, since: Date, now: Date) {
  const rows = await db.query<StoredRow>(past, pastValues(reader, since, now))
  return withMoney(db, reader, rows)
}

/** `pastRows` for an export. */
export const pastItems = (reader: RowReader, since: Date, now: Date): ExportItems => ({
  async *items(queries) {
    const rows = fetched<StoredRow>(queries, past, pastValues(reader, since, now))
    for await (const batch of rows) yield await withMoney(queries, reader, batch)
  },
})

/** Rows of a group by plant; none for an unknown group. */
export async function groupRows(
  db: Queries,
  group: RowReader & GroupId,
  now: Date,
): Promise<CurtailmentRow[]> {
  return withMoney(db, group, await readGroup(db, group, now))
}

/** Rows of some groups, by plant. */
export async function rowsOfGroups(
  db: Queries,
  { group_ids, ...reader }: RowReader & { group_ids: readonly string[] },
  now: Date,
): Promise<CurtailmentRow[]> {
  const values = [reader.site_id, now, rowStatuses, group_ids]
  return withMoney(db, reader, await db.query<StoredRow>(rowsWhere('r.group_id = any($4)'), values))
}

function readGroup(db: Queries, { site_id, group_id }: GroupId, now: Date) {
  const values = [site_id, now, rowStatuses, group_id]
  return db.query<StoredRow>(`${rowsWhere('r.group_id = $4')} order by logger_id`, values)
}

const poll_ms = 1000

/**
 * Resolves when the edge has confirmed the release of every row of a group, or after `bound_ms`.
 * Wakes on notifications of reports, and polls in case one is lost.
 */
export async function untilReleased(
  { db, clock, timers }: Context,
  group: GroupId,
  bound_ms: number,
): Promise<void> {
  let wake = () => {}
  let is_over = false
  const subscription = await db.listen(reported_channel, {
    notified: (site_id) => site_id === group.site_id && wake(),
    resumed: () => wake(),
  })
  const cancelBound = timers.after(bound_ms, () => {
    is_over = true
    wake()
  })
  try {
    for (;;) {
      // Before the read, so that a report during the read wakes at once.
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (is_over) return
      const rows = await readGroup(db, group, clock.now())
      if (rows.every(({ status }) => status !== 'releasing')) return
      const cancelPoll = timers.after(poll_ms, wake)
      await woken
      cancelPoll()
    }
  } finally {
    cancelBound()
    await subscription.stop()
  }
}

/** Parameters: $1 site, $2 now, $3 statuses. */
const rowsWhere = (condition: string) => `
  select * from (
    select ${rowColumns('$2::timestamptz')}
    from curtailment_rows r
    join curtailment_groups g on g.site_id = r.site_id and g.group_id = r.group_id
    where r.site_id = $1 and (${condition})
  ) as rows
  where status = any($3)`

const open = `
  ${rowsWhere(`r.end_at > $2 or ${isUnconfirmed}`)} order by start_at, id`

const past = `
  ${rowsWhere(`${overAt} >= $4`)} order by over_at desc, id desc`

const overStatuses = rowStatuses.filter(
  (status) => !(openStatuses as readonly RowStatus[]).includes(status),
)

const pastValues = ({ site_id }: RowReader, since: Date, now: Date) => [
  site_id,
  now,
  overStatuses,
  since,
]
