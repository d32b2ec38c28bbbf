import type { Timers } from '@heliograph/domain/clock'
import type { FastifyInstance } from 'fastify'

/**
 * Stops accepting, lets requests in flight finish, then closes. What has not finished after
 * `bound_ms` is cut off; writes that were cut off are whole or not at all, by their transaction.
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
