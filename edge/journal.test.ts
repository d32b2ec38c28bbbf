import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import fc from 'fast-check'
import { virtualClock } from './fixtures/virtual-clock.ts'
import { type Journal, type JournalNeeds, openJournal } from './journal.ts'
import { type JournalNotice, noticeEvent } from './journal-notice.ts'
import { seqRanges } from './seq-ranges.ts'

const everything = { frames: 1e6, bytes: 1e9 }

function directory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-journal-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function opener(dir: string, more: Partial<JournalNeeds> = {}) {
  const clock = virtualClock('2026-06-01T10:00:00Z')
  const notices: JournalNotice[] = []
  const needs: JournalNeeds = {
    dir,
    bytes_max: 1e6,
    clock,
    timers: clock,
    newEpoch: () => 'epoch-1',
    onNotice: (notice) => notices.push(notice),
    ...more,
  }
  return { clock, notices, open: () => openJournal(needs) }
}

const entry = (payload: unknown, readings = 1) => ({
  kind: 'readings',
  payload: JSON.stringify(payload),
  readings,
})

async function payloads(journal: Journal): Promise<unknown[]> {
  const found: unknown[] = []
  for (let after = 0; ; ) {
    const records = await journal.read(after, everything)
    if (records.length === 0) return found
    found.push(...records.map(({ payload }) => JSON.parse(payload)))
    after = records.at(-1)!.seq
  }
}

function segmentFiles(dir: string): string[] {
  const epoch = join(dir, 'epoch-1')
  return readdirSync(epoch)
    .filter((name) => name.endsWith('.journal'))
    .sort()
    .map((name) => join(epoch, name))
}

test('what was appended is there after a restart, in order, under the same epoch', async (t) => {
  const { open } = opener(directory(t), { segment_bytes: 100 })
  const first = await open()
  const written = await first.append([entry('a'), entry('ö')])
  await Promise.all([first.append([entry('b')]), first.append([entry('c'.repeat(200))])])
  assert.deepEqual(
    written.map(({ seq }) => seq),
    [1, 2],
  )
  await first.close()
  const second = await open()
  assert.deepEqual(await payloads(second), ['a', 'ö', 'b', 'c'.repeat(200)])
  assert.equal(second.epoch, 'epoch-1')
  const [next] = await second.append([entry('d')])
  assert.equal(next?.seq, 5)
  await second.close()
})

test('acknowledged frames are gone, and stay gone', async (t) => {
  const dir = directory(t)
  const { open, clock } = opener(dir, { segment_bytes: 150 })
  const journal = await open()
  for (let nth = 1; nth <= 12; nth += 1) await journal.append([entry(nth)])
  assert.ok(segmentFiles(dir).length > 2)
  journal.ack([2, 1, 3, 4, 5, 6, 7, 8, 9, 11])
  assert.equal(journal.lowest_unacked_seq, 10)
  assert.equal(journal.status().depth_frames, 2)
  await clock.advance(5000)
  await journal.close()
  const again = await open()
  assert.deepEqual(await payloads(again), [10, 12])
  again.ack([10, 12])
  assert.deepEqual(again.status(), {
    depth_frames: 0,
    depth_bytes: 0,
    oldest_at: null,
    failing: null,
  })
  await again.close()
  assert.equal(segmentFiles(dir).length, 1)
  const last = await open()
  assert.equal((await last.append([entry('next')]))[0]?.seq, 13)
  await last.close()
})

test('a tail cut at any byte leaves every whole record before it, and is told', async (t) => {
  const dir = directory(t)
  const { open, notices } = opener(dir)
  const journal = await open()
  const ends: number[] = []
  for (let nth = 1; nth <= 5; nth += 1) {
    await journal.append([entry({ nth, text: 'é'.repeat(nth) })])
    ends.push(readFileSync(segmentFiles(dir)[0]!).length)
  }
  await journal.close()
  const path = segmentFiles(dir)[0]!
  const whole = readFileSync(path)
  for (let length = 0; length <= whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length))
    notices.length = 0
    const recovered = await open()
    const good = ends.filter((end) => end <= length).length
    const found = (await payloads(recovered)) as { nth: number }[]
    assert.deepEqual(
      found.map(({ nth }) => nth),
      [1, 2, 3, 4, 5].slice(0, good),
    )
    const clean = length === 0 || ends.includes(length)
    assert.deepEqual(
      notices.map((n) => n.type),
      clean ? [] : ['cut'],
    )
    await recovered.close()
  }
})

test('a damaged byte lets no wrong record out, and no number come again', async (t) => {
  const dir = directory(t)
  const { open, notices } = opener(dir)
  const journal = await open()
  for (let nth = 1; nth <= 6; nth += 1) await journal.append([entry(nth)])
  await journal.close()
  const path = segmentFiles(dir)[0]!
  const whole = readFileSync(path)
  const damage = fc.record({
    at: fc.integer({ min: 0, max: whole.length - 1 }),
    by: fc.integer({ min: 1, max: 255 }),
  })
  await fc.assert(
    fc.asyncProperty(damage, async ({ at, by }) => {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ by
      writeFileSync(path, bytes)
      notices.length = 0
      const recovered = await open()
      const good = Math.floor(at / (whole.length / 6))
      assert.deepEqual(await payloads(recovered), [1, 2, 3, 4, 5, 6].slice(0, good))
      assert.equal(notices[0]?.type, 'cut')
      const [next] = await recovered.append([entry(9)])
      assert.ok((next?.seq ?? 0) > 6)
      await recovered.close()
      notices.length = 0
      const again = await open()
      assert.deepEqual(await payloads(again), [1, 2, 3, 4, 5, 6].slice(0, good).concat(9))
      assert.deepEqual(notices, [])
      await again.close()
    }),
    { numRuns: 60 },
  )
})

test('zeros that a file system left behind are no records', async (t) => {
  const dir = directory(t)
  const { open, notices } = opener(dir)
  const journal = await open()
  await journal.append([entry(1)])
  await journal.close()
  const path = segmentFiles(dir)[0]!
  truncateSync(path, readFileSync(path).length + 4096)
  const recovered = await open()
  assert.deepEqual(await payloads(recovered), [1])
  assert.equal(notices[0]?.type, 'cut')
  await recovered.close()
})

test('a full journal drops its oldest segment and says what was in it', async (t) => {
  const dir = directory(t)
  const { clock, open, notices } = opener(dir, { bytes_max: 2000, segment_bytes: 500 })
  const journal = await open()
  const instants: number[] = []
  for (let nth = 1; nth <= 60; nth += 1) {
    await clock.advance(1000)
    instants.push(clock.now().getTime())
    await journal.append([entry(nth, 7)])
  }
  assert.equal(journal.newest_at, instants.at(-1))
  const dropped = notices.flatMap((notice) => (notice.type === 'dropped' ? [notice] : []))
  const frames = dropped.reduce((sum, notice) => sum + notice.frames, 0)
  assert.ok(frames > 0)
  assert.equal(
    dropped.reduce((sum, notice) => sum + (notice.readings ?? 0), 0),
    7 * frames,
  )
  assert.deepEqual([dropped[0]?.first_seq, dropped.at(-1)?.last_seq], [1, frames])
  for (const { first_seq, last_seq, from_at, to_at } of dropped) {
    assert.deepEqual([from_at, to_at], [instants[first_seq - 1], instants[last_seq - 1]])
  }
  const [first] = dropped
  const source = { source_kind: 'edge', source_id: 'demo' } as const
  const { code, severity, details } = noticeEvent(first!, source, 0)
  const { frames: dropped_frames, type: _, ...said } = first!
  assert.deepEqual([code, severity], ['journal_dropped', 'critical'])
  assert.deepEqual(details, { ...said, dropped_frames })
  const left = await payloads(journal)
  assert.deepEqual(
    left,
    Array.from({ length: 60 - frames }, (_, i) => frames + 1 + i),
  )
  assert.equal(journal.status().depth_frames, left.length)
  assert.equal(journal.lowest_unacked_seq, frames + 1)
  await journal.close()
  const size = segmentFiles(dir).reduce((sum, path) => sum + readFileSync(path).length, 0)
  assert.ok(size <= 2000)
})

test('a disk that stays full whatever is dropped costs no more than what was tried', async (t) => {
  const dir = directory(t)
  let full: 'no' | 'write' | 'datasync' = 'no'
  const failing = async (path: string, flags: string) => {
    const file = await open(path, flags)
    const fail = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    return new Proxy(file, {
      get(target, name) {
        if (name === 'write' && full === 'write') {
          return async (bytes: Buffer, offset: number, _length: number, position: number) => {
            await target.write(bytes, offset, 10, position)
            throw fail
          }
        }
        if (name === 'datasync' && full === 'datasync') return () => Promise.reject(fail)
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  const needs = opener(dir, { openFile: failing, bytes_max: 1e7, segment_bytes: 200 })
  const journal = await needs.open()
  const earlier = Array.from({ length: 10 }, (_, nth) => String(nth).repeat(10_000))
  for (const text of earlier) await journal.append([entry(text)])
  for (const how of ['write', 'datasync'] as const) {
    full = how
    await assert.rejects(journal.append([entry('lost')]), /no space/)
    await assert.rejects(journal.append([entry('lost too, and longer')]), /no space/)
    assert.match(journal.status().failing ?? '', /no space/)
    full = 'no'
    await journal.append([entry(how)])
    assert.equal(journal.status().failing, null)
  }
  await journal.close()
  const again = await needs.open()
  const kept = (await payloads(again)).map((text) => String(text).slice(0, 8))
  const numbers = [4, 5, 6, 7, 8, 9].map((nth) => String(nth).repeat(8))
  assert.deepEqual(kept, [...numbers, 'write', 'datasync'])
  const dropped = needs.notices.map((it) => (it.type === 'dropped' ? it.first_seq : it.type))
  assert.deepEqual(dropped, [1, 2, 3, 4])
  await again.close()
})

test('after kill -9 everything that was reported durable is there', async (t) => {
  const dir = directory(t)
  const child_file = new URL('fixtures/journal-child.ts', import.meta.url).pathname
  for (const lines_wanted of [1, 150]) {
    const child = spawn(process.execPath, [child_file, dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exit = new Promise((resolve) => child.once('exit', resolve))
    const durable: string[] = []
    for await (const line of createInterface(child.stdout)) {
      durable.push(line)
      if (durable.length === lines_wanted) child.kill('SIGKILL')
    }
    await exit
    const { open } = opener(dir)
    const journal = await open()
    const found = new Map<number, { writer: number; nth: number }>()
    for (let after = 0; ; ) {
      const records = await journal.read(after, everything)
      for (const { seq, payload } of records) found.set(seq, JSON.parse(payload))
      if (records.length === 0) break
      after = records.at(-1)!.seq
    }
    assert.ok(durable.length >= lines_wanted)
    for (const line of durable) {
      const [seq, writer, nth] = line.split(' ').map(Number)
      const { writer: w, nth: n } = found.get(seq!) ?? {}
      assert.deepEqual([w, n], [writer, nth], `record ${seq}`)
    }
    await journal.close()
  }
})

test('ranges hold exactly what was added', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 40 })),
      fc.integer({ min: 1, max: 40 }),
      (seqs, low) => {
        const ranges = seqRanges()
        const set = new Set<number>()
        for (const seq of seqs) {
          assert.equal(ranges.add(seq), !set.has(seq))
          set.add(seq)
        }
        ranges.dropBelow(low)
        for (let seq = 1; seq <= 41; seq += 1) {
          assert.equal(ranges.has(seq), seq >= low && set.has(seq))
        }
        const list = ranges.list()
        for (const [index, [first]] of list.entries()) {
          assert.ok(index === 0 || first > list[index - 1]![1] + 1)
        }
      },
    ),
  )
})
