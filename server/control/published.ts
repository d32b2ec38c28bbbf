/** The events of curtailment orders. */
import type { EventType } from '../events/event-types.ts'
import { publish } from '../events/publish.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import type { CurtailmentRow } from './curtailment-row.ts'
import { groupRows } from './store.ts'

interface Group {
  site_id: string
  group_id: string
  now: Date
}

/** Orders as the API returns them, without amounts, which need a further scope. */
const readRows = (tx: Transaction, { site_id, group_id, now }: Group) =>
  groupRows(tx, { site_id, group_id, has_money: false }, now)

function publishRow(tx: Transaction, type: EventType, of: { row: CurtailmentRow } & Group): void {
  const { site_id, now: at, row } = of
  publish(tx, {
    site_id,
    at,
    type,
    subject: `curtailment/${row.id}`,
    link: '/curtailment',
    record: row,
  })
}

/** Publishes the orders of a new group. */
export async function publishAccepted(tx: Transaction, group: Group): Promise<void> {
  for (const row of await readRows(tx, group)) {
    publishRow(tx, 'curtailment.accepted', { row, ...group })
  }
}

/** What an edge has reported of an order. */
interface Progress {
  group_id: string
  logger_id: number
  applied_at: Date | null
  verified_at: Date | null
  restored_at: Date | null
  failure_code: string | null
}

const keyOf = ({ group_id, logger_id }: Progress) => `${group_id} ${logger_id}`

/** Locks and reads the progress of orders of these groups. */
export const lockProgress = (tx: Queries, site_id: string, group_ids: readonly string[]) =>
  tx.query<Progress>(
    `select group_id, logger_id, applied_at, verified_at, restored_at, failure_code
     from curtailment_rows where site_id = $1 and group_id = any ($2)
     order by group_id, logger_id for update`,
    [site_id, group_ids],
  )

/** Publishes the steps that orders have reached since `before`. */
export async function publishProgress(
  tx: Transaction,
  site_id: string,
  { before, now }: { before: readonly Progress[]; now: Date },
): Promise<void> {
  const known = new Map(before.map((row) => [keyOf(row), row]))
  const group_ids = [...new Set(before.map(({ group_id }) => group_id))]
  const reached = (await lockProgress(tx, site_id, group_ids)).map((row) => ({
    ...row,
    types: stepsSince(known.get(keyOf(row))!, row),
  }))
  const changed = reached.filter(({ types }) => types.length > 0)
  for (const [group_id, rows] of Map.groupBy(changed, (row) => row.group_id)) {
    const group = { site_id, group_id, now }
    const records = await readRows(tx, group)
    for (const { logger_id, types } of rows) {
      const row = records.find((one) => one.logger_id === logger_id)!
      for (const type of types) publishRow(tx, type, { row, ...group })
    }
  }
}

const steps = [
  ['applied_at', 'curtailment.applied'],
  ['verified_at', 'curtailment.verified'],
  ['failure_code', 'curtailment.failed'],
  ['restored_at', 'curtailment.restored'],
] as const satisfies readonly (readonly [keyof Progress, EventType])[]

const stepsSince = (before: Progress, after: Progress): EventType[] =>
  steps.filter(([name]) => before[name] === null && after[name] !== null).map(([, type]) => type)
