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
    const meant = [...connections].flatMap(([connection, edge]) =>
      isMeant(edge) ? { connection, edge, known: connection.mark } : [],
    )
    if (meant.length === 0) return
    const marks = await readMarks(
      db,
      meant.map(({ connection }) => connection.edge),
    )
    const greeted = new Set<string>()
    for (const { connection, edge, known } of meant) {
      const mark = marks.get(edge)
      if (mark === undefined) void connection.end('unknown_edge', 'the token was revoked')
      // Its hello came during the read, which may be of before it.
      else if (known !== connection.mark) greeted.add(edge)
      else if (known !== undefined && known !== mark) {
        void connection.end('replaced', 'the edge has connected to another server')
      }
    }
    if (greeted.size > 0) await check((edge) => greeted.has(edge))
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
