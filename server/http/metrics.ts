/** Prometheus metrics on a separate port. */
import { createServer, type Server } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { AnswerFaults } from './mend-answer.ts'

interface PoolCounts {
  total: number
  idle: number
  waiting: number
}

export interface Metrics {
  registry: Registry
  /** Counts an answer. `operation` is the operation id, to bound the number of label values. */
  observe(operation: string, status: number, elapsed_ms: number): void
  countFaults(operation: string, faults: AnswerFaults): void
}

const bounds_ms = [1, 5, 20, 100, 500, 2000, 10_000]

interface Tally {
  operation: string
  status: number
  count: number
  sum_ms: number
  /** Answers per bucket: longer than the previous bound, at most this bound. */
  within: number[]
}

/** Metrics of requests, durations, event-loop lag, memory and the database pool. */
export function createMetrics(options: { pool?: () => PoolCounts } = {}): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // Plain counters per answer are cheaper than those of the library; `get` converts them.
  const tallies = new Map<string, Tally>()
  registry.registerMetric(requestsOf(tallies) as never)
  registry.registerMetric(durationsOf(tallies) as never)
  if (options.pool) observePool(registry, options.pool)
  const faults = new Counter({
    name: 'http_answer_faults_total',
    help: 'Values, items and answers that broke the schema of their operation',
    labelNames: ['operation', 'outcome'],
    registers: [registry],
  })
  return {
    registry,
    countFaults(operation, { nulled, omitted, refused }) {
      for (const [outcome, count] of Object.entries({ nulled, omitted, refused })) {
        if (count > 0) faults.inc({ operation, outcome }, count)
      }
    },
    observe(operation, status, elapsed_ms) {
      const id = `${operation} ${status}`
      const tally = tallies.get(id) ?? newTally(operation, status)
      if (tally.count === 0) tallies.set(id, tally)
      tally.count += 1
      tally.sum_ms += elapsed_ms
      const bound = bounds_ms.findIndex((bound_ms) => elapsed_ms <= bound_ms)
      if (bound >= 0) tally.within[bound]! += 1
    },
  }
}

const newTally = (operation: string, status: number): Tally => ({
  operation,
  status,
  count: 0,
  sum_ms: 0,
  within: bounds_ms.map(() => 0),
})

function requestsOf(tallies: ReadonlyMap<string, Tally>) {
  const name = 'http_requests_total'
  const values = () =>
    [...tallies.values()].map(({ operation, status, count }) => ({
      labels: { operation, status },
      value: count,
    }))
  const help = 'Answers by operation and status'
  return { name, get: async () => ({ name, help, type: 'counter', values: values() }), reset() {} }
}

function durationsOf(tallies: ReadonlyMap<string, Tally>) {
  const name = 'http_request_duration_seconds'
  const values = () => [...tallies.values()].flatMap((tally) => durationValues(name, tally))
  const help = 'Time from the request head to the end of the answer'
  return {
    name,
    get: async () => ({ name, help, type: 'histogram', values: values() }),
    reset() {},
  }
}

function durationValues(name: string, { operation, status, count, sum_ms, within }: Tally) {
  const labels = { operation, status }
  let up_to = 0
  const buckets = bounds_ms.map((bound_ms, index) => {
    up_to += within[index]!
    const le = bound_ms / 1000
    return { labels: { ...labels, le }, value: up_to, metricName: `${name}_bucket` }
  })
  return [
    ...buckets,
    { labels: { ...labels, le: '+Inf' }, value: count, metricName: `${name}_bucket` },
    { labels, value: sum_ms / 1000, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ]
}

function observePool(registry: Registry, pool: () => PoolCounts): void {
  new Gauge({
    name: 'database_connections',
    help: 'Connections of the pool by state; waiting: requests without a connection',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(pool())) this.set({ state }, count)
    },
  })
}

/** The server of `/metrics`. */
export function metricsServer({ registry }: Metrics): Server {
  return createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
}
