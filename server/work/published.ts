/** The events of work orders and defects. */
import { publish } from '../events/publish.ts'
import type { Transaction } from '../storage/database.ts'

interface Of {
  site_id: string
  now: Date
}

export function publishOrder<Order extends { wo_id: number }>(
  tx: Transaction,
  { site_id, now: at }: Of,
  verb: 'created' | 'changed' | 'approved',
  record: Order,
): Order {
  const { wo_id } = record
  const place = { subject: `work_order/${wo_id}`, link: `/work-orders/${wo_id}` }
  publish(tx, { site_id, at, type: `work_order.${verb}`, ...place, record })
  return record
}

export function publishDefect<Defect extends { defect_id: number }>(
  tx: Transaction,
  { site_id, now: at }: Of,
  verb: 'reported' | 'changed',
  record: Defect,
): Defect {
  const { defect_id } = record
  const place = { subject: `defect/${defect_id}`, link: `/defects/${defect_id}` }
  publish(tx, { site_id, at, type: `defect.${verb}`, ...place, record })
  return record
}
