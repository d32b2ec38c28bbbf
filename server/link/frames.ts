/**
 * Checks arriving frames and prepares them for storage. Pure. A frame is accepted or refused as a
 * whole, and a bad value refuses only its own frame, with the reason.
 */

import { AnnouncedSite, inKnownWords } from '@heliograph/domain/announced-site'
import type { SetupReport } from '@heliograph/domain/battery'
import type { RowReport } from '@heliograph/domain/curtailment'
import type { ControlNote, DispatchReport } from '@heliograph/domain/dispatch'
import { day_ms } from '@heliograph/domain/durations'
import {
  ahead_ms_max,
  type Frame,
  isNewerKind,
  type Lane,
  LinkEvent,
  Readings,
  type ReadingTable,
} from '@heliograph/domain/link'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import { checkInventory, fieldOf } from '@heliograph/domain/site-check'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { acceptDispatches, acceptNotes, acceptSetups } from '../batteries/edge-reports.ts'
import { acceptReports } from '../control/edge-reports.ts'
import { type Checker, checked, storableJson } from '../telemetry/first-fault.ts'
import { believed_ahead_ms_max, type EncodedTable, encodeTable } from '../telemetry/readings.ts'
import { isUnstorableJson, Refused, shown, storableText } from '../telemetry/refused.ts'
import { checkRelayEvents } from '../telemetry/relay-events.ts'

/** Older readings are refused: no edge still has the plant of that time. */
const age_ms_max = 3 * 366 * day_ms

export interface FrameOrigin {
  site_id: string
  lane: Lane
  /** Unix ms. */
  received_at: number
}

/** The items of a frame by its kind. */
export interface Items {
  readings: EncodedTable
  events: LinkEvent
  curtailment: RowReport
  dispatch: DispatchReport
  control_notes: ControlNote
  battery_setup: SetupReport
}

export type Content =
  | { [Kind in keyof Items]: { is: Kind; items: Items[Kind][] } }[keyof Items]
  | { is: 'inventory'; site: Site; json: string; unknown: string[] }
  | { is: 'refused'; kind: string; reason: string; json: string | null; span: Span | null }

/** First and last timestamp of the readings or events of a frame, Unix ms. */
interface Span {
  from_at: number
  to_at: number
}

export interface PreparedFrame {
  seq: number
  content: Content
  kind: string
  /** The original payload, needed if the database refuses the checked content. */
  payload: () => unknown
}

const readings = Compile(Readings)
const events = Compile(Type.Array(LinkEvent))
const site = Compile(AnnouncedSite) as Checker<Site>

/**
 * Checks a frame. Never throws: an error refuses only this frame. `reread` returns the payload
 * again, so that the payload need not stay in memory.
 */
export function prepareFrame(
  frame: Frame,
  origin: FrameOrigin,
  reread?: () => unknown,
): PreparedFrame {
  const steps = prepareInSteps(frame, origin, reread)
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** Like `prepareFrame`, in steps between which other work of this process has a turn. */
export function* prepareInSteps(
  frame: Frame,
  origin: FrameOrigin,
  reread: () => unknown = () => frame.payload,
): Generator<void, PreparedFrame> {
  const { seq, kind } = frame
  try {
    const content = yield* accept(frame, origin)
    return { seq, kind, content, payload: reread }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return refuseFrame({ seq, kind, payload: () => frame.payload }, reason)
  }
}

export function refuseFrame(
  { seq, kind, payload }: Omit<PreparedFrame, 'content'>,
  reason: string,
): PreparedFrame {
  const refused = payload()
  const { json, note } = storableJsonOf(refused)
  const content: Content = {
    is: 'refused',
    kind: storableText(kind),
    reason: storableText(reason + note),
    json,
    span: spanOf(refused),
  }
  return { seq, kind, content, payload: () => null }
}

/** Reads whatever can be a timestamp, since the payload may have any shape. */
function spanOf(payload: unknown): Span | null {
  if (typeof payload !== 'object' || payload === null) return null
  const instants = Array.isArray(payload)
    ? payload.map((event: { at?: unknown } | null) => event?.at)
    : Object.values(payload).flatMap((table: Partial<ReadingTable> | null) => {
        if (!Array.isArray(table?.columns) || !Array.isArray(table.rows)) return []
        const column = table.columns.indexOf('measured_at')
        return table.rows.map((row) => (Array.isArray(row) ? row[column] : null))
      })
  const known = instants
    .filter((at): at is number => Number.isSafeInteger(at))
    .sort((a, b) => a - b)
  return known.length === 0 ? null : { from_at: known[0]!, to_at: known.at(-1)! }
}

function* accept(frame: Frame, origin: FrameOrigin): Generator<void, Content> {
  const { kind, payload } = frame
  switch (kind) {
    case 'readings':
      return { is: kind, items: yield* acceptReadings(payload, origin) }
    case 'events':
      return { is: kind, items: acceptEvents(payload, origin) }
    case 'inventory':
      return acceptInventory(payload, origin)
    case 'curtailment':
      return { is: kind, items: acceptReports(payload, reportBounds(kind, origin)) }
    case 'dispatch':
      return { is: kind, items: acceptDispatches(payload, reportBounds(kind, origin)) }
    case 'control_notes':
      return { is: kind, items: acceptNotes(payload, reportBounds(kind, origin)) }
    case 'battery_setup':
      return { is: kind, items: acceptSetups(payload, reportBounds(kind, origin)) }
    default:
      throw new Refused(`unknown kind of frame: ${shown(kind)}`)
  }
}

function* acceptReadings(payload: unknown, origin: FrameOrigin): Generator<void, EncodedTable[]> {
  const tables = checked(readings, payload)
  const { site_id, lane, received_at } = origin
  const believed_until = received_at + believed_ahead_ms_max
  const bounds = { site_id, ...boundsOf(origin), believed_until, is_live: lane === 'live' }
  const encoded: EncodedTable[] = []
  for (const kind of Object.keys(readingKinds) as ReadingKind[]) {
    const { columns, rows } = tables[kind] ?? { columns: [], rows: [] }
    // Columns are checked even without rows.
    if (tables[kind] && rows.length === 0) encodeTable(kind, tables[kind], bounds)
    for (let from = 0; from < rows.length; ) {
      const to = endOfStep(rows, from)
      encoded.push(encodeTable(kind, { columns, rows: rows.slice(from, to) }, bounds, from))
      from = to
      if (from < rows.length) yield
    }
  }
  return encoded
}

/** Values written in one step, about 10 ms of work; a row has every column of its kind. */
const values_per_step = 150_000
const values_per_row = 60

function endOfStep(rows: readonly (readonly unknown[])[], from: number): number {
  let values = 0
  let to = from
  while (to < rows.length && values < values_per_step) {
    for (const value of rows[to]!) if (Array.isArray(value)) values += value.length
    values += values_per_row
    to += 1
  }
  return to
}

function acceptEvents(payload: unknown, origin: FrameOrigin): LinkEvent[] {
  const list = checked(events, Array.isArray(payload) ? payload.map(ofKnownKind) : payload)
  storableJson(list)
  checkRelayEvents(list)
  const { first_at, last_at } = boundsOf(origin)
  const late = list.findIndex(({ at }) => at < first_at || at > last_at)
  if (late >= 0) throw new Refused(`event ${late}: at: ${shown(list[late]!.at)} is out of range`)
  return list
}

/** Events of a device kind that only a newer edge knows are assigned to the edge. */
function ofKnownKind(event: Partial<LinkEvent> | null): unknown {
  const { source_kind, source_id } = event ?? {}
  if (!isNewerKind(source_kind) || typeof source_id !== 'string') return event
  return { ...event, source_kind: 'edge', source_id: `${source_kind} ${source_id}`.slice(0, 120) }
}

function acceptInventory(payload: unknown, { site_id, lane }: FrameOrigin): Content {
  if (lane === 'backfill') throw new Refused('an inventory cannot be back-filled')
  const { known, unknown } = site.Check(payload)
    ? { known: payload, unknown: [] }
    : inKnownWords(payload)
  const announced = checked(site, known)
  if (announced.site_id !== site_id) {
    throw new Refused(`inventory of site ${announced.site_id} on the link of site ${site_id}`)
  }
  const problems = checkInventory(announced).map(
    ({ path, message }) => `${fieldOf(path)}: ${message}`,
  )
  if (problems.length > 0) throw new Refused(`inventory: ${problems.slice(0, 8).join('; ')}`)
  return { is: 'inventory', site: announced, json: storableJson(announced), unknown }
}

/** Time range of reports of the edge about its own actions, which are never back-filled. */
function reportBounds(kind: string, origin: FrameOrigin) {
  if (origin.lane === 'backfill') throw new Refused(`frames of kind ${kind} cannot be back-filled`)
  return boundsOf(origin)
}

const boundsOf = ({ received_at }: FrameOrigin) => ({
  first_at: received_at - age_ms_max,
  last_at: received_at + ahead_ms_max,
})

/**
 * Any payload as JSON text for `jsonb`, so that a refused frame is stored whole: a payload that
 * `jsonb` refuses becomes one JSON string.
 */
function storableJsonOf(payload: unknown): { json: string | null; note: string } {
  try {
    const json = JSON.stringify(payload)
    const as_is = !isUnstorableJson(json) && depthOf(json) <= jsonb_depth_max
    return { json: as_is ? json : JSON.stringify(json), note: '' }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { json: null, note: ' (nested too deeply to be stored)' }
  }
}

/** PostgreSQL parses `jsonb` recursively. */
const jsonb_depth_max = 500

/** An upper bound of the nesting, since brackets in strings count too. */
function depthOf(json: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at) | 0x20
    // `[` and `{` differ by 0x20 alone, as do `]` and `}`.
    if (code === 0x7b) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (code === 0x7d) depth -= 1
  }
  return deepest
}
