/** Backup and restore as an operator does them: processes of their own. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { startEmbedded } from '../server/storage/embedded.ts'
import { silent } from './postgres.ts'
import { program_environment } from './program-environment.ts'

const main = fileURLToPath(new URL('../cli/heliograph.ts', import.meta.url))

test('what runs is backed up, and restored where nothing is', async (t) => {
  const home = await mkdtemp(path.join(os.tmpdir(), 'heliograph-backup-'))
  t.after(() => rm(home, { recursive: true, force: true }))
  const at = (name: string) => path.join(home, name)
  const run = (settings: Record<string, string>, ...args: string[]) =>
    new Promise<{ code: number; out: string; notes: string }>((resolve) => {
      const options = { cwd: home, env: { ...program_environment, ...settings } }
      const child = execFile(process.execPath, [main, ...args], options, (_, out, notes) =>
        resolve({ code: child.exitCode ?? -1, out, notes }),
      )
    })
  const done = async (settings: Record<string, string>, ...args: string[]) => {
    const { code, out, notes } = await run(settings, ...args, '--json')
    assert.equal(code, 0, notes)
    return JSON.parse(out)
  }
  const running = { DATA_DIR: at('data') }
  const foreign = { DATABASE_URL: 'postgres://nowhere' }
  assert.equal((await run(running, 'backup', at('none'))).code, 3)
  assert.equal((await run(foreign, 'backup', at('none'))).code, 4)
  assert.deepEqual(await readdir(home), [])

  const server = await startEmbedded({ data_dir: at('data'), log: silent, durable: false })
  try {
    await done(running, 'clients', 'create', 'Sunny Fields', '--modules', 'basic_scada')
    const made = await done(running, 'backup', at('backup.tar'))
    assert.equal(made.backup, at('backup.tar'))
    const refused = await run(running, 'restore', at('backup.tar'))
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
