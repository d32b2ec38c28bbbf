/** Gaps of a plant, through the link and the roll-up into the database. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import fc from 'fast-check'
import {
  clear,
  dropPlant,
  event,
  foundPlant,
  frame,
  gaps,
  heard,
  hour,
  inWords,
  minute,
  minutes,
  numbered,
  plantFrames,
  query,
  rollUp,
  store,
  ten,
  watch,
} from './gap-plant.ts'

before(foundPlant)
after(dropPlant)
beforeEach(clear)

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
      gap_id,
      source,
      start,
      end,
      status,
      backfilled,
      expected,
    })),
    opened.map(({ gap_id, source }) => ({
      gap_id,
      source,
      start: '21 10:00',
      end: '21 12:00',
      status: 'backfilled',
      backfilled: 119,
      expected: 119,
    })),
  )
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

test('meters and sensor nodes have gaps of their own, and no night', async () => {
  const night = ten + 13 * hour
  const silent = (from: number, until: number) =>
    minutes(ten, ten + 20 * hour).filter((time) => time < night + from || time >= night + until)
  const isReport = (time: number) => (time - ten) % (20 * minute) === 0
  await store([
    frame('meter', [1], silent(0, 30 * minute)),
    frame('node', [7], silent(hour, 3 * hour).filter(isReport)),
    event(night, 'device_offline', 'rising', { source_kind: 'meter', source_id: '1' }),
    event(night + 30 * minute, 'device_offline', 'falling', {
      source_kind: 'meter',
      source_id: '1',
    }),
    event(night + hour, 'device_offline', 'rising', { source_kind: 'node', source_id: 'ts-1' }),
  ])
  await heard(ten + 21 * hour)
  await rollUp(ten + 20 * hour)
  await watch(ten + 20 * hour)
  assert.deepEqual(inWords(await gaps()), [
    'meter 1: 21 22:59 to 21 23:30, unrecoverable, device_fault',
    'sensor_node ts-1: 21 23:40 to 22 02:00, unrecoverable, communication',
  ])
  const told = await query(
    'select logger_id, expected_count, during_daylight from gaps order by source_type',
  )
  assert.deepEqual(told, [
    { logger_id: null, expected_count: 30, during_daylight: false },
    { logger_id: null, expected_count: 6, during_daylight: false },
  ])
  // What falls silent is noticed without any reading: a node at its own pace.
  const end = ten + 20 * hour
  await watch(end + 3 * minute)
  assert.equal((await gaps("source_type = 'meter' and end_at is null")).length, 0)
  await watch(end + 5 * minute)
  assert.equal((await gaps("source_type = 'meter' and end_at is null")).length, 1)
  await watch(end + 40 * minute)
  assert.equal((await gaps("source_type = 'sensor_node' and end_at is null")).length, 0)
  await watch(end + 42 * minute)
  assert.equal((await gaps("source_type = 'sensor_node' and end_at is null")).length, 1)
  // They are told once, and closed like all others.
  await store([frame('meter', [1], minutes(night, night + 30 * minute))])
  await rollUp(end + 42 * minute)
  assert.deepEqual(
    (await gaps("source_type = 'meter' and end_at is not null")).map((gap) => gap.status),
    ['backfilled'],
  )
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
    { numRuns: 5, endOnFailure: true },
  )
})
