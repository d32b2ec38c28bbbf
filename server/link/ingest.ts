import type { Frame, Lane, LinkEvent } from '@heliograph/domain/link'
import { readingKinds } from '@heliograph/domain/readings'
import { storeDispatches, storeNotes, storeSetups } from '../batteries/edge-reports.ts'
import { storeReports } from '../control/edge-reports.ts'
import { applyInventory, unknown_words } from '../plant/inventory.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { endCondition, lastEvent, recordEvent } from '../storage/events.ts'
import { keepPartitions, type PartitionKeeper } from '../storage/partitions.ts'
import { isoTime } from '../storage/values.ts'
import { storeRelayEvents } from '../telemetry/relay-events.ts'
import { mergeTables, storeReadings } from '../telemetry/store-readings.ts'
import {
  type Content,
  type Items,
  type PreparedFrame,
  prepareFrame,
  refuseFrame,
} from './frames.ts'

/** The journal of an edge, which numbers the frames. */
export interface Source {
  site_id: string
  edge_id: string
  epoch: string
}

interface PreparedBatch extends Source {
  frames: readonly PreparedFrame[]
  /** Unix ms. */
  received_at: number
}

interface Batch extends Source {
  lane: Lane
  frames: readonly Frame[]
  received_at: number
}

/** The result of a batch. All its frames may be acknowledged. */
export interface Ingested {
  new_frames: number
  refused_frames: number
  /** To be reported to the edge. */
  refused: readonly RefusedFrame[]
  stored_rows: number
  /** Rows whose device and instant were already stored from another frame. */
  repeated_rows: number
}

interface RefusedFrame {
  seq: number
  kind: string
  reason: string
}

export interface Ingest {
  ingest(batch: Batch): Promise<Ingested>
  /** Stores frames checked by `prepareFrame`. */
  store(batch: PreparedBatch): Promise<Ingested>
}

const tables = Object.values(readingKinds).map(({ table }) => table)
const attempts_max = 4
const check_violation = '23514'

/**
 * Stores frames of edges. One transaction stores a whole batch, each frame exactly once by (edge,
 * epoch, seq): all is committed on return, nothing when it throws. A frame that fails its check is
 * stored as rejected, with an event, and does not block the others.
 *
 * Readings of devices missing in the inventory are stored as well, since the live lane overtakes
 * the backlog that may announce the device. They become visible with the announcement.
 */
export function ingestInto(db: Database): Ingest {
  let partitions = keepPartitions(db, tables)

  async function store(batch: PreparedBatch): Promise<Ingested> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await ensureWeeks(partitions, batch.frames)
        return await db.transaction((transaction) => storeBatch(transaction, batch))
      } catch (error) {
        if (attempt < attempts_max && isTransient(error)) continue
        // The first violation means that a partition was dropped since the last look.
        if (attempt === 1 && codeOf(error) === check_violation) {
          partitions = keepPartitions(db, tables)
          continue
        }
        if (!isDataError(error)) throw error
        return await storeApart(batch, error as Error)
      }
    }
  }

  /**
   * Stores frame by frame, since a value that only the database refuses must affect only its frame.
   */
  async function storeApart(batch: PreparedBatch, error: Error): Promise<Ingested> {
    if (batch.frames.length > 1) {
      const parts: Ingested[] = []
      for (const frame of batch.frames) parts.push(await store({ ...batch, frames: [frame] }))
      return parts.reduce(sum)
    }
    const [prepared] = batch.frames
    if (!prepared || prepared.content.is === 'refused') throw error
    const refused = refuseFrame(prepared, `the database refuses it: ${error.message}`)
    return await store({ ...batch, frames: [refused] })
  }

  return {
    store,
    ingest: ({ lane, frames, ...batch }) =>
      store({
        ...batch,
        frames: frames.map((frame) => prepareFrame(frame, { ...batch, lane })),
      }),
  }
}

async function ensureWeeks(partitions: PartitionKeeper, frames: readonly PreparedFrame[]) {
  for (const { content } of frames) {
    if (content.is !== 'readings') continue
    for (const { first_at, last_at } of content.items) {
      await partitions.ensure(new Date(first_at), new Date(last_at + 1))
    }
  }
}

async function storeBatch(transaction: Transaction, batch: PreparedBatch): Promise<Ingested> {
  const { site_id, received_at } = batch
  const fresh = await takeNew(transaction, batch)
  const itemsOf = <Kind extends keyof Items>(kind: Kind) =>
    fresh.flatMap(({ content }) => (content.is === kind ? (content.items as Items[Kind][]) : []))
  const refused = fresh.flatMap(({ seq, content }) =>
    content.is === 'refused' ? [{ ...content, seq }] : [],
  )
  await storeRefused(transaction, batch, refused)
  await storeEvents(transaction, batch, itemsOf('events'))
  for (const { content, seq } of fresh) {
    if (content.is !== 'inventory') continue
    const { site, json, unknown } = content
    await applyInventory(transaction, site, { json, epoch: batch.epoch, seq, at: received_at })
    await endCondition(
      transaction,
      { site_id, source_kind: 'edge', source_id: batch.edge_id, code: 'inventory_rejected' },
      { at: new Date(received_at), message: 'the inventory of the edge is accepted' },
    )
    await reportUnknownWords(transaction, batch, unknown)
  }
  await storeReports(transaction, site_id, itemsOf('curtailment'))
  await storeDispatches(transaction, site_id, itemsOf('dispatch'))
  await storeNotes(transaction, site_id, itemsOf('control_notes'))
  await storeSetups(transaction, site_id, itemsOf('battery_setup'))
  const batches = mergeTables(itemsOf('readings'))
  const at = isoTime(received_at)
  const { stored, repeated } = await storeReadings(transaction, site_id, batches, at)
  return {
    new_frames: fresh.length,
    refused_frames: refused.length,
    refused: refused.map(({ seq, kind, reason }) => ({ seq, kind, reason })),
    stored_rows: stored,
    repeated_rows: repeated,
  }
}

/**
 * Claims the frames that were never committed, in the order of their numbers so that two sockets
 * with the same frames cannot deadlock. `acked_below_seq` is read after the claim: a frame whose
 * number was deleted meanwhile can be claimed, but lies below that mark.
 */
async function takeNew(
  transaction: Transaction,
  { site_id, edge_id, epoch, frames }: PreparedBatch,
): Promise<PreparedFrame[]> {
  const bySeq = new Map<number, PreparedFrame>()
  for (const frame of frames) if (!bySeq.has(frame.seq)) bySeq.set(frame.seq, frame)
  const seqs = [...bySeq.keys()].sort((a, b) => a - b)
  const newest = seqs.map((seq) => newestIn(bySeq.get(seq)!.content))
  const claimed = await transaction.query<{ seq: number }>(
    `insert into link_frames (site_id, edge_id, epoch, seq, newest_at)
     select $1, $2, $3, seq, newest_at
     from unnest($4::bigint[], $5::timestamptz[]) as f (seq, newest_at) order by seq
     on conflict do nothing
     returning seq`,
    [site_id, edge_id, epoch, seqs, newest],
  )
  if (claimed.length === 0) return []
  const [edge] = await transaction.query<{ acked_epoch: string | null; acked_below_seq: number }>(
    'select acked_epoch, acked_below_seq from edges where site_id = $1 and edge_id = $2',
    [site_id, edge_id],
  )
  const forgotten_below = edge?.acked_epoch === epoch ? edge.acked_below_seq : 0
  return claimed
    .map(({ seq }) => seq)
    .filter((seq) => seq >= forgotten_below)
    .sort((a, b) => a - b)
    .map((seq) => bySeq.get(seq)!)
}

/** Timestamp of the newest reading of a frame; null without readings. */
function newestIn(content: Content): string | null {
  const instants = content.is === 'readings' ? content.items.map(({ last_at }) => last_at) : []
  const newest = Math.max(...instants)
  return Number.isFinite(newest) ? isoTime(newest) : null
}

async function storeRefused(
  transaction: Transaction,
  { site_id, edge_id, epoch, received_at }: PreparedBatch,
  frames: readonly (Extract<Content, { is: 'refused' }> & { seq: number })[],
): Promise<void> {
  for (const { seq, kind, reason, json, span } of frames) {
    await transaction.execute(
      `insert into rejected_frames
         (site_id, edge_id, epoch, seq, received_at, kind, reason, payload)
       values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb)`,
      [site_id, edge_id, epoch, seq, isoTime(received_at), kind, reason, json],
    )
    const is_inventory = kind === 'inventory'
    await recordEvent(transaction, {
      site_id,
      at: new Date(received_at),
      source_kind: 'edge',
      source_id: edge_id,
      ...(is_inventory
        ? { code: 'inventory_rejected', edge: 'rising', severity: 'major' }
        : { code: 'frame_rejected', edge: 'once', severity: 'warning' }),
      message: is_inventory
        ? `the inventory of the edge is refused, and the previous one stays in force: ${reason}`
        : `a frame of kind ${kind} is refused: ${reason}`,
      details: { epoch, seq, kind, ...span },
    })
  }
}

const words_listed_max = 5

/** Raises an event while the inventory has enumeration values that this server does not know. */
async function reportUnknownWords(
  transaction: Transaction,
  { site_id, edge_id, received_at }: PreparedBatch,
  unknown: readonly string[],
): Promise<void> {
  const source = { site_id, source_kind: 'edge', source_id: edge_id, code: unknown_words } as const
  const at = new Date(received_at)
  if (unknown.length === 0) {
    const message = 'this server knows all values of the inventory'
    await endCondition(transaction, source, { at, message })
    return
  }
  const more = unknown.length - words_listed_max
  const listed =
    unknown.slice(0, words_listed_max).join('; ') + (more > 0 ? `; and ${more} more` : '')
  const message = `this server does not know values of the inventory: ${listed}`
  if ((await lastEvent(transaction, source))?.message === message) return
  const details = { unknown: unknown.slice(0, 1000) }
  await recordEvent(transaction, {
    ...source,
    at,
    edge: 'rising',
    severity: 'warning',
    message,
    details,
  })
}

async function storeEvents(
  transaction: Transaction,
  { site_id, received_at }: PreparedBatch,
  events: readonly LinkEvent[],
): Promise<void> {
  if (events.length === 0) return
  await storeRelayEvents(transaction, { site_id, received_at }, events)
  const records = events.map((event) => ({ ...event, at: isoTime(event.at) }))
  await transaction.execute(
    `insert into events
       (site_id, at, received_at, source_kind, source_id, code, edge, severity, message, details)
     select $1, at, $2, source_kind, source_id, code, edge, severity, message, details
     from jsonb_to_recordset($3::jsonb) as e (
       at timestamptz, source_kind text, source_id text, code text, edge text, severity text,
       message text, details jsonb)`,
    [site_id, isoTime(received_at), JSON.stringify(records)],
  )
}

function sum(a: Ingested, b: Ingested): Ingested {
  return {
    new_frames: a.new_frames + b.new_frames,
    refused_frames: a.refused_frames + b.refused_frames,
    refused: [...a.refused, ...b.refused],
    stored_rows: a.stored_rows + b.stored_rows,
    repeated_rows: a.repeated_rows + b.repeated_rows,
  }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : ''
}

/** Serialisation failure or deadlock: a retry succeeds. */
const isTransient = (error: unknown) => ['40001', '40P01'].includes(codeOf(error))

/** SQLSTATE classes caused by values: cardinality, data, integrity, program limits. */
const isDataError = (error: unknown) => /^(21|22|23|54)/.test(codeOf(error))
