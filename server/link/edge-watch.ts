import { edges_channel } from '../access/edges.ts'
import type { Database, Log } from '../storage/database.ts'
import type { Connection } from './connection.ts'
import { readMarks } from './presence.ts'

/**
 * Ends the connections of an edge that was revoked, or whose agent has connected to another replica
 * since, as soon as the database notifies of it. Returns a function that ends the watch.
 */
export function watchEdges(
  { db, log }: { db: Database; log: Log },
  connections: ReadonlyMap<Connection, string>,
): () => Promise<void> {
  async function check(isMeant: (edge: string) => boolean): Promise<void> {
    const meant = [...connections].filter(([, edge]) => isMeant(edge))
    if (meant.length === 0) return
    const marks = await readMarks(
      db,
      meant.map(([connection]) => connection.edge),
    )
    for (const [connection, edge] of meant) {
      const mark = marks.get(edge)
      if (mark === undefined) void connection.end('unknown_edge', 'the token was revoked')
      else if (connection.mark !== undefined && connection.mark !== mark) {
        void connection.end('replaced', 'the edge has connected to another server')
      }
    }
  }

  function checkNow(isMeant: (edge: string) => boolean): void {
    check(isMeant).catch((error: unknown) => {
      log.error({ err: error }, 'the edges of connections could not be read')
    })
  }

  const listening = db.listen(edges_channel, {
    notified: (edge) => checkNow((one) => one === edge),
    resumed: () => checkNow(() => true),
  })
  listening.then(
    () => checkNow(() => true),
    (error: unknown) => log.warn({ err: error }, 'no notifications of revoked edges'),
  )
  return async () => {
    const subscription = await listening.catch(() => null)
    await subscription?.stop()
  }
}
