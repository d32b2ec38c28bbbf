import type { Frame, Lane, LinkEvent } from '@heliograph/domain/link'
import { readingKinds } from '@heliograph/domain/readings'
import { storeDispatches, storeNotes, storeSetups } from '../batteries/edge-reports.ts'
import { storeReports } from '../control/edge-reports.ts'
import { alerts_job, beginRound } from '../jobs/site-rounds.ts'
import { confirmNamedDevices } from '../plant/exchange-questions.ts'
import { applyInventory, unknown_words } from '../plant/inventory.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { endCondition, lastEvent, recordEvent } from '../storage/events.ts'
import { keepPartitions, type PartitionKeeper } from '../storage/partitions.ts'
import { nextIdOf } from '../storage/site-ids.ts'
import { isoTime } from '../storage/values.ts'
import { storeExchangedDevices } from '../telemetry/exchanged-devices.ts'
import { storeRelayEvents } from '../telemetry/relay-events.ts'
import { storeReadings } from '../telemetry/store-readings.ts'
import {
  type Content,
  type Items,
  type PreparedFrame,
  prepareFrame,
  refuseFrame,
} from './frames.ts'
import { publishComm } from './published.ts'

/** The journal of an edge, which numbers the frames. */
export interface Source {
  site_id: string
  edge_id: string
  epoch: string
}

export interface PreparedBatch extends Source {
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
  /** False on a cluster: a transaction concerns the node of one site. */
  stores_together: boolean
  /**
   * Stores checked batches in one transaction, with a result for each. Several batches are given
   * together only if they hold nothing but readings; `concernsOneBatch` names errors after which
   * each must be stored by itself.
   */
  store(batches: readonly PreparedBatch[]): Promise<Ingested[]>
}

const tables = Object.values(readingKinds).map(({ table }) => table)
const attempts_max = 4
const check_violation = '23514'
const lock_not_available = '55P03'
/** A batch that waits for a lock must not hold up the others of its transaction. */
const lock_timeout_ms = 1000

/**
 * Stores frames of edges. One transaction stores whole batches, each frame exactly once by (edge,
 * epoch, seq): all is committed on return, nothing when it throws. A frame that fails its check is
 * stored as rejected, with an event, and does not block the others.
 *
 * Readings of devices missing in the inventory are stored as well, since the live lane overtakes
 * the backlog that may announce the device. They become visible with the announcement.
 */
export function ingestInto(db: Database): Ingest {
  let partitions = keepPartitions(db, tables)

  async function store(given: readonly PreparedBatch[]): Promise<Ingested[]> {
    const is_shared = given.length > 1
    const options = is_shared ? { lock_timeout_ms } : {}
    for (let attempt = 1; ; attempt += 1) {
      try {
        for (const { frames } of given) await ensureWeeks(partitions, frames)
        return await db.transaction((transaction) => storeBatches(transaction, given), options)
      } catch (error) {
        if (attempt < attempts_max && isTransient(error)) continue
        // The first violation means that a partition was dropped since the last look.
        if (attempt === 1 && codeOf(error) === check_violation) {
          partitions = keepPartitions(db, tables)
          continue
        }
        if (is_shared || !isDataError(error)) throw error
        return [await storeApart(given[0]!, error as Error)]
      }
    }
  }

  /**
   * Stores frame by frame, since a value that only the database refuses must affect only its frame.
   */
  async function storeApart(batch: PreparedBatch, error: Error): Promise<Ingested> {
    if (batch.frames.length > 1) {
      const parts: Ingested[] = []
      for (const frame of batch.frames) parts.push(await storeOne({ ...batch, frames: [frame] }))
      return parts.reduce(sum)
    }
    const [prepared] = batch.frames
    if (!prepared || prepared.content.is === 'refused') throw error
    const refused = refuseFrame(prepared, `the database refuses it: ${error.message}`)
    return await storeOne({ ...batch, frames: [refused] })
  }

  const storeOne = async (batch: PreparedBatch) => (await store([batch]))[0]!

  return {
    store,
    stores_together: !db.is_distributed,
    ingest: ({ lane, frames, ...batch }) =>
      storeOne({
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

async function storeBatches(
  transaction: Transaction,
  given: readonly PreparedBatch[],
): Promise<Ingested[]> {
  const fresh = await takeNew(transaction, given)
  for (const batch of given) await storeOthers(transaction, batch, fresh.get(batch)!)
  const arrivals = given.map((batch) => ({
    site_id: batch.site_id,
    received_at: isoTime(batch.received_at),
    tables: itemsOf(fresh.get(batch)!, 'readings'),
  }))
  const rows = new Map(await storeReadings(transaction, arrivals))
  return given.map((batch) => {
    const frames = fresh.get(batch)!
    const refused = frames.flatMap(({ seq, content }) =>
      content.is === 'refused' ? [{ seq, kind: content.kind, reason: content.reason }] : [],
    )
    const { stored, repeated } = rows.get(batch.site_id) ?? { stored: 0, repeated: 0 }
    // Counted once, with the first batch of the site.
    rows.delete(batch.site_id)
    return {
      new_frames: frames.length,
      refused_frames: refused.length,
      refused,
      stored_rows: stored,
      repeated_rows: repeated,
    }
  })
}

const itemsOf = <Kind extends keyof Items>(frames: readonly PreparedFrame[], kind: Kind) =>
  frames.flatMap(({ content }) => (content.is === kind ? (content.items as Items[Kind][]) : []))

/** Stores everything but readings. */
async function storeOthers(
  transaction: Transaction,
  batch: PreparedBatch,
  fresh: readonly PreparedFrame[],
): Promise<void> {
  const { site_id, received_at } = batch
  for (const { content, seq } of fresh) {
    if (content.is === 'refused') await storeRefused(transaction, batch, { ...content, seq })
  }
  await storeEvents(transaction, batch, itemsOf(fresh, 'events'))
  for (const { content, seq } of fresh) {
    if (content.is !== 'inventory') continue
    const { site, json, unknown } = content
    await applyInventory(transaction, site, { json, epoch: batch.epoch, seq, at: received_at })
    await confirmNamedDevices(transaction, site_id, new Date(received_at))
    await endCondition(
      transaction,
      { site_id, source_kind: 'edge', source_id: batch.edge_id, code: 'inventory_rejected' },
      { at: new Date(received_at), message: 'the inventory of the edge is accepted' },
    )
    await reportUnknownWords(transaction, batch, unknown)
  }
  await storeReports(transaction, site_id, itemsOf(fresh, 'curtailment'))
  await storeDispatches(transaction, site_id, itemsOf(fresh, 'dispatch'))
  await storeNotes(transaction, site_id, itemsOf(fresh, 'control_notes'))
  await storeSetups(transaction, site_id, itemsOf(fresh, 'battery_setup'))
}

interface FrameKey extends Source {
  seq: number
}

const keyOf = ({ site_id, edge_id, epoch, seq }: FrameKey) =>
  `${site_id} ${edge_id} ${epoch} ${seq}`

const claiming = {
  name: 'claim_frames',
  text: `
    insert into link_frames (site_id, edge_id, epoch, seq, newest_at)
    select site_id, edge_id, epoch, seq, newest_at
    from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[])
      as f (site_id, edge_id, epoch, seq, newest_at)
    order by site_id, edge_id, epoch, seq
    on conflict do nothing
    returning site_id, edge_id, epoch, seq`,
} as const

const readingMarks = {
  name: 'read_acked_below',
  text: `
    select site_id, edge_id, acked_epoch as epoch, acked_below_seq as below_seq
    from edges join unnest($1::text[], $2::text[]) as g (site_id, edge_id) using (site_id, edge_id)
    where acked_epoch is not null`,
} as const

/**
 * Claims the frames that were never committed, in the order of their numbers so that two sockets
 * with the same frames cannot deadlock. `acked_below_seq` is read after the claim: a frame whose
 * number was deleted meanwhile can be claimed, but lies below that mark.
 */
async function takeNew(
  transaction: Transaction,
  given: readonly PreparedBatch[],
): Promise<ReadonlyMap<PreparedBatch, PreparedFrame[]>> {
  const frames = new Map<string, { batch: PreparedBatch; frame: PreparedFrame }>()
  for (const batch of given) {
    for (const frame of batch.frames) {
      const key = keyOf({ ...batch, seq: frame.seq })
      if (!frames.has(key)) frames.set(key, { batch, frame })
    }
  }
  const taken = new Map(given.map((batch) => [batch, [] as PreparedFrame[]]))
  const all = [...frames.values()]
  const claimed = await transaction.query<FrameKey>(claiming, [
    all.map(({ batch }) => batch.site_id),
    all.map(({ batch }) => batch.edge_id),
    all.map(({ batch }) => batch.epoch),
    all.map(({ frame }) => frame.seq),
    all.map(({ frame }) => newestIn(frame.content)),
  ])
  if (claimed.length === 0) return taken
  const marks = await transaction.query<Source & { below_seq: number }>(readingMarks, [
    given.map(({ site_id }) => site_id),
    given.map(({ edge_id }) => edge_id),
  ])
  const belowOf = new Map(marks.map((mark) => [keyOf({ ...mark, seq: 0 }), mark.below_seq]))
  for (const key of claimed.sort((a, b) => a.seq - b.seq)) {
    const { batch, frame } = frames.get(keyOf(key))!
    if (key.seq >= (belowOf.get(keyOf({ ...key, seq: 0 })) ?? 0)) taken.get(batch)!.push(frame)
  }
  return taken
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
  { seq, kind, reason, json, span }: Extract<Content, { is: 'refused' }> & { seq: number },
): Promise<void> {
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

/** Whether an alert of an event must not wait for the next round. */
const isSerious = ({ edge, severity }: LinkEvent) =>
  edge !== 'falling' && (severity === 'major' || severity === 'critical')

async function storeEvents(
  transaction: Transaction,
  { site_id, received_at }: PreparedBatch,
  events: readonly LinkEvent[],
): Promise<void> {
  if (events.length === 0) return
  await storeRelayEvents(transaction, { site_id, received_at }, events)
  await storeExchangedDevices(transaction, { site_id, received_at }, events)
  const records = events.map((event) => ({ ...event, at: isoTime(event.at) }))
  await transaction.execute(
    `insert into events
       (site_id, event_id, at, received_at, source_kind, source_id, code, edge, severity, message,
        details)
     select $1, ${nextIdOf('site', '$1')}, at, $2, source_kind, source_id, code, edge, severity, message, details
     from jsonb_to_recordset($3::jsonb) as e (
       at timestamptz, source_kind text, source_id text, code text, edge text, severity text,
       message text, details jsonb)`,
    [site_id, isoTime(received_at), JSON.stringify(records)],
  )
  for (const event of events) {
    publishComm(transaction, site_id, { ...event, at: new Date(event.at) })
  }
  if (events.some(isSerious)) await beginRound(transaction, alerts_job, [site_id])
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

/** Whether an error of several batches stored together may concern only one of them. */
export const concernsOneBatch = (error: unknown) =>
  isDataError(error) || codeOf(error) === lock_not_available
