import type { WholeWorkOrder } from '@heliograph/sdk'
import { heliograph } from '../../../api.ts'
import { readKey } from '../../../queries.ts'

/** Topics to read again after an order has changed. */
export const order_changes = ['work-orders', 'alerts', 'defects', 'defect']

/** A change of the order as it was `seen`. */
export const orderSubject = (site_id: string, seen: WholeWorkOrder) => ({
  seen,
  key: readKey('work-order', 'workOrderGet', { site_id, wo_id: seen.wo_id }),
  read: () => heliograph.workOrderGet({ site_id, wo_id: seen.wo_id }),
  changes: order_changes,
})
