import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Database, openDatabase } from '../server/storage/database.ts'
import { distribute } from '../server/storage/distribute.ts'
import { migrate, migrations_dir, readMigrations } from '../server/storage/migrate.ts'
import { addDefaultIds, followingFixtures } from './cluster-fixtures.ts'

export interface TestDatabase {
  db: Database
  url: string
  /** Closes `db` and drops the database. */
  drop(): Promise<void>
}

export const silent = { info() {}, warn() {}, error() {} }

/** Workers of a Citus cluster whose coordinator is `TEST_DATABASE_URL` (scripts/test-citus.ts). */
const worker_urls = process.env.TEST_WORKER_URLS?.split(' ') ?? []
const advisory_lock = 0x68672d74657374n
const start_timeout_ms = 60_000
const start_again_ms = 10_000

/**
 * A fresh database with every migration applied, a copy of a template that the first test of a run
 * makes. It lives on the server of `TEST_DATABASE_URL`, else on an embedded one that all test
 * processes share and that ends by itself after the last of them. `migrations: false` leaves it
 * empty.
 */
export async function testDatabase(options: { migrations?: boolean } = {}): Promise<TestDatabase> {
  const server_url = process.env.TEST_DATABASE_URL ?? (await sharedServer())
  const admin = await connectTo(server_url, 2)
  const name = `heliograph_test_${randomUUID().replaceAll('-', '')}`
  try {
    const template =
      options.migrations === false ? 'template0' : await ensureTemplate(admin, server_url)
    // Copying files takes half the time of writing their pages through the log.
    const create = `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`
    await admin.execute(create)
    if (template !== 'template0') await onWorkers((worker) => worker.execute(create))
  } finally {
    await admin.close()
  }
  const url = withDatabase(server_url, name)
  const db = await connectTo(url, 10)
  return {
    db: worker_urls.length > 0 ? followingFixtures(db) : db,
    url,
    async drop() {
      await db.close()
      const admin = await connectTo(server_url, 1)
      await admin.execute(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.close()
      await onWorkers((worker) => worker.execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    },
  }
}

/** The name of a database that has the migrations as they are now. */
async function ensureTemplate(admin: Database, server_url: string): Promise<string> {
  const migrations = await readMigrations(migrations_dir)
  const content = migrations.map(({ name, sha256 }) => `${name} ${sha256}`).join('\n')
  const id = createHash('sha256').update(content).digest('hex').slice(0, 16)
  const template = `heliograph_template_${id}`
  // CREATE DATABASE cannot run in a transaction; another connection holds the lock meanwhile.
  await admin.transaction(async (lock) => {
    await lock.query('SELECT pg_advisory_xact_lock($1)', [advisory_lock])
    const made = await admin.query('SELECT FROM pg_database WHERE datname = $1', [template])
    if (made.length === 0) await makeTemplate(admin, server_url, template)
  })
  return template
}

async function makeTemplate(admin: Database, server_url: string, template: string): Promise<void> {
  const making = `${template}_new`
  // Renamed when it is whole, so that a test killed half-way leaves no half-made template.
  await admin.execute(`DROP DATABASE IF EXISTS ${making} WITH (FORCE)`)
  await admin.execute(`CREATE DATABASE ${making} TEMPLATE template0`)
  const db = await connectTo(withDatabase(server_url, making), 1)
  try {
    await migrate(db)
    if (worker_urls.length > 0) await makeCluster(db, server_url, making)
  } finally {
    await db.close()
  }
  await onWorkers((worker) => rename(worker, making, template))
  await rename(admin, making, template)
}

function connectTo(url: string, max: number): Promise<Database> {
  return openDatabase({ url, max, log: silent, application_name: 'test', exit_on_idle: true })
}

function withDatabase(server_url: string, name: string): string {
  const url = new URL(server_url)
  url.pathname = `/${name}`
  return url.href
}

let shared: Promise<string> | undefined

/** The URL of the server that the test processes of this checkout share. */
function sharedServer(): Promise<string> {
  shared ??= startShared()
  return shared
}

async function startShared(): Promise<string> {
  const script = fileURLToPath(new URL('../scripts/test-postgres.ts', import.meta.url))
  const checkout = createHash('sha256').update(script).digest('hex').slice(0, 12)
  const directory = path.join(os.tmpdir(), `heliograph-test-${process.getuid?.()}-${checkout}`)
  for (let waited_ms = 0; waited_ms < start_timeout_ms; waited_ms += 50) {
    const url = await holdOn(path.join(directory, 'control'))
    if (url !== undefined) return url
    // Of several that are started at once all but one end again at its lock. On a busy machine the
    // start takes seconds: another one each half second would make it busier.
    if (waited_ms % start_again_ms === 0) await spawnServer(script, directory)
    await delay(50)
  }
  const log = await readFile(path.join(directory, 'log'), 'utf8').catch(() => '')
  throw new Error(`the test database server did not start:\n${log}`)
}

async function spawnServer(script: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const log = await open(path.join(directory, 'log'), 'a', 0o600)
  const child = spawn(process.execPath, [script, directory], {
    cwd: '/',
    env: { PATH: process.env.PATH },
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  await once(child, 'spawn')
  child.unref()
  await log.close()
}

/** The connection stays open, and with it the server, until this process ends. */
async function holdOn(control: string): Promise<string | undefined> {
  const socket = net.connect(control)
  const refused = new AbortController()
  socket.once('close', () => refused.abort())
  try {
    const [data] = await once(socket, 'data', { signal: refused.signal })
    socket.unref()
    return String(data).trim()
  } catch {
    return undefined
  }
}

async function onWorkers(work: (worker: Database) => Promise<unknown>): Promise<void> {
  for (const url of worker_urls) {
    const worker = await connectTo(url, 1)
    try {
      await work(worker)
    } finally {
      await worker.close()
    }
  }
}

/** Citus keeps a process connected to each of its databases. */
async function rename(admin: Database, from: string, to: string): Promise<void> {
  await admin.execute(`ALTER DATABASE ${from} WITH ALLOW_CONNECTIONS false`)
  await admin.query(
    'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1',
    [from],
  )
  await admin.execute(`ALTER DATABASE ${from} RENAME TO ${to}`)
}

/** Makes an empty database with all migrations a cluster, and distributes its tables. */
async function makeCluster(db: Database, server_url: string, name: string): Promise<void> {
  await onWorkers(async (worker) => {
    await worker.execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await worker.execute(`CREATE DATABASE ${name} TEMPLATE template0`)
  })
  for (const url of worker_urls) {
    const worker = await connectTo(withDatabase(url, name), 1)
    await worker.execute('CREATE EXTENSION citus')
    await worker.close()
  }
  await db.execute('CREATE EXTENSION citus')
  await db.query(`SELECT citus_set_coordinator_host($1, $2)`, nodeOf(server_url))
  for (const url of worker_urls) await db.query('SELECT citus_add_node($1, $2)', nodeOf(url))
  await db.query(
    `SELECT citus_set_node_property($1, $2, 'shouldhaveshards', false)`,
    nodeOf(server_url),
  )
  await distribute(db, { shards: 4 })
  await addDefaultIds(db)
}

function nodeOf(url: string): [host: string, port: number] {
  const { hostname, port, searchParams } = new URL(url)
  return [searchParams.get('host') ?? hostname, Number(port || 5432)]
}
