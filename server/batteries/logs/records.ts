/** Rows of the logs of batteries as the API returns them. */
import { served } from '../../storage/records.ts'
import { batterySeverity } from '../active-alarms.ts'
import { nameOf } from '../alarm-names.ts'
import { sourceOf } from '../alarms.ts'
import { bitOf, placeOf } from '../conditions.ts'
import { AlarmTransition, type ControlEntry, DispatchEntry } from './schemas.ts'
import type { AlarmEvent, DispatchRow, NoteRow } from './store.ts'

const transitionFields = Object.keys(AlarmTransition.properties)

export function alarmTransition(event: AlarmEvent): AlarmTransition {
  const place = placeOf(event)
  return served(transitionFields, {
    ...event,
    ...place,
    code: event.alarm_code,
    name: event.name ?? nameOf(event),
    source: sourceOf(place, bitOf(event) ? null : event.code),
    severity: batterySeverity(event.severity),
    transition: event.edge === 'rising' ? 'set' : 'cleared',
    occurred_at: event.at,
    duration_s: event.set_at && (event.at.getTime() - event.set_at.getTime()) / 1000,
  }) as AlarmTransition
}

const dispatchFields = Object.keys(DispatchEntry.properties)

export const dispatchEntry = (row: DispatchRow): DispatchEntry =>
  served(dispatchFields, {
    ...row,
    hour: row.interval_start_at?.getUTCHours() ?? null,
    latency_ms: latencyOf(row),
  }) as DispatchEntry

/** Null without a write, and where the clock was set back meanwhile. */
function latencyOf({ issued_at, sent_at, acknowledged_at }: DispatchRow): number | null {
  if (sent_at === null || acknowledged_at === null) return null
  const latency_ms = acknowledged_at.getTime() - issued_at.getTime()
  return latency_ms > 0 ? latency_ms : null
}

export function controlEntry({ at, nth: _, ...row }: NoteRow): ControlEntry {
  return { ...row, occurred_at: at.toISOString() }
}
