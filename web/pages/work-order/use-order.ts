/** A work order as it is read and changed: nobody overwrites what he has not seen. */
import type { WholeWorkOrder } from '@heliograph/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { heliograph } from '../../api.ts'
import { useWrite } from '../../ui/use-write.ts'
import { type Condition, type Difference, writeSeen } from '../../ui/write-seen.ts'

export const orderKey = (site_id: string, wo_id: number) => ['work-order', site_id, wo_id]

/** What is read again once an order has changed. */
export const orderChanges = (site_id: string) => [
  ['work-orders', site_id],
  ['alerts', site_id],
  ['defects', site_id],
]

export const useOrder = (site_id: string, wo_id: number) =>
  useQuery({
    queryKey: orderKey(site_id, wo_id),
    queryFn: ({ signal }) => heliograph.workOrderGet({ site_id, wo_id }, { signal }),
    refetchInterval: 15_000,
    // The ETag belongs to the answer itself, which must not be merged with the one before.
    structuralSharing: false,
  })

/**
 * A change of the order as it was `seen`. When somebody was faster, `differences` tells what is
 * otherwise now, and the next attempt is made against that.
 */
export function useOrderWrite<Input>({
  site_id,
  seen,
  write,
  done,
  onDone,
  onConflict,
}: {
  site_id: string
  seen: WholeWorkOrder
  write: (input: Input, condition: Condition) => Promise<WholeWorkOrder>
  done: string
  onDone?: () => void
  onConflict?: (fresh: WholeWorkOrder) => void
}) {
  const queries = useQueryClient()
  const { wo_id } = seen
  const [differences, setDifferences] = useState<Difference[] | null>(null)
  const key = orderKey(site_id, wo_id)
  const { run, is_pending, error, reset } = useWrite<Input, WholeWorkOrder>({
    write: (input) =>
      writeSeen({
        seen,
        write: (condition) => write(input, condition),
        read: () => heliograph.workOrderGet({ site_id, wo_id }),
        onConflict: (fresh, found) => {
          setDifferences(found)
          queries.setQueryData(key, fresh)
          onConflict?.(fresh)
        },
      }),
    done,
    changes: orderChanges(site_id),
    onDone: (order) => {
      setDifferences(null)
      queries.setQueryData(key, order)
      onDone?.()
    },
  })
  const forget = () => {
    reset()
    setDifferences(null)
  }
  return { run, is_pending, error, differences, reset: forget }
}
