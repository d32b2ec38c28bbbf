/** Rows of the logs of batteries as they are served. */

import { iso } from '../../plant/frame.ts'
import { batterySeverity } from '../active-alarms.ts'
import { nameOf } from '../alarm-names.ts'
import { sourceOf } from '../alarms.ts'
import { bitOf, placeOf } from '../conditions.ts'
import type { AlarmTransition, ControlEntry, DispatchEntry } from './schemas.ts'
import type { AlarmEvent, DispatchRow, NoteRow } from './store.ts'

export function alarmTransition(event: AlarmEvent): AlarmTransition {
  const place = placeOf(event)
  const is_set = event.edge === 'rising'
  return {
    event_id: event.event_id,
    code: event.alarm_code,
    name: event.name ?? nameOf(event),
    message: event.message,
    source: sourceOf(place, bitOf(event) ? null : event.code),
    ...place,
    severity: batterySeverity(event.severity),
    transition: is_set ? 'set' : 'cleared',
    occurred_at: event.at.toISOString(),
    received_at: event.received_at.toISOString(),
    duration_s: event.set_at && (event.at.getTime() - event.set_at.getTime()) / 1000,
    value: event.value,
    unit: event.unit,
    soc_pct: event.soc_pct,
    power_kw: event.power_kw,
  }
}

export function dispatchEntry(row: DispatchRow): DispatchEntry {
  const { issued_at, interval_start_at } = row
  return {
    dispatch_id: row.dispatch_id,
    issued_at: issued_at.toISOString(),
    schedule_id: row.schedule_id,
    hour: interval_start_at === null ? null : interval_start_at.getUTCHours(),
    interval_start_at: iso(interval_start_at),
    source: row.source,
    requested_power_kw: row.requested_power_kw,
    clamped_power_kw: row.clamped_power_kw,
    clamp_reason: row.clamp_reason,
    sent_at: iso(row.sent_at),
    acknowledged_at: iso(row.acknowledged_at),
    achieved_power_kw: row.achieved_power_kw,
    achieved_at: iso(row.achieved_at),
    soc_pct: row.soc_pct,
    status: row.status,
    failure_code: row.failure_code,
    latency_ms: latencyOf(row),
  }
}

/** What stood there before was not told; nor is it known how long it took over a clock set back. */
function latencyOf({ issued_at, sent_at, acknowledged_at }: DispatchRow): number | null {
  if (sent_at === null || acknowledged_at === null) return null
  const took_ms = acknowledged_at.getTime() - issued_at.getTime()
  return took_ms > 0 ? took_ms : null
}

export function controlEntry({ at, nth: _, ...row }: NoteRow): ControlEntry {
  return { ...row, occurred_at: at.toISOString() }
}
