import assert from 'node:assert/strict'
import test, { after, afterEach, before, beforeEach } from 'node:test'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { connectEdge, type EdgeClient, hello } from '../link/fixtures/edge-client.ts'
import { serveLink } from '../link/fixtures/link-server.ts'
import { foundSite, noon, site_id } from '../link/fixtures/plant.ts'
import { noteChange } from '../storage/curtailment.ts'
import type { Queries } from '../storage/database.ts'

let database: TestDatabase
let link: Awaited<ReturnType<typeof serveLink>>
let clients: EdgeClient[]

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
})
after(() => database.drop())

beforeEach(async () => {
  await database.db.execute(
    'delete from curtailment_rows; delete from curtailment_groups; delete from desired_versions',
  )
  clients = []
  // What is told here is told by itself.
  link = await serveLink(database.db, () => noon)
})
afterEach(async () => {
  for (const { socket } of clients) socket.terminate()
  await link.close()
})

async function connect(greeting: Record<string, unknown> = hello): Promise<EdgeClient> {
  const client = await connectEdge(link.port, greeting)
  clients.push(client)
  return client
}

const toldOf = ({ messages }: EdgeClient) => messages.filter(({ type }) => type === 'desired')
const nothing = { type: 'desired', rows: [] }
const group_id = '0193a1de-0000-7000-8000-000000000001'

async function ask(db: Queries): Promise<void> {
  await db.execute(
    `insert into curtailment_groups (site_id, group_id, source, created_at)
     values ($1, $2, 'edge_local', $3)`,
    [site_id, group_id, new Date(noon)],
  )
  await db.execute(
    `insert into curtailment_rows
       (site_id, group_id, logger_id, start_at, end_at, max_power_kw)
     values ($1, $2, 1, $3, $4, 60)`,
    [site_id, group_id, new Date(noon), new Date(noon + 3_600_000)],
  )
}

test('an agent is told at each contact that nothing was ever asked, and an importer nothing', async () => {
  const importer = await connect({ ...hello, role: 'importer' })
  const first = await connect()
  assert.deepEqual(await first.until('desired'), nothing)
  const second = await connect()
  assert.deepEqual(await second.until('desired'), nothing)
  assert.deepEqual(toldOf(importer), [])
})

test('the first row of a site is told after it was told of none', async () => {
  const agent = await connect()
  await agent.until('desired')
  await database.db.transaction(async (tx) => {
    await ask(tx)
    await noteChange(tx, site_id)
  })
  const { rows } = await agent.until('desired', (message) => message.rows.length > 0)
  assert.deepEqual(
    rows.map((row) => [row.group_id, row.max_power_kw]),
    [[group_id, 60]],
  )
  assert.equal(toldOf(agent).length, 2)
})

test('rows are told also where a restored database has no count of their changes', async () => {
  await ask(database.db)
  const agent = await connect()
  const { rows } = await agent.until('desired')
  assert.deepEqual(
    rows.map((row) => row.group_id),
    [group_id],
  )
})
