import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  cp,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test, { after, before, type TestContext } from 'node:test'
import { backUp } from './backup.ts'
import { type Manifest, manifestText, readManifest } from './backup-manifest.ts'
import { checkBackup, restore } from './backup-restore.ts'
import { type Database, openDatabase } from './database.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import { migrate } from './migrate.ts'

const log = { info() {}, warn() {}, error() {} }
const at = '2026-06-21T12:00:00.000Z'
const clock = { now: () => new Date(at) }

let home: string
let data_dir: string
let server: EmbeddedServer
let db: Database
/** A backup of two files of the database, which tests copy and spoil in no time. */
let small: string
let small_manifest: Manifest

before(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'heliograph-backup-'))
  data_dir = path.join(home, 'data')
  server = await startEmbedded({ data_dir, log, durable: false })
  db = await openDatabase({ url: server.url, log, application_name: 'test' })
  await migrate(db)
  await db.execute(`insert into clients (name, modules) values ('owner', '{}');
    insert into sites (site_id, client_id, name) select 'park', client_id, 'Park' from clients;
    create table kept (number int primary key, filling text);
    alter table kept alter filling set storage external`)
  await makeSmall()
})
after(async () => {
  await db.close()
  await server.stop()
  await rm(home, { recursive: true, force: true })
})

const backUpTo = (target: string) => backUp({ url: server.url, data_dir, target, clock, log })
const restoreTo = (dir: string, backup: string) => restore({ backup, data_dir: dir, clock, log })
const fresh = (t: TestContext) => path.join(home, `to-${t.name.replaceAll(/\W+/g, '-')}`)

/** Makes `small` of the control file and the largest file of a whole backup. */
async function makeSmall(): Promise<void> {
  const whole = path.join(home, 'whole')
  await backUpTo(whole)
  const manifest = readManifest(await readFile(path.join(whole, 'manifest.json'), 'utf8'))
  const files = manifest.files
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter((file, index) => index === 0 || file.path === 'global/pg_control')
  small_manifest = { ...manifest, directories: [], files }
  small = path.join(home, 'small')
  for (const file of files) {
    const name = path.join('cluster', file.path)
    await cp(path.join(whole, name), path.join(small, name))
  }
  await writeFile(path.join(small, 'manifest.json'), manifestText(small_manifest))
}

async function hasNoDatabase(dir: string): Promise<boolean> {
  const names = await readdir(path.join(dir, 'postgres')).catch(() => [])
  return names.every((name) => name.startsWith('lock'))
}

/** Rows one after the other, each in a transaction, until told to end. */
function keepWriting() {
  let written = 0
  let is_over = false
  const first = Promise.withResolvers<void>()
  const done = (async () => {
    while (!is_over) {
      await db.execute(`insert into kept values ($1::int, repeat(md5($1::int::text), 200))`, [
        written + 1,
      ])
      written += 1
      if (written === 50) first.resolve()
    }
  })()
  return {
    begun: Promise.race([first.promise, done]),
    written: () => written,
    async end() {
      is_over = true
      await done
    },
  }
}

async function restoredRows(dir: string) {
  const restored = await startEmbedded({ data_dir: dir, log, durable: false })
  const there = await openDatabase({ url: restored.url, log, application_name: 'test' })
  try {
    const kept = await there.query<{ number: number; is_whole: boolean }>(
      `select number, filling = repeat(md5(number::text), 200) as is_whole
       from kept order by number`,
    )
    const events = await there.query('select site_id, at, code, details from events')
    const slots = await there.query('select from pg_replication_slots')
    return { kept, events, slots: slots.length }
  } finally {
    await there.close()
    await restored.stop()
  }
}

for (const name of ['directory', 'file.tar']) {
  test(`a ${name} made while rows are written comes back as the database was`, async (t) => {
    await db.execute('truncate kept')
    const writing = keepWriting()
    await writing.begun
    const before = writing.written()
    const target = path.join(home, name)
    const report = await backUpTo(target)
    const after = writing.written()
    await writing.end()
    assert.ok(after > before, 'nothing was written meanwhile')
    const { files } = await checkBackup(target)
    assert.equal(files.length, report.files)
    // Without it PostgreSQL would start from a later moment than that of the first file.
    assert.ok(files.some((file) => file.path === 'backup_label'))
    assert.ok(files.some((file) => /^pg_wal\/[0-9A-F]{24}$/.test(file.path)))

    const dir = fresh(t)
    const restored = await restoreTo(dir, target)
    assert.deepEqual(
      { ...restored, files: 0, bytes: 0 },
      { backup_finished_at: at, files: 0, bytes: 0, sites: 1, last_seen_at: null },
    )
    const { kept, events, slots } = await restoredRows(dir)
    assert.ok(kept.length >= before && kept.length <= after + 1, `${kept.length} rows`)
    assert.ok(kept.every(({ number, is_whole }, index) => number === index + 1 && is_whole))
    assert.deepEqual(events, [
      {
        site_id: 'park',
        at: new Date(at),
        code: 'server_restored',
        details: { backup_finished_at: at },
      },
    ])
    assert.equal(slots, 0)
  })
}

test('a row committed just before the clock says when a backup ended is in it', async (t) => {
  await db.execute('truncate kept')
  const insert = `import pg from 'pg'
    const client = new pg.Client(process.argv[1])
    await client.connect()
    await client.query('insert into kept select count(*) + 1 from kept')
    await client.end()`
  let committed = 0
  const committing = {
    now() {
      execFileSync(process.execPath, ['--input-type=module', '-e', insert, server.url])
      committed += 1
      return new Date(at)
    },
  }
  const target = path.join(home, 'just-before')
  await backUp({ url: server.url, data_dir, target, clock: committing, log })
  await restoreTo(fresh(t), target)
  const { kept } = await restoredRows(fresh(t))
  assert.equal(kept.length, committed)
})

test('what was spoiled is not restored', async (t) => {
  assert.deepEqual(await checkBackup(small), small_manifest)
  const [largest] = small_manifest.files
  const rewrite = (change: Partial<Manifest>) => async (backup: string) =>
    writeFile(path.join(backup, 'manifest.json'), manifestText({ ...small_manifest, ...change }))
  const spoilings: Record<string, [RegExp, (backup: string) => Promise<unknown>]> = {
    'a byte': [
      /is damaged: .* is not what was backed up/,
      async (backup) => {
        const file = await open(path.join(backup, 'cluster', largest!.path), 'r+')
        await file.write(Buffer.from([0xa5, 0x5a]), 0, 2, largest!.bytes >> 1)
        await file.close()
      },
    ],
    'a file less': [
      /not whole: global\/pg_control is missing/,
      (backup) => rm(path.join(backup, 'cluster/global/pg_control')),
    ],
    'a file more': [
      /recovery\.signal is new/,
      (backup) => writeFile(path.join(backup, 'cluster/recovery.signal'), ''),
    ],
    'no manifest': [/no manifest/, (backup) => rm(path.join(backup, 'manifest.json'))],
    'a manifest cut': [
      /manifest of the backup is damaged/,
      (backup) => truncate(path.join(backup, 'manifest.json'), 1000),
    ],
    'a manifest changed': [
      /manifest of the backup is damaged/,
      (backup) => appendFile(path.join(backup, 'manifest.json'), '{}'),
    ],
    'another PostgreSQL': [/made by PostgreSQL 12 /, rewrite({ postgres_major: 12 })],
    'a newer Heliograph': [
      /migration 0999-later, which this version does not know/,
      rewrite({ migrations: [...small_manifest.migrations, '0999-later'] }),
    ],
    'a way out': [/"\.\.\/out" is no name/, rewrite({ directories: ['../out'] })],
  }
  // What reading it tells already; the others are unpacked as far as they go.
  const unreadable = new Set(['a file less', 'a file more', 'no manifest'])
  for (const [name, [message, spoil]] of Object.entries(spoilings)) {
    await t.test(name, async (t) => {
      const backup = path.join(home, `spoiled ${name}`)
      await cp(small, backup, { recursive: true })
      await spoil(backup)
      if (unreadable.has(name)) return assert.rejects(checkBackup(backup), message)
      await assert.rejects(restoreTo(fresh(t), backup), message)
      assert.ok(await hasNoDatabase(fresh(t)))
    })
  }
  await t.test('a tar cut short', async (t) => {
    const backup = path.join(home, 'short.tar')
    await backUpTo(backup)
    await truncate(backup, (await stat(backup)).size - 100_000)
    await assert.rejects(restoreTo(fresh(t), backup))
    assert.ok(await hasNoDatabase(fresh(t)))
  })
})

test('a directory in use or not empty is left as it is', async (t) => {
  await assert.rejects(restoreTo(data_dir, small), /is in use by process \d+/)
  const dir = fresh(t)
  await cp(small, dir, { recursive: true })
  const before = await readdir(dir)
  await assert.rejects(restoreTo(dir, small), /is not empty \(cluster, manifest\.json\)/)
  assert.deepEqual(await readdir(dir), before)
  await assert.rejects(backUpTo(small), /small exists/)
})

test('a backup that cannot be written leaves neither file nor slot', async () => {
  const target = path.join(home, 'never')
  const crowded = { url: server.url, data_dir: path.join(home, 'elsewhere'), target, clock, log }
  await assert.rejects(backUp(crowded), /no backup was made/)
  assert.deepEqual(
    (await readdir(home)).filter((name) => name.startsWith('never')),
    [],
  )
  assert.deepEqual(await db.query('select slot_name from pg_replication_slots'), [])
})

test('of a backup that was killed nothing looks whole, and the next one succeeds', async () => {
  const target = path.join(home, 'killed')
  // Stands still in the middle, as a slow disk would.
  const code = `
    const { backUp } = await import(${JSON.stringify(import.meta.resolve('./backup.ts'))})
    const log = { info() { process.stdout.write('begun') } }
    let asked = 0
    const clock = { now: () => {
      if (asked++) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      return new Date()
    } }
    await backUp({ ...${JSON.stringify({ url: server.url, data_dir, target })}, clock, log })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  await assert.rejects(backUpTo(`${target}-too`), /another backup of this database is running/)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const left = (await readdir(home)).filter((name) => name.startsWith('killed'))
  assert.deepEqual(left, ['killed.partial'])
  await assert.rejects(checkBackup(path.join(home, 'killed.partial')), /no manifest/)
  // The session of the killed one ends when PostgreSQL notices.
  while ((await db.query('select from pg_replication_slots')).length > 0);
  while ((await db.query(`select from pg_locks where locktype = 'advisory'`)).length > 0);
  await backUpTo(target)
  await checkBackup(target)
  assert.ok(!(await readdir(home)).includes('killed.partial'))
})

test('a manifest says what it said', () => {
  const manifest: Manifest = {
    format: 'heliograph-backup-1',
    postgres_major: 18,
    system_identifier: '1',
    migrations: ['0001-a'],
    started_at: at,
    finished_at: at,
    start_lsn: '0/1',
    stop_lsn: '0/2',
    directories: ['base'],
    files: [],
  }
  const text = manifestText(manifest)
  assert.deepEqual(readManifest(text), manifest)
  assert.throws(() => readManifest(text.replace('0001-a', '0001-b')), /damaged/)
})
