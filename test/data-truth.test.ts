/** What must be true of data, through the link, the database and the API. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import type { Frame } from '@heliograph/domain/link'
import { columnsOf, emptyReading, type ReadingKind } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import { createDeps } from '@heliograph/server/deps'
import { endpoints } from '@heliograph/server/endpoints'
import { addKey } from '@heliograph/server/fixtures/served-site'
import { serve } from '@heliograph/server/http/serve'
import { connectEdge, type EdgeClient, hello } from '@heliograph/server/link/fixtures/edge-client'
import {
  foundSite,
  inventoryFrame,
  noon,
  park,
  site_id,
} from '@heliograph/server/link/fixtures/plant'
import { attachLink } from '@heliograph/server/link/serve'
import { createRollups } from '@heliograph/server/performance/rollups/job'
import { watchGaps } from '@heliograph/server/telemetry/gaps/watch'
import { Registry } from 'prom-client'
import { silent, testDatabase } from './postgres.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const timers = { after: () => () => {} }

const site: Site = {
  ...park(),
  mqtt: { listen: { port: 1883 } },
  nodes: [
    {
      node_id: 'ts-1',
      node_number: 7,
      name: 'TS 1',
      type: 'transformer_station',
      channels: [{ channel: 'oil', kind: 'temperature', label: 'Oil' }],
    },
  ],
}

/** A server with its link and API, and an edge that says what a test has it say. */
async function plant(t: TestContext) {
  const time = { now: noon }
  const clock = { now: () => new Date(time.now) }
  const { db, drop } = await testDatabase()
  await foundSite(db)
  await db.execute("update clients set modules = '{basic_scada,expert_scada,weather}'")
  const key = await addKey(db, { key_id: '0123456789ab' })
  const served = { endpoints, needs: createDeps(db, clock), db, clock, timers, log: silent }
  const app = await serve({ ...served, newId: () => 'test' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const metrics = new Registry()
  const link = attachLink({ server: app.server, db, clock, log: silent, metrics, timers })
  t.after(async () => {
    await link.close()
    await app.close()
    await drop()
  })
  const { port } = app.server.address() as AddressInfo
  const client = await connectEdge(port, { ...hello, lowest_unacked_seq: 1 })
  return {
    db,
    time,
    deliver: (frames: readonly Frame[]) => deliver(client, frames),
    /** Resolves when the server has taken in that the edge holds nothing below. */
    async report(lowest_unacked_seq: number) {
      const journal = { depth_frames: 0, depth_bytes: 0, oldest_at: null }
      client.send({ type: 'status', at: time.now, lowest_unacked_seq, journal, devices: [] })
      for (;;) {
        const [edge] = await db.query<{ acked_below_seq: number }>('select * from edges')
        if (edge?.acked_below_seq === lowest_unacked_seq) return
      }
    },
    /** Sums hours up and looks after the gaps, as the server does by itself. */
    async settle() {
      // Marks are made in the time of the database, which is not that of the readings.
      await db.execute("update touched_hours set due_at = '-infinity'")
      await createRollups(db, { clock, timers, log: silent }).runDue()
      await watchGaps(db, clock.now())
    },
    async get(path: string) {
      const url = `/v1/sites/${site_id}${path}`
      const answer = await app.inject({ url, headers: { authorization: `Bearer ${key}` } })
      assert.equal(answer.statusCode, 200, answer.body)
      return answer.json()
    },
  }
}

async function deliver(client: EdgeClient, frames: readonly Frame[]): Promise<void> {
  for (let from = 0; from < frames.length; from += 200) {
    const some = frames.slice(from, from + 200)
    client.batch('live', some)
    await client.untilAcked(...some.map(({ seq }) => seq))
  }
}

/** A reading for every kind that is given, with what is not measured left out. */
function readings(
  seq: number,
  measured_at: number,
  measured: { [Kind in ReadingKind]?: Record<string, unknown> },
): Frame {
  const tables = Object.entries(measured).map(([kind, values]) => {
    const of = kind as ReadingKind
    const columns = columnsOf(of)
    const whole: Record<string, unknown> = { ...emptyReading(of), measured_at, quality: 'good' }
    const row = columns.map((name) => values[name] ?? whole[name] ?? null)
    return [kind, { columns: [...columns], rows: [row] }]
  })
  return { seq, kind: 'readings', payload: Object.fromEntries(tables) }
}

/** Every five seconds inverter and meter, every ten the logger, every minute the node. */
function plantFrame(seq: number): Frame {
  const at = noon + seq * 5 * second
  return readings(seq, at, {
    inverter: { inverter_id: 1, ac_power_kw: 50, state: 'mppt' },
    meter: { meter_id: 1, active_power_kw: 50 },
    ...(seq % 2 === 0 ? { logger: { logger_id: 1, ac_power_kw: 50 } } : {}),
    ...(seq % 12 === 0 ? { node: { node_number: 7, channel_values: [60] } } : {}),
  })
}

test('a jump in the numbers of frames is a gap of what was really lost', async (t) => {
  const { db, time, deliver, report, settle, get } = await plant(t)
  const frames = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, nth) => plantFrame(from + nth))
  const ended = async () =>
    (await get('/gaps')).data
      .filter(({ end_at }: { end_at: string | null }) => end_at !== null)
      .map((gap: Record<string, unknown>) => [
        `${gap.source_type} ${gap.source_id}`,
        gap.start_at,
        gap.end_at,
        gap.expected_sample_count,
        gap.cause,
        gap.status,
      ])
      .sort()
  time.now = noon + 322 * 5 * second
  await deliver([inventoryFrame(1, site), ...frames(2, 80)])
  await report(81)
  await deliver(frames(85, 320))
  await settle()
  assert.equal((await get('/gaps')).meta.count, 0, 'twenty seconds are no silence')

  // Whoever summed these hours up took their marks back.
  await db.execute('truncate touched_hours')
  await report(321)
  await settle()
  const at = (seq: number) => new Date(noon + seq * 5 * second).toISOString()
  const lost = ['communication', 'unrecoverable']
  const gaps = [
    ['inverter 1', at(80), at(85), 4, ...lost],
    // Its readings of 82 and 84 lack, and that of the node of 84.
    ['logger 1', at(80), at(86), 2, ...lost],
    ['meter 1', at(80), at(85), 4, ...lost],
    ['sensor_node ts-1', at(72), at(96), 1, ...lost],
  ]
  assert.deepEqual(await ended(), gaps)
  const of_logger: { source_type: string }[] = (await get('/gaps/logger/1')).data
  assert.ok(of_logger.some(({ source_type }) => source_type === 'inverter'))

  // Numbers may lack that never were frames with readings: after a power cut they do.
  const renumbered = frames(331, 400).map((frame) => ({ ...frame, seq: frame.seq + 5 }))
  time.now = noon + 402 * 5 * second
  await deliver([...frames(321, 330), ...renumbered])
  await report(406)
  await settle()
  const told = await db.query("select from events where code = 'frames_missing'")
  assert.equal(told.length, 2)
  assert.deepEqual(await ended(), gaps)
})

test('measured 0, not measured, and not heard of since are three things', async (t) => {
  const { time, deliver, get } = await plant(t)
  const inverter = async () => {
    const { ac_power_kw, energy_total_kwh, quality, age_s } = await get('/inverters/1')
    return [ac_power_kw, energy_total_kwh, quality, age_s]
  }
  await deliver([inventoryFrame(1, site)])
  assert.deepEqual(await inverter(), [null, null, 'missing', null])
  const reading = (seq: number, values: Record<string, unknown>) =>
    readings(seq, time.now, { inverter: { inverter_id: 1, ...values } })
  await deliver([reading(2, { ac_power_kw: 0, energy_total_kwh: 1234.5 })])
  assert.deepEqual(await inverter(), [0, 1234.5, 'good', 0])
  time.now += 5 * second
  await deliver([reading(3, {})])
  assert.deepEqual(await inverter(), [null, null, 'good', 0])
  time.now += 5 * second
  await deliver([reading(4, { ac_power_kw: 40, energy_total_kwh: 1234.6 })])
  time.now += 10 * minute
  assert.deepEqual(await inverter(), [40, 1234.6, 'stale', 600])
  const { data } = await get('/inverters/1/history')
  assert.deepEqual(
    data.map(({ ac_power_kw }: { ac_power_kw: unknown }) => ac_power_kw),
    [0, null, 40],
  )
})

test('an inverter that is silent at night is asleep, has no gap, and by day is offline', async (t) => {
  const { time, deliver, settle, get } = await plant(t)
  const evening = noon + 7 * hour
  time.now = evening + 10 * hour
  const day = Array.from({ length: 7 * 60 }, (_, nth) => noon + nth * minute)
  await deliver([
    inventoryFrame(1, site),
    ...day.map((at, nth) => readings(nth + 2, at, { inverter: { inverter_id: 1 } })),
  ])
  const night = Array.from({ length: 60 }, (_, nth) => evening + nth * 10 * minute)
  await deliver(night.map((at, nth) => readings(nth + 1000, at, { logger: { logger_id: 1 } })))
  const seen = async () => {
    await settle()
    const { data } = await get('/gaps')
    const gaps = data.filter(
      ({ source_type }: { source_type: string }) => source_type === 'inverter',
    )
    return [(await get('/inverters/1')).comm_state, gaps.length]
  }
  time.now = evening + 6 * hour
  await deliver([readings(2000, time.now, { logger: { logger_id: 1 } })])
  assert.deepEqual(await seen(), ['asleep', 0])
  time.now = evening + 10.5 * hour
  await deliver([readings(2001, time.now, { logger: { logger_id: 1 } })])
  assert.deepEqual(await seen(), ['disconnected', 1])
})

test('buckets are half-open: a reading on a bound is in the later one, and once', async (t) => {
  const { time, deliver, get } = await plant(t)
  const from = noon + 2 * minute
  await deliver([
    inventoryFrame(1, site),
    ...Array.from({ length: 9 }, (_, nth) =>
      readings(nth + 2, from + nth * minute, {
        weather: { station_id: 1, poa_irradiance_w_m2: 800, instrument_values: [800] },
      }),
    ),
  ])
  time.now = noon + hour
  const { data } = await get('/weather/logger/1/history')
  const told = data.map((bucket: Record<string, unknown>) => [
    bucket.start_at,
    bucket.end_at,
    bucket.sample_count,
  ])
  const at = (minutes: number) => new Date(noon + minutes * minute).toISOString()
  assert.deepEqual(told, [
    [at(0), at(5), 3],
    [at(5), at(10), 5],
    [at(10), at(15), 1],
  ])
})

test('what begins also says when it ends', () => {
  const { components } = JSON.parse(
    readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'),
  ) as { components: { schemas: Record<string, { properties?: Record<string, unknown> }> } }
  const named = (field: string) =>
    Object.entries(components.schemas)
      .filter(([, { properties }]) => properties && field in properties)
      .map(([name]) => name)
  const ends = new Set(named('end_at'))
  // Their step is that of the list that they are in.
  const steps = new Set(['HourOfDay'])
  assert.ok(ends.size > 8)
  assert.deepEqual(
    named('start_at').filter((name) => !ends.has(name) && !steps.has(name)),
    [],
  )
})
