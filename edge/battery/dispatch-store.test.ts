import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { openDispatchStore, readSavedPcs } from './dispatch-store.ts'
import { hourOf } from './fixtures/mixed-site.ts'

async function inDirectory(job: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'heliograph-dispatch-'))
  try {
    await job(dir)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

test('what was saved is there for the next run', () =>
  inDirectory(async (dir) => {
    const onFault = (error: Error) => assert.fail(error)
    const store = await openDispatchStore({ dir, onFault })
    assert.deepEqual(store.state.hours, [])
    const hours = [hourOf(50), hourOf(-20, { schedule_id: 2 })]
    const place = { logger_id: null }
    const known = { max_w: 60_000, place, left: [1, null], freed_id: 'a', stands: true }
    const record = { bess_id: 1, pcs_idx: 0, ...known }
    await store.save({ hours, most_w: new Map([['1.0', 50_000]]), reports: [], pcs: [record] })
    const next = await openDispatchStore({ dir, onFault })
    const most_w = new Map([['1.0', 50_000]])
    assert.deepEqual(next.state, { hours, most_w, reports: [], pcs: [record] })
    assert.deepEqual(await readSavedPcs(dir), [record])
  }))

test('a file that is not what was written is told of, set aside, and empty', () =>
  inDirectory(async (dir) => {
    const path = join(dir, 'battery-dispatch.json')
    for (const text of ['', '{', '{"hours":[{}],"most_w":[],"reports":[]}']) {
      await writeFile(path, text)
      const faults: string[] = []
      const store = await openDispatchStore({
        dir,
        onFault: ({ message }) => faults.push(message),
      })
      assert.deepEqual(store.state.hours, [])
      assert.deepEqual(faults, ['battery-dispatch.json cannot be understood'])
      assert.deepEqual(await readdir(dir), ['battery-dispatch.json.broken'])
    }
  }))
