import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export type LinkMetrics = ReturnType<typeof linkMetrics>

export function linkMetrics(registry: Registry) {
  const registers = [registry]
  return {
    connections: new Gauge({
      name: 'heliograph_link_connections',
      help: 'Edges and importers connected to this replica',
      labelNames: ['role'],
      registers,
    }),
    paused: new Gauge({
      name: 'heliograph_link_paused_connections',
      help: 'Connections paused until their received frames are stored',
      registers,
    }),
    braked: new Counter({
      name: 'heliograph_link_braked_total',
      help: 'Pauses of connections whose frames arrived faster than they were stored',
      registers,
    }),
    held_bytes: new Gauge({
      name: 'heliograph_link_held_bytes',
      help: 'Bytes of received frames that are not yet stored',
      registers,
    }),
    frames: new Counter({
      name: 'heliograph_link_frames_total',
      help: 'Frames committed for the first time',
      labelNames: ['lane'],
      registers,
    }),
    refused_frames: new Counter({
      name: 'heliograph_link_refused_frames_total',
      help: 'Frames that failed their check and were stored as rejected',
      registers,
    }),
    rows: new Counter({
      name: 'heliograph_link_rows_total',
      help: 'Readings stored',
      labelNames: ['lane'],
      registers,
    }),
    repeated_rows: new Counter({
      name: 'heliograph_link_repeated_rows_total',
      help: 'Readings whose device and instant were already stored',
      registers,
    }),
    transactions: new Gauge({
      name: 'heliograph_link_transactions',
      help: 'Transactions under way that store frames',
      registers,
    }),
    batches_per_transaction: new Histogram({
      name: 'heliograph_link_batches_per_transaction',
      help: 'Batches of edges stored in one transaction',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200],
      registers,
    }),
    commit_seconds: new Histogram({
      name: 'heliograph_link_commit_seconds',
      help: 'Time from a checked batch to its commit',
      labelNames: ['lane'],
      buckets: [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
      registers,
    }),
  }
}
