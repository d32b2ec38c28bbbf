/** Acknowledge and resolve. Pure. */
import type { StoredAlert } from './record.ts'
import type { AlertStatus } from './rule.ts'

interface Decision {
  by: string
  note: string | null
  now: Date
}

interface RefusedTransition {
  current_state: AlertStatus
  allowed_from: readonly AlertStatus[]
}

type Decided = { alert: StoredAlert } | { refused: RefusedTransition }

const unresolved = ['active', 'acknowledged'] as const

const refused = ({ status }: StoredAlert): Decided => ({
  refused: { current_state: status, allowed_from: unresolved },
})

/** An acknowledged alert stays unchanged, with the first acknowledgement. */
export function acknowledge(alert: StoredAlert, { by, note, now }: Decision): Decided {
  if (alert.status === 'resolved') return refused(alert)
  if (alert.status === 'acknowledged') return { alert }
  const who = { acknowledged_at: now, acknowledged_by: by, ack_note: note }
  return { alert: { ...alert, status: 'acknowledged', ...who } }
}

/** A condition that still holds is raised again only after it was gone: see `awaits_end`. */
export function resolve(alert: StoredAlert, { by, note, now }: Decision): Decided {
  if (alert.status === 'resolved') return refused(alert)
  return {
    alert: {
      ...alert,
      status: 'resolved',
      resolved_at: now,
      resolved_by: by,
      resolution: 'manual',
      resolution_note: note,
      awaits_end: true,
    },
  }
}
