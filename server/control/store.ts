import type { Clock, Timers } from '@heliograph/domain/clock'
import { type ExportItems, fetched } from '../http/export-items.ts'
import { isUnconfirmed, overAt, reported_channel } from '../storage/curtailment.ts'
import type { Database, Queries } from '../storage/database.ts'
import { type RowReader, withMoney } from './curtailment-money.ts'
import {
  type CurtailmentRow,
  openStatuses,
  type RowStatus,
  rowColumns,
  rowStatuses,
  type StoredRow,
} from './curtailment-row.ts'

export interface CurtailmentStore {
  /** Rows that are not over, by their start. */
  open(reader: RowReader, now: Date): Promise<CurtailmentRow[]>
  /** Rows that came to be over since, the newest first. */
  past(reader: RowReader, since: Date, now: Date): Promise<CurtailmentRow[]>
  /** The same as a file. */
  pastItems(reader: RowReader, since: Date, now: Date): ExportItems
  /** The rows of a group by plant; none where there is no such group. */
  ofGroup(reader: RowReader, group_id: string, now: Date): Promise<CurtailmentRow[]>
  /**
   * Returns when the edge has confirmed the release of every row of a group, or after `bound_ms`.
   * It hears of reports, and looks each second for those that it did not hear of.
   */
  untilReleased(group: { site_id: string; group_id: string }, bound_ms: number): Promise<void>
}

const look_ms = 1000

export function createCurtailmentStore(
  db: Pick<Database, 'query' | 'execute' | 'listen'>,
  { clock, timers }: { clock: Clock; timers: Timers },
): CurtailmentStore {
  async function isReleased(group: { site_id: string; group_id: string }): Promise<boolean> {
    const rows = await readGroup(db, group, clock.now())
    return rows.every(({ status }) => status !== 'releasing')
  }

  return {
    async open(reader, at) {
      const rows = await db.query<StoredRow>(open, [reader.site_id, at, openStatuses])
      return withMoney(db, reader, rows)
    },
    async past(reader, since, at) {
      const rows = await db.query<StoredRow>(past, pastValues(reader.site_id, since, at))
      return withMoney(db, reader, rows)
    },
    pastItems: (reader, since, at) => ({
      async *items(queries) {
        const rows = fetched<StoredRow>(queries, past, pastValues(reader.site_id, since, at))
        for await (const batch of rows) yield await withMoney(queries, reader, batch)
      },
    }),
    ofGroup: (reader, group_id, at) => groupRecords(db, { ...reader, group_id }, at),
    async untilReleased(group, bound_ms) {
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
          // From before it is looked: what is reported meanwhile wakes at once.
          const woken = new Promise<void>((resolve) => {
            wake = resolve
          })
          if (is_over || (await isReleased(group))) return
          const cancelLook = timers.after(look_ms, wake)
          await woken
          cancelLook()
        }
      } finally {
        cancelBound()
        await subscription.stop()
      }
    },
  }
}

const isOpen = (status: RowStatus) => (openStatuses as readonly RowStatus[]).includes(status)

export async function groupRecords(
  db: Queries,
  group: RowReader & { group_id: string },
  at: Date,
): Promise<CurtailmentRow[]> {
  return withMoney(db, group, await readGroup(db, group, at))
}

function readGroup(
  db: Pick<Queries, 'query'>,
  { site_id, group_id }: { site_id: string; group_id: string },
  at: Date,
): Promise<StoredRow[]> {
  return db.query<StoredRow>(`${rowsWhere('r.group_id = $4')} order by logger_id`, [
    site_id,
    at,
    rowStatuses,
    group_id,
  ])
}

/** $1 is the site, $2 the present instant, $3 the statuses that are wanted. */
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

const pastValues = (site_id: string, since: Date, at: Date) => [
  site_id,
  at,
  rowStatuses.filter((status) => !isOpen(status)),
  since,
]
