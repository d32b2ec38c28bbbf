import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { takeLock } from './lock.ts'

test('a lock is held until it is released, whether or not anybody refers to it', async (t) => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'heliograph-lock-'))
  t.after(() => rm(directory, { recursive: true }))
  const file = path.join(directory, 'lock')
  const refused = { message: `the thing is in use by process ${process.pid}; stop that one first` }

  const first = await takeLock(file, 'the thing')
  await assert.rejects(takeLock(file, 'the thing'), refused)
  first.release()
  first.release()

  await takeLock(file, 'the thing')
  setFlagsFromString('--expose-gc')
  for (let round = 0; round < 5; round++) {
    await new Promise(setImmediate)
    runInNewContext('gc')()
  }
  await assert.rejects(takeLock(file, 'the thing'), refused)
})

test('a file that cannot be opened is told', async () => {
  await assert.rejects(
    takeLock('/nowhere/lock', 'the thing'),
    /the thing cannot be locked: \/nowhere/,
  )
})
