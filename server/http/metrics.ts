/** Prometheus metrics on a separate port. */
import { createServer, type Server } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { AnswerFaults } from './repair-answer.ts'

interface PoolCounts {
  total: number
  idle: number
  waiting: number
}

export type Metrics = ReturnType<typeof createMetrics>

const buckets_s = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10]

/** Metrics of requests, durations, event-loop lag, memory and the database pool. */
export function createMetrics(options: { pool?: () => PoolCounts } = {}) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const labelNames = ['operation', 'status'] as const
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Answers by operation and status',
    labelNames,
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request head to the end of the answer',
    labelNames,
    buckets: buckets_s,
    registers: [registry],
  })
  if (options.pool) observePool(registry, options.pool)
  const faults = new Counter({
    name: 'http_answer_faults_total',
    help: 'Values, items and answers that broke the schema of their operation',
    labelNames: ['operation', 'outcome'],
    registers: [registry],
  })
  return {
    registry,
    countFaults(operation: string, { nulled, omitted, refused }: AnswerFaults) {
      for (const [outcome, count] of Object.entries({ nulled, omitted, refused })) {
        if (count > 0) faults.inc({ operation, outcome }, count)
      }
    },
    /** Counts an answer. `operation` is the operation id, to bound the number of label values. */
    observe(operation: string, status: number, elapsed_ms: number) {
      requests.inc({ operation, status })
      durations.observe({ operation, status }, elapsed_ms / 1000)
    },
  }
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
