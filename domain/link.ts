/**
 * The edge link: JSON text messages over one WebSocket with the subprotocol `edge.v1`, at
 * `/edge/v1` on the API's own port. The edge presents `Authorization: Bearer edge_<id>_<secret>`.
 *
 * The edge sends frames from its journal. The server commits a frame together with its `(edge,
 * epoch, seq)`, and only then acknowledges it. The edge frees journal space only for acknowledged
 * frames. A frame may be sent twice and is counted once.
 */
import { type Static, type TOptional, Type } from 'typebox'
import { Desired } from './curtailment.ts'
import { type ReadingKind, readingKinds } from './readings.ts'
import { Closed, Instant, InstantOrNull, Nullable } from './schema.ts'
import { siteIdPattern } from './site.ts'

export const linkPath = '/edge/v1'
export const linkProtocol = 'edge.v1'
export const edgeTokenPattern = /^edge_([0-9a-f]{12})_([0-9a-f]{64})$/

/**
 * Bounds of both ends: a longer message is refused and the connection closed. The server reads the
 * messages of all edges on one thread, 4 MiB of readings in about 30 ms. An edge keeps lists in
 * frames of `frame_length_max` characters; only an inventory, a status or a single reading is
 * longer.
 */
export const up_bytes_max = 4 * 1024 * 1024
export const down_bytes_max = 16 * 1024 * 1024
export const frame_length_max = 1024 * 1024
export const frames_per_batch_max = 1000

/** An end closes the connection after this long without a message; each pings thrice as often. */
export const silence_ms_max = 30_000

const Seq = Type.Integer({ minimum: 1 })

/** Data dated further ahead of the server's clock is refused. */
export const ahead_ms_max = 3_600_000

/** Live data never waits behind the backlog of an outage or the back-fill of old history. */
export const lanes = ['live', 'backlog', 'backfill'] as const
export type Lane = (typeof lanes)[number]

/** Rows of one kind of reading; the columns name the values of each row. */
export type ReadingTable = Static<typeof ReadingTable>
export const ReadingTable = Closed({
  columns: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
  rows: Type.Array(Type.Array(Type.Unknown())),
})

const tables = Object.keys(readingKinds).map((kind) => [kind, Type.Optional(ReadingTable)])

export type Readings = Static<typeof Readings>
export const Readings = Closed(
  Object.fromEntries(tables) as Record<ReadingKind, TOptional<typeof ReadingTable>>,
)

/** Kinds of sources of events and communication states. */
export const deviceKinds = [
  'edge',
  'logger',
  'inverter',
  'combiner',
  'station',
  'meter',
  'node',
  'bess',
  'pcs',
] as const
export type DeviceKind = (typeof deviceKinds)[number]

/** Text that can be a word of a closed list of a newer edge. */
export const isNewerWord = (word: unknown): word is string =>
  typeof word === 'string' && /^[a-z][a-z0-9_]{0,39}$/.test(word)

/** A kind that a newer edge may know, and this version does not. */
export const isNewerKind = (kind: unknown): kind is string =>
  isNewerWord(kind) && !deviceKinds.some((known) => known === kind)

export const severities = ['info', 'warning', 'minor', 'major', 'critical'] as const
export type Severity = (typeof severities)[number]

/**
 * An event. `rising` and `falling` bracket a condition and have the same `code` and source; `once`
 * has no end.
 */
export type LinkEvent = Static<typeof LinkEvent>
export const LinkEvent = Closed({
  at: Instant,
  source_kind: Type.Enum([...deviceKinds]),
  source_id: Type.String({ maxLength: 120 }),
  code: Type.String({ pattern: '^[a-z0-9_.:-]{1,80}$' }),
  edge: Type.Enum(['rising', 'falling', 'once']),
  severity: Type.Enum([...severities]),
  message: Type.String({ maxLength: 1000 }),
  details: Nullable(Type.Record(Type.String(), Type.Unknown())),
})

/**
 * One group of the journal, written and fsynced as a whole. The server checks the payload by its
 * kind: `readings` are `Readings`, `events` are `LinkEvent[]`, `inventory` is `Site`, `curtailment`
 * is `RowReport[]`, `dispatch` is `DispatchReport[]`, `control_notes` is `ControlNote[]`,
 * `battery_setup` is `SetupReport[]`. A frame that fails the check is stored apart with its reason
 * and acknowledged, so that it cannot block later frames.
 */
export type Frame = Static<typeof Frame>
export const Frame = Closed({
  seq: Seq,
  kind: Type.String({ maxLength: 40 }),
  payload: Type.Unknown(),
})

export type CommState = 'connected' | 'disconnected' | 'unknown'

/** Communication state of one device. */
export type DeviceStatus = Static<typeof DeviceStatus>
export const DeviceStatus = Closed({
  kind: Type.Enum([...deviceKinds]),
  id: Type.String({ maxLength: 120 }),
  comm_state: Type.Enum(['connected', 'disconnected', 'unknown']),
  since: Instant,
  last_ok_at: InstantOrNull,
  error: Nullable(Type.String({ maxLength: 500 })),
  identity: Nullable(
    Closed({
      manufacturer: Nullable(Type.String()),
      model: Nullable(Type.String()),
      serial_number: Nullable(Type.String()),
      firmware_version: Nullable(Type.String()),
    }),
  ),
})

/** First message of the edge. `importer` connections carry back-fill only and are no edge agent. */
export const Hello = Closed({
  type: Type.Literal('hello'),
  role: Type.Enum(['agent', 'importer']),
  site_id: Type.String({ pattern: siteIdPattern }),
  epoch: Type.String({ pattern: '^[a-z0-9-]{1,64}$' }),
  /** Frames below this were acknowledged; the server may forget that it counted them. */
  lowest_unacked_seq: Seq,
  agent_version: Type.String({ maxLength: 60 }),
  sent_at: Instant,
})

export const Batch = Closed({
  type: Type.Literal('batch'),
  lane: Type.Enum([...lanes]),
  frames: Type.Array(Frame, { minItems: 1, maxItems: frames_per_batch_max }),
})

/** The present state of the edge and its devices: sent on connecting, on change and every 10 s. */
export const StatusReport = Closed({
  type: Type.Literal('status'),
  at: Instant,
  lowest_unacked_seq: Seq,
  journal: Closed({
    depth_frames: Type.Integer({ minimum: 0 }),
    depth_bytes: Type.Integer({ minimum: 0 }),
    oldest_at: InstantOrNull,
  }),
  devices: Type.Array(DeviceStatus, { maxItems: 20_000 }),
})

export type UpMessage = Static<typeof UpMessage>
export const UpMessage = Type.Union([Hello, Batch, StatusReport])

/** Answer to `hello`: the number of unacknowledged frames per lane. */
export const Welcome = Closed({
  type: Type.Literal('welcome'),
  server_time: Instant,
  window_frames: Type.Integer({ minimum: 1 }),
  /** For an importer: the frames that the server already has, as [first, last] ranges. */
  have: Type.Array(Type.Tuple([Seq, Seq])),
  /** The frame of the inventory in use by the server; null without an inventory. */
  inventory: Nullable(Closed({ epoch: Type.String(), seq: Seq })),
})

const Ack = Closed({ type: Type.Literal('ack'), seqs: Type.Array(Seq, { minItems: 1 }) })

/**
 * Acknowledged frames that are not in force, with the reason. Sent only to an edge that named
 * `refused` in the header `heliograph-link` of its request.
 */
const RefusedFrames = Closed({
  type: Type.Literal('refused'),
  frames: Type.Array(Closed({ seq: Seq, kind: Type.String(), reason: Type.String() }), {
    minItems: 1,
  }),
})

/** Header by which an edge names the messages that it accepts in addition to those of `edge.v1`. */
export const linkHeader = 'heliograph-link'

/** Sent before the server closes a connection that it will not serve. */
const Refusal = Closed({
  type: Type.Literal('refusal'),
  code: Type.Enum([
    'unknown_edge',
    'wrong_site',
    'replaced',
    'bad_message',
    'shutting_down',
    'internal_error',
  ]),
  message: Type.String(),
})

export type DownMessage = Static<typeof DownMessage>
export const DownMessage = Type.Union([Welcome, Ack, Desired, RefusedFrames, Refusal])
