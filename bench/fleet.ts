/**
 * A fleet of sites of ten inverters over the real link: what a live frame of 20 rows costs server
 * and PostgreSQL, and how long its acknowledgement takes. `--beside` names another checkout, whose
 * link has the same load in turns, for the ratio. `--whole` runs the server program with its jobs.
 *
 *   node bench/fleet.ts [--sites 200] [--every-s 1] [--seconds 30] [--rounds 3] [--beside ..]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '@heliograph/domain/clock'
import { type DownMessage, linkPath, linkProtocol } from '@heliograph/domain/link'
import type * as Link from '@heliograph/server/link/serve'
import type * as Storage from '@heliograph/server/storage/database'
import type * as Embedded from '@heliograph/server/storage/embedded'
import type * as Migrate from '@heliograph/server/storage/migrate'
import { Registry } from 'prom-client'
import { WebSocket } from 'ws'
import { silent } from './fixtures/database.ts'
import { fieldOf } from './fixtures/field.ts'
import { median, quantile, tell } from './fixtures/figures.ts'
import { inverterReading, near } from './fixtures/inverter-reading.ts'
import { at_mark, counter_mark, tableOf } from './fixtures/large-site-edge.ts'
import { postgresCpuSeconds } from './fixtures/postgres-usage.ts'
import { figuresAt, type Program, withPrograms } from './fixtures/programs.ts'
import { quickOr } from './fixtures/quick.ts'
import { enrol, onDatabase, startServer } from './fixtures/server-program.ts'

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: quickOr('5', '200') },
    'every-s': { type: 'string', default: '1' },
    seconds: { type: 'string', default: quickOr('2', '30') },
    rounds: { type: 'string', default: quickOr('1', '3') },
    beside: { type: 'string' },
    role: { type: 'string' },
    whole: { type: 'boolean', default: false },
  },
})
const sites = Number(options.sites)
const every_ms = Number(options['every-s']) * 1000
const for_ms = Number(options.seconds) * 1000

const server_ms_max = 0.5
const postgres_ms_max = 1
const acknowledged_ms_max = 1000
const inverters = 10
const status_ms = 10_000

interface Offer {
  /** 0 for status reports alone. */
  every_ms: number
  for_ms: number
}

interface Offered {
  lags_ms: number[]
  waiting: number
  lost_connections: number
}

/** The text of a frame's payload, split where each reading has its time. */
function payloadParts(seed: number): string[] {
  const ids = Array.from({ length: inverters }, (_, nth) => nth + 1)
  const payload = {
    inverter: tableOf(
      'inverter',
      ids.map((inverter_id) => ({
        ...inverterReading(inverter_id, { seed: seed + inverter_id, mppts: 6 }),
        energy_total_kwh: counter_mark,
      })),
    ),
    string: tableOf(
      'string',
      ids.map((inverter_id) => ({
        inverter_id,
        first_string_index: 0,
        current_a: Array.from({ length: 12 }, (_, nth) => near(7.6, seed + nth)),
      })),
    ),
  }
  return JSON.stringify(payload).split(String(at_mark))
}

const siteOf = (site_id: string) =>
  fieldOf({
    site_id,
    ports: [1502],
    units: inverters,
    poll: { inverter_s: 5, string_s: 5 } as never,
    noon_at: new Date(),
    with_instruments: false,
  })

const site_ids = Array.from({ length: sites }, (_, nth) => `site-${nth + 1}`)

/** The edges of all sites, in a process of their own. */
async function beEdges(port: number, tokens: readonly string[]): Promise<void> {
  const variants = [1, 2, 3].map(payloadParts)
  const started_at = Date.now()
  let lags_ms: number[] = []
  let lost_connections = 0

  async function connect(site_id: string, token: string) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${linkPath}`, linkProtocol, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    })
    const due = new Map<number, number>()
    let next_seq = 1
    await once(socket, 'open')
    const hello = { type: 'hello', role: 'agent', site_id, epoch: 'bench', lowest_unacked_seq: 1 }
    socket.send(JSON.stringify({ ...hello, agent_version: 'bench', sent_at: started_at }))
    await once(socket, 'message')
    socket.on('close', () => {
      lost_connections += 1
    })
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as DownMessage
      if (message.type !== 'ack') return
      for (const seq of message.seqs) {
        lags_ms.push(Date.now() - due.get(seq)!)
        due.delete(seq)
      }
    })
    const send = (kind: string, payload: string) => {
      due.set(next_seq, Date.now())
      const frame = `{"seq":${next_seq},"kind":"${kind}","payload":${payload}}`
      socket.send(`{"type":"batch","lane":"live","frames":[${frame}]}`)
      next_seq += 1
    }
    return {
      due,
      announce: () => send('inventory', JSON.stringify(siteOf(site_id))),
      offer: () => {
        const now = Date.now()
        const counter = (402_113 + ((now - started_at) / 3_600_000) * 140).toFixed(3)
        const text = variants[next_seq % variants.length]!.join(String(now))
        send('readings', text.replaceAll(String(counter_mark), counter))
      },
      report: () => socket.send(statusText(due.keys().next().value ?? next_seq, due.size)),
    }
  }

  function statusText(lowest_unacked_seq: number, depth_frames: number): string {
    const at = Date.now()
    const device = (kind: string, nth: number) => ({
      kind,
      id: `${nth}`,
      comm_state: 'connected',
      since: started_at,
      last_ok_at: at,
      error: null,
      identity: {
        manufacturer: 'Maker',
        model: 'M',
        serial_number: `${nth}`,
        firmware_version: null,
      },
    })
    const devices = [
      device('logger', 1),
      ...Array.from({ length: inverters }, (_, nth) => device('inverter', nth + 1)),
    ]
    const journal = { depth_frames, depth_bytes: depth_frames * 7000, oldest_at: null }
    return JSON.stringify({ type: 'status', at, lowest_unacked_seq, journal, devices })
  }

  const edges: Awaited<ReturnType<typeof connect>>[] = []
  for (const [nth, site_id] of site_ids.entries()) edges.push(await connect(site_id, tokens[nth]!))
  for (const edge of edges) edge.announce()
  const drained = async () => {
    while (edges.some(({ due }) => due.size > 0) && lost_connections === 0) await wait(20)
  }
  await drained()

  process.on('message', async (offer: Offer) => {
    lags_ms = []
    const from = Date.now()
    // What is due at each instant is evenly spread over the edges.
    const turn = (period_ms: number, act: 'offer' | 'report') => {
      let done = 0
      return () => {
        const goal = period_ms > 0 ? ((Date.now() - from) / period_ms) * edges.length : 0
        for (; done < goal; done += 1) edges[done % edges.length]![act]()
      }
    }
    const turns = [turn(offer.every_ms, 'offer'), turn(status_ms, 'report')]
    while (Date.now() - from < offer.for_ms) {
      for (const act of turns) act()
      await wait(5)
    }
    const waiting = edges.reduce((sum, { due }) => sum + due.size, 0)
    await drained()
    process.send?.({ lags_ms, waiting, lost_connections } satisfies Offered)
  })
  process.once('disconnect', () => process.exit(0))
  process.send?.('ready')
}

interface Fleet {
  /** Processor time since the start. */
  used(): Promise<{ server_ms: number; postgres_ms: number }>
  offer(order: Offer): Promise<Offered>
}

/** A process of this file that has a role, as the first to end, and the answers to its orders. */
async function startRole(role: string, first: unknown, programs: Program[]) {
  const child = fork(import.meta.filename, [...process.argv.slice(2), '--role', role])
  const exit = once(child, 'exit')
  const died = exit.then(([code]) => Promise.reject<never>(new Error(`the ${role} ended: ${code}`)))
  died.catch(() => {})
  const ask = async (order: unknown) => {
    child.send(order as never)
    const ended = programs.map((one) => one.died)
    return (await Promise.race([once(child, 'message'), died, ...ended]))[0]
  }
  programs.unshift({
    pid: child.pid!,
    died,
    async end() {
      if (child.connected) child.disconnect()
      await exit
    },
  })
  return { ask, ready: await ask(first) }
}

/** The link alone with its own PostgreSQL, of any checkout. */
async function beLink(checkout: string): Promise<void> {
  const load = (path: string) => import(pathToFileURL(join(checkout, 'server', path)).href)
  const { openDatabase } = (await load('storage/database.ts')) as typeof Storage
  const { startEmbedded } = (await load('storage/embedded.ts')) as typeof Embedded
  const { migrate } = (await load('storage/migrate.ts')) as typeof Migrate
  const { attachLink } = (await load('link/serve.ts')) as typeof Link
  const data_dir = mkdtempSync(join(tmpdir(), 'heliograph-bench-'))
  const embedded = await startEmbedded({ data_dir, log: silent })
  const db = await openDatabase({
    url: embedded.url,
    log: silent,
    application_name: 'bench',
    max: 20,
  })
  await migrate(db)
  const { tokens } = await enrol(db, { site_ids, scopes: ['plant:read'] })
  const server = createServer()
  const metrics = new Registry()
  const link = attachLink({ server, db, clock: systemClock, log: silent, metrics })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.on('message', () => process.send?.(process.cpuUsage()))
  process.once('disconnect', async () => {
    await link.close()
    await db.close()
    await embedded.stop()
    rmSync(data_dir, { recursive: true, force: true })
    process.exit(0)
  })
  process.send?.([(server.address() as AddressInfo).port, tokens, data_dir])
}

async function startLink(programs: Program[], checkout: string): Promise<Fleet> {
  const { ask, ready } = await startRole('link', checkout, programs)
  const [port, tokens, data_dir] = ready
  const edges = await startRole('edges', [port, tokens], programs)
  return {
    async used() {
      const { user, system } = await ask('used')
      return {
        server_ms: (user + system) / 1000,
        postgres_ms: 1000 * (postgresCpuSeconds(data_dir) ?? Number.NaN),
      }
    },
    offer: edges.ask,
  }
}

async function startWhole(dir: string, programs: Program[]): Promise<Fleet> {
  const server = await startServer(dir, programs)
  const rights = { site_ids, scopes: ['plant:read'] }
  const { tokens } = await onDatabase(server, (db) => enrol(db, rights))
  const edges = await startRole('edges', [server.port, tokens], programs)
  return {
    async used() {
      const figures = await figuresAt(server.metrics_port)
      return {
        server_ms: 1000 * (figures.get('process_cpu_seconds_total') ?? Number.NaN),
        postgres_ms: 1000 * (postgresCpuSeconds(server.data_dir) ?? Number.NaN),
      }
    },
    offer: edges.ask,
  }
}

async function costOf({ used, offer }: Fleet, order: Offer) {
  const before = await used()
  const offered = await offer(order)
  const after = await used()
  return {
    ...offered,
    server_ms: after.server_ms - before.server_ms,
    postgres_ms: after.postgres_ms - before.postgres_ms,
  }
}

/** Processor time of a frame, less what the same time costs without frames. */
async function measure(fleet: Fleet) {
  const idle = await costOf(fleet, { every_ms: 0, for_ms })
  const busy = await costOf(fleet, { every_ms, for_ms })
  const frames = busy.lags_ms.length
  return {
    ...busy,
    server_ms: (busy.server_ms - idle.server_ms) / frames,
    postgres_ms: (busy.postgres_ms - idle.postgres_ms) / frames,
    idle_ms_per_s: [idle.server_ms, idle.postgres_ms].map((ms) => (1000 * ms) / for_ms),
  }
}

type Measured = Awaited<ReturnType<typeof measure>>

function report(name: string, measured: readonly Measured[], is_judged: boolean): Measured {
  const of = (pick: (one: Measured) => number) => median(measured.map(pick))
  const lags_ms = measured.flatMap((one) => one.lags_ms)
  const p = (share: number) => quantile(lags_ms, share).toFixed(0)
  const [server_ms, postgres_ms] = [of((one) => one.server_ms), of((one) => one.postgres_ms)]
  const lost = measured.at(-1)!.lost_connections
  const holds =
    server_ms <= server_ms_max &&
    postgres_ms <= postgres_ms_max &&
    quantile(lags_ms, 0.95) <= acknowledged_ms_max &&
    lost === 0
  const idle = [0, 1].map((nth) => of((one) => one.idle_ms_per_s[nth]!).toFixed(0))
  tell(
    holds || !is_judged,
    `${name}: ${sites} sites, a frame of 20 rows each ${every_ms / 1000} s: server ` +
      `${server_ms.toFixed(2)} ms a frame (limit ${server_ms_max}), PostgreSQL ` +
      `${postgres_ms.toFixed(2)} (limit ${postgres_ms_max}); acknowledged p50/p95/most ` +
      `${p(0.5)}/${p(0.95)}/${p(1)} ms (limit ${acknowledged_ms_max} p95), ` +
      `${measured.at(-1)!.waiting} waiting at the end, ${lost} connections lost (limit 0); ` +
      `without frames ${idle.join(' and ')} ms a second`,
  )
  return { ...measured[0]!, server_ms, postgres_ms }
}

async function bench(dir: string, programs: Program[]): Promise<void> {
  const root = join(import.meta.dirname, '..')
  const ours = options.whole ? await startWhole(dir, programs) : await startLink(programs, root)
  const peer = options.beside ? await startLink(programs, options.beside) : null
  const [measured, of_peer]: [Measured[], Measured[]] = [[], []]
  for (let round = 0; round < Number(options.rounds); round += 1) {
    if (peer) of_peer.push(await measure(peer))
    measured.push(await measure(ours))
  }
  const own = report('this checkout', measured, true)
  if (!peer) return
  const other = report(options.beside!, of_peer, false)
  tell(
    true,
    `ratio: server ${(own.server_ms / other.server_ms).toFixed(2)}, PostgreSQL ` +
      `${(own.postgres_ms / other.postgres_ms).toFixed(2)}`,
  )
}

if (options.role === undefined) await withPrograms(bench)
else {
  const [first] = await once(process, 'message')
  if (options.role === 'link') await beLink(first)
  else await beEdges(first[0], first[1])
}
