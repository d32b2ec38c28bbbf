import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { takeDataDir } from './data-dir.ts'

function place(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-data-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test('a data directory is made, for its owner alone', async (t) => {
  const dir = join(place(t), 'deep', 'below')
  const lock = await takeDataDir(dir)
  assert.equal(statSync(dir).mode & 0o777, 0o700)
  lock.release()
  const again = await takeDataDir(dir)
  again.release()
})

test('a data directory that cannot be written is refused, with the reason', async (t) => {
  const dir = place(t)
  const file = join(dir, 'file')
  writeFileSync(file, '')
  const refused = (path: string, reason: RegExp) =>
    assert.rejects(takeDataDir(path), ({ message }: Error) => {
      assert.ok(message.startsWith(`EDGE_DATA_DIR: cannot write to ${path}: `), message)
      assert.match(message, reason)
      return true
    })
  await refused(file, /it is no directory/)
  await refused(join(file, 'below'), /it is no directory|ENOTDIR/)
  await refused('/proc/heliograph/data', /ENOENT|EACCES|EROFS|EPERM/)
  // Permissions do not hold root back.
  if (process.getuid?.() === 0) return
  const folder = join(dir, 'taken', 'journal')
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o500)
  await refused(join(dir, 'taken'), /EACCES/)
  chmodSync(dir, 0o500)
  await refused(dir, /EACCES/)
  await refused(join(dir, 'new'), /EACCES/)
  chmodSync(dir, 0o700)
})

test('a lock that is no database is told as what cannot be locked', async (t) => {
  const dir = place(t)
  writeFileSync(join(dir, 'lock'), 'not a database, but longer than its header would be '.repeat(9))
  await assert.rejects(takeDataDir(dir), /^Error: EDGE_DATA_DIR: cannot lock .*lock: /)
})
