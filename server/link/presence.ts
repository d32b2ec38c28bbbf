/** Identity and status of edges in the database. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type DeviceStatus, edgeTokenPattern, type StatusReport } from '@heliograph/domain/link'
import type { Static } from 'typebox'
import { notifyOfEdge } from '../access/edges.ts'
import { unknown_words } from '../plant/inventory.ts'
import { updatePower } from '../plant/site-status.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { endCondition, lastEvent, recordEvent } from '../storage/events.ts'
import { isoTime, rowsJson } from '../storage/values.ts'
import { storableText } from '../telemetry/refused.ts'
import { addTouchedHours, touchAllIn } from '../telemetry/touched-hours.ts'
import type { Source } from './ingest.ts'
import { publishComm } from './published.ts'

export interface EdgeIdentity {
  site_id: string
  edge_id: string
}

/** The stored digest of the secret half of an edge token (64 hex digits, as text). */
export function edgeSecretDigest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

const nobody = Buffer.alloc(32)

/** The edge of an `Authorization` header; null for a wrong or revoked token. */
export async function authenticateEdge(
  db: Queries,
  authorization: string | undefined,
): Promise<EdgeIdentity | null> {
  const [scheme, token] = (authorization ?? '').split(' ')
  const match = scheme?.toLowerCase() === 'bearer' && edgeTokenPattern.exec(token ?? '')
  if (!match) return null
  const [, edge_id, secret] = match
  // The token does not name the site. Edges are few: one or two for each site.
  const edges = await db.query<{ site_id: string; secret_sha256: Buffer; is_revoked: boolean }>(
    `select site_id, secret_sha256, revoked_at is not null as is_revoked
     from edges where edge_id = $1`,
    [edge_id],
  )
  const digest = edgeSecretDigest(secret!)
  timingSafeEqual(digest, nobody)
  const edge = edges.find(({ secret_sha256 }) => timingSafeEqual(digest, secret_sha256))
  return edge && !edge.is_revoked ? { site_id: edge.site_id, edge_id: edge_id! } : null
}

/**
 * The frame of the inventory in force. Null without an inventory, and if the inventory had values
 * that this server did not know: the edge then announces it again.
 */
export async function inventoryFrame(db: Queries, { site_id, edge_id }: EdgeIdentity) {
  const source = { site_id, source_kind: 'edge', source_id: edge_id } as const
  const unknown = await lastEvent(db, { ...source, code: unknown_words })
  if (unknown?.edge === 'rising') return null
  const [row] = await db.query<{ epoch: string; seq: number }>(
    `select inventory_epoch as epoch, inventory_seq as seq from sites
     where site_id = $1 and inventory_seq is not null`,
    [site_id],
  )
  return row ?? null
}

interface Greeting {
  agent_version: string
  sent_at: number
  /** Unix ms of the server's clock. */
  received_at: number
}

/**
 * Records that the edge is connected and ends an active `edge_offline`. Returns the mark of the
 * connection: its `connected_at` to the microsecond, unique for each hello.
 */
export function recordHello(
  db: Database,
  edge: EdgeIdentity,
  { agent_version, sent_at, received_at }: Greeting,
): Promise<string> {
  return db.transaction(async (transaction) => {
    // Microseconds distinguish hellos to several servers in one millisecond.
    await transaction.execute(
      `update edges
       set connected_at = case
           when connected_at >= $3::timestamptz
             and connected_at < $6
           -- Without a time zone the sum is immutable, which a distributed table needs.
           then (connected_at at time zone 'UTC' + interval '1 microsecond') at time zone 'UTC'
           else $3::timestamptz end,
         last_seen_at = $3, agent_version = $4, clock_offset_ms = $5
       where site_id = $1 and edge_id = $2`,
      [
        edge.site_id,
        edge.edge_id,
        isoTime(received_at),
        storableText(agent_version),
        clockOffset(sent_at, received_at),
        isoTime(received_at + 1),
      ],
    )
    const [row] = await transaction.query<{ mark: string }>(
      'select connected_at::text as mark from edges where site_id = $1 and edge_id = $2',
      [edge.site_id, edge.edge_id],
    )
    const source = offline(edge)
    const message = 'the edge is connected again'
    const at = await endCondition(transaction, source, { at: new Date(received_at), message })
    if (at) publishComm(transaction, edge.site_id, { ...source, edge: 'falling', at, message })
    await notifyOfEdge(transaction, edge)
    return row!.mark
  })
}

/** The marks of edges that are not revoked, by `site_id edge_id`; null before the first hello. */
export async function readMarks(
  db: Queries,
  edges: readonly EdgeIdentity[],
): Promise<ReadonlyMap<string, string | null>> {
  const found = await db.query<EdgeIdentity & { mark: string | null }>(
    `select site_id, edge_id, connected_at::text as mark
     from edges join unnest($1::text[], $2::text[]) as g (site_id, edge_id) using (site_id, edge_id)
     where revoked_at is null`,
    [edges.map(({ site_id }) => site_id), edges.map(({ edge_id }) => edge_id)],
  )
  return new Map(found.map(({ site_id, edge_id, mark }) => [`${site_id} ${edge_id}`, mark]))
}

/**
 * Raises `edge_offline` unless the event is active or the edge has connected again, perhaps to
 * another server. The lock on the row of the edge orders this and `recordHello`, so that every
 * `rising` has its `falling` before the next.
 */
export async function recordOffline(
  db: Database,
  edge: EdgeIdentity,
  { mark, reason, at }: { mark: string; reason: string; at: Date },
): Promise<void> {
  await db.transaction(async (transaction) => {
    const [current] = await transaction.query(
      `select from edges
       where site_id = $1 and edge_id = $2 and connected_at = $3::timestamptz for update`,
      [edge.site_id, edge.edge_id, mark],
    )
    const source = offline(edge)
    const last = current && (await lastEvent(transaction, source))
    if (!current || last?.edge === 'rising') return
    const event = {
      ...source,
      // Keeps the events in order, even if the clock of one server is slow.
      at: last && last.at > at ? last.at : at,
      edge: 'rising',
      message: 'the connection of the edge has ended',
    } as const
    await recordEvent(transaction, { ...event, severity: 'major', details: { reason } })
    publishComm(transaction, edge.site_id, event)
  })
}

const offline = ({ site_id, edge_id }: EdgeIdentity) =>
  ({ site_id, source_kind: 'edge', source_id: edge_id, code: 'edge_offline' }) as const

/** Edge clock minus server clock, ms, bounded by the column (about 25 days). */
function clockOffset(sent_at: number, received_at: number): number {
  const int4_max = 2_147_483_647
  return Math.max(-int4_max, Math.min(int4_max, sent_at - received_at))
}

export interface EdgeStatus extends EdgeIdentity {
  report: Static<typeof StatusReport>
  received_at: Date
  /** Texts of the devices as this connection stored them last. */
  storedDevices: Map<string, string>
}

const seeing = {
  name: 'record_edge_status',
  text: `
    update edges e
    set last_seen_at = r.last_seen_at, clock_offset_ms = r.clock_offset_ms,
      journal_depth_frames = r.journal_depth_frames, journal_depth_bytes = r.journal_depth_bytes,
      journal_oldest_at = r.journal_oldest_at
    from jsonb_populate_recordset(null::edges, $1::jsonb) as r
    where e.site_id = r.site_id and e.edge_id = r.edge_id and e.revoked_at is null
    returning e.site_id, e.edge_id`,
} as const

const storing = {
  name: 'store_device_status',
  text: `
    insert into device_status
    select * from jsonb_populate_recordset(null::device_status, $1::jsonb)
    order by site_id, kind, id
    on conflict (site_id, kind, id) do update
    set comm_state = excluded.comm_state, since_at = excluded.since_at,
      last_ok_at = excluded.last_ok_at, error = excluded.error,
      manufacturer = excluded.manufacturer, model = excluded.model,
      serial_number = excluded.serial_number, firmware_version = excluded.firmware_version,
      updated_at = excluded.updated_at`,
} as const

/** Stores the status of several edges. Returns for each whether the edge is still enrolled. */
export async function recordStatuses(
  db: Queries,
  statuses: readonly EdgeStatus[],
): Promise<boolean[]> {
  const reports = statuses.map(({ site_id, edge_id, report, received_at }) => ({
    site_id,
    edge_id,
    last_seen_at: received_at.getTime(),
    clock_offset_ms: clockOffset(report.at, received_at.getTime()),
    journal_depth_frames: report.journal.depth_frames,
    journal_depth_bytes: report.journal.depth_bytes,
    journal_oldest_at: report.journal.oldest_at,
  }))
  const seen = await db.query<EdgeIdentity>(seeing, [rowsJson(reports)])
  const enrolled = new Set(seen.map(({ site_id, edge_id }) => `${site_id} ${edge_id}`))
  const isEnrolled = ({ site_id, edge_id }: EdgeIdentity) => enrolled.has(`${site_id} ${edge_id}`)
  const changed = statuses.filter(isEnrolled).flatMap(changedDevices)
  // Two edges may report one device: the last status counts.
  const devices = new Map(changed.map((one) => [`${one.site_id} ${one.key}`, one.record]))
  if (devices.size > 0) await db.execute(storing, [rowsJson([...devices.values()])])
  for (const { storedDevices, key, text } of changed) storedDevices.set(key, text)
  const received_ms = statuses.map(({ received_at }) => received_at.getTime())
  const site_ids = [...new Set(seen.map(({ site_id }) => site_id))]
  if (site_ids.length > 0) await updatePower(db, site_ids, new Date(Math.max(...received_ms)))
  return statuses.map(isEnrolled)
}

function changedDevices({ site_id, report, received_at, storedDevices }: EdgeStatus) {
  // The last status of a device in a report counts.
  const devices = new Map(
    report.devices.map((device) => [`${device.kind} ${storableText(device.id)}`, device]),
  )
  return [...devices].flatMap(([key, device]) => {
    // The last success of a connected device is served for nodes alone.
    const is_now = device.comm_state === 'connected' && device.kind !== 'node'
    const text = JSON.stringify(is_now ? { ...device, last_ok_at: null } : device)
    if (storedDevices.get(key) === text) return []
    const record = { site_id, ...recordOf(device), updated_at: received_at.getTime() }
    return [{ site_id, key, text, record, storedDevices }]
  })
}

function recordOf({ kind, id, comm_state, since, last_ok_at, error, identity }: DeviceStatus) {
  const text = (value: string | null | undefined) => (value ? storableText(value) : null)
  return {
    kind,
    id: storableText(id),
    comm_state,
    since_at: since,
    last_ok_at,
    error: text(error),
    manufacturer: text(identity?.manufacturer),
    model: text(identity?.model),
    serial_number: text(identity?.serial_number),
    firmware_version: text(identity?.firmware_version),
  }
}

interface Seen {
  /** `last_seen_at` of the edge before this connection. */
  last_seen_at: Date | null
  at: Date
}

export async function lastSeen(db: Queries, { site_id, edge_id }: EdgeIdentity) {
  const [edge] = await db.query<{ last_seen_at: Date | null }>(
    'select last_seen_at from edges where site_id = $1 and edge_id = $2',
    [site_id, edge_id],
  )
  return edge?.last_seen_at ?? null
}

/**
 * Deletes the numbers of frames below the lowest frame in the journal of the edge, which are never
 * sent again. `acked_below_seq` keeps a frame that a slower socket still carries from being stored
 * twice.
 *
 * Everything below that mark counts as a repetition, so the mark never exceeds the frame after the
 * highest stored frame of this epoch, whatever the edge reports.
 *
 * Frames below the mark that never arrived are lost and reported as `frames_missing`: either this
 * database was restored from a backup older than its acknowledgements, or the edge lost the frames,
 * which it reports as well.
 */
export async function forgetFrames(
  db: Database,
  { site_id, edge_id, epoch }: Source,
  lowest_unacked_seq: number,
  seen: Seen,
): Promise<void> {
  await db.transaction(async (transaction) => {
    const [came] = await transaction.query<{ next_seq: number }>(
      `select coalesce(max(seq), 0) + 1 as next_seq from link_frames
       where site_id = $1 and edge_id = any (array(select edge_id from edges where site_id = $1))
         and epoch = $2`,
      [site_id, epoch],
    )
    const to_seq = Math.min(lowest_unacked_seq, came!.next_seq)
    const [before] = await transaction.query<{ from_seq: number }>(
      // An edge that was enrolled again continues its journal.
      `select coalesce((
         select max(acked_below_seq) from edges where site_id = $1 and acked_epoch = $3
       ), 1)::bigint as from_seq
       from edges
       where site_id = $1 and edge_id = $2
         and (acked_epoch is distinct from $3 or acked_below_seq < $4)
       for update`,
      [site_id, edge_id, epoch, to_seq],
    )
    if (!before) return
    const bounds = { site_id, epoch, from_seq: Math.min(before.from_seq, to_seq), to_seq }
    await reportMissing(transaction, bounds, { edge_id, ...seen })
    await transaction.execute(
      'update edges set acked_epoch = $3, acked_below_seq = $4 where site_id = $1 and edge_id = $2',
      [site_id, edge_id, epoch, to_seq],
    )
    // The last frame with readings stays: it dates the loss if the next frame is missing.
    await transaction.execute(
      `delete from link_frames
       where site_id = $1 and edge_id = $2 and epoch = $3 and seq < $4
         and seq is distinct from (
           select seq from link_frames
           where site_id = $1 and edge_id = $2 and epoch = $3 and seq < $4
             and newest_at is not null
           order by seq desc limit 1)`,
      [site_id, edge_id, epoch, to_seq],
    )
  })
}

const missing_ranges_max = 20

async function reportMissing(
  transaction: Transaction,
  bounds: { site_id: string; epoch: string; from_seq: number; to_seq: number },
  { edge_id, last_seen_at, at }: Seen & { edge_id: string },
): Promise<void> {
  const { site_id, epoch, from_seq, to_seq } = bounds
  const ranges = await transaction.query<{ first: number; last: number; after_ms: number | null }>(
    `select seq + 1 as first, next_seq - 1 as last, (
       select extract(epoch from newest_at) * 1000 from link_frames f
       where f.site_id = $1 and f.edge_id = any (array(
           select edge_id from edges where site_id = $1))
         and f.epoch = $2 and f.seq <= pairs.seq and f.newest_at is not null
       order by f.seq desc limit 1)::float8 as after_ms
     from (
       select seq, lead(seq) over (order by seq) as next_seq
       from (
         select seq from link_frames
         where site_id = $1 and edge_id = any (array(select edge_id from edges where site_id = $1))
           and epoch = $2 and seq >= $3 and seq < $4
         union select $3::bigint - 1
         union select $4::bigint
       ) as there
     ) as pairs
     where next_seq > seq + 1 order by seq`,
    [site_id, epoch, from_seq, to_seq],
  )
  const [first_seq, last_seq] = [ranges[0]?.first, ranges.at(-1)?.last]
  if (first_seq === undefined || last_seq === undefined) return
  const lost_after = ranges.flatMap(({ after_ms }) => after_ms ?? last_seen_at?.getTime() ?? [])
  const hours = new Set<number>()
  for (const at_ms of lost_after) addTouchedHours(hours, at_ms)
  await touchAllIn(transaction, site_id, hours)
  const frames = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  await recordEvent(transaction, {
    site_id,
    at,
    source_kind: 'edge',
    source_id: edge_id,
    code: 'frames_missing',
    edge: 'once',
    severity: 'major',
    message: `frames ${first_seq} to ${last_seq}: ${frames} never arrived and are no longer in the journal of the edge`,
    details: {
      epoch,
      frames,
      first_seq,
      last_seq,
      last_seen_at,
      ranges: ranges.slice(0, missing_ranges_max).map(({ first, last }) => [first, last]),
      lost_after,
    },
  })
}

/** The stored frames of an epoch as ascending [first, last] ranges. */
export async function frameRanges(
  db: Queries,
  { site_id, edge_id, epoch }: Source,
): Promise<[number, number][]> {
  const ranges = await db.query<{ first: number; last: number }>(
    `select min(seq) as first, max(seq) as last
     from (
       select seq, seq - row_number() over (order by seq) as island
       from link_frames where site_id = $1 and edge_id = $2 and epoch = $3
     ) as numbered
     group by island order by first`,
    [site_id, edge_id, epoch],
  )
  return ranges.map(({ first, last }) => [first, last])
}

/** Epochs of edge journals are UUIDs; those of importers are not. */
const journal_epoch = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/**
 * Deletes the frame numbers of journals that an edge no longer has. Frame numbers prevent
 * duplicates, and an abandoned journal is never sent again. The current journal of an edge is the
 * one of its last report. Frame numbers of imports stay, since an interrupted import continues from
 * them.
 */
export async function forgetAbandonedJournals(db: Database): Promise<void> {
  await db.execute(
    `delete from link_frames f using edges e
     where e.site_id = f.site_id and e.edge_id = f.edge_id
       and e.acked_epoch is not null and f.epoch <> e.acked_epoch and f.epoch ~ $1`,
    [journal_epoch],
  )
}
