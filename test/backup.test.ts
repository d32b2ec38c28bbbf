/** Backup and restore by the command line. */
import assert from 'node:assert/strict'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import type { Check } from '@heliograph/domain/check'
import { openDatabase } from '../server/storage/database.ts'
import { startEmbedded } from '../server/storage/embedded.ts'
import { makeBackup } from '../server/storage/scheduled-backups.ts'
import { heliograph } from './command-line.ts'
import { silent } from './postgres.ts'

test('what runs is backed up, and restored where nothing is', async (t) => {
  const home = await mkdtemp(path.join(os.tmpdir(), 'heliograph-backup-'))
  t.after(() => rm(home, { recursive: true, force: true }))
  const at = (name: string) => path.join(home, name)
  const done = async (settings: Record<string, string>, ...args: string[]) => {
    const { code, out, notes } = await heliograph(settings, ...args, '--json')
    assert.equal(code, 0, notes)
    return JSON.parse(out)
  }
  const running = { DATA_DIR: at('data') }
  const foreign = { DATABASE_URL: 'postgres://nowhere' }
  assert.equal((await heliograph(running, 'backup', at('none'))).code, 3)
  assert.equal((await heliograph(foreign, 'backup', at('none'))).code, 4)
  const away = await heliograph({ DATABASE_URL: 'postgres://127.0.0.1:1/x' }, 'doctor', '--json')
  const [database] = JSON.parse(away.out)
  assert.deepEqual([away.code, database.name, database.state], [1, 'database', 'error'])
  assert.deepEqual(await readdir(home), [])

  const server = await startEmbedded({ data_dir: at('data'), log: silent, durable: false })
  try {
    await done(running, 'clients', 'create', 'Sunny Fields', '--modules', 'basic_scada')
    const made = await done(running, 'backup', at('backup.tar'))
    assert.equal(made.backup, at('backup.tar'))
    const refused = await heliograph(running, 'restore', at('backup.tar'))
    assert.deepEqual([refused.code, refused.out], [1, ''])
    assert.match(refused.notes, /is in use by process \d+|is not empty/)
  } finally {
    await server.stop()
  }
  const checked = await done({}, 'restore', at('backup.tar'), '--check')
  const restored = { DATA_DIR: at('restored') }
  const { files } = await done(restored, 'restore', at('backup.tar'))
  assert.equal(files, checked.files)
  // Of a database that does not run, too.
  await done(restored, 'backup', at('second'))
  const [client] = await done(restored, 'clients', 'list')
  assert.equal(client.name, 'Sunny Fields')
})

test('scheduled backups are kept, verified and judged', async (t) => {
  const home = await mkdtemp(path.join(os.tmpdir(), 'heliograph-schedule-'))
  t.after(() => rm(home, { recursive: true, force: true }))
  const [data_dir, dir] = [path.join(home, 'data'), path.join(home, 'backups')]
  const settings = { DATA_DIR: data_dir, BACKUP_DIR: dir }
  const run = (...words: string[]) => heliograph(settings, ...words)
  /** The check of the backups by `doctor`. */
  const judged = async () => {
    const { out } = await run('doctor', '--json')
    const checks: Check[] = JSON.parse(out)
    return checks.find(({ name }) => name === 'backups')!
  }
  const server = await startEmbedded({ data_dir, log: silent, durable: false })
  try {
    await run('clients', 'create', 'Sunny Fields', '--modules', 'basic_scada')
    assert.equal((await judged()).finding, 'none was made yet')
    const db = await openDatabase({
      url: server.url,
      log: silent,
      application_name: 'test',
      max: 2,
    })
    let now_ms = Date.now() - 3 * 3_600_000
    const clock = { now: () => new Date(now_ms) }
    const order = { dir, kept: 2, url: server.url, data_dir }
    const make = () => makeBackup({ db, clock, log: silent }, order)
    for (let nth = 0; nth < 3; nth += 1) {
      now_ms += 3_600_000
      await make()
    }
    const kept = (await readdir(dir)).sort()
    assert.equal(kept.length, 2)
    const newest = path.join(dir, kept[1]!)
    assert.match((await judged()).finding, /none was restored for a test/)

    const verified = await run('backup', 'verify', newest, '--json', '--scratch', home)
    assert.equal(verified.code, 0, verified.notes)
    const { tables, rows, wrong } = JSON.parse(verified.out)
    assert.ok(tables > 80 && rows > 50, verified.out)
    assert.deepEqual(wrong, [])
    assert.equal((await judged()).state, 'ok')
    assert.deepEqual((await readdir(home)).sort(), ['backups', 'data'], 'nothing is left over')

    const file = await open(newest, 'r+')
    await file.write('damaged', 700_000)
    await file.close()
    const damaged = await run('backup', 'verify', newest, '--scratch', home)
    assert.equal(damaged.code, 1)
    assert.match(damaged.notes, /is damaged/)
    assert.match((await judged()).finding, /cannot be relied on: .*damaged/)

    order.dir = path.join(newest, 'below-a-file')
    now_ms += 1000
    await assert.rejects(make)
    const failed = await judged()
    assert.deepEqual(
      [failed.state, /^failed at .*(ENOTDIR|EEXIST)/.test(failed.finding)],
      ['error', true],
    )
    await db.close()
  } finally {
    await server.stop()
  }
})
