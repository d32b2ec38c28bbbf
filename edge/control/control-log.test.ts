import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { day_ms } from '@heliograph/domain/durations'
import { virtualClock } from '../fixtures/virtual-clock.ts'
import type { ControlEntry } from './control-entry.ts'
import { type DiskLog, kept_days, openControlLog } from './control-log.ts'
import { type LogItem, lineOf, nameOf, no_chain, readControlLog } from './control-log-file.ts'

const start_at = Date.parse('2026-06-21T10:00:00Z')

function placeOf(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-control-log-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const clock = virtualClock('2026-06-21T10:00:00Z')
  const failings: (string | null)[] = []
  const start = async () => {
    const log = await openControlLog({
      dir,
      timers: clock,
      onFailing: (error) => failings.push(error && ((error as NodeJS.ErrnoException).code ?? '?')),
    })
    t.after(() => log.close())
    return log
  }
  const names = () => readdirSync(dir).sort()
  const textOf = (name: string) => readFileSync(join(dir, name), 'utf8')
  return { dir, clock, failings, start, names, textOf }
}

const round = (at: number, power_w = 1): ControlEntry => ({
  at,
  is: 'round',
  round_at: at,
  plants: [{ logger_id: 1, power_w }],
  batteries: [],
})
const order = (at: number, limit_w = 1000): ControlEntry => {
  return { at, is: 'order', inverter_id: 1, limit_w, is_raise: false }
}

async function itemsOf(dir: string, from_at = 0, to_at = 8e12): Promise<LogItem[]> {
  const items: LogItem[] = []
  for await (const item of readControlLog(dir, { from_at, to_at })) items.push(item)
  return items
}

async function entriesOf(dir: string): Promise<ControlEntry[]> {
  return (await itemsOf(dir))
    .flatMap((item) => (item.is === 'entry' ? [item.entry] : []))
    .filter(({ is }) => is !== 'carried')
}

async function breaksOf(dir: string): Promise<string[]> {
  return (await itemsOf(dir)).flatMap((item) =>
    item.is === 'break' ? [`${item.file}:${item.line}: ${item.what}`] : [],
  )
}

/** A log of one entry a minute. */
async function filled(place: ReturnType<typeof placeOf>, count = 6): Promise<void> {
  const log = await place.start()
  for (let nth = 0; nth < count; nth += 1) void log.write(round(start_at + nth * 60_000, nth))
  await log.close()
}

const name = '000001-2026-06-21.jsonl'

test('an order is on disk when its write resolves, with all that was noted before', async (t) => {
  const place = placeOf(t)
  const log = await place.start()
  void log.write(round(start_at))
  assert.deepEqual(place.names(), [])
  await Promise.all([log.write(order(start_at, 1000)), log.write(order(start_at, 2000))])
  const lines = place.textOf(name).trim().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)).map(({ nth, is, limit_w }) => [nth, is, limit_w]),
    [
      [1, 'carried', undefined],
      [2, 'round', undefined],
      [3, 'order', 1000],
      [4, 'order', 2000],
    ],
  )
})

test('what announces nothing is on disk within a second', async (t) => {
  const place = placeOf(t)
  const log = await place.start()
  void log.write(round(start_at))
  await place.clock.advance(1000)
  await log.close()
  assert.deepEqual(await entriesOf(place.dir), [round(start_at)])
})

test('a restart goes on in the file of the day, and takes a torn line off', async (t) => {
  const place = placeOf(t)
  await filled(place, 2)
  appendFileSync(join(place.dir, name), '{"nth":4,"at":17')
  assert.deepEqual(await breaksOf(place.dir), [], 'a torn last line is no break')
  assert.equal((await entriesOf(place.dir)).length, 2)
  const log = await place.start()
  await log.write(order(start_at + 200_000))
  assert.deepEqual(place.names(), [name])
  assert.deepEqual(await breaksOf(place.dir), [])
  assert.deepEqual((await entriesOf(place.dir)).at(-1), order(start_at + 200_000))
})

test('a file of which a power cut left no line goes on from those before', async (t) => {
  const place = placeOf(t)
  const log = await place.start()
  await log.write({ at: start_at, is: 'permit', plants: [], site_w: 77 })
  await log.close()
  writeFileSync(join(place.dir, '000002-2026-06-22.jsonl'), '{"nth":3,"at"')
  const again = await place.start()
  await again.write(order(start_at + day_ms))
  assert.deepEqual(await breaksOf(place.dir), [])
  const [carried] = (await itemsOf(place.dir, start_at + day_ms)).slice(1)
  assert.ok(carried?.is === 'entry' && carried.entry.is === 'carried')
  assert.deepEqual(carried.entry.entries.length, 1)
})

const tamperings: Record<string, [(lines: string[]) => string[], string]> = {
  'a figure changed': [
    (lines) => lines.map((line) => line.replace('"power_w":3', '"power_w":2')),
    `${name}:5: this entry was changed`,
  ],
  'a line taken out': [
    (lines) => lines.toSpliced(3, 1),
    `${name}:4: 1 entries before this one are missing`,
  ],
  'two lines in another order': [
    (lines) => lines.with(2, lines[3]!).with(3, lines[2]!),
    `${name}:3: 1 entries before this one are missing`,
  ],
  'a line twice': [
    (lines) => lines.toSpliced(3, 0, lines[2]!),
    `${name}:4: this entry stands here again`,
  ],
  'a line put in': [
    (lines) => lines.toSpliced(3, 0, '{"at":1,"is":"started"}'),
    `${name}:4: this is no entry`,
  ],
  'a line made anew with its own digest': [
    (lines) => {
      const { line } = lineOf(round(start_at, 99), { nth: 3, digest: 'another' })
      return lines.with(3, line.trim())
    },
    `${name}:4: this entry was changed`,
  ],
  'half a line within': [
    (lines) => lines.with(3, lines[3]!.slice(0, 20)),
    `${name}:4: this is no entry`,
  ],
}

for (const [what, [tamper, expected]] of Object.entries(tamperings)) {
  test(`${what}: named by file and line`, async (t) => {
    const place = placeOf(t)
    await filled(place)
    assert.deepEqual(await breaksOf(place.dir), [])
    const lines = place.textOf(name).trim().split('\n')
    writeFileSync(join(place.dir, name), `${tamper(lines).join('\n')}\n`)
    assert.equal((await breaksOf(place.dir))[0], expected)
  })
}

/** Days of one order each. */
async function days(log: DiskLog, count: number, from_at = start_at): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await log.write(order(from_at + nth * day_ms, nth + 1))
}

test('each UTC day has its file, which begins with all that counts, and those before are packed', async (t) => {
  const place = placeOf(t)
  const log = await place.start()
  // Local days are 23 and 25 hours long when clocks change; those of UTC are not.
  const midnight = Date.parse('2026-10-25T00:00:00Z')
  const of_permit: ControlEntry = { at: midnight - 2, is: 'permit', plants: [], site_w: 77 }
  await Promise.all([
    log.write(of_permit),
    log.write(order(midnight - 1)),
    log.write(order(midnight)),
  ])
  await log.write(order(midnight + day_ms - 1))
  await log.write(order(midnight + day_ms))
  await log.close()
  assert.deepEqual(place.names(), [
    '000001-2026-10-24.jsonl.gz',
    '000002-2026-10-25.jsonl.gz',
    '000003-2026-10-26.jsonl',
  ])
  assert.deepEqual(await breaksOf(place.dir), [])
  const items = await itemsOf(place.dir, midnight + day_ms, midnight + day_ms + 1)
  assert.deepEqual(items[0], { is: 'entry', entry: order(midnight + day_ms - 1) })
  assert.ok(items[1]?.is === 'entry' && items[1].entry.is === 'carried')
  // Were the last one not sent, the one before would count.
  const orders = [order(midnight), order(midnight + day_ms - 1)]
  assert.deepEqual(items[1].entry.entries, [of_permit, ...orders])
  // The proof reads on while the agent packs.
  const again = await place.start()
  await days(again, 1, midnight + 2 * day_ms)
  assert.equal((await entriesOf(place.dir)).length, 6)
})

test('400 days are kept, whatever the clock says, and a file taken out shows', async (t) => {
  const place = placeOf(t)
  let end = no_chain
  for (let nth = 1; nth <= kept_days + 2; nth += 1) {
    const at = start_at + nth * day_ms
    const made = lineOf(order(at, nth), end)
    const day = new Date(at).toISOString().slice(0, 10)
    writeFileSync(join(place.dir, `${nameOf({ nth, day })}.gz`), gzipSync(made.line))
    end = made.end
  }
  const log = await place.start()
  // A clock that is years ahead for a moment.
  await log.write(order(start_at + 9000 * day_ms))
  await log.write(order(start_at + (kept_days + 3) * day_ms))
  await log.close()
  const files = place.names()
  assert.equal(files.length, kept_days)
  assert.equal(files.at(0)?.slice(0, 6), '000005')
  assert.deepEqual(await breaksOf(place.dir), [])
  unlinkSync(join(place.dir, files[200]!))
  assert.deepEqual(await breaksOf(place.dir), [
    `${files[201]}:1: 1 files before this one are missing`,
  ])
})

test('a clock that goes back makes another file, and the order of entries stays', async (t) => {
  const place = placeOf(t)
  const log = await place.start()
  const ats = [start_at, start_at + day_ms, start_at + 5, start_at + day_ms + 5]
  for (const at of ats) await log.write(order(at))
  await log.close()
  assert.deepEqual(
    (await entriesOf(place.dir)).map(({ at }) => at),
    ats,
  )
  assert.deepEqual(await breaksOf(place.dir), [])
})

test('while the disk takes nothing orders are refused at once, and all is written later', async (t) => {
  const place = placeOf(t)
  const log = await place.start()
  symlinkSync('/dev/full', join(place.dir, name))
  await assert.rejects(async () => log.write(order(start_at, 1)), { syscall: /./ })
  void log.write(round(start_at + 1))
  await assert.rejects(async () => log.write(order(start_at + 2, 2)))
  assert.equal(place.failings.length, 1)
  assert.notEqual(place.failings[0], null)
  unlinkSync(join(place.dir, name))
  await log.write(order(start_at + 3, 3))
  await log.close()
  assert.deepEqual(place.failings.slice(1), [null])
  const expected = [
    order(start_at, 1),
    round(start_at + 1),
    order(start_at + 2, 2),
    order(start_at + 3, 3),
  ]
  assert.deepEqual(await entriesOf(place.dir), expected)
  assert.deepEqual(await breaksOf(place.dir), [])
})

test('what an operator asked for is written once, however often it is given meanwhile', async (t) => {
  const place = placeOf(t)
  const log = await place.start()
  const asked = (at: number, refusal: string | null = null): ControlEntry => ({
    at,
    is: 'forgotten',
    inverter_id: 1,
    external_w: 20_000,
    refusal,
    request_id: 'one',
    asked_at: start_at,
    asked_by: 'operator',
  })
  symlinkSync('/dev/full', join(place.dir, name))
  await assert.rejects(async () => log.write(asked(start_at)), /ENOSPC/)
  await assert.rejects(async () => log.write(asked(start_at + 1)), /ENOSPC/)
  const refused = asked(start_at + 2, 'it is another')
  await assert.rejects(async () => log.write(refused), /ENOSPC/)
  unlinkSync(join(place.dir, name))
  await Promise.all([log.write(asked(start_at + 3)), log.write(asked(start_at + 3))])
  await log.close()
  assert.deepEqual(await entriesOf(place.dir), [asked(start_at), refused])
})

test('what no memory bears is lost, and counted', async (t) => {
  const place = placeOf(t)
  const log = await place.start()
  symlinkSync('/dev/full', join(place.dir, name))
  await assert.rejects(async () => log.write(order(start_at)))
  for (let nth = 0; nth < 100_003; nth += 1) void log.write(round(start_at + nth))
  unlinkSync(join(place.dir, name))
  await log.close()
  const entries = await entriesOf(place.dir)
  assert.deepEqual(entries[0], { at: start_at + 3, is: 'lost', entries: 4 })
  assert.equal(entries.length, 100_001)
})

test('what cannot be read keeps no agent from starting', async (t) => {
  const place = placeOf(t)
  await filled(place)
  writeFileSync(join(place.dir, '000002-2026-06-22.jsonl.gz'), 'no gzip')
  const log = await place.start()
  await log.write(order(start_at + 2 * day_ms))
  assert.deepEqual(place.names().at(-1), '000003-2026-06-23.jsonl')
})
