/** The server whole, over real sockets, and an edge that does what a test wants of it. */

import { createHash, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { systemTimers, type Timers } from '@heliograph/domain/clock'
import type { RowReport } from '@heliograph/domain/curtailment'
import { hour_ms } from '@heliograph/domain/durations'
import { newlyHeld } from '@heliograph/edge/control/row-watch'
import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import type { DesiredMessage } from '../server/control/desired.ts'
import { createDeps } from '../server/deps.ts'
import { endpoints } from '../server/endpoints.ts'
import { modules, scopes } from '../server/http/endpoint.ts'
import { serve } from '../server/http/serve.ts'
import { connectEdge, type EdgeClient } from '../server/link/fixtures/edge-client.ts'
import {
  edge_id,
  foundSite,
  inventoryFrame,
  noon,
  park,
  site_id,
} from '../server/link/fixtures/plant.ts'
import { ingestInto } from '../server/link/ingest.ts'
import { attachLink, type Link } from '../server/link/serve.ts'
import type { Database } from '../server/storage/database.ts'
import { silent, testDatabase } from './postgres.ts'

const key_id = '0123456789ab'
const secret = '5e'.repeat(32)
const authorization = `Bearer svc_live_${key_id}_${secret}`

/** Commands, but for when. */
export const site_60 = { scope: 'site', limit_mode: 'percent', limit_value: 60 }
export const plant_1 = { scope: 'logger', logger_id: 1, limit_mode: 'kw', limit_value: 50 }
export const fromTo = (from_h: number, to_h: number) => ({
  start_at: new Date(noon + from_h * hour_ms).toISOString(),
  end_at: new Date(noon + to_h * hour_ms).toISOString(),
})

export interface Reply {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
  body: any
}

/** One process of the server. */
export interface Replica {
  app: FastifyInstance
  link: Link
  port: number
  /** Below the site; with an Idempotency-Key where `key` is given. */
  call(method: string, path: string, body?: unknown, key?: string): Promise<Reply>
  edge(greeting?: Record<string, unknown>): Promise<EdgeClient>
  /** Ends the connections of every edge, and returns when the server knows. */
  loseEdges(): Promise<void>
  close(): Promise<void>
}

export interface CurtailmentPlant extends Replica {
  db: Database
  /** The header of the one key. */
  authorization: string
  clock: { now(): Date; set(at_ms: number): void; pass(ms: number): void }
  replica(change?: { db?: Database; timers?: Timers }): Promise<Replica>
  /** The edge says how far it has come; returns when that is stored. */
  report(edge: EdgeClient, ...reports: RowReport[]): Promise<void>
  listed(path?: string): Promise<Record<string, unknown>[]>
  /** How many groups there are. */
  groups(): Promise<number>
}

export async function curtailmentPlant(): Promise<CurtailmentPlant> {
  const { db, drop } = await testDatabase()
  let now_ms = noon
  const clock = {
    now: () => new Date(now_ms),
    set: (at_ms: number) => {
      now_ms = at_ms
    },
    pass: (ms: number) => {
      now_ms += ms
    },
  }
  await foundSite(db)
  await db.execute('update clients set modules = $1', [modules])
  const from = { site_id, edge_id, epoch: 'inventory', lane: 'live', received_at: noon } as const
  await ingestInto(db).ingest({ ...from, frames: [inventoryFrame(1, park())] })
  await db.execute(
    `insert into api_keys (key_id, client_id, name, secret_sha256, scopes, general_per_minute,
       write_per_minute, created_by)
     select $1, client_id, 'control room', $2, $3, 100000, 100000, 'test' from clients`,
    [key_id, createHash('sha256').update(secret).digest(), scopes],
  )
  const replicas: Replica[] = []
  const replica = async (change: { db?: Database; timers?: Timers } = {}) => {
    const one = await startReplica({ db, clock, timers: systemTimers, ...change })
    replicas.push(one)
    return one
  }
  const first = await replica()
  let seq = 0
  return {
    ...first,
    db,
    authorization,
    clock,
    replica,
    async report(edge, ...reports) {
      seq += 1
      edge.batch('live', [{ seq, kind: 'curtailment', payload: reports }])
      await edge.untilAcked(seq)
    },
    listed: async (path = '/curtailment') => (await first.call('GET', path)).body.data,
    async groups() {
      const counted = 'select count(*)::int from curtailment_groups'
      return (await db.query<{ count: number }>(counted))[0]!.count
    },
    async close() {
      for (const one of replicas) await one.close()
      await drop()
    },
  }
}

async function startReplica(needs: {
  db: Database
  clock: { now(): Date }
  timers: Timers
}): Promise<Replica> {
  const { db, clock, timers } = needs
  const app = await serve({
    endpoints,
    needs: createDeps(db, clock, timers),
    db,
    clock,
    timers,
    log: silent,
    newId: randomUUID,
  })
  const link = attachLink({ server: app.server, ...needs, log: silent, metrics: new Registry() })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const edges: EdgeClient[] = []
  return {
    app,
    link,
    port,
    async call(method, path, body, key) {
      const response = await fetch(`http://127.0.0.1:${port}/v1/sites/${site_id}${path}`, {
        method,
        headers: {
          authorization,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    },
    async edge(greeting) {
      const edge = await connectEdge(port, greeting)
      edges.push(edge)
      return edge
    },
    async loseEdges() {
      for (const { socket } of edges) socket.terminate()
      await Promise.all(edges.splice(0).map(({ closed }) => closed))
    },
    async close() {
      for (const { socket } of edges) socket.terminate()
      await link.close()
      await app.close()
    },
  }
}

export type DesiredRow = DesiredMessage['rows'][number]

/** The newest message in which every row that is asked for is as wanted. */
export const untilDesired = (edge: EdgeClient, wanted: (rows: DesiredRow[]) => boolean) =>
  edge.until('desired', ({ rows }) => wanted(rows)).then(({ rows }) => rows)

/** What an edge says that has just taken a row in; the rest as the test has it. */
export const reportOf = (
  row: DesiredRow,
  now_ms: number,
  change: Partial<RowReport> = {},
): RowReport => ({ ...newlyHeld(row, now_ms), ...change })

/** Timers that stand still until told that so much time has passed for what waits so long. */
export function manualTimers(): { timers: Timers; elapse(ms: number): Promise<void> } {
  const waiting = new Map<() => void, number>()
  return {
    timers: {
      after(delay_ms, callback) {
        waiting.set(callback, delay_ms)
        return () => waiting.delete(callback)
      },
    },
    /** Waits until something waits exactly so long, and calls it. */
    async elapse(ms) {
      for (;;) {
        const due = [...waiting].filter(([, delay_ms]) => delay_ms === ms)
        for (const [callback] of due) {
          waiting.delete(callback)
          callback()
        }
        if (due.length > 0) return
        await new Promise(setImmediate)
      }
    },
  }
}

export const hasGroup = (group_id: string) => (rows: DesiredRow[]) =>
  rows.some((row) => row.group_id === group_id)

export const isReleased = (group_id: string) => (rows: DesiredRow[]) =>
  rows.some((row) => row.group_id === group_id && row.released_at !== null)

/** As if nothing had ever been asked, at noon. */
export async function forgetCurtailment({ db, clock }: CurtailmentPlant): Promise<void> {
  clock.set(noon)
  await db.execute(
    `delete from curtailment_hours; delete from curtailment_rows; delete from curtailment_groups;
     update desired_versions set version = version + 1;
     delete from idempotency_records; delete from events; delete from link_frames`,
  )
}

/** A database whose notifications are lost. */
export const withoutListening = (db: Database): Database => ({
  ...db,
  listen: async () => ({ async stop() {} }),
})
