/** What people do with an alert: acknowledge it, resolve it. Pure. */
import type { AlertStatus, StoredAlert } from './listener.ts'

interface Decision {
  /** The name of the key. */
  by: string
  note: string | null
  now: Date
}

interface RefusedTransition {
  current_state: AlertStatus
  allowed_from: readonly AlertStatus[]
}

type Decided = { alert: StoredAlert } | { refused: RefusedTransition }

const undecided = ['active', 'acknowledged'] as const

const refused = ({ status }: StoredAlert): Decided => ({
  refused: { current_state: status, allowed_from: undecided },
})

/** One that is acknowledged stays as it is, with who did it first. */
export function acknowledge(alert: StoredAlert, { by, note, now }: Decision): Decided {
  if (alert.status === 'resolved') return refused(alert)
  if (alert.status === 'acknowledged') return { alert }
  const who = { acknowledged_at: now, acknowledged_by: by, ack_note: note }
  return { alert: { ...alert, status: 'acknowledged', ...who } }
}

/** The condition may still hold; then it is not raised again before it was gone. */
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
