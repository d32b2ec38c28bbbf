import type { Defect } from '@heliograph/sdk'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'

const keyOf = (site_id: string, defect_id: number) => ['defect', site_id, defect_id]

export const useDefect = (site_id: string, defect_id: number) =>
  useQuery({
    queryKey: keyOf(site_id, defect_id),
    queryFn: ({ signal }) => heliograph.defectGet({ site_id, defect_id }, { signal }),
    refetchInterval: 15_000,
    // The ETag belongs to the answer itself, which must not be merged with the one before.
    structuralSharing: false,
  })

/** For a change of the defect as it was `seen`. */
export const defectSubject = (site_id: string, seen: Defect) => ({
  seen,
  key: keyOf(site_id, seen.defect_id),
  read: () => heliograph.defectGet({ site_id, defect_id: seen.defect_id }),
  changes: [
    ['defects', site_id],
    ['work-order', site_id],
  ],
})
