/**
 * One edge on one core polls 500 simulated inverters once a second over Modbus TCP, without missing
 * an interval. Missed intervals are counted by the edge, and at the far end of its link, where each
 * inverter must have a reading for each second.
 *
 *   node bench/edge-polling.ts
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { type DownMessage, linkPath, type UpMessage } from '@heliograph/domain/link'
import { type WebSocket, WebSocketServer } from 'ws'
import { freePort } from '../test/end-to-end/programs.ts'
import { fieldOf } from './fixtures/field.ts'
import { quantile } from './fixtures/figures.ts'
import {
  can_pin,
  cpuSeconds,
  figuresAt,
  type Program,
  pinThisProcess,
  startProgram,
  until,
  withPrograms,
} from './fixtures/programs.ts'
import { quickOr } from './fixtures/quick.ts'

const gateways = quickOr(2, 25)
const units = 20
const inverters = gateways * units
const interval_ms = 1000
const warm_up_ms = quickOr(3000, 8000)
const measured_s = quickOr(3, 30)
const rss_mb_max = 300
const edge_core = 0
const other_core = 1
const window_frames = 1000

/** The far end of the link: accepts all frames, and records when each inverter was read. */
class Sink {
  /** By inverter: the instants of its readings, Unix ms. */
  readonly read_at = new Map<number, number[]>()
  newest_at = 0
  readonly #http = createServer()

  async listen(): Promise<number> {
    const server = new WebSocketServer({ server: this.#http, path: linkPath })
    server.on('connection', (socket) => {
      socket.on('message', (text) => this.#receive(socket, JSON.parse(text.toString())))
    })
    this.#http.listen(0, '127.0.0.1')
    await once(this.#http, 'listening')
    return (this.#http.address() as AddressInfo).port
  }

  close(): void {
    this.#http.close()
    this.#http.closeAllConnections()
  }

  #receive(socket: WebSocket, message: UpMessage): void {
    const send = (answer: DownMessage) => socket.send(JSON.stringify(answer))
    if (message.type === 'hello') {
      send({ type: 'welcome', server_time: Date.now(), window_frames, have: [], inventory: null })
    } else if (message.type === 'batch') {
      for (const { kind, payload } of message.frames) if (kind === 'readings') this.#take(payload)
      send({ type: 'ack', seqs: message.frames.map(({ seq }) => seq) })
    }
  }

  #take(payload: unknown): void {
    const table = (payload as Record<string, { columns: string[]; rows: number[][] }>)['inverter']
    if (!table) return
    const id = table.columns.indexOf('inverter_id')
    const at = table.columns.indexOf('measured_at')
    for (const row of table.rows) {
      const known = this.read_at.get(row[id]!) ?? []
      this.read_at.set(row[id]!, known)
      known.push(row[at]!)
      this.newest_at = Math.max(this.newest_at, row[at]!)
    }
  }
}

interface Bench {
  sink: Sink
  edge: Program
  simulator: Program
  metrics_port: number
}

async function startAll(dir: string, started: Program[], sink: Sink): Promise<Bench> {
  const ports = await Promise.all(Array.from({ length: gateways }, () => freePort()))
  const poll = { inverter_s: interval_ms / 1000 }
  const size = { ports, units, poll, noon_at: new Date(), with_instruments: false }
  const site_file = join(dir, 'site.yaml')
  writeFileSync(site_file, JSON.stringify(fieldOf({ site_id: 'field', ...size })))
  const metrics_port = await freePort()
  const simulator = startProgram('simulator', { dir, settings: { SITE_FILE: site_file } })
  started.push(simulator)
  const settings = {
    SITE_FILE: site_file,
    EDGE_DATA_DIR: join(dir, 'edge'),
    METRICS_PORT: String(metrics_port),
    EDGE_TOKEN: `edge_${'0'.repeat(12)}_${'0'.repeat(64)}`,
    SERVER_URL: `ws://127.0.0.1:${await sink.listen()}`,
  }
  const edge = startProgram('edge', { dir, settings, core: edge_core })
  started.unshift(edge)
  return { sink, edge, simulator, metrics_port }
}

async function measure({ sink, edge, simulator, metrics_port }: Bench) {
  const programs = [edge, simulator]
  const connected = async () =>
    (await figuresAt(metrics_port)).get('heliograph_edge_devices_connected') === inverters
  await until('every inverter answers', connected, programs)
  const from = Math.ceil((Date.now() + warm_up_ms) / interval_ms) * interval_ms
  const to = from + measured_s * 1000
  const look = async (at: number) => {
    await until('the time comes', () => Date.now() >= at, programs)
    return {
      at: performance.now(),
      edge: await figuresAt(metrics_port),
      simulator_cpu_s: cpuSeconds(simulator.pid),
    }
  }
  const first = await look(from)
  const last = await look(to)
  await until('the last readings arrive', () => sink.newest_at >= to + interval_ms, programs)
  return { from, to, first, last }
}

/** A poll belongs to the second in which it ended: the next one was skipped if it took longer. */
function missedAtSink(sink: Sink, from: number, to: number): { missed: number; late_ms: number[] } {
  let received = 0
  const late_ms: number[] = []
  for (const instants of sink.read_at.values()) {
    const inside = instants.filter((at) => at >= from && at < to)
    received += new Set(inside.map((at) => Math.floor(at / interval_ms))).size
    late_ms.push(...inside.map((at) => at % interval_ms))
  }
  return { missed: inverters * measured_s - received, late_ms }
}

function report(sink: Sink, { from, to, first, last }: Awaited<ReturnType<typeof measure>>): void {
  const elapsed_s = (last.at - first.at) / 1000
  const polls = (result: string) => {
    const name = `heliograph_edge_polls_total{kind="inverter",result="${result}"}`
    return (last.edge.get(name) ?? 0) - (first.edge.get(name) ?? 0)
  }
  const cpu = 'process_cpu_seconds_total'
  const edge_pct = (100 * (last.edge.get(cpu)! - first.edge.get(cpu)!)) / elapsed_s
  const sim_pct =
    first.simulator_cpu_s === null || last.simulator_cpu_s === null
      ? Number.NaN
      : (100 * (last.simulator_cpu_s - first.simulator_cpu_s)) / elapsed_s
  const rss_mb = last.edge.get('process_resident_memory_bytes')! / 1e6
  const { missed, late_ms } = missedAtSink(sink, from, to)
  const said = polls('skipped') + polls('failed')
  const lines = [
    `${inverters} inverters at 1 Hz for ${measured_s} s: missed ${missed} of ` +
      `${inverters * measured_s} intervals at the sink, ${said} by the edge's count (limit 0)`,
    `edge: ${edge_pct.toFixed(0)} % of ${can_pin ? 'its' : 'a'} core, ` +
      `${rss_mb.toFixed(0)} MB resident (limit ${rss_mb_max}, ` +
      `ratio ${(rss_mb / rss_mb_max).toFixed(2)}); ` +
      `read ${quantile(late_ms, 0.5)} ms after the second (p50), ${quantile(late_ms, 0.99)} (p99); ` +
      `simulator ${sim_pct.toFixed(0)} % of a core, load ${loadavg()[0]!.toFixed(1)}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  if (missed > 0 || said > 0 || rss_mb > rss_mb_max) process.exitCode = 1
}

pinThisProcess(other_core)
const sink = new Sink()
try {
  await withPrograms(async (dir, started) => {
    report(sink, await measure(await startAll(dir, started, sink)))
  })
} finally {
  sink.close()
}
