/** Why readings lack and whether they may still come, by what edge and server noticed. Pure. */
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
export type Status = (typeof statuses)[number]

export const causeRule =
  '`communication`: the edge agent reported that the device did not answer, or the link to the ' +
  'agent is down and what it measured may still come, or it was lost on its way. ' +
  '`device_fault`: the same of a device whose last state was a fault. `agent_stopped`: the link ' +
  'was down, the agent has delivered all it had, and this was not among it; or its journal was ' +
  'found cut off. `buffer_overflow`: the agent had to drop, could not write or could not read ' +
  'again what it had measured. `clock_jump`: the clock of the agent was put forward over it. ' +
  '`unknown`: nothing that was noticed explains it. The others are not told yet.'

export const statusRule =
  '`open`: it lasts. `backfilling`: it has ended, and the edge agent may still hold readings of ' +
  'it. `backfilled`: its readings came. `unrecoverable`: the agent holds no readings that old ' +
  'any more; should some come all the same, it is `backfilling` again.'

export interface Evidence {
  start_ms: number
  end_ms: number | null
  /** What an inverter last said of itself before it. */
  last_state: string | null
  /** Events that concern the source, its edges or their journals, in the order of time. */
  events: readonly EvidenceEvent[]
}

export interface EvidenceEvent {
  at_ms: number
  code: string
  edge: 'rising' | 'falling' | 'once'
  /** Where the event says of which time what was lost is. */
  lost_from_ms?: number | null
  lost_to_ms?: number | null
  /** By how much a clock jumped, positive forwards. */
  jump_ms?: number | null
}

/** What edge and server may notice that explains a gap. */
export const evidenceCodes = [
  'device_offline',
  'edge_offline',
  'journal_dropped',
  'journal_damaged',
  'journal_write_failed',
  'journal_cut',
  'frames_missing',
  'clock_jumped',
] as const

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

type Code = (typeof evidenceCodes)[number]
const losses: readonly (readonly [Code, Cause])[] = [
  ['journal_dropped', 'buffer_overflow'],
  ['journal_damaged', 'buffer_overflow'],
  ['journal_write_failed', 'buffer_overflow'],
  ['frames_missing', 'communication'],
  ['journal_cut', 'agent_stopped'],
]

/** `may_come`: whether the hole may still be filled, so that nobody knows what was not measured. */
export function causeOf(gap: Evidence, may_come: boolean): Cause {
  const span = { start_ms: gap.start_ms, end_ms: gap.end_ms ?? Number.POSITIVE_INFINITY }
  if (gap.events.some((event) => isJumpOver(event, span))) return 'clock_jump'
  if (holds('device_offline', gap.events, span).length > 0) {
    return gap.last_state === 'fault' ? 'device_fault' : 'communication'
  }
  const unlinked = holds('edge_offline', gap.events, span)
  if (may_come && unlinked.length > 0) return 'communication'
  // What was journaled in the hole may be dropped until the link is back.
  const until_ms = Math.max(span.end_ms, ...unlinked.map(({ end_ms }) => end_ms))
  for (const [code, cause] of losses) {
    const happened = gap.events.some(
      (event) => event.code === code && isLossIn(event, span, until_ms),
    )
    if (happened) return cause
  }
  if (unlinked.length > 0) return 'agent_stopped'
  return gap.last_state === 'fault' ? 'device_fault' : 'unknown'
}

/** A clock that was put forward leaves a hole where it jumped, as long as the jump. */
function isJumpOver({ code, at_ms, jump_ms }: EvidenceEvent, { start_ms, end_ms }: Extent) {
  if (code !== 'clock_jumped' || !jump_ms || jump_ms <= 0) return false
  const is_there = at_ms >= start_ms && at_ms - jump_ms <= end_ms
  return is_there && 2 * jump_ms >= end_ms - start_ms
}

/** Where nothing says of when the lost readings are, they are of the time before the loss. */
function isLossIn(event: EvidenceEvent, { start_ms, end_ms }: Extent, until_ms: number): boolean {
  const { edge, at_ms, lost_from_ms, lost_to_ms } = event
  if (edge === 'falling') return false
  if (lost_from_ms == null) return at_ms >= start_ms && at_ms <= until_ms
  return lost_from_ms <= end_ms && (lost_to_ms ?? at_ms) >= start_ms
}

interface Extent {
  start_ms: number
  end_ms: number
}

/** When a condition held, of those times that share some with the span. */
function holds(code: string, events: readonly EvidenceEvent[], span: Extent): Extent[] {
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
