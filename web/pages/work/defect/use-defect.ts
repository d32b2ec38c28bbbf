import type { Defect } from '@heliograph/sdk'
import { heliograph } from '../../../api.ts'
import { readKey, useRead } from '../../../queries.ts'

export const useDefect = (site_id: string, defect_id: number) =>
  useRead(
    'defect',
    'defectGet',
    { site_id, defect_id },
    {
      refetchInterval: 15_000,
      // The ETag belongs to this very object: it must not be merged with the answer before.
      structuralSharing: false,
    },
  )

/** A change of the defect as it was `seen`. */
export const defectSubject = (site_id: string, seen: Defect) => ({
  seen,
  key: readKey('defect', 'defectGet', { site_id, defect_id: seen.defect_id }),
  read: () => heliograph.defectGet({ site_id, defect_id: seen.defect_id }),
  changes: [
    ['defects', site_id],
    ['work-order', site_id],
  ],
})
