/** Backup and restore by the command line. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { startEmbedded } from '../server/storage/embedded.ts'
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
