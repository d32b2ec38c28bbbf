/** Acknowledge and resolve. Pure. */
import type { StoredAlert } from './record.ts'

interface Decision {
  by: string
  note: string | null
  now: Date
}

/** null: a resolved alert cannot change. */
type Decided = StoredAlert | null

/** An acknowledged alert stays unchanged, with the first acknowledgement. */
export function acknowledge(alert: StoredAlert, { by, note, now }: Decision): Decided {
  if (alert.status === 'resolved') return null
  if (alert.status === 'acknowledged') return alert
  const who = { acknowledged_at: now, acknowledged_by: by, ack_note: note }
  return { ...alert, status: 'acknowledged', ...who }
}

/** A condition that still holds is raised again only after it was gone: see `awaits_end`. */
export function resolve(alert: StoredAlert, { by, note, now }: Decision): Decided {
  if (alert.status === 'resolved') return null
  return {
    ...alert,
    status: 'resolved',
    resolved_at: now,
    resolved_by: by,
    resolution: 'manual',
    resolution_note: note,
    awaits_end: true,
  }
}
