import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { writeDurably } from '../durable-file.ts'
import { virtualClock } from '../fixtures/virtual-clock.ts'
import { sealPermitFile } from './permit-file.ts'
import { PermitWatch } from './permit-watch.ts'

type Plants = Readonly<Record<number, number>>

function sealed(plants: Plants, site_permit_kw?: number): string {
  const entries = Object.entries(plants).map(([id, permit_kw]) => {
    return { logger_id: Number(id), permit_kw }
  })
  const file = { version: 1, site_id: 'demo', site_permit_kw, plants: entries }
  const result = sealPermitFile(JSON.stringify(file))
  return 'text' in result ? result.text : assert.fail(result.problems.join())
}

function placeOf(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-permit-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const files = {
    permit_file: join(dir, 'permit.yaml'),
    accepted_file: join(dir, 'accepted-permit.yaml'),
    last_file: join(dir, 'last-permits.json'),
  }
  const accepted: boolean[] = []
  const problems: string[] = []
  const faults: string[] = []
  /** Copies that hang, the oldest first; null: none does. */
  const disk = { hanging: null as PromiseWithResolvers<void>[] | null, is_full: false }
  const open = async () => {
    const watch = await PermitWatch.open({
      ...files,
      timers: virtualClock('2026-06-21T10:00:00Z'),
      site: () => ({ site_id: 'demo', plants: new Set([1, 2]) }),
      onFault: ({ message }) => faults.push(message),
      async write(path, text) {
        if (disk.hanging && path === files.accepted_file) {
          const hanging = Promise.withResolvers<void>()
          disk.hanging.push(hanging)
          await hanging.promise
        }
        if (disk.is_full) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        await writeDurably(path, text)
      },
    })
    watch.start({
      onAccepted: (_, is_change) => accepted.push(is_change),
      onRejected: (found) => problems.push(...found),
      onMended: () => {},
    })
    t.after(() => watch.close())
    return watch
  }
  const put = async (watch: PermitWatch, text: string) => {
    writeFileSync(files.permit_file, text)
    await watch.check()
  }
  /** What is under way on the disk beside the looks. */
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise(setImmediate)
  }
  return { ...files, accepted, problems, faults, disk, open, put, until }
}

const terms = ({ permit }: PermitWatch) =>
  permit && {
    entries: Object.fromEntries(permit.plant_w),
    lapsed: Object.fromEntries(permit.lapsed_w ?? []),
    site_w: permit.site_w,
  }

test('a lower permit holds while the copy of one before it hangs, in any order', async (t) => {
  const { permit_file, accepted_file, accepted, disk, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50 }))
  const watch = await open()
  disk.hanging = []
  await put(watch, sealed({ 1: 80 }))
  assert.equal(watch.permit?.plant_w.get(1), 50_000, 'a higher one waits for its copy')
  await put(watch, sealed({ 1: 30 }))
  assert.equal(watch.permit?.plant_w.get(1), 30_000)
  await put(watch, sealed({ 1: 40 }))
  assert.equal(watch.permit?.plant_w.get(1), 30_000)
  await until(() => disk.hanging?.length === 1)
  assert.deepEqual(accepted, [false])
  const [first] = disk.hanging
  disk.hanging = null
  first!.resolve()
  await until(() => accepted.length === 2)
  assert.equal(watch.permit?.plant_w.get(1), 40_000, 'the newest has its copy')
  assert.equal(readFileSync(accepted_file, 'utf8'), sealed({ 1: 40 }))
  assert.deepEqual(accepted, [false, true], 'what was overtaken was never in force')
})

test('a permit that comes back while another is copied is copied anew', async (t) => {
  const { permit_file, accepted_file, disk, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50 }))
  const watch = await open()
  disk.hanging = []
  await put(watch, sealed({ 1: 30 }))
  await put(watch, sealed({ 1: 50 }))
  assert.equal(watch.permit?.plant_w.get(1), 30_000, 'the disk may have the lower one')
  await until(() => disk.hanging?.length === 1)
  const [first] = disk.hanging
  disk.hanging = null
  first!.resolve()
  await until(() => watch.permit?.plant_w.get(1) === 50_000)
  assert.equal(readFileSync(accepted_file, 'utf8'), sealed({ 1: 50 }))
})

test('a permit that comes back after another copy of it was overtaken is copied anew', async (t) => {
  const { permit_file, accepted_file, problems, disk, open, put, until } = placeOf(t)
  const copied = () => readFileSync(accepted_file, 'utf8')
  writeFileSync(permit_file, sealed({ 1: 50 }))
  const watch = await open()
  disk.hanging = []
  await put(watch, sealed({ 1: 80 }))
  await until(() => disk.hanging?.length === 1)
  await put(watch, sealed({ 1: 40 }))
  disk.hanging[0]!.resolve()
  await until(() => copied() === sealed({ 1: 80 }) && disk.hanging?.length === 2)
  disk.is_full = true
  disk.hanging[1]!.resolve()
  await until(() => problems.length === 1)
  assert.deepEqual(problems, ['its copy cannot be kept (ENOSPC)'])
  assert.equal(watch.permit?.plant_w.get(1), 40_000)
  Object.assign(disk, { hanging: null, is_full: false })
  await put(watch, sealed({ 1: 50 }))
  assert.equal(watch.permit?.plant_w.get(1), 40_000, 'a restart would find the one that is higher')
  await until(() => watch.permit?.plant_w.get(1) === 50_000)
  assert.equal(copied(), sealed({ 1: 50 }))
})

test('nothing is raised that only one of two permits has, while the newer is copied', async (t) => {
  const { permit_file, disk, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50 }))
  const watch = await open()
  disk.hanging = []
  await put(watch, sealed({ 2: 70 }, 90))
  assert.deepEqual(terms(watch), { entries: {}, lapsed: { 1: 50_000, 2: 70_000 }, site_w: 90_000 })
  await until(() => disk.hanging?.length === 1)
  disk.hanging[0]!.resolve()
  await until(() => watch.permit?.plant_w.has(2) ?? false)
  assert.deepEqual(terms(watch), {
    entries: { 2: 70_000 },
    lapsed: { 1: 50_000 },
    site_w: 90_000,
  })
})

test('what a plant was permitted last outlives its entry, and restarts', async (t) => {
  const { permit_file, last_file, accepted, faults, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50, 2: 70 }))
  const earliest = await open()
  earliest.close()
  // As an earlier version of the agent left it.
  rmSync(last_file)
  const first = await open()
  await put(first, sealed({ 1: 40 }))
  await until(() => accepted.includes(true))
  const expected = { entries: { 1: 40_000 }, lapsed: { 2: 70_000 }, site_w: null }
  assert.deepEqual(terms(first), expected)
  first.close()
  const second = await open()
  assert.deepEqual(terms(second), expected)
  await put(second, sealed({ 1: 40, 2: 60 }))
  await until(() => second.permit?.plant_w.get(2) === 60_000)
  assert.equal(second.permit?.lapsed_w, undefined)
  await put(second, sealed({ 1: 45 }))
  await until(() => second.permit?.plant_w.get(1) === 45_000)
  assert.deepEqual(terms(second)?.lapsed, { 2: 60_000 })
  second.close()
  writeFileSync(last_file, '[[2,')
  const third = await open()
  assert.deepEqual(terms(third)?.lapsed, {})
  assert.deepEqual(faults, ['last-permits.json cannot be understood'])
})
