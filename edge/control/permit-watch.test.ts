import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { writeDurably } from '../durable-file.ts'
import { virtualClock } from '../fixtures/virtual-clock.ts'
import { sealPermitFile } from './permit-file.ts'
import { PermitWatch } from './permit-watch.ts'

interface Disk {
  /** Copies that hang, the oldest first; null: none does. */
  hanging: PromiseWithResolvers<void>[] | null
  /** unsynced: the text is there, and may be the one before after a power cut. */
  fault: ((path: string, text: string) => 'full' | 'unsynced' | null) | null
}

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
  let mended = 0
  const clock = virtualClock('2026-06-21T10:00:00Z')
  const disk: Disk = { hanging: null, fault: null }
  const open = async () => {
    const watch = await PermitWatch.open({
      ...files,
      timers: clock,
      site: () => ({
        site_id: 'demo',
        plants: new Map([
          [1, 100_000],
          [2, 100_000],
        ]),
        rated_kw: 200_000,
      }),
      onFault: ({ message }) => faults.push(message),
      async write(path, text) {
        if (disk.hanging && path === files.accepted_file) {
          const hanging = Promise.withResolvers<void>()
          disk.hanging.push(hanging)
          await hanging.promise
        }
        const fault = disk.fault?.(path, text)
        if (fault === 'full') throw Object.assign(new Error(fault), { code: 'ENOSPC' })
        await writeDurably(path, text)
        if (fault === 'unsynced') throw Object.assign(new Error(fault), { code: 'EIO' })
      },
    })
    watch.start({
      onAccepted: (_, is_change) => accepted.push(is_change),
      onRejected: (found) => problems.push(...found),
      onMended: () => {
        mended += 1
      },
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
  const told = { accepted, problems, faults, mended: () => mended }
  return { ...files, ...told, clock, disk, open, put, until }
}

function leave(path: string, text: string | null): void {
  if (text === null) rmSync(path)
  else writeFileSync(path, text)
}

const notCopied = (code: string) =>
  `its copy cannot be kept (${code}), so only what is lower in it holds`

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
  disk.fault = () => 'full'
  disk.hanging[1]!.resolve()
  await until(() => problems.length === 1)
  assert.deepEqual(problems, [notCopied('ENOSPC')])
  assert.equal(watch.permit?.plant_w.get(1), 40_000)
  Object.assign(disk, { hanging: null, fault: null })
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
  const { permit_file, accepted, faults, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50, 2: 70 }))
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
  assert.deepEqual(faults, [])
})

test('an entry that was lowered lapses at that, also where it was never copied', async (t) => {
  for (const fails of ['slow', 'full']) {
    const { permit_file, disk, problems, open, put, until } = placeOf(t)
    writeFileSync(permit_file, sealed({ 1: 50, 2: 70 }))
    const watch = await open()
    if (fails === 'slow') disk.hanging = []
    else disk.fault = () => 'full'
    await put(watch, sealed({ 1: 30, 2: 70 }))
    await until(() => disk.hanging?.length === 1 || problems.length === 1)
    await put(watch, sealed({ 2: 70 }))
    assert.equal(watch.permit?.lapsed_w?.get(1), 30_000)
    const [slow] = disk.hanging ?? []
    Object.assign(disk, { hanging: null, fault: null })
    slow?.resolve()
    await put(watch, sealed({ 2: 60 }))
    await until(() => watch.accepted?.text === sealed({ 2: 60 }))
    const expected = { entries: { 2: 60_000 }, lapsed: { 1: 30_000 }, site_w: null }
    assert.deepEqual(terms(watch), expected, fails)
    watch.close()
    assert.deepEqual(terms(await open()), expected, `${fails}, and a restart`)
  }
})

test('where the copy is lost the last figures hold, downwards, and that is told', async (t) => {
  const right = sealed({ 1: 50 }, 90)
  for (const left of [null, right.slice(0, 40), right.replace('50', '59')]) {
    for (const found of [null, right.replace('50', '51')]) {
      const { permit_file, accepted_file, accepted, open, put, until, ...told } = placeOf(t)
      writeFileSync(permit_file, right)
      ;(await open()).close()
      leave(accepted_file, left)
      leave(permit_file, found)
      const mended = told.mended()
      const watch = await open()
      const bound = { entries: {}, lapsed: { 1: 50_000 }, site_w: 90_000 }
      assert.deepEqual(terms(watch), bound)
      const what = left === null ? 'is gone' : 'cannot be understood'
      assert.deepEqual(told.faults, [`accepted-permit.yaml ${what}`])
      assert.match(told.problems.join(), /^permit\.yaml:(cannot be read|1:\d+: checksum)/)
      assert.equal(told.mended(), mended)
      await put(watch, right)
      await until(() => told.mended() > mended)
      assert.deepEqual(terms(watch), { entries: { 1: 50_000 }, lapsed: {}, site_w: 90_000 })
      watch.close()
      await open()
      assert.equal(told.faults.length, 1, 'it is mended')
    }
  }
})

test('last figures that are lost are told, and kept again with a right file', async (t) => {
  for (const left of [null, '[[1,50000]]', '{"plants":[[1,']) {
    const { permit_file, last_file, faults, open } = placeOf(t)
    writeFileSync(permit_file, sealed({ 1: 50 }))
    ;(await open()).close()
    const before = readFileSync(last_file, 'utf8')
    leave(last_file, left)
    const watch = await open()
    assert.deepEqual(terms(watch), { entries: { 1: 50_000 }, lapsed: {}, site_w: null })
    const what = left === null ? 'is gone' : 'cannot be understood'
    assert.deepEqual(faults, [`last-permits.json ${what}`])
    assert.equal(readFileSync(last_file, 'utf8'), before)
    watch.close()
    await open()
    assert.equal(faults.length, 1)
  }
})

test('where all of it is lost there is a permit without a figure, and that is told', async (t) => {
  const { permit_file, accepted_file, last_file, faults, problems, open } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50 }))
  ;(await open()).close()
  for (const path of [accepted_file, last_file]) writeFileSync(path, '')
  rmSync(permit_file)
  assert.deepEqual(terms(await open()), { entries: {}, lapsed: {}, site_w: null })
  assert.deepEqual(faults, [
    'accepted-permit.yaml cannot be understood',
    'last-permits.json cannot be understood',
  ])
  assert.deepEqual(problems, ['permit.yaml:cannot be read (ENOENT)'])
})

test('a permit of which no copy can be kept holds, and nothing is raised under it', async (t) => {
  for (const had_copy of [false, true]) {
    const { permit_file, accepted_file, problems, disk, open, put, until } = placeOf(t)
    if (had_copy) {
      writeFileSync(permit_file, sealed({ 1: 60 }, 90))
      ;(await open()).close()
      writeFileSync(accepted_file, '')
    }
    writeFileSync(permit_file, sealed({ 1: 50 }, 95))
    disk.fault = () => 'full'
    const watch = await open()
    const site_w = had_copy ? 90_000 : 95_000
    assert.deepEqual(terms(watch), { entries: {}, lapsed: { 1: 50_000 }, site_w })
    assert.deepEqual(problems, [notCopied('ENOSPC')])
    await put(watch, sealed({ 1: 70 }, 80))
    await until(() => problems.length === 2)
    assert.deepEqual(terms(watch), { entries: {}, lapsed: { 1: 50_000 }, site_w: 80_000 })
    disk.fault = null
    await watch.check()
    await until(() => watch.permit?.plant_w.get(1) === 70_000)
  }
})

test('a file that is wrong is told also while a right one before it is copied', async (t) => {
  const { permit_file, accepted_file, disk, problems, mended, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50 }))
  const watch = await open()
  const before = mended()
  for (const fault of [null, 'full'] as const) {
    disk.hanging = []
    disk.fault = (path) => (path === accepted_file ? fault : null)
    problems.length = 0
    const next = sealed({ 1: fault ? 20 : 30 })
    await put(watch, next)
    await put(watch, '{')
    await watch.check()
    await until(() => disk.hanging?.length === 1)
    disk.hanging[0]!.resolve()
    disk.hanging = null
    if (!fault) await until(() => watch.accepted?.text === next)
    for (let nth = 0; nth < 3; nth += 1) await watch.check()
    assert.match(problems.join(), /^permit\.yaml:.*this is not YAML$/)
    assert.doesNotMatch(problems.join(), /copy/)
    assert.equal(mended(), before)
  }
  disk.fault = null
  await put(watch, sealed({ 1: 30 }))
  await until(() => mended() === before + 1)
})

test('a copy that is there and may not be durable counts as none', async (t) => {
  const { permit_file, accepted_file, problems, mended, disk, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50 }))
  const first = await open()
  disk.fault = (path) => (path === accepted_file ? 'unsynced' : null)
  await put(first, sealed({ 1: 80 }))
  await until(() => problems.length === 1)
  assert.equal(first.permit?.plant_w.get(1), 50_000)
  assert.equal(readFileSync(accepted_file, 'utf8'), sealed({ 1: 80 }))
  first.close()
  rmSync(permit_file)
  const second = await open()
  assert.equal(second.permit?.plant_w.get(1), 50_000, 'it was never in force')
  disk.fault = null
  const before = mended()
  await put(second, sealed({ 1: 50 }))
  await until(() => mended() > before)
  assert.equal(readFileSync(accepted_file, 'utf8'), sealed({ 1: 50 }))
  assert.equal(second.permit?.plant_w.get(1), 50_000)
})

test('what a plant was permitted last is raised with the copy, and not before it', async (t) => {
  const { permit_file, accepted_file, problems, disk, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50, 2: 60 }))
  const first = await open()
  await put(first, sealed({ 1: 50 }))
  await until(() => first.accepted?.text === sealed({ 1: 50 }))
  disk.fault = (path) => (path === accepted_file ? 'full' : null)
  await put(first, sealed({ 1: 50, 2: 90 }))
  await until(() => problems.length === 1)
  first.close()
  disk.fault = null
  writeFileSync(permit_file, sealed({ 1: 50 }))
  const second = await open()
  assert.equal(second.permit?.lapsed_w?.get(2), 60_000)
  await put(second, sealed({ 1: 50, 2: 90 }))
  await until(() => second.permit?.plant_w.get(2) === 90_000)
  second.close()
  rmSync(permit_file)
  assert.equal((await open()).permit?.plant_w.get(2), 90_000)
})

test('a copy that was overtaken raises nothing, also not after a restart', async (t) => {
  const { permit_file, last_file, problems, disk, open, put, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50 }))
  const first = await open()
  disk.hanging = []
  await put(first, sealed({ 1: 80 }))
  await until(() => disk.hanging?.length === 1)
  await put(first, sealed({ 1: 40 }))
  disk.fault = (path, text) => (path === last_file && /40000/.test(text) ? 'full' : null)
  disk.hanging[0]!.resolve()
  await until(() => problems.length === 1)
  first.close()
  rmSync(permit_file)
  assert.equal((await open()).permit?.plant_w.get(1), 50_000)
})

test('a disk that hangs at the start holds up nothing but what is higher', async (t) => {
  const { permit_file, accepted, mended, clock, disk, open, until } = placeOf(t)
  writeFileSync(permit_file, sealed({ 1: 50 }))
  disk.hanging = []
  const opening = open()
  await until(() => disk.hanging?.length === 1)
  await clock.advance(1000)
  const watch = await opening
  assert.deepEqual(terms(watch), { entries: {}, lapsed: { 1: 50_000 }, site_w: null })
  assert.deepEqual([accepted, mended()], [[], 0])
  disk.hanging[0]!.resolve()
  await until(() => accepted.length === 1)
  assert.deepEqual(terms(watch), { entries: { 1: 50_000 }, lapsed: {}, site_w: null })
  assert.equal(mended(), 1)
})
