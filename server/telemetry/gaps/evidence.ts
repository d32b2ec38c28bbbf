/** The cause of a gap and whether its readings may still arrive, from events. Pure. */

import { alarmTables } from '@heliograph/domain/alarms/tables'
import type { Span } from '../energy.ts'

export const causes = [
  'communication',
  'power_loss',
  'device_fault',
  'maintenance',
  'clock_jump',
  'buffer_overflow',
  'configuration',
  'agent_stopped',
  'unknown',
] as const
export type Cause = (typeof causes)[number]

export const statuses = ['open', 'backfilling', 'backfilled', 'unrecoverable'] as const

export const causeRule =
  '`communication`: no device on the bus answered; or the link to the edge agent is down and its ' +
  'readings may still arrive; or readings were lost in transmission. `device_fault`: the device ' +
  'did not answer while others on its bus did, or its last state was a fault. `power_loss`: the ' +
  'machine of the agent lost power, or the inverter reported a disconnected grid before. ' +
  '`maintenance`: the inverter reported a manual shutdown or an open cabinet before. ' +
  '`configuration`: the device was not in the site file, or was removed from it before the next ' +
  'reading. `agent_stopped`: the agent stopped or was killed while its machine ran, or it has ' +
  'delivered its whole journal without these readings. `buffer_overflow`: the agent dropped ' +
  'readings, or could not write or read them. `clock_jump`: the clock of the agent jumped ' +
  'forward. `unknown`: no event explains the gap.'

export const statusRule =
  '`open`: the gap lasts. `backfilling`: the gap has ended, and the edge agent may still have its ' +
  'readings. `backfilled`: the readings arrived. `unrecoverable`: the agent has no readings that ' +
  'old; if some arrive nevertheless, the status returns to `backfilling`.'

export interface Evidence {
  start_ms: number
  end_ms: number | null
  /** The last state of an inverter before the gap. */
  last_state: string | null
  /** When the source was removed from the site file. */
  retired_ms: number | null
  /** Events of the source and of the edges, ascending. */
  events: readonly EvidenceEvent[]
  /** Offline times of each device on the same bus, including the source. */
  bus: readonly (readonly Extent[])[]
  /** Offline times of each device of the site. */
  site: readonly (readonly Extent[])[]
}

/** A span of time; unknown ends are infinite. */
export type Extent = Span

export interface EvidenceEvent {
  at_ms: number
  code: string
  edge: 'rising' | 'falling' | 'once'
  /** The time range of lost readings, if the event has one. */
  lost_from_ms?: number | null
  lost_to_ms?: number | null
  /** The last reading before each loss, if the event lists them. */
  lost_after_ms?: readonly number[] | null
  /** Clock jump, positive forwards. */
  jump_ms?: number | null
  /** Of an agent start: the end of its previous run, and whether its machine lost power. */
  down_from_ms?: number | null
  lost_power?: boolean
}

/** The codes of all alarms equivalent to these SunSpec events. */
const alarmsLike = (...sunspec_events: readonly string[]): readonly string[] =>
  alarmTables.flatMap(({ table_id, rows }) =>
    rows
      .filter(({ sunspec_event }) => sunspec_events.includes(sunspec_event ?? ''))
      .map(({ alarm_word, bit }) => `alarm:${table_id}:${alarm_word}:${bit}`),
  )
const hand_alarms = alarmsLike('MANUAL_SHUTDOWN', 'CABINET_OPEN')
const grid_alarms = alarmsLike('GRID_DISCONNECT', 'AC_DISCONNECT')

/** Codes of the events that may explain a gap. */
export const evidenceCodes: readonly string[] = [
  'device_offline',
  'device_retired',
  'edge_offline',
  'agent_started',
  'journal_dropped',
  'journal_damaged',
  'journal_write_failed',
  'journal_cut',
  'frames_missing',
  'clock_jumped',
  ...hand_alarms,
  ...grid_alarms,
]

/** The last report of an edge agent. */
export interface EdgeReport {
  last_seen_ms: number
  /** When the oldest undelivered frame was written; null without one. */
  journal_oldest_ms: number | null
}

/** Allows for the interval of reports and the time to store readings. */
const report_ms = 120_000

/**
 * Whether readings up to `end_ms` may still arrive: an edge was not seen since, or its journal
 * reaches back that far.
 */
export function mayStillCome(end_ms: number, edges: readonly EdgeReport[]): boolean {
  return edges.some(
    ({ last_seen_ms, journal_oldest_ms }) =>
      last_seen_ms < end_ms + report_ms ||
      (journal_oldest_ms !== null && journal_oldest_ms <= end_ms),
  )
}

const losses: readonly (readonly [code: string, Cause])[] = [
  ['journal_dropped', 'buffer_overflow'],
  ['journal_damaged', 'buffer_overflow'],
  ['journal_write_failed', 'buffer_overflow'],
  ['frames_missing', 'communication'],
  ['journal_cut', 'agent_stopped'],
]

/** @param may_come whether the gap may still be back-filled, see `mayStillCome` */
export function causeOf(gap: Evidence, may_come: boolean): Cause {
  const { events } = gap
  const span = { start_ms: gap.start_ms, end_ms: gap.end_ms ?? Number.POSITIVE_INFINITY }
  if (events.some((event) => isJumpOver(event, span))) return 'clock_jump'
  if (fillsMost(activeTimes('device_retired', events, span), span)) return 'configuration'
  const downs = events.flatMap((event) => downOf(event, span))
  const down = downs.find((extent) => fillsMost([extent], span))
  if (down) return down.cause
  const offline = activeTimes('device_offline', events, span)
  if (offline.length > 0) return causeOfSilence(gap, offline, downs)
  const unlinked = activeTimes('edge_offline', events, span)
  if (may_come && unlinked.length > 0) return 'communication'
  // Readings journaled during the gap may be dropped until the link is back.
  const until_ms = Math.max(span.end_ms, ...unlinked.map(({ end_ms }) => end_ms))
  for (const [code, cause] of losses) {
    const happened = events.some((event) => event.code === code && isLossIn(event, span, until_ms))
    if (happened) return cause
  }
  if (unlinked.length > 0) return 'agent_stopped'
  const said = downs[0]?.cause ?? lastWords(gap)
  if (said) return said
  return gap.end_ms !== null && gap.end_ms === gap.retired_ms ? 'configuration' : 'unknown'
}

/** The cause of a device that did not answer a running agent. */
function causeOfSilence(
  gap: Evidence,
  offline: readonly Extent[],
  downs: readonly Down[],
): 'maintenance' | 'power_loss' | 'device_fault' | 'communication' {
  const silence = {
    start_ms: Math.max(gap.start_ms, offline[0]!.start_ms),
    end_ms: Math.min(gap.end_ms ?? Number.POSITIVE_INFINITY, offline.at(-1)!.end_ms),
  }
  const said = lastWords(gap)
  if (said && said !== 'device_fault') return said
  const isSilent = (other: readonly Extent[]) => fillsMost(other, silence)
  for (const { cause, start_ms } of downs) {
    if (cause !== 'power_loss') continue
    // The device answered until the power loss, or all devices stopped before the agent did.
    if (start_ms < offline[0]!.start_ms || gap.site.every(isSilent)) return cause
  }
  return said ?? (gap.bus.every(isSilent) ? 'communication' : 'device_fault')
}

/** The cause that the last report of a device suggests. */
function lastWords({ events, start_ms, last_state }: Evidence) {
  const then = { start_ms, end_ms: start_ms + 1 }
  const isOn = (codes: readonly string[]) =>
    codes.some((code) => activeTimes(code, events, then).length > 0)
  if (isOn(hand_alarms)) return 'maintenance'
  if (isOn(grid_alarms)) return 'power_loss'
  return last_state === 'fault' ? 'device_fault' : null
}

type Down = Extent & { cause: 'power_loss' | 'agent_stopped' }

/** The downtime of the agent before a start within the span. */
function downOf({ code, at_ms, down_from_ms, lost_power }: EvidenceEvent, span: Extent): Down[] {
  if (code !== 'agent_started' || at_ms < span.start_ms || at_ms > span.end_ms) return []
  const start_ms = down_from_ms ?? Number.NEGATIVE_INFINITY
  return [{ start_ms, end_ms: at_ms, cause: lost_power ? 'power_loss' : 'agent_stopped' }]
}

/** A forward clock jump leaves a gap as long as the jump. */
function isJumpOver({ code, at_ms, jump_ms }: EvidenceEvent, { start_ms, end_ms }: Extent) {
  if (code !== 'clock_jumped' || !jump_ms || jump_ms <= 0) return false
  const is_there = at_ms >= start_ms && at_ms - jump_ms <= end_ms
  return is_there && 2 * jump_ms >= end_ms - start_ms
}

/** Without a time range of the lost readings, they precede the event. */
function isLossIn(event: EvidenceEvent, { start_ms, end_ms }: Extent, until_ms: number): boolean {
  const { edge, at_ms, lost_from_ms, lost_to_ms, lost_after_ms } = event
  if (edge === 'falling') return false
  if (lost_after_ms) return lost_after_ms.some((at_ms) => at_ms >= start_ms && at_ms < end_ms)
  if (lost_from_ms == null) return at_ms >= start_ms && at_ms <= until_ms
  return lost_from_ms <= end_ms && (lost_to_ms ?? at_ms) >= start_ms
}

/** Whether extents, which must not overlap, cover at least half of a span. */
function fillsMost(extents: readonly Extent[], { start_ms, end_ms }: Extent): boolean {
  let filled_ms = 0
  for (const extent of extents) {
    const shared_ms = Math.min(extent.end_ms, end_ms) - Math.max(extent.start_ms, start_ms)
    if (shared_ms > 0) filled_ms += shared_ms
  }
  return filled_ms > 0 && 2 * filled_ms >= end_ms - start_ms
}

const always = { start_ms: Number.NEGATIVE_INFINITY, end_ms: Number.POSITIVE_INFINITY }

/** The times when a condition was active that overlap the span. */
export function activeTimes(
  code: string,
  events: readonly EvidenceEvent[],
  span: Extent = always,
): Extent[] {
  const active: Extent[] = []
  let since_ms: number | null = null
  for (const event of events) {
    if (event.code !== code) continue
    if (event.edge === 'rising') since_ms ??= event.at_ms
    else if (event.edge === 'falling') {
      // The rising event is older than the events read.
      active.push({ start_ms: since_ms ?? Number.NEGATIVE_INFINITY, end_ms: event.at_ms })
      since_ms = null
    }
  }
  if (since_ms !== null) active.push({ start_ms: since_ms, end_ms: Number.POSITIVE_INFINITY })
  return active.filter(({ start_ms, end_ms }) => start_ms < span.end_ms && end_ms > span.start_ms)
}
