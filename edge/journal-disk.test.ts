/** The journal on a disk that runs full, a real one where this machine lets us mount it. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { smallDisk } from '../test/small-disk.ts'
import { virtualClock } from './fixtures/virtual-clock.ts'
import { type Journal, type JournalNeeds, openJournal } from './journal.ts'
import type { JournalNotice } from './journal-notice.ts'

const text = (nth: number) => `${nth} ${'x'.repeat(nth % 700)}`
const entry = (nth: number) => ({
  kind: 'readings',
  payload: JSON.stringify(text(nth)),
  readings: 1,
})

function needsIn(dir: string, more: Partial<JournalNeeds> = {}) {
  const clock = virtualClock('2026-06-01T10:00:00Z')
  const notices: JournalNotice[] = []
  const needs: JournalNeeds = {
    dir,
    bytes_max: 64 * 2 ** 20,
    segment_bytes: 64 * 1024,
    clock,
    timers: clock,
    newEpoch: () => 'epoch-1',
    onNotice: (notice) => notices.push(notice),
    ...more,
  }
  return { clock, notices, needs }
}

async function contents(journal: Journal): Promise<[number, string][]> {
  const found: [number, string][] = []
  for (let after = 0; ; ) {
    const records = await journal.read(after, { frames: 1e6, bytes: 1e9 })
    if (records.length === 0) return found
    for (const { seq, payload } of records) found.push([seq, JSON.parse(payload)])
    after = records.at(-1)!.seq
  }
}

/** The records that a journal said it dropped: ranges that follow each other. */
function droppedOf(notices: readonly JournalNotice[]): (seq: number) => boolean {
  const lost = notices.flatMap((notice) => (notice.type === 'dropped' ? [notice] : []))
  assert.deepEqual(
    lost.map(({ first_seq }) => first_seq),
    lost.map(({ first_seq }) => first_seq).toSorted((one, other) => one - other),
  )
  for (const { frames, readings } of lost) assert.equal(readings, frames)
  return (seq) => lost.some(({ first_seq, last_seq }) => seq >= first_seq && seq <= last_seq)
}

test('on a disk that others fill to the last byte the newest is kept, and nothing damaged', async (t) => {
  const disk = await smallDisk(2)
  if (typeof disk === 'string') return t.skip(disk)
  const { needs, notices, clock } = needsIn(join(disk.directory, 'journal'))
  const handles: FileHandle[] = []
  needs.openFile = async (path, flags) => {
    const file = await open(path, flags, 0o600)
    handles.push(file)
    return file
  }
  try {
    const journal = await openJournal(needs)
    let durable: [number, string][] = []
    const write = async (from: number, count: number) => {
      for (let nth = from; nth < from + count; nth += 1) {
        const [record] = await journal.append([entry(nth)])
        durable.push([record!.seq, text(nth)])
        assert.equal(journal.status().failing, null)
      }
    }
    for (let round = 0; round < 5; round += 1) {
      const from = round * 1000
      await write(from, 300)
      await disk.fill()
      const dropped_before = notices.length
      await write(from + 300, 300)
      assert.ok(notices.slice(dropped_before).some(({ type }) => type === 'dropped'))
      // The server goes on acknowledging what it gets; perhaps that cannot be written down.
      journal.ack(durable.slice(-10, -5).map(([seq]) => seq))
      durable.splice(-10, 5)
      await clock.advance(5000)
      await disk.makeRoom()
      // A short one, so that what a failed write left behind would stick out behind it.
      await write(700 * (10 + round), 1)
      const wasDropped = droppedOf(notices)
      durable = durable.filter(([seq]) => !wasDropped(seq))
      assert.ok(durable.length > 50)
      assert.deepEqual(await contents(journal), durable)
      const tail = durable.slice(0, -50)
      journal.ack(tail.map(([seq]) => seq))
      durable.splice(0, tail.length)
    }
    assert.equal(journal.status().depth_frames, durable.length)
    await journal.close()
    assert.deepEqual(
      handles.filter(({ fd }) => fd !== -1),
      [],
      'every file is closed',
    )
    const again = await openJournal(needs)
    assert.deepEqual(await contents(again), durable)
    await again.close()
    assert.deepEqual(
      notices.filter(({ type }) => type === 'cut' || type === 'damaged'),
      [],
    )
  } finally {
    await disk.unmount()
  }
})

test('a journal that fills a disk smaller than its bound keeps the newer half at least', async (t) => {
  const disk = await smallDisk(2)
  if (typeof disk === 'string') return t.skip(disk)
  const { needs, notices } = needsIn(join(disk.directory, 'journal'))
  delete needs.segment_bytes
  try {
    const journal = await openJournal(needs)
    const frame = { kind: 'readings', payload: `"${'x'.repeat(10_000)}"`, readings: 1 }
    for (let nth = 1; nth <= 400; nth += 1) await journal.append([frame])
    const kept = (await contents(journal)).map(([seq]) => seq)
    const wasDropped = droppedOf(notices)
    const all = Array.from({ length: 400 }, (_, index) => index + 1)
    assert.deepEqual(
      kept,
      all.filter((seq) => !wasDropped(seq)),
    )
    // 2 MiB hold 200 of them; an eighth goes at once, and there is the reserve.
    assert.ok(kept.length > 150 && kept.at(-1) === 400, `${kept.length} kept`)
    await journal.close()
  } finally {
    await disk.unmount()
  }
})

test('with no room but for its reserve a journal gives up its only segment for a new one', async (t) => {
  const disk = await smallDisk(2)
  if (typeof disk === 'string') return t.skip(disk)
  const { needs, notices } = needsIn(join(disk.directory, 'journal'))
  try {
    const journal = await openJournal(needs)
    await journal.append([entry(1)])
    await disk.fill()
    const frame = { kind: 'readings', payload: `"${'x'.repeat(10_000)}"`, readings: 1 }
    for (let nth = 2; nth <= 50; nth += 1) await journal.append([frame])
    const wasDropped = droppedOf(notices)
    assert.ok(wasDropped(1))
    const kept = (await contents(journal)).map(([seq]) => seq)
    assert.equal(kept.at(-1), 50)
    assert.ok(kept.every((seq) => !wasDropped(seq)))
    await journal.close()
  } finally {
    await disk.unmount()
  }
})

test('a segment that cannot be begun leaves no open file behind', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-journal-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const handles: FileHandle[] = []
  let is_full = false
  const { needs } = needsIn(dir, {
    segment_bytes: 100,
    async openFile(path, flags) {
      const file = await open(path, flags, 0o600)
      handles.push(file)
      // What syncs the directory finds that it is gone.
      if (is_full) rmSync(join(dir, 'epoch-1'), { recursive: true })
      return file
    },
  })
  const journal = await openJournal(needs)
  await journal.append([entry(150)])
  is_full = true
  await assert.rejects(journal.append([entry(1)]))
  const first_alone = handles.map(({ fd }, nth) => fd !== -1 && nth === 0)
  assert.deepEqual(
    first_alone,
    handles.map(({ fd }) => fd !== -1),
  )
  is_full = false
  mkdirSync(join(dir, 'epoch-1'))
  await journal.append([entry(2)])
  await journal.close()
  assert.deepEqual(
    handles.filter(({ fd }) => fd !== -1),
    [],
  )
})

test('acknowledgements that cannot be written down are told once, until they can', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-journal-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const { needs, notices, clock } = needsIn(dir)
  const journal = await openJournal(needs)
  for (let nth = 1; nth <= 6; nth += 1) await journal.append([entry(nth)])
  // In the way of the file that would be written.
  const obstacle = join(dir, 'epoch-1', 'acked.json')
  const settled = async (seq: number) => {
    journal.ack([seq])
    await clock.advance(5000)
    await journal.append([entry(100 + seq)])
  }
  mkdirSync(join(obstacle, 'x'), { recursive: true })
  for (const seq of [1, 2, 3]) await settled(seq)
  rmSync(obstacle, { recursive: true })
  await settled(4)
  const isWritten = () => readdirSync(join(dir, 'epoch-1')).includes('acked.json')
  while (!isWritten()) await new Promise((resolve) => setImmediate(resolve))
  // What was begun before may still be written.
  for (let is_blocked = false; !is_blocked; ) {
    rmSync(obstacle, { force: true })
    try {
      mkdirSync(join(obstacle, 'x'), { recursive: true })
      is_blocked = true
    } catch (error) {
      assert.match((error as NodeJS.ErrnoException).code ?? '', /ENOTDIR|EEXIST/)
    }
  }
  await settled(5)
  rmSync(obstacle, { recursive: true })
  await journal.close()
  assert.deepEqual(
    notices.map(({ type }) => type),
    ['not_removed', 'not_removed'],
  )
})
