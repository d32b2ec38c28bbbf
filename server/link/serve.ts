import type { Server as HttpServer, IncomingMessage } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { type Clock, systemTimers, type Timers } from '@heliograph/domain/clock'
import { linkHeader, linkPath, linkProtocol, up_bytes_max } from '@heliograph/domain/link'
import type { Registry } from 'prom-client'
import { type WebSocket, WebSocketServer } from 'ws'
import { tellDesired } from '../control/desired.ts'
import type { Database, Log } from '../storage/database.ts'
import { linkBounds, runInTurns } from './bounds.ts'
import { createBrake } from './brake.ts'
import { scheduleCommits } from './commits.ts'
import { Connection } from './connection.ts'
import { watchEdges } from './edge-watch.ts'
import { inGroups } from './groups.ts'
import { concernsOneBatch, type Ingest, ingestInto } from './ingest.ts'
import { linkMetrics } from './metrics.ts'
import { authenticateEdge, type EdgeIdentity, type EdgeStatus, recordStatuses } from './presence.ts'

/** The minimum for the largest message in every lane and one more on arrival. */
const held_bytes_default = 4 * up_bytes_max
/** Unstored bytes of all connections. */
const all_bytes_max = 64 * 1024 * 1024
/** Status reports that arrive within this time are stored together. */
const statuses_ms = 200
const statuses_at_once_max = 200

/** Connections of one edge besides its agent: importers and connections before their hello. */
const others_max = 3

interface LinkNeeds {
  /** The server of the API, whose upgrades are all handled here. */
  server: HttpServer | HttpsServer
  db: Database
  clock: Clock
  log: Log
  metrics: Registry
  timers?: Timers
  ingest?: Ingest
  /** Unstored bytes at which a connection pauses. */
  held_bytes_max?: number
}

export interface Link {
  /** Refuses new connections, finishes running transactions and closes every connection. */
  close(): Promise<void>
}

/** Serves the edge link on the server's upgrades at `linkPath`. */
export function attachLink(needs: LinkNeeds): Link {
  const { server, db, log } = needs
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: up_bytes_max,
    handleProtocols: () => linkProtocol,
  })
  /** Key of the edge of each connection. */
  const connections = new Map<Connection, string>()
  const agents = new Map<string, Connection>()
  const timers = needs.timers ?? systemTimers
  const desired = tellDesired({ db, clock: needs.clock, timers, log })
  const metrics = linkMetrics(needs.metrics)
  const bounds = linkBounds(db.pool.options.max)
  const inTurn = runInTurns(bounds.presence)
  const storeStatuses = (statuses: readonly EdgeStatus[]) =>
    inTurn(() => recordStatuses(db, statuses))
  const connectionNeeds = {
    ...needs,
    timers,
    desired,
    commit: scheduleCommits(needs.ingest ?? ingestInto(db), metrics, bounds),
    metrics,
    brake: createBrake(
      { each_bytes_max: needs.held_bytes_max ?? held_bytes_default, all_bytes_max },
      metrics,
    ),
    storeStatus: inGroups(storeStatuses, {
      at_once: 1,
      rest_ms: statuses_ms,
      size_max: statuses_at_once_max,
      concernsOne: concernsOneBatch,
      alone: inGroups(storeStatuses, { at_once: 1 }),
    }),
    inTurn,
    takeOver,
  }
  let is_closing = false

  const unwatch = watchEdges(needs, connections)
  server.on('upgrade', upgrade)
  return { close }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    inTurn(() => admit(db, request)).then(
      (admission) => {
        if (is_closing) refuse(socket, 503)
        else if (typeof admission === 'number') refuse(socket, admission)
        else
          sockets.handleUpgrade(request, socket, head, (webSocket) =>
            serve(webSocket, admission, acceptsRefused(request)),
          )
      },
      (error: unknown) => {
        log.error({ err: error }, 'an edge could not be admitted')
        refuse(socket, 503)
      },
    )
  }

  function serve(socket: WebSocket, edge: EdgeIdentity, accepts_refused: boolean): void {
    const connection = new Connection(socket, edge, { ...connectionNeeds, accepts_refused })
    makeRoomFor(edge)
    connections.set(connection, keyOf(edge))
    void connection.closed.then(() => {
      connections.delete(connection)
      if (agents.get(keyOf(edge)) === connection) agents.delete(keyOf(edge))
    })
  }

  /** Ends the oldest connection that is not the agent: it may be half open. */
  function makeRoomFor(edge: EdgeIdentity): void {
    const agent = agents.get(keyOf(edge))
    const others = [...connections].filter(([one, key]) => key === keyOf(edge) && one !== agent)
    for (const [one] of others.slice(0, Math.max(0, others.length - others_max + 1))) {
      void one.end('replaced', 'this edge has too many connections')
    }
  }

  async function takeOver(edge: EdgeIdentity, connection: Connection): Promise<void> {
    const earlier = agents.get(keyOf(edge))
    agents.set(keyOf(edge), connection)
    await earlier?.end('replaced', 'the edge has connected anew')
  }

  async function close(): Promise<void> {
    is_closing = true
    const all = [...connections.keys()]
    await Promise.all(all.map((one) => one.end('shutting_down', 'the server is shutting down')))
    await Promise.all(all.map(({ closed }) => closed))
    await desired.stop()
    await unwatch()
    server.off('upgrade', upgrade)
  }
}

/** Returns the edge, or the HTTP status of the refusal. */
async function admit(
  db: Database,
  { url, headers }: IncomingMessage,
): Promise<EdgeIdentity | number> {
  if (url?.split('?')[0] !== linkPath) return 404
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',')
  if (!protocols.some((protocol) => protocol.trim() === linkProtocol)) return 400
  return (await authenticateEdge(db, headers.authorization)) ?? 401
}

const acceptsRefused = ({ headers }: IncomingMessage) =>
  `${headers[linkHeader] ?? ''}`.split(',').some((name) => name.trim() === 'refused')

const keyOf = ({ site_id, edge_id }: EdgeIdentity) => `${site_id} ${edge_id}`

const refusals: Record<number, string> = {
  400: `Bad Request\r\nSec-WebSocket-Protocol: ${linkProtocol}`,
  401: 'Unauthorized\r\nWWW-Authenticate: Bearer',
  404: 'Not Found',
  503: 'Service Unavailable\r\nRetry-After: 5',
}

function refuse(socket: Duplex, status: number): void {
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${refusals[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  )
}
