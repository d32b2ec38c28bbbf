/** Readings that a wrong clock dated into the future. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { type Lane, lanes } from '@heliograph/domain/link'
import fc from 'fast-check'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { edge_id, foundSite, inverterFrame, noon, site_id } from './fixtures/plant.ts'
import { type Ingest, ingestInto } from './ingest.ts'

const second = 1000
const minute = 60 * second

let database: TestDatabase
let ingest: Ingest
let seq = 0

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
  ingest = ingestInto(database.db)
})
after(() => database.drop())
beforeEach(() => database.db.execute('truncate inverter_readings, inverter_latest, events'))

/** A reading, both instants in ms after noon; the power tells it apart. */
async function send(measured_ms: number, received_ms: number, lane: Lane = 'live') {
  seq += 1
  const frames = [inverterFrame(seq, noon + measured_ms, seq)]
  const from = { site_id, edge_id, epoch: 'a', lane, received_at: noon + received_ms }
  await ingest.ingest({ ...from, frames })
  return seq
}

async function rows(table: 'inverter_readings' | 'inverter_latest') {
  const found = await database.db.query<{ measured_at: Date; quality: string }>(
    `select measured_at, quality from ${table} order by measured_at`,
  )
  return found.map(({ measured_at, quality }) => [measured_at.getTime() - noon, quality])
}

const latest = async () => (await rows('inverter_latest'))[0]

test('what a fast clock sends live was measured when it arrived, and the next moves on', async () => {
  await send(5 * second, 0)
  assert.deepEqual(await latest(), [5 * second, 'good'], 'a little ahead is believed')
  await send(50 * minute, 10 * second)
  assert.deepEqual(await latest(), [10 * second, 'suspect'])
  await send(50 * minute + second, 11 * second)
  assert.deepEqual(await latest(), [11 * second, 'suspect'], 'nor is it frozen meanwhile')
  await send(12 * second, 12 * second)
  assert.deepEqual(await latest(), [12 * second, 'good'], 'the clock was set right')
  assert.deepEqual(await rows('inverter_readings'), [
    [5 * second, 'good'],
    [12 * second, 'good'],
    [50 * minute, 'suspect'],
    [50 * minute + second, 'suspect'],
  ])
})

test('what a fast clock dated and comes late is no latest', async () => {
  await send(50 * minute, 0, 'backlog')
  assert.equal(await latest(), undefined)
  await send(second, second)
  await send(40 * minute, 2 * second, 'backlog')
  assert.deepEqual(await latest(), [second, 'good'])
  assert.equal((await rows('inverter_readings')).length, 3)
})

test('however clocks go, the latest is never set back nor dated into the future', async () => {
  const arrival = fc.record({
    ahead_ms: fc.oneof(
      fc.integer({ min: -60 * minute, max: 60 * minute }),
      fc.integer({ min: -10 * second, max: 10 * second }),
    ),
    passed_ms: fc.integer({ min: 0, max: 20 * second }),
    lane: fc.constantFrom(...lanes),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(arrival, { minLength: 1, maxLength: 15 }), async (arrivals) => {
      await database.db.execute('truncate inverter_readings, inverter_latest')
      let received_ms = 0
      let before = Number.NEGATIVE_INFINITY
      for (const { ahead_ms, passed_ms, lane } of arrivals) {
        received_ms += passed_ms
        await send(received_ms + ahead_ms, received_ms, lane)
        const now = ((await latest())?.[0] ?? Number.NEGATIVE_INFINITY) as number
        assert.ok(now >= before, `${now} after ${before}`)
        assert.ok(now <= received_ms + 5 * second)
        if (lane === 'live' && ahead_ms >= 0) assert.ok(now >= received_ms, 'it is not frozen')
        before = now
      }
    }),
    { numRuns: 20 },
  )
})

test('a frame that is refused tells the time that it was of', async () => {
  const refused = await send(2 * 60 * minute, 0)
  const events = await database.db.query<{ code: string; details: object }>(
    'select code, details from events',
  )
  const at = noon + 2 * 60 * minute
  assert.deepEqual(events, [
    {
      code: 'frame_rejected',
      details: { epoch: 'a', seq: refused, kind: 'readings', from_at: at, to_at: at },
    },
  ])
})
