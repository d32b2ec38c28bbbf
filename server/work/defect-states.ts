/** The states of a defect, what leads from one to the next, and what that leaves on record. */

export const defectStates = ['open', 'in_progress', 'resolved', 'verified', 'dismissed'] as const
export type DefectState = (typeof defectStates)[number]

/**
 * The whole state machine: verified is what was seen to be repaired, so only what is resolved;
 * dismissed is what was no defect, or is not to be repaired.
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

/** It is there and not repaired. */
export const openDefectStates = ['open', 'in_progress'] as const

/** It does not change any more. */
export const isFinal = (state: DefectState): boolean => defectTransitions[state].length === 0

/** The table as a sentence of the reference. */
export const defectRule = defectStates
  .map((state) => {
    const next = defectTransitions[state].map((to) => `\`${to}\``).join(', ')
    return `\`${state}\` to ${next || 'no other'}`
  })
  .join('; ')

/** What the table writes when a state is reached. */
interface DefectStateRecord {
  status: DefectState
  resolved_at: Date | null
  resolved_by: string | null
  verified_at: Date | null
  verified_by: string | null
}

/** Nothing of it happened yet. */
export const newDefectState: DefectStateRecord = {
  status: 'open',
  resolved_at: null,
  resolved_by: null,
  verified_at: null,
  verified_by: null,
}

/** The record after a transition that the table allows: taken back, it is no longer resolved. */
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
