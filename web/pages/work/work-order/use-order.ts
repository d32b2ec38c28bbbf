/** A work order as it is read and changed. */
import type { WholeWorkOrder } from '@heliograph/sdk'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'

const orderKey = (site_id: string, wo_id: number) => ['work-order', site_id, wo_id]

/** What is read again once an order has changed. */
export const orderChanges = (site_id: string) => [
  ['work-orders', site_id],
  ['alerts', site_id],
  ['alert', site_id],
  ['defects', site_id],
  ['defect', site_id],
]

export const useOrder = (site_id: string, wo_id: number) =>
  useQuery({
    queryKey: orderKey(site_id, wo_id),
    queryFn: ({ signal }) => heliograph.workOrderGet({ site_id, wo_id }, { signal }),
    refetchInterval: 15_000,
    // The ETag belongs to the answer itself, which must not be merged with the one before.
    structuralSharing: false,
  })

/** For a change of the order as it was `seen`. */
export const orderSubject = (site_id: string, seen: WholeWorkOrder) => ({
  seen,
  key: orderKey(site_id, seen.wo_id),
  read: () => heliograph.workOrderGet({ site_id, wo_id: seen.wo_id }),
  changes: orderChanges(site_id),
})
