import type { Lane } from '@heliograph/domain/link'
import { type LinkBounds, type RunInTurn, runInTurns } from './bounds.ts'
import { inGroups } from './groups.ts'
import { concernsOneBatch, type Ingest, type Ingested, type PreparedBatch } from './ingest.ts'
import type { LinkMetrics } from './metrics.ts'

/** Readings of several edges that arrive within this time are stored in one transaction. */
const gathered_ms = 50
const rows_per_transaction_max = 10_000
/** Transactions under way, within the share of the link in the pool. */
const live_at_once = { shared: 2, alone: 4 }
const later_at_once = { shared: 1, alone: 2 }

export type Commits = (lane: Lane, batch: PreparedBatch) => Promise<Ingested>

/**
 * Stores checked batches, the readings of many edges in one transaction. Whatever is not readings
 * has a transaction of its own, and so has each batch of a transaction that fails because of one of
 * them. Live data has its own transactions, so that it never waits for a backlog.
 */
export function scheduleCommits(
  { store, stores_together }: Ingest,
  metrics: LinkMetrics,
  bounds: Pick<LinkBounds, 'live' | 'later'>,
): Commits {
  const counted: Ingest['store'] = async (batches) => {
    metrics.transactions.inc()
    try {
      return await store(batches)
    } finally {
      metrics.transactions.dec()
      metrics.batches_per_transaction.observe(batches.length)
    }
  }
  const commitsOf = (at_once: typeof live_at_once, inTurn: RunInTurn) => {
    const stored: Ingest['store'] = (batches) => inTurn(() => counted(batches))
    const alone = inGroups(stored, { at_once: at_once.alone })
    const shared = inGroups(stored, {
      at_once: at_once.shared,
      rest_ms: gathered_ms,
      size_max: rows_per_transaction_max,
      sizeOf: rowsOf,
      concernsOne: concernsOneBatch,
      alone,
    })
    return (batch: PreparedBatch) =>
      stores_together && isReadings(batch) ? shared(batch) : alone(batch)
  }
  const live = commitsOf(live_at_once, runInTurns(bounds.live))
  const later = commitsOf(later_at_once, runInTurns(bounds.later))
  return (lane, batch) => (lane === 'live' ? live(batch) : later(batch))
}

const isReadings = ({ frames }: PreparedBatch) =>
  frames.every(({ content }) => content.is === 'readings')

/** A frame without rows counts as one. */
const rowsOf = ({ frames }: PreparedBatch) =>
  frames.reduce(
    (sum, { content }) =>
      sum +
      (content.is === 'readings'
        ? content.items.reduce((rows, one) => rows + one.row_count, 1)
        : 1),
    0,
  )
