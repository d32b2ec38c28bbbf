/**
 * Latency of a command that one server takes for an edge that is connected to another: from the
 * transaction of the command until the edge has received its desired state. One at a time, and many
 * at once.
 *
 *   node bench/desired.ts [--sites 200]
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { systemClock } from '@heliograph/domain/clock'
import { connectEdge, type EdgeClient, hello } from '@heliograph/server/link/fixtures/edge-client'
import { edgeSecretDigest } from '@heliograph/server/link/presence'
import { attachLink } from '@heliograph/server/link/serve'
import { noteChange } from '@heliograph/server/storage/curtailment'
import { openDatabase } from '@heliograph/server/storage/database'
import { Registry } from 'prom-client'
import { benchDatabase, silent } from './fixtures/database.ts'
import { tellLatency } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'

const { values: options } = parseArgs({
  options: { sites: { type: 'string', default: quickOr('5', '200') } },
})
const sites = Number(options.sites)
const commands = quickOr(5, 300)
const at_once = quickOr(5, 50)
const limit_ms = 500
const secret = '5e'.repeat(32)

await using database = await benchDatabase()
const { db, url } = database
await db.execute(`insert into clients (name, modules) values ('owner', '{basic_scada}')`)
await db.execute(
  `insert into sites (site_id, client_id, name)
   select 'site-' || nth, client_id, 'Site' from clients, generate_series(1, $1::int) as nth`,
  [sites],
)
await db.execute(
  `insert into edges (site_id, edge_id, name, secret_sha256)
   select site_id, lpad(to_hex(row_number() over (order by site_id)), 12, '0'), 'edge', $1
   from sites`,
  [edgeSecretDigest(secret)],
)

/** A server with connections of its own. */
async function openLink() {
  const own = await openDatabase({ url, log: silent, application_name: 'bench', max: 20 })
  const server = createServer()
  const metrics = new Registry()
  const link = attachLink({ server, db: own, clock: systemClock, log: silent, metrics })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    db: own,
    async close() {
      await link.close()
      server.close()
      await own.close()
    },
  }
}

const [taking, serving] = [await openLink(), await openLink()]
const edges = await db.query<{ site_id: string; edge_id: string }>(
  'select site_id, edge_id from edges',
)
const clients: { site_id: string; client: EdgeClient }[] = []
for (const { site_id, edge_id } of edges) {
  const authorization = `Bearer edge_${edge_id}_${secret}`
  const sent_at = Date.now()
  const client = await connectEdge(serving.port, { ...hello, site_id, sent_at }, { authorization })
  await client.until('desired')
  clients.push({ site_id, client })
}

/** ms until the edge of a site has received a new command. */
async function command(nth: number): Promise<number> {
  const { site_id, client } = clients[nth % clients.length]!
  const group_id = crypto.randomUUID()
  const began = performance.now()
  await taking.db.transaction(async (transaction) => {
    await transaction.execute(
      `insert into curtailment_groups (site_id, group_id, source, created_at)
       values ($1, $2, 'api', now())`,
      [site_id, group_id],
    )
    await transaction.execute(
      `insert into curtailment_rows
         (site_id, group_id, logger_id, start_at, end_at, max_power_kw)
       values ($1, $2, 1, now(), now() + interval '1 hour', 60)`,
      [site_id, group_id],
    )
    await noteChange(transaction, site_id)
  })
  await client.until('desired', ({ rows }) => rows.some((row) => row.group_id === group_id))
  return performance.now() - began
}

const times_ms: number[] = []
for (let nth = 0; nth < commands; nth += 1) times_ms.push(await command(nth * 7))
tellLatency(
  `desired state of one of ${sites} edges on another server, one command at a time`,
  times_ms,
  limit_ms,
)
const together_ms: number[] = []
// The first ones open the connections of the pool.
for (let first = -at_once; first < commands; first += at_once) {
  const some = Array.from({ length: at_once }, (_, nth) => command(first + at_once + nth))
  const taken_ms = await Promise.all(some)
  if (first >= 0) together_ms.push(...taken_ms)
}
tellLatency(`the same, ${at_once} commands at once`, together_ms, limit_ms)
for (const { client } of clients) client.socket.terminate()
await taking.close()
await serving.close()
