import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { type Database, openDatabase } from './database.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'

const silent = { info() {}, warn() {}, error() {} }

/** By data directory: what writes to it has to stop before it goes. */
const started = new Map<string, EmbeddedServer[]>()

async function dataDir(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'heliograph-embedded-'))
  t.after(async () => {
    for (const server of started.get(directory) ?? []) await server.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  })
  return directory
}

async function start(data_dir: string, durable = false): Promise<EmbeddedServer> {
  const server = await startEmbedded({ data_dir, log: silent, durable })
  started.set(data_dir, [...(started.get(data_dir) ?? []), server])
  return server
}

async function using<Result>(url: string, work: (db: Database) => Promise<Result>) {
  const db = await openDatabase({ url, log: silent, application_name: 'test', max: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

const write = (url: string, value: number) =>
  using(url, async (db) => {
    await db.execute('CREATE TABLE IF NOT EXISTS kept (value int)')
    await db.execute('INSERT INTO kept VALUES ($1)', [value])
  })

const read = (url: string) =>
  using(url, async (db) => {
    const rows = await db.query<{ value: number }>('SELECT value FROM kept ORDER BY value')
    return rows.map(({ value }) => value)
  })

/** A process of its own that starts the server and says so: its URL, or the error's message. */
async function owner(t: TestContext, data_dir: string) {
  const code = `
    const { startEmbedded } = await import(${JSON.stringify(import.meta.resolve('./embedded.ts'))})
    const log = { info() {}, warn() {}, error() {} }
    try {
      const server = await startEmbedded({ data_dir: ${JSON.stringify(data_dir)}, log })
      console.log(JSON.stringify({ url: server.url, pid: server.pid }))
      process.once('SIGTERM', () => server.stop())
    } catch (error) {
      console.log(JSON.stringify({ error: error.message }))
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => end(child, 'SIGTERM'))
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, said: JSON.parse(line) as { url?: string; pid?: number; error?: string } }
}

/** A process that has ended may still have its number, as a zombie, until its parent asks. */
const isRunning = (pid: number) =>
  execFileSync('/bin/ps', ['-A', '-o', 'pid=,stat='], { encoding: 'utf8' })
    .split('\n')
    .some((line) => new RegExp(`^ *${pid} +[^Z]`).test(line))

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

test('the first start makes a database, later ones find it as it was', async (t) => {
  const data_dir = await dataDir(t)
  const first = await start(data_dir, true)
  await write(first.url, 1)
  await first.stop()
  assert.deepEqual(await first.exited, { expected: true, reason: 'PostgreSQL ended with code 0' })
  const second = await start(data_dir, true)
  assert.deepEqual(await read(second.url), [1])
  const [settings] = await using(second.url, (db) =>
    db.query(
      `SELECT current_setting('listen_addresses') AS addresses,
              current_setting('synchronous_commit') AS synchronous_commit,
              current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding,
              datcollate FROM pg_database WHERE datname = current_database()`,
    ),
  )
  assert.deepEqual(settings, {
    addresses: '',
    synchronous_commit: 'on',
    fsync: 'on',
    encoding: 'UTF8',
    datcollate: 'C',
  })
  const { mode } = await stat(path.join(data_dir, 'postgres/cluster'))
  assert.equal(mode & 0o777, 0o700, 'nobody else may come near the socket')
})

test('what was committed survives the kill of its owner, whose orphan is taken over', async (t) => {
  const data_dir = await dataDir(t)
  const { child, said } = await owner(t, data_dir)
  await write(said.url!, 1)
  await end(child, 'SIGKILL')
  assert.ok(isRunning(said.pid!), 'the orphan is still there')
  const server = await start(data_dir)
  assert.deepEqual(await read(server.url), [1])
  assert.ok(!isRunning(said.pid!))
})

test('what was committed survives the kill of PostgreSQL, which is reported', async (t) => {
  const data_dir = await dataDir(t)
  const first = await start(data_dir, true)
  await write(first.url, 1)
  process.kill(first.pid, 'SIGKILL')
  const { expected, reason } = await first.exited
  assert.equal(expected, false)
  assert.match(reason, /^PostgreSQL ended by SIGKILL/)
  const second = await start(data_dir)
  assert.deepEqual(await read(second.url), [1])
})

test('everything killed at once, in the middle of writing, loses nothing committed', async (t) => {
  const data_dir = await dataDir(t)
  const { child, said } = await owner(t, data_dir)
  const db = await openDatabase({ url: said.url!, log: silent, application_name: 'test' })
  await db.execute('CREATE TABLE kept (value int)')
  let acknowledged = 0
  const enough = Promise.withResolvers<void>()
  const writing = (async () => {
    for (let value = 1; ; value++) {
      await db.execute('INSERT INTO kept VALUES ($1)', [value])
      acknowledged = value
      if (value === 100) enough.resolve()
    }
  })()
  await enough.promise
  const broken = assert.rejects(writing)
  process.kill(said.pid!, 'SIGKILL')
  await end(child, 'SIGKILL')
  await broken
  await db.close()
  const server = await start(data_dir)
  const values = await read(server.url)
  // The statement under way may have been committed without its answer getting through.
  assert.ok(values.length === acknowledged || values.length === acknowledged + 1)
  assert.equal(values.at(-1), values.length, 'none is missing in between')
})

test('a second start is refused while the owner lives, in this process or another', async (t) => {
  const data_dir = await dataDir(t)
  const server = await start(data_dir)
  const message = new RegExp(`${data_dir} is in use by process ${process.pid};`)
  await assert.rejects(startEmbedded({ data_dir, log: silent }), { message })
  assert.match((await owner(t, data_dir)).said.error!, message)
  await write(server.url, 1)
  assert.deepEqual(await read(server.url), [1], 'the owner is not disturbed')
})

test('of starts at the same instant exactly one wins', async (t) => {
  const data_dir = await dataDir(t)
  const owners = await Promise.all([1, 2, 3].map(() => owner(t, data_dir)))
  const won = owners.filter(({ said }) => said.url !== undefined)
  assert.equal(won.length, 1)
  for (const { said } of owners.filter((one) => !won.includes(one))) {
    assert.match(said.error!, /is in use by process (\d+|unknown);/)
  }
  await write(won[0]!.said.url!, 1)
})

test('a start that was killed while making the database leaves nothing half-made', async (t) => {
  const data_dir = await dataDir(t)
  const half = path.join(data_dir, 'postgres/cluster.new')
  await mkdir(half, { recursive: true })
  await writeFile(path.join(half, 'PG_VERSION'), '18\n')
  const server = await start(data_dir)
  await write(server.url, 1)
  assert.ok(!(await readdir(path.join(data_dir, 'postgres'))).includes('cluster.new'))
})

test('a stale process file that names a living stranger does not hinder the start', async (t) => {
  const data_dir = await dataDir(t)
  const first = await start(data_dir)
  await write(first.url, 1)
  const file = path.join(data_dir, 'postgres/cluster/postmaster.pid')
  const text = await readFile(file, 'utf8')
  await first.stop()
  // A sleeping process of the account that PostgreSQL runs as: what makes PostgreSQL itself refuse.
  const { uid, gid } = await stat(path.join(data_dir, 'postgres/cluster'))
  const stranger = spawn('/bin/sleep', ['600'], { uid, gid, cwd: '/', stdio: 'ignore' })
  t.after(() => end(stranger, 'SIGKILL'))
  await once(stranger, 'spawn')
  await writeFile(file, text.replace(/^\d+/, String(stranger.pid)))
  const second = await start(data_dir)
  assert.deepEqual(await read(second.url), [1])
  assert.equal(stranger.exitCode ?? stranger.signalCode, null, 'the stranger is left alone')
})

test('a data directory with a long path gets its socket elsewhere, for itself alone', async (t) => {
  const data_dir = path.join(await dataDir(t), 'a'.repeat(100))
  const server = await start(data_dir)
  const socket_dir = new URL(server.url).searchParams.get('host')!
  try {
    await write(server.url, 1)
    assert.ok(!socket_dir.startsWith(data_dir))
    assert.equal((await stat(socket_dir)).mode & 0o777, 0o700)
  } finally {
    await server.stop()
  }
  await assert.rejects(stat(socket_dir), { code: 'ENOENT' })
})

test('root runs it as another user, also below a directory that this user cannot enter', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root')
  const locked = await dataDir(t)
  await chmod(locked, 0o700)
  const server = await start(path.join(locked, 'data'))
  await write(server.url, 1)
  const { uid } = await stat(path.join(locked, 'data/postgres/cluster'))
  assert.ok(uid !== 0 && uid !== 65_534, `${uid} is shared with other programs`)
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
  assert.match(status, new RegExp(`^Uid:\\s${uid}\\s${uid}\\s${uid}\\s${uid}$`, 'm'))
  assert.match(status, /^Groups:\s*$/m)
})

test('root gives a database that ran as nobody to an account of its own, rows and all', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root')
  const data_dir = await dataDir(t)
  const cluster = path.join(data_dir, 'postgres/cluster')
  const first = await start(data_dir)
  await write(first.url, 7)
  await first.stop()
  const owners = async () => {
    const files = await readdir(cluster, { recursive: true })
    const found = await Promise.all(files.map(async (file) => lstat(path.join(cluster, file))))
    // The configuration is written by root.
    return new Set([await lstat(cluster), ...found].map(({ uid }) => uid).filter(Boolean))
  }
  const { uid: own } = await stat(path.join(cluster, 'PG_VERSION'))
  execFileSync('chown', ['-R', '65534:65534', cluster])
  const second = await start(data_dir)
  assert.deepEqual(await owners(), new Set([own]))
  assert.deepEqual(await read(second.url), [7])
  await second.stop()
  // Interrupted half-way: the directory was given, what is in it not yet.
  execFileSync('chown', ['-R', '65534:65534', cluster])
  execFileSync('chown', [`${own}`, cluster])
  await start(data_dir)
  assert.deepEqual(await owners(), new Set([own]))
})

test('an account without a name will do where the system lets none be made', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root')
  const data_dir = await dataDir(t)
  execFileSync('chown', ['58123:58123', data_dir])
  const server = await start(data_dir)
  await write(server.url, 1)
  assert.equal((await stat(path.join(data_dir, 'postgres/cluster/PG_VERSION'))).uid, 58_123)
})

test('a start that fails says why in the words of PostgreSQL, and lets go of the data', async (t) => {
  const data_dir = await dataDir(t)
  await (await start(data_dir)).stop()
  const local = path.join(data_dir, 'postgres/cluster/local.conf')
  await writeFile(local, 'shared_buffers = nonsense\n')
  await assert.rejects(startEmbedded({ data_dir, log: silent }), /shared_buffers/)
  await rm(local)
  await start(data_dir)
})
