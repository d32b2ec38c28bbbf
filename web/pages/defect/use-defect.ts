import type { Defect, DefectChange } from '@heliograph/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { heliograph } from '../../api.ts'
import { useWrite } from '../../ui/use-write.ts'
import { type Difference, writeSeen } from '../../ui/write-seen.ts'

const keyOf = (site_id: string, defect_id: number) => ['defect', site_id, defect_id]

export const useDefect = (site_id: string, defect_id: number) =>
  useQuery({
    queryKey: keyOf(site_id, defect_id),
    queryFn: ({ signal }) => heliograph.defectGet({ site_id, defect_id }, { signal }),
    refetchInterval: 15_000,
    // The ETag belongs to the answer itself, which must not be merged with the one before.
    structuralSharing: false,
  })

interface DefectWrite<Input> {
  site_id: string
  seen: Defect
  changeOf: (input: Input) => DefectChange
  /** Around the call, such as to put what is wrong beside the fields. */
  guard?: (work: () => Promise<Defect>) => Promise<Defect>
  onDone?: () => void
  onConflict?: (fresh: Defect) => void
}

/** A change of the defect as it was `seen`; `differences` where somebody was faster. */
export function useDefectWrite<Input>(asked: DefectWrite<Input>) {
  const { site_id, seen, changeOf, onDone, onConflict, guard = (work) => work() } = asked
  const { defect_id } = seen
  const queries = useQueryClient()
  const [differences, setDifferences] = useState<Difference[] | null>(null)
  const key = keyOf(site_id, defect_id)
  const { run, is_pending, error, reset } = useWrite<Input, Defect>({
    write: (input) =>
      writeSeen({
        seen,
        write: (condition) =>
          guard(() =>
            heliograph.defectChange({ site_id, defect_id, ...changeOf(input), ...condition }),
          ),
        read: () => heliograph.defectGet({ site_id, defect_id }),
        onConflict: (fresh, found) => {
          setDifferences(found)
          queries.setQueryData(key, fresh)
          onConflict?.(fresh)
        },
      }),
    done: 'Saved',
    changes: [
      ['defects', site_id],
      ['work-order', site_id],
    ],
    onDone: (defect) => {
      setDifferences(null)
      queries.setQueryData(key, defect)
      onDone?.()
    },
  })
  const forget = () => {
    reset()
    setDifferences(null)
  }
  return { run, is_pending, error, differences, reset: forget }
}
