/** What the agent tells of itself in Prometheus form, to this machine only. */
import { createServer, type Server } from 'node:http'
import type { DeviceKind, DeviceStatus } from '@heliograph/domain/link'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { PollResult } from './polled-device.ts'

/** What the other parts count by themselves, read when it is asked for. */
export interface Figures {
  link_connected: boolean
  frames_sent: number
  frames_acked: number
  journal_frames: number
  journal_bytes: number
  journal_failing: boolean
  readings: number
  readings_lost: number
  control_rounds: number
  devices: readonly DeviceStatus[]
  site_file_rejected: boolean
}

interface Metrics {
  registry: Registry
  onPoll(kind: DeviceKind, result: PollResult, took_ms: number): void
}

export function createMetrics(figures: () => Figures): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const polls = new Counter({
    name: 'heliograph_edge_polls_total',
    help: 'Polls of devices by result; skipped ones were due while the last was under way',
    labelNames: ['kind', 'result'] as const,
    registers,
  })
  const poll_seconds = new Histogram({
    name: 'heliograph_edge_poll_seconds',
    help: 'How long a poll took, waiting for its turn on the bus included',
    labelNames: ['kind'] as const,
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers,
  })
  const gauge = (name: string, help: string, read: (figures: Figures) => number) =>
    new Gauge({
      name: `heliograph_edge_${name}`,
      help,
      registers,
      collect() {
        this.set(read(figures()))
      },
    })
  gauge('link_connected', '1 while the server has welcomed this edge', (f) => +f.link_connected)
  gauge('frames_sent', 'Frames sent since the start', (f) => f.frames_sent)
  gauge('frames_acked', 'Frames acknowledged since the start', (f) => f.frames_acked)
  gauge('journal_frames', 'Frames that wait for acknowledgement', (f) => f.journal_frames)
  gauge('journal_bytes', 'Bytes that wait for acknowledgement', (f) => f.journal_bytes)
  gauge('journal_failing', '1 while the journal cannot be written', (f) => +f.journal_failing)
  gauge('readings', 'Readings journaled since the start', (f) => f.readings)
  gauge('readings_lost', 'Readings that could not be journaled', (f) => f.readings_lost)
  gauge('control_rounds', 'Rounds of control since the start', (f) => f.control_rounds)
  gauge('site_file_rejected', '1 while site.yaml is wrong', (f) => +f.site_file_rejected)
  gauge('devices', 'Devices of the site', (f) => f.devices.length)
  gauge('devices_connected', 'Devices that answer', (f) => {
    return f.devices.filter(({ comm_state }) => comm_state === 'connected').length
  })
  return {
    registry,
    onPoll(kind, result, took_ms) {
      polls.inc({ kind, result })
      if (result !== 'skipped') poll_seconds.observe({ kind }, took_ms / 1000)
    },
  }
}

/** Serves `/metrics` on the loopback interface. */
export function serveMetrics(registry: Registry, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: Error) => response.writeHead(500).end(error.message),
    )
  })
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) => {
      reject(new Error(`METRICS_PORT: ${port} cannot be listened on: ${message}`))
    })
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
