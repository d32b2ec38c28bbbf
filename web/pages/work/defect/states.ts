/** States of a defect and their transitions: docs/maintenance.md. */
import type { Defect } from '@heliograph/sdk'

export type DefectState = Defect['status']

export const defectStates = ['open', 'in_progress', 'resolved', 'verified', 'dismissed'] as const

export const severities = ['low', 'medium', 'high', 'critical'] as const

export const nextStates: Readonly<Record<DefectState, readonly DefectState[]>> = {
  open: ['in_progress', 'resolved', 'dismissed'],
  in_progress: ['resolved', 'open', 'dismissed'],
  resolved: ['verified', 'in_progress'],
  verified: [],
  dismissed: ['open'],
}

export function stepName(from: DefectState, to: DefectState): string {
  if (to === 'in_progress') return from === 'resolved' ? 'Reopen' : 'Start work'
  if (to === 'open') return from === 'dismissed' ? 'Reopen' : 'Stop work'
  if (to === 'resolved') return 'Resolve'
  return to === 'verified' ? 'Verify' : 'Dismiss'
}

export const defectTypes = [
  ...(['hotspot', 'cell_crack', 'glass_breakage', 'delamination', 'pid', 'snail_trail'] as const),
  ...(['bypass_diode', 'connector', 'cable', 'fuse', 'corrosion', 'soiling', 'shading'] as const),
  ...(['vegetation', 'tracker', 'inverter', 'transformer', 'bess', 'civil'] as const),
  ...(['security', 'other'] as const),
] as const

export const methods = [
  ...(['visual', 'thermography', 'iv_curve', 'el', 'monitoring', 'drone', 'customer'] as const),
] as const
