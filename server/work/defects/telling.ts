/** What people are told of defects: that there is one, and that it changed. */

import type { Transaction } from '../../storage/database.ts'
import type { DefectState } from '../defect-states.ts'
import { tellDefect, tellDefectChanged } from '../defect-telling.ts'
import type { Actor } from './commands.ts'
import type { StoredDefect } from './store.ts'

type At = Pick<Actor, 'site_id' | 'now'>

export const tellCreated = (tx: Transaction, at: At, defect: StoredDefect) =>
  tellDefect(tx, at, defect, {
    type: 'defect_created',
    title: `${defect.number} was reported`,
  })

const reached: Readonly<Record<DefectState, string>> = {
  open: 'is open again',
  in_progress: 'is in progress',
  resolved: 'is resolved',
  verified: 'is verified',
  dismissed: 'is dismissed',
}

export function tellChanged(
  tx: Transaction,
  at: At,
  { before, after }: { before: StoredDefect; after: StoredDefect },
): Promise<void> {
  const what = after.status === before.status ? 'was changed' : reached[after.status]
  return tellDefectChanged(tx, at, after, what)
}
