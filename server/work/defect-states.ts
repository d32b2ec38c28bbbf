import { ruleOf } from './work-order-states.ts'

export const defectStates = ['open', 'in_progress', 'resolved', 'verified', 'dismissed'] as const
export type DefectState = (typeof defectStates)[number]

/**
 * A repair is `verified` after it was `resolved`. A `dismissed` defect was not a defect, or will
 * not be repaired.
 */
export const defectTransitions: Readonly<Record<DefectState, readonly DefectState[]>> = {
  open: ['in_progress', 'resolved', 'dismissed'],
  in_progress: ['open', 'resolved', 'dismissed'],
  resolved: ['in_progress', 'verified'],
  verified: [],
  dismissed: ['open'],
}

export const defectSeverities = ['low', 'medium', 'high', 'critical'] as const
export type DefectSeverity = (typeof defectSeverities)[number]

/** The defect exists and is not repaired. */
export const openDefectStates = ['open', 'in_progress'] as const

/** A final defect cannot be changed. */
export const isFinal = (state: DefectState): boolean => defectTransitions[state].length === 0

export const defectRule = ruleOf(defectTransitions)

interface DefectStateRecord {
  status: DefectState
  resolved_at: Date | null
  resolved_by: string | null
  verified_at: Date | null
  verified_by: string | null
}

export const newDefectState: DefectStateRecord = {
  status: 'open',
  resolved_at: null,
  resolved_by: null,
  verified_at: null,
  verified_by: null,
}

/** The fields after an allowed transition. Reopening clears the resolution. */
export function enteredDefect(
  before: DefectStateRecord,
  status: DefectState,
  { key_name, now }: { key_name: string; now: Date },
): DefectStateRecord {
  if (status === 'resolved') {
    return { ...newDefectState, status, resolved_at: now, resolved_by: key_name }
  }
  if (status === 'verified') {
    const { resolved_at, resolved_by } = before
    return { status, resolved_at, resolved_by, verified_at: now, verified_by: key_name }
  }
  return { ...newDefectState, status }
}
