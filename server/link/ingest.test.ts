import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import type { Frame, Lane } from '@heliograph/domain/link'
import { columnsOf } from '@heliograph/domain/readings'
import fc from 'fast-check'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { readRows } from '../telemetry/rows.ts'
import { storeReadings } from '../telemetry/store-readings.ts'
import {
  edge_id,
  eventsFrame,
  foundSite,
  inventoryFrame,
  inverterFrame,
  noon,
  park,
  readingsFrame,
  site_id,
  untilLockedOut,
} from './fixtures/plant.ts'
import { prepareFrame, prepareInSteps } from './frames.ts'
import { type Ingest, ingestInto } from './ingest.ts'
import { forgetFrames } from './presence.ts'

let database: TestDatabase
let ingest: Ingest
const source = { site_id, edge_id, epoch: 'journal-1' }
const minute = 60_000

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
  ingest = ingestInto(database.db)
})
after(() => database.drop())
beforeEach(() =>
  database.db.execute(
    `truncate link_frames, rejected_frames, events, touched_hours, inverter_readings,
       string_readings, weather_readings, inverter_latest, string_latest, weather_latest;
     update edges set acked_epoch = null, acked_below_seq = null`,
  ),
)

const give = (frames: readonly Frame[], lane: Lane = 'live', received_at = noon) =>
  ingest.ingest({ ...source, lane, frames, received_at })

const powers = async () =>
  (
    await database.db.query<{ ac_power_kw: number }>(
      'select ac_power_kw from inverter_readings where site_id = $1 order by measured_at',
      [site_id],
    )
  ).map(({ ac_power_kw }) => ac_power_kw)

const count = async (table: string) =>
  (await database.db.query<{ count: number }>(`select count(*) from ${table}`))[0]!.count

test('a row comes out as it went in, whatever the order of its columns', async () => {
  const reading = {
    inverter_id: 1,
    measured_at: noon - 1,
    quality: 'suspect',
    state: 'mppt',
    state_vendor_code: -0,
    ac_power_kw: -0,
    energy_total_kwh: 123_456.789_012_3,
    dc_power_kw: 1e-42,
    alarm_1: 4_294_967_295,
    mppt_current_a: [1.5, null, 0],
    mppt_voltage_v: [],
  }
  const columns = Object.keys(reading).reverse()
  const row = columns.map((name) => reading[name as keyof typeof reading])
  const payload = { inverter: { columns, rows: [row] } }
  const done = await give([{ seq: 1, kind: 'readings', payload }])
  assert.deepEqual(done, {
    new_frames: 1,
    refused_frames: 0,
    refused: [],
    stored_rows: 1,
    repeated_rows: 0,
  })
  const names = columnsOf('inverter')
  const where = { where: '', values: [] }
  const { columns: stored } = await readRows(database.db, 'inverter', where, names)
  const given = { ...reading, state_vendor_code: 0, ac_power_kw: 0, dc_power_kw: 0 }
  for (const name of names) {
    assert.deepEqual(stored.get(name), [given[name as keyof typeof given] ?? null], name)
  }
})

test('a frame counts once, repeated in a batch, in another, and below the mark', async () => {
  const frame = inverterFrame(5, noon)
  const first = await give([frame, eventsFrame(6, noon), frame])
  assert.equal(first.new_frames, 2)
  assert.equal((await give([eventsFrame(6, noon), frame])).new_frames, 0)
  await forgetFrames(database.db, source, 7, { last_seen_at: null, at: new Date(noon) })
  assert.equal(await count('link_frames'), 1, 'the last one with readings is remembered')
  assert.equal((await give([eventsFrame(6, noon), frame])).new_frames, 0)
  const device_events = await count("events where source_kind = 'inverter'")
  assert.deepEqual([await count('inverter_readings'), device_events], [1, 1])
  // Another journal numbers its frames anew.
  const other = { ...source, epoch: 'journal-2', lane: 'live', received_at: noon } as const
  assert.equal((await ingest.ingest({ ...other, frames: [eventsFrame(6, noon)] })).new_frames, 1)
})

test('the same frames by several sockets at once, in any order, count once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), {
        minLength: 2,
        maxLength: 5,
      }),
      async (batches) => {
        await database.db.execute('truncate link_frames, events, inverter_readings, touched_hours')
        const frame = (seq: number) =>
          seq % 3 === 0 ? eventsFrame(seq, noon) : inverterFrame(seq, noon - seq * minute)
        const done = await Promise.all(batches.map((seqs) => give(seqs.map(frame), 'backlog')))
        const distinct = new Set(batches.flat())
        assert.equal(
          done.reduce((sum, { new_frames }) => sum + new_frames, 0),
          distinct.size,
        )
        const event_count = [...distinct].filter((seq) => seq % 3 === 0).length
        assert.equal(await count('events'), event_count)
        assert.equal(await count('inverter_readings'), distinct.size - event_count)
      },
    ),
    { numRuns: 15, endOnFailure: true },
  )
})

test('another frame with a row that is there does not spoil the batch', async () => {
  await give([inverterFrame(1, noon, 10)])
  const done = await give([
    inverterFrame(2, noon, 99),
    inverterFrame(3, noon + 1, 11),
    inverterFrame(4, noon + 1, 98),
  ])
  assert.deepEqual(done, {
    new_frames: 3,
    refused_frames: 0,
    refused: [],
    stored_rows: 1,
    repeated_rows: 2,
  })
  assert.deepEqual(await powers(), [10, 11])
})

test('latest only moves forward and is the newest row of history', async () => {
  const instants = fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(instants, fc.integer({ min: 1, max: 4 }), async (offsets, size) => {
      await database.db.execute(
        'truncate link_frames, inverter_readings, inverter_latest, string_readings, string_latest',
      )
      let newest = Number.NEGATIVE_INFINITY
      for (let at = 0; at < offsets.length; at += size) {
        const part = offsets.slice(at, at + size)
        const frames = part.flatMap((offset, nth) => [
          inverterFrame(2 * (at + nth) + 1, noon - offset * minute, offset),
          readingsFrame(2 * (at + nth) + 2, 'string', [
            { inverter_id: 1, first_string_index: 0, measured_at: noon - offset * minute },
            { inverter_id: 1, first_string_index: 8, measured_at: noon - offset * minute - 7 },
          ]),
        ])
        await give(frames)
        newest = Math.max(newest, ...part.map((offset) => noon - offset * minute))
        const latest = await database.db.query<{ measured_at: Date; ac_power_kw: number }>(
          'select measured_at, ac_power_kw from inverter_latest',
        )
        assert.deepEqual(latest, [
          { measured_at: new Date(newest), ac_power_kw: (noon - newest) / minute },
        ])
        const strings = await database.db.query<{ measured_at: Date }>(
          'select measured_at from string_latest order by first_string_index',
        )
        assert.deepEqual(strings, [
          { measured_at: new Date(newest) },
          { measured_at: new Date(newest - 7) },
        ])
      }
    }),
    { numRuns: 15, endOnFailure: true },
  )
})

test('late rows go to history, with their hours marked and partitions made', async () => {
  await give([inverterFrame(1, noon, 10)])
  const old = noon - 400 * day_ms
  await give([inverterFrame(2, old, 5), inverterFrame(3, old + 59 * minute, 6)], 'backlog')
  assert.deepEqual(await powers(), [5, 6, 10])
  const latest = await database.db.query('select ac_power_kw, received_at from inverter_latest')
  assert.deepEqual(latest, [{ ac_power_kw: 10, received_at: new Date(noon) }])
  const hours = await database.db.query(
    'select kind, device_id, hour_at from touched_hours order by hour_at',
  )
  assert.deepEqual(
    hours,
    // The first half of an hour enters the sums of the one before it, the second that after it.
    [old - 60 * minute, old, old + 60 * minute, noon - 60 * minute, noon].map((at) => ({
      kind: 'inverter',
      device_id: 1,
      hour_at: new Date(at),
    })),
  )
})

test('a partition that was dropped is made again', async () => {
  const old = noon - 500 * day_ms
  await give([inverterFrame(1, old)])
  const [{ partition }] = (await database.db.query<{ partition: string }>(
    'select tableoid::regclass::text as partition from inverter_readings',
  )) as [{ partition: string }]
  await database.db.execute(`drop table ${partition}`)
  assert.equal((await give([inverterFrame(2, old)])).stored_rows, 1)
})

test('whoever takes a marked hour waits for rows that are on their way', async () => {
  await give([inverterFrame(1, noon, 1)])
  const { db } = database
  let taken: Promise<unknown> | undefined
  await db.transaction(async (transaction) => {
    const origin = { site_id, lane: 'live', received_at: noon } as const
    const { content } = prepareFrame(inverterFrame(2, noon + 1, 2), origin)
    assert.equal(content.is, 'readings')
    const { items: tables } = content as Extract<typeof content, { is: 'readings' }>
    await storeReadings(transaction, [
      { site_id, received_at: new Date(noon).toISOString(), tables },
    ])
    taken = db.transaction(async (consumer) => {
      await consumer.execute('delete from touched_hours')
      return consumer.query('select ac_power_kw from inverter_readings order by measured_at')
    })
    // The consumer is held up by a lock before this transaction ends.
    await untilLockedOut(db)
  })
  assert.deepEqual(await taken, [{ ac_power_kw: 1 }, { ac_power_kw: 2 }])
})

test('a frame that fails its check is kept aside whole, with an event, and blocks nothing', async () => {
  const good = { inverter_id: 1, measured_at: noon, quality: 'good' }
  const bad: [name: string, payload: unknown, reason: RegExp][] = [
    ['unknown column', table({ ...good, power: 1 }), /unknown column power/],
    ['no quality', table({ inverter_id: 1, measured_at: noon }), /column quality is missing/],
    ['null quality', table({ ...good, quality: null }), /row 0: quality: null/],
    ['bad quality', table({ ...good, quality: 'fine' }), /quality: fine/],
    ['bad state', table({ ...good, state: 'on' }), /state: on/],
    ['text for number', table({ ...good, ac_power_kw: '1\t2' }), /ac_power_kw/],
    ['beyond real', table({ ...good, ac_power_kw: 1e39 }), /ac_power_kw: 1e\+39/],
    ['not an integer', table({ ...good, state_vendor_code: 1.5 }), /state_vendor_code: 1.5/],
    ['alarm word', table({ ...good, alarm_2: 4_294_967_296 }), /alarm_2: 4294967296/],
    ['negative word', table({ ...good, alarm_2: -1 }), /alarm_2: -1/],
    ['id', table({ ...good, inverter_id: 0 }), /inverter_id: 0/],
    ['array element', table({ ...good, mppt_power_kw: [1, 'x'] }), /mppt_power_kw/],
    ['long array', table({ ...good, mppt_power_kw: Array(1025).fill(1) }), /mppt_power_kw/],
    ['too old', table({ ...good, measured_at: noon - 1099 * day_ms }), /measured_at: \d+ is out/],
    ['ahead', table({ ...good, measured_at: noon + 3_600_001 }), /measured_at: \d+ is out/],
    ['text for time', table({ ...good, measured_at: String(noon) }), /measured_at/],
    ['short row', { inverter: { columns: Object.keys(good), rows: [[1, noon]] } }, /2 values in 3/],
    ['unknown kind', { battery: { columns: ['a'], rows: [] } }, /payload/],
    ['no readings', 'NUL \0 and half a \ud800', /payload/],
    ['nothing', null, /payload/],
  ]
  const frames = bad.map(([, payload], nth) => ({ seq: nth + 2, kind: 'readings', payload }))
  const done = await give([
    inverterFrame(1, noon, 7),
    ...frames,
    {
      seq: 90,
      kind: 'riddle\0',
      payload: { deep: JSON.parse('['.repeat(5000) + ']'.repeat(5000)) },
    },
    { seq: 91, kind: 'events', payload: [{ at: noon }] },
    inverterFrame(99, noon + 1, 8),
  ])
  assert.deepEqual([done.new_frames, done.refused_frames], [bad.length + 4, bad.length + 2])
  assert.deepEqual(await powers(), [7, 8])
  const rejected = await database.db.query<{ seq: number; reason: string; payload: unknown }>(
    'select seq, reason, payload from rejected_frames order by seq',
  )
  for (const [nth, [name, payload, reason]] of bad.entries()) {
    const { seq, reason: said, payload: kept } = rejected[nth]!
    assert.equal(seq, nth + 2)
    assert.match(said, reason, name)
    const is_text = typeof payload === 'string'
    assert.deepEqual(is_text ? JSON.parse(kept as string) : kept, payload, name)
  }
  const events = await database.db.query<{ code: string }>('select code from events')
  assert.equal(events.filter(({ code }) => code === 'frame_rejected').length, bad.length + 2)

  function table(row: Record<string, unknown>) {
    return { inverter: { columns: Object.keys(row), rows: [Object.values(row)] } }
  }
})

test('an event of a kind of device that only a newer edge knows is one of the edge', async () => {
  const event = {
    at: noon,
    source_kind: 'tracker',
    source_id: '7',
    code: 'device_offline',
    edge: 'rising',
    severity: 'major',
    message: 'it is silent',
    details: null,
  }
  const frames = [{ seq: 1, kind: 'events', payload: [event, { ...event, source_kind: 'meter' }] }]
  assert.equal((await give(frames)).refused_frames, 0)
  assert.deepEqual(
    await database.db.query('select source_kind, source_id from events order by event_id'),
    [
      { source_kind: 'edge', source_id: 'tracker 7' },
      { source_kind: 'meter', source_id: '7' },
    ],
  )
  const odd = { ...event, source_kind: 'Not a kind' }
  const refused = await give([{ seq: 2, kind: 'events', payload: [odd] }])
  assert.match(refused.refused[0]!.reason, /source_kind/)
})

test('what the database refuses harms its own frame only', async () => {
  const { db } = database
  await db.execute('alter table inverter_readings add constraint odd check (ac_power_kw <> 66)')
  const frames = [inverterFrame(1, noon, 1), inverterFrame(2, noon + 1, 66), eventsFrame(3, noon)]
  const done = await give(frames).finally(() =>
    db.execute('alter table inverter_readings drop constraint odd'),
  )
  assert.deepEqual([done.new_frames, done.refused_frames, done.stored_rows], [3, 1, 1])
  const [rejected] = await db.query('select seq, reason, payload from rejected_frames')
  assert.equal(rejected!['seq'], 2)
  assert.match(String(rejected!['reason']), /^the database refuses it: .*odd/)
  assert.deepEqual(rejected!['payload'], frames[1]!.payload)
})

test('readings of a device that is not announced yet are kept', async () => {
  assert.equal((await give([inverterFrame(1, noon, 3, 77)])).stored_rows, 1)
  const site = park()
  site.loggers[1]!.inverters[0]!.inverter_id = 77
  assert.equal((await give([inventoryFrame(2, site)], 'backlog')).refused_frames, 0)
  assert.equal(await count('inverters join inverter_latest using (site_id, inverter_id)'), 1)
})

test('an error in mid-batch leaves nothing behind', async () => {
  const { db } = database
  // The last step of a batch fails, by an error that is no fault of the data.
  await db.execute('alter table inverter_latest rename to inverter_latest_away')
  const broken = give([inverterFrame(1, noon), eventsFrame(2, noon)])
  await assert.rejects(broken, /inverter_latest/)
  await db.execute('alter table inverter_latest_away rename to inverter_latest')
  for (const table of ['link_frames', 'inverter_readings', 'events', 'touched_hours']) {
    assert.equal(await count(table), 0, table)
  }
  assert.equal((await give([inverterFrame(1, noon), eventsFrame(2, noon)])).new_frames, 2)
})

test('a frame of very many rows is checked in steps and stored whole', async () => {
  const rows = Array.from({ length: 30_000 }, (_, nth) => [1, noon - nth, 'good'])
  const payload = { inverter: { columns: ['inverter_id', 'measured_at', 'quality'], rows } }
  const frame = { seq: 1, kind: 'readings', payload }
  const origin = { site_id, lane: 'backfill', received_at: noon } as const
  let steps = 0
  for (const _ of prepareInSteps(frame, origin)) steps += 1
  assert.equal(steps, 11)
  const done = await give([frame])
  assert.deepEqual([done.stored_rows, done.refused_frames], [30_000, 0])
  rows[29_999]![2] = 'fine'
  const { refused } = await give([{ ...frame, seq: 2 }])
  assert.match(refused[0]!.reason, /inverter row 29999: quality: fine/)
})
