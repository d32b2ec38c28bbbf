/** Why readings lack and whether they may still come, by what edge and server noticed. Pure. */
import { alarmTables } from '@heliograph/domain/alarms/tables'

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
  '`communication`: the device did not answer, nor did any other on its bus; or the link to the ' +
  'edge agent is down and what it measured may still come, or it was lost on its way. ' +
  '`device_fault`: the device did not answer while others on its bus did, or its last state was a ' +
  'fault. `power_loss`: the machine of the agent went down without being stopped, or the inverter ' +
  'said before that it was disconnected from the grid. `maintenance`: the inverter said before ' +
  'that it was shut down by hand or its cabinet open. `configuration`: the device was not in the ' +
  'site file, or was taken out before it was heard again. `agent_stopped`: the agent was stopped ' +
  'or was killed while its machine ran; or it has delivered all it had, and this was not among ' +
  'it. `buffer_overflow`: the agent had to drop, could not write or could not read again what it ' +
  'had measured. `clock_jump`: the clock of the agent was put forward over it. `unknown`: nothing ' +
  'that was noticed explains it.'

export const statusRule =
  '`open`: it lasts. `backfilling`: it has ended, and the edge agent may still hold readings of ' +
  'it. `backfilled`: its readings came. `unrecoverable`: the agent holds no readings that old ' +
  'any more; should some come all the same, it is `backfilling` again.'

export interface Evidence {
  start_ms: number
  end_ms: number | null
  /** What an inverter last said of itself before it. */
  last_state: string | null
  /** Since when the site file does not have the source any more. */
  retired_ms: number | null
  /** Events that concern the source, its edges or their journals, in the order of time. */
  events: readonly EvidenceEvent[]
  /** When each of the devices on the same bus did not answer, the source among them. */
  bus: readonly (readonly Extent[])[]
  /** The same of all devices of the site. */
  site: readonly (readonly Extent[])[]
}

/** A span of time; infinite where no end of it was seen. */
export interface Extent {
  start_ms: number
  end_ms: number
}

export interface EvidenceEvent {
  at_ms: number
  code: string
  edge: 'rising' | 'falling' | 'once'
  /** Where the event says of which time what was lost is. */
  lost_from_ms?: number | null
  lost_to_ms?: number | null
  /** Where it says after which instants readings are lost: the last that came before each loss. */
  lost_after_ms?: readonly number[] | null
  /** By how much a clock jumped, positive forwards. */
  jump_ms?: number | null
  /** Of an agent that started: until when it had run, and whether its machine went down with it. */
  down_from_ms?: number | null
  lost_power?: boolean
}

/** The codes of the alarms, of all tables, that say the same as some of SunSpec. */
const alarmsLike = (...sunspec_events: readonly string[]): readonly string[] =>
  alarmTables.flatMap(({ table_id, rows }) =>
    rows
      .filter(({ sunspec_event }) => sunspec_events.includes(sunspec_event ?? ''))
      .map(({ alarm_word, bit }) => `alarm:${table_id}:${alarm_word}:${bit}`),
  )
const hand_alarms = alarmsLike('MANUAL_SHUTDOWN', 'CABINET_OPEN')
const grid_alarms = alarmsLike('GRID_DISCONNECT', 'AC_DISCONNECT')

/** What edge and server may notice that explains a gap. */
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

/** Of an edge agent, as the server has heard of it. */
export interface EdgeReport {
  last_seen_ms: number
  /** When the oldest frame was written that it has not delivered; null where none is left. */
  journal_oldest_ms: number | null
}

/** The report of an edge is made from time to time, and what it delivers is stored soon after. */
const report_ms = 120_000

/**
 * Whether readings up to `end_ms` may still be on their way: an edge was not heard of since, or its
 * journal goes back so far.
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

/** `may_come`: whether the hole may still be filled, so that nobody knows what was not measured. */
export function causeOf(gap: Evidence, may_come: boolean): Cause {
  const { events } = gap
  const span = { start_ms: gap.start_ms, end_ms: gap.end_ms ?? Number.POSITIVE_INFINITY }
  if (events.some((event) => isJumpOver(event, span))) return 'clock_jump'
  if (fillsMost(holds('device_retired', events, span), span)) return 'configuration'
  const downs = events.flatMap((event) => downOf(event, span))
  const down = downs.find((extent) => fillsMost([extent], span))
  if (down) return down.cause
  const offline = holds('device_offline', events, span)
  if (offline.length > 0) return causeOfSilence(gap, offline, downs)
  const unlinked = holds('edge_offline', events, span)
  if (may_come && unlinked.length > 0) return 'communication'
  // What was journaled in the hole may be dropped until the link is back.
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

/** Why a device did not answer for some time while the agent asked. */
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
    // It was heard until power was lost; or all others fell silent with it, and then the agent.
    if (start_ms < offline[0]!.start_ms || gap.site.every(isSilent)) return cause
  }
  return said ?? (gap.bus.every(isSilent) ? 'communication' : 'device_fault')
}

/** What a device said of itself when it was heard last. */
function lastWords({ events, start_ms, last_state }: Evidence) {
  const then = { start_ms, end_ms: start_ms + 1 }
  const isOn = (codes: readonly string[]) =>
    codes.some((code) => holds(code, events, then).length > 0)
  if (isOn(hand_alarms)) return 'maintenance'
  if (isOn(grid_alarms)) return 'power_loss'
  return last_state === 'fault' ? 'device_fault' : null
}

type Down = Extent & { cause: 'power_loss' | 'agent_stopped' }

/** When the agent did not run, where it started within the span. */
function downOf({ code, at_ms, down_from_ms, lost_power }: EvidenceEvent, span: Extent): Down[] {
  if (code !== 'agent_started' || at_ms < span.start_ms || at_ms > span.end_ms) return []
  const start_ms = down_from_ms ?? Number.NEGATIVE_INFINITY
  return [{ start_ms, end_ms: at_ms, cause: lost_power ? 'power_loss' : 'agent_stopped' }]
}

/** A clock that was put forward leaves a hole where it jumped, as long as the jump. */
function isJumpOver({ code, at_ms, jump_ms }: EvidenceEvent, { start_ms, end_ms }: Extent) {
  if (code !== 'clock_jumped' || !jump_ms || jump_ms <= 0) return false
  const is_there = at_ms >= start_ms && at_ms - jump_ms <= end_ms
  return is_there && 2 * jump_ms >= end_ms - start_ms
}

/** Where nothing says of when the lost readings are, they are of the time before the loss. */
function isLossIn(event: EvidenceEvent, { start_ms, end_ms }: Extent, until_ms: number): boolean {
  const { edge, at_ms, lost_from_ms, lost_to_ms, lost_after_ms } = event
  if (edge === 'falling') return false
  if (lost_after_ms) return lost_after_ms.some((at_ms) => at_ms >= start_ms && at_ms < end_ms)
  if (lost_from_ms == null) return at_ms >= start_ms && at_ms <= until_ms
  return lost_from_ms <= end_ms && (lost_to_ms ?? at_ms) >= start_ms
}

/** Whether extents, which do not overlap, hold for at least half of a span. */
function fillsMost(extents: readonly Extent[], { start_ms, end_ms }: Extent): boolean {
  let filled_ms = 0
  for (const extent of extents) {
    const shared_ms = Math.min(extent.end_ms, end_ms) - Math.max(extent.start_ms, start_ms)
    if (shared_ms > 0) filled_ms += shared_ms
  }
  return filled_ms > 0 && 2 * filled_ms >= end_ms - start_ms
}

const always = { start_ms: Number.NEGATIVE_INFINITY, end_ms: Number.POSITIVE_INFINITY }

/** When a condition held, of those times that share some with the span. */
export function holds(
  code: string,
  events: readonly EvidenceEvent[],
  span: Extent = always,
): Extent[] {
  const held: Extent[] = []
  let since_ms: number | null = null
  for (const event of events) {
    if (event.code !== code) continue
    if (event.edge === 'rising') since_ms ??= event.at_ms
    else if (event.edge === 'falling') {
      // Events before those that were looked at had it rise.
      held.push({ start_ms: since_ms ?? Number.NEGATIVE_INFINITY, end_ms: event.at_ms })
      since_ms = null
    }
  }
  if (since_ms !== null) held.push({ start_ms: since_ms, end_ms: Number.POSITIVE_INFINITY })
  return held.filter(({ start_ms, end_ms }) => start_ms < span.end_ms && end_ms > span.start_ms)
}
