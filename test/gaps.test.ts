/** Gaps of a plant, through the link and the roll-up into the database. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import type { Frame, LinkEvent } from '@heliograph/domain/link'
import { watchGaps } from '@heliograph/server/gaps/watch'
import { ingestInto } from '@heliograph/server/link/ingest'
import { createRollups } from '@heliograph/server/rollups/job'
import { smallSite } from '@heliograph/simulator/fixtures/site'
import fc from 'fast-check'
import { silent, type TestDatabase, testDatabase } from './postgres.ts'

const site_id = smallSite.site_id
const minute = 60_000
const hour = 60 * minute
const ten = Date.UTC(2026, 5, 21, 10)

let database: TestDatabase
let seq = 1

before(async () => {
  database = await testDatabase()
  const { db } = database
  await db.execute("insert into clients (client_id, name, modules) values (1, 'C', '{}')")
  await db.execute("insert into sites (site_id, client_id, name) values ($1, 1, 'S')", [site_id])
  await db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256)
     values ($1, '0123456789ab', 'E', '\\x00')`,
    [site_id],
  )
  await store([{ seq: 100_000, kind: 'inventory', payload: smallSite }])
})
after(() => database.drop())
beforeEach(clear)

async function clear(): Promise<void> {
  await database.db.execute(
    `truncate gaps, events, touched_hours, inverter_readings, weather_readings, logger_readings,
       inverter_latest, weather_latest, logger_latest, inverter_hours, string_hours, string_days;
     update inverters set retired_at = null;
     update edges set last_seen_at = null, journal_oldest_at = null`,
  )
}

async function store(frames: readonly Frame[], received_at = ten + 24 * hour): Promise<void> {
  const source = { site_id, edge_id: '0123456789ab', epoch: 'e', lane: 'live' as const }
  await ingestInto(database.db).ingest({ ...source, frames, received_at })
}

const minutes = (from: number, until: number) =>
  Array.from({ length: Math.ceil((until - from) / minute) }, (_, nth) => from + nth * minute)

type Kind = 'inverter' | 'weather' | 'logger'
const keys = { inverter: 'inverter_id', weather: 'station_id', logger: 'logger_id' }

/** Readings of a device, or of several, at some instants. */
function frame(
  kind: Kind,
  ids: readonly number[],
  times: readonly number[],
  state?: string,
): Frame {
  const of_state = kind === 'inverter' ? ['state'] : []
  const columns = [keys[kind], 'measured_at', 'quality', ...of_state]
  const rows = times.flatMap((time) =>
    ids.map((id) => [id, time, 'good', ...of_state.map(() => state ?? 'mppt')]),
  )
  return { seq: seq++, kind: 'readings', payload: { [kind]: { columns, rows } } }
}

/** Readings of everything that the site has. */
const plantFrames = (times: readonly number[]): Frame[] => [
  frame('inverter', [1, 2], times),
  frame('weather', [1], times),
  frame('logger', [1], times),
]

const event = (
  at: number,
  code: string,
  edge: LinkEvent['edge'],
  source: Partial<LinkEvent> = { source_kind: 'edge', source_id: '0123456789ab' },
  details?: Record<string, unknown>,
): Frame => ({
  seq: seq++,
  kind: 'events',
  payload: [
    { at, code, edge, severity: 'major', message: code, ...source, details: details ?? null },
  ],
})

const timers = { after: () => () => {} }
async function rollUp(now: number): Promise<void> {
  // Marks are made in the time of the database, which is not that of the readings.
  await database.db.execute("update touched_hours set due_at = '-infinity'")
  await createRollups(database.db, {
    clock: { now: () => new Date(now) },
    timers,
    log: silent,
  }).runDue()
}
const watch = (now: number) => watchGaps(database.db, new Date(now))

/** The edge was heard of, and the oldest that it holds is this old. */
const heard = (last_seen: number, oldest: number | null = null) =>
  database.db.execute('update edges set last_seen_at = $1, journal_oldest_at = $2', [
    new Date(last_seen),
    oldest === null ? null : new Date(oldest),
  ])

interface Row {
  gap_id: number
  source: string
  start: string
  end: string | null
  status: string
  cause: string
  expected: number
  backfilled: number
}

const gaps = (where = 'true') =>
  database.db.query<Row>(
    `select gap_id, source_type || ' ' || source_id as source, status, cause,
       to_char(start_at at time zone 'UTC', 'DD HH24:MI') as start,
       to_char(end_at at time zone 'UTC', 'DD HH24:MI') as end,
       expected_count as expected, backfilled_count as backfilled
     from gaps where ${where} order by source_type, source_id, start_at`,
  )
const inWords = (rows: readonly Row[]) =>
  rows.map((row) => `${row.source}: ${row.start} to ${row.end}, ${row.status}, ${row.cause}`)

test('an outage of the link opens gaps, and back-fill in any order closes them', async () => {
  await store(plantFrames(minutes(ten - hour, ten + minute)))
  await rollUp(ten + minute)
  await watch(ten + minute)
  assert.deepEqual(await gaps(), [])

  await heard(ten)
  await store([event(ten + minute, 'edge_offline', 'rising')])
  await watch(ten + 10 * minute)
  const opened = await gaps()
  assert.deepEqual(inWords(opened), [
    'inverter 1: 21 10:00 to null, open, communication',
    'inverter 2: 21 10:00 to null, open, communication',
    'logger 1: 21 10:00 to null, open, communication',
    'weather_sensor 1: 21 10:00 to null, open, communication',
  ])
  await watch(ten + 2 * hour)
  const grown = await gaps()
  assert.deepEqual(
    grown.map(({ gap_id, expected }) => [gap_id, expected]),
    opened.map(({ gap_id }) => [gap_id, 120]),
  )

  const back = ten + 2 * hour
  await store(plantFrames(minutes(back, back + 5 * minute)))
  await store([event(back, 'edge_offline', 'falling')])
  await heard(back + 5 * minute, ten)
  await rollUp(back + 5 * minute)
  await watch(back + 5 * minute)
  const ended = await gaps()
  assert.deepEqual(
    ended.map(({ gap_id }) => gap_id),
    opened.map(({ gap_id }) => gap_id),
  )
  assert.deepEqual(
    new Set(inWords(ended).map((text) => text.split(': ')[1])),
    new Set(['21 10:00 to 21 12:00, backfilling, communication']),
  )
  assert.deepEqual(new Set(ended.map(({ expected }) => expected)), new Set([119]))

  const backlog = minutes(ten + minute, back)
  const pieces = Array.from({ length: 12 }, (_, nth) => backlog.slice(nth * 10, nth * 10 + 10))
  for (const nth of [7, 2, 11, 0, 5, 9, 1, 10, 3, 8, 6]) {
    await store(plantFrames(pieces[nth]!))
    if (nth % 2 === 0) await rollUp(back + 6 * minute)
    if (nth % 3 === 0) await watch(back + 6 * minute)
  }
  await rollUp(back + 6 * minute)
  const left = await gaps("status <> 'backfilled'")
  assert.deepEqual(
    new Set(left.map(({ start, end }) => `${start} to ${end}`)),
    new Set(['21 10:40 to 21 10:51']),
  )
  await store(plantFrames(pieces[4]!))
  await rollUp(back + 7 * minute)
  await watch(back + 7 * minute)
  const closed = await gaps()
  assert.deepEqual(
    closed.map(({ gap_id, source, start, end, status, backfilled, expected }) => ({
      ...{ gap_id, source, start, end, status, backfilled, expected },
    })),
    opened.map(({ gap_id, source }) => ({
      ...{ gap_id, source, start: '21 10:00', end: '21 12:00', status: 'backfilled' },
      ...{ backfilled: 119, expected: 119 },
    })),
  )
})

test('a device that did not answer leaves a gap that stays', async () => {
  const silence = minutes(ten + 20 * minute, ten + 50 * minute)
  const times = minutes(ten, ten + 2 * hour)
  await store([
    ...plantFrames(times.filter((time) => !silence.includes(time))),
    frame('inverter', [1], silence),
    frame('weather', [1], silence),
    frame('logger', [1], silence),
    event(ten + 21 * minute, 'device_offline', 'rising', {
      source_kind: 'inverter',
      source_id: '2',
    }),
    event(ten + 50 * minute, 'device_offline', 'falling', {
      source_kind: 'inverter',
      source_id: '2',
    }),
  ])
  await heard(ten + 2 * hour)
  await rollUp(ten + 2 * hour)
  await watch(ten + 2 * hour)
  assert.deepEqual(inWords(await gaps()), [
    'inverter 2: 21 10:19 to 21 10:50, unrecoverable, communication',
  ])
  // An import brings a part of it after all.
  await store([frame('inverter', [2], silence.slice(0, 10))])
  await rollUp(ten + 2 * hour)
  await watch(ten + 2 * hour)
  assert.deepEqual(
    (await gaps()).map(({ start, status, backfilled }) => [start, status, backfilled]),
    [['21 10:29', 'unrecoverable', 10]],
  )
})

test('what a journal dropped cannot come any more', async () => {
  const times = minutes(ten, ten + 2 * hour)
  const lost = (time: number) => time > ten + 10 * minute && time < ten + 30 * minute
  await store(plantFrames(times.filter((time) => !lost(time))))
  const dropped = { from_at: ten + 11 * minute, to_at: ten + 29 * minute, frames: 20 }
  await store([event(ten + 2 * hour, 'journal_dropped', 'once', undefined, dropped)])
  // Details that make no sense tell nothing, and stop nothing.
  await store([event(ten + 2 * hour, 'clock_jumped', 'once', undefined, { jump_ms: 'far' })])
  await heard(ten + 2 * hour)
  await rollUp(ten + 2 * hour)
  await watch(ten + 2 * hour)
  const found = inWords(await gaps())
  assert.equal(found.length, 4)
  assert.equal(found[0], 'inverter 1: 21 10:10 to 21 10:30, unrecoverable, buffer_overflow')
})

test('inverters may sleep at night, met stations and loggers may not', async () => {
  const [evening, morning] = [ten + 8.8 * hour, ten + 18 * hour]
  const day = minutes(ten, evening)
  const night = minutes(evening, morning)
  await store([...plantFrames(day), frame('weather', [1], night), frame('logger', [1], night)])
  await rollUp(morning - hour)
  await watch(morning - hour)
  assert.deepEqual(await gaps(), [])
  // One wakes up with the sun; the other was not seen since.
  await store([frame('inverter', [1], minutes(morning - hour / 6, morning + hour))])
  await store([frame('weather', [1], minutes(morning, morning + hour))])
  await store([frame('logger', [1], minutes(morning, morning + hour))])
  await heard(morning + hour)
  await rollUp(morning + hour)
  await watch(morning + hour)
  assert.deepEqual(inWords(await gaps()), ['inverter 2: 22 03:50 to null, open, unknown'])
})

test('nothing is missed of an inverter that was taken away', async () => {
  const times = minutes(ten, ten + 4 * hour)
  await store([frame('weather', [1], times), frame('logger', [1], times)])
  await store([frame('inverter', [1], times), frame('inverter', [2], minutes(ten, ten + hour))])
  await watch(ten + 2 * hour)
  assert.equal((await gaps("source_id = '2'"))[0]!.end, null)
  await database.db.execute('update inverters set retired_at = $1 where inverter_id = 2', [
    new Date(ten + 3 * hour),
  ])
  await heard(ten + 4 * hour)
  await watch(ten + 4 * hour)
  assert.deepEqual(inWords(await gaps()), [
    'inverter 2: 21 10:59 to 21 13:00, unrecoverable, unknown',
  ])
})

test('whatever the order in which readings arrive, the gaps are the same', async () => {
  const end = ten + 3 * hour
  const lost = [
    [12, 19],
    [55, 70],
    [80, 82],
    [118, 150],
  ] as const
  const times = minutes(ten, end).filter(
    (time) => !lost.some(([a, b]) => time >= ten + a * minute && time < ten + b * minute),
  )
  // The second hour is read every ten seconds.
  const fine = minutes(ten + hour + 30 * minute, ten + 2 * hour - 5 * minute).flatMap((time) =>
    [10, 20, 30, 40, 50].map((s) => time + s * 1000),
  )
  const all = [...times, ...fine].sort((a, b) => a - b)
  const frames = Array.from({ length: 14 }, (_, nth) =>
    frame('inverter', [1], all.slice(nth * 20, nth === 13 ? undefined : nth * 20 + 20)),
  )
  const numbered = (some: readonly Frame[]) => some.map((each) => ({ ...each, seq: seq++ }))
  const judged = async () => {
    await heard(end + hour)
    await rollUp(end)
    await watch(end)
    return (await gaps("status <> 'backfilled'")).map(({ gap_id, backfilled, ...gap }) => gap)
  }
  await store(numbered(frames))
  const expected = await judged()
  assert.deepEqual(
    expected.map(({ start, end }) => [start, end]),
    [
      ['21 10:11', '21 10:19'],
      ['21 10:54', '21 11:10'],
      ['21 11:57', '21 12:30'],
    ],
  )
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(frames, { minLength: frames.length }),
      fc.array(fc.constantFrom('nothing', 'roll', 'watch'), { minLength: 14, maxLength: 14 }),
      async (order, then) => {
        await clear()
        for (const [nth, each] of order.entries()) {
          await store(numbered([each, each]))
          if (then[nth] === 'roll') await rollUp(end)
          if (then[nth] === 'watch') await watch(end)
        }
        assert.deepEqual(await judged(), expected)
        assert.deepEqual(await judged(), expected, 'and stay so')
      },
    ),
    { numRuns: 5 },
  )
})
