import type { Timers } from '@heliograph/domain/clock'
import type { FastifyInstance } from 'fastify'

/**
 * Graceful shutdown: stops accepting, lets running requests finish, then closes. Connections are
 * closed after `bound_ms`; transactions keep interrupted writes atomic.
 */
export async function shutDown(
  app: Pick<FastifyInstance, 'close' | 'server'>,
  { timers, bound_ms }: { timers: Timers; bound_ms: number },
): Promise<void> {
  const cancel = timers.after(bound_ms, () => app.server.closeAllConnections())
  try {
    await app.close()
  } finally {
    cancel()
  }
}
