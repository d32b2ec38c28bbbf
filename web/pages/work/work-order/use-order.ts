/** Reads and changes of a work order. */
import type { WholeWorkOrder } from '@heliograph/sdk'
import { heliograph } from '../../../api.ts'
import { readKey, useRead } from '../../../queries.ts'

/** Reads to repeat after an order has changed. */
export const orderChanges = (site_id: string) => [
  ['work-orders', site_id],
  ['alerts', site_id],
  ['defects', site_id],
  ['defect', site_id],
]

export const useOrder = (site_id: string, wo_id: number) =>
  useRead(
    'work-order',
    'workOrderGet',
    { site_id, wo_id },
    {
      refetchInterval: 15_000,
      // The ETag belongs to this very object: it must not be merged with the answer before.
      structuralSharing: false,
    },
  )

/** A change of the order as it was `seen`. */
export const orderSubject = (site_id: string, seen: WholeWorkOrder) => ({
  seen,
  key: readKey('work-order', 'workOrderGet', { site_id, wo_id: seen.wo_id }),
  read: () => heliograph.workOrderGet({ site_id, wo_id: seen.wo_id }),
  changes: orderChanges(site_id),
})
