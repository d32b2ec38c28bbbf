/** A simulated plant with known faults, from its readings to what the API says of each string. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import test, { after, before } from 'node:test'
import type { Frame } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import { createDeps } from '@heliograph/server/deps'
import { endpoints } from '@heliograph/server/endpoints'
import { modules, scopes } from '@heliograph/server/http/endpoint'
import { serve } from '@heliograph/server/http/serve'
import { ingestInto } from '@heliograph/server/link/ingest'
import { createRollups } from '@heliograph/server/performance/rollups/job'
import { initialCounters } from '@heliograph/simulator/counters'
import type { Fault } from '@heliograph/simulator/faults'
import { mixedSite, undescribed } from '@heliograph/simulator/fixtures/mixed-site'
import { smallSite } from '@heliograph/simulator/fixtures/site'
import { historyFrames } from '@heliograph/simulator/history'
import { createSimulation } from '@heliograph/simulator/site'
import { silent, type TestDatabase, testDatabase } from './postgres.ts'

const hour = 3_600_000
const end = Date.UTC(2026, 2, 22)
const days = 4
const seed = 3

const site: Site = structuredClone(smallSite)
for (const inverter of site.loggers[0]!.inverters) {
  inverter.rated_ac_power_kw = 100
  inverter.string_groups[0]!.strings = 12
}

const faults: Fault[] = [
  { kind: 'soiled_string', inverter_id: 1, string_index: 2, value: 0.08 },
  { kind: 'open_string', inverter_id: 1, string_index: 7 },
  { kind: 'shaded_string', inverter_id: 2, string_index: 3 },
  { kind: 'bypassed_substring', inverter_id: 2, string_index: 8, value: 6 },
]

/** One inverter of it. */
const mixed: Site = structuredClone({ ...mixedSite, site_id: 'mixed' })
mixed.loggers[0]!.inverters.splice(1)

let database: TestDatabase
let app: Awaited<ReturnType<typeof serve>>
const secret = '5e'.repeat(32)

async function get(path: string, site_id = site.site_id) {
  const { statusCode, json } = await app.inject({
    url: `/v1/sites/${site_id}${path}`,
    headers: { authorization: `Bearer svc_live_0123456789ab_${secret}` },
  })
  assert.equal(statusCode, 200, path)
  return json()
}

before(async () => {
  database = await testDatabase()
  const { db } = database
  await db.execute("insert into clients (client_id, name, modules) values (1, 'C', $1)", [modules])
  await db.query(
    `insert into sites (site_id, client_id, name) values ('small', 1, 'S'), ('mixed', 1, 'M');
     insert into edges (site_id, edge_id, name, secret_sha256)
     values ('small', 'aaaaaaaaaaaa', 'E', ''), ('mixed', 'bbbbbbbbbbbb', 'E', '')`,
  )
  await db.execute(
    `insert into api_keys (key_id, client_id, name, secret_sha256, scopes, general_per_minute,
       created_by) values ('0123456789ab', 1, 'test', $1, $2, 100000, 'test')`,
    [hash('sha256', secret, 'buffer'), scopes],
  )
  const ingest = ingestInto(db)
  const addSite = async (announced: Site, edge_id: string, history: Generator<Frame>) => {
    const source = { site_id: announced.site_id, edge_id, epoch: 'e', lane: 'live' as const }
    const store = (frame: { seq: number; kind: string; payload: unknown }) =>
      ingest.ingest({ ...source, frames: [frame], received_at: end })
    await store({ seq: 10_000, kind: 'inventory', payload: announced })
    for (const frame of history) await store(frame)
  }
  const historyOf = (simulated: Site, those: readonly Fault[]) => {
    const simulation = createSimulation(simulated, seed, { faults: those })
    return historyFrames(simulation, { counters: initialCounters(simulated, end), days })
  }
  await addSite(site, 'aaaaaaaaaaaa', historyOf(site, faults))
  await addSite(undescribed(mixed), 'bbbbbbbbbbbb', historyOf(mixed, []))
  const timers = { after: () => () => {} }
  const later = { now: () => new Date(Date.now() + 48 * hour) }
  await createRollups(db, { clock: later, timers, log: silent }).runDue()
  const clock = { now: () => new Date(end) }
  app = await serve({
    endpoints,
    needs: createDeps(db, clock),
    db,
    clock,
    timers,
    newId: () => 'test',
    log: silent,
  })
})
after(async () => {
  await app.close()
  await database.drop()
})

interface Health {
  inverter_id: number
  string_index: number
  peer_group: string
  status: string
  suspected_cause: string | null
  affected_by_string_index: number | null
}

const nameOf = ({ inverter_id, string_index }: { inverter_id: number; string_index: number }) =>
  `${inverter_id}/${string_index}`

test('the health matrix names each faulty string, its cause, and no other', async (t) => {
  const { data, meta } = await get('/efficiency/health-matrix')
  assert.equal(meta.count, 24)
  const ill = (data as Health[]).filter(({ status }) => status !== 'healthy')
  for (const each of ill) {
    t.diagnostic(`${nameOf(each)}: ${each.status}, ${each.suspected_cause}`)
  }
  assert.deepEqual(
    ill.map(nameOf),
    faults.map((fault) => nameOf(fault as never)),
  )
  const [soiled, open, shaded, bypassed] = ill
  assert.equal(soiled!.suspected_cause, 'soiling')
  assert.equal(open!.status, 'dead')
  assert.equal(shaded!.suspected_cause, 'shading')
  assert.equal(bypassed!.suspected_cause, 'bypass_diode')
})

test('the I-V comparison names each fault, and finds the sound strings normal', async (t) => {
  const expected: Record<string, string[]> = {
    '1/2': ['current_loss'],
    '1/7': ['open'],
    '2/3': ['shading_or_mismatch'],
    '2/8': ['voltage_loss'],
  }
  for (const inverter_id of [1, 2]) {
    for (let string_index = 0; string_index < 12; string_index += 1) {
      const name = nameOf({ inverter_id, string_index })
      const { data, meta } = await get(
        `/iv/strings/${inverter_id}/${string_index}/expected?limit=5000`,
      )
      assert.ok(data.length > 1000)
      t.diagnostic(`${name}: ${meta.diagnosis}, ${meta.reason}`)
      assert.ok((expected[name] ?? ['normal']).includes(meta.diagnosis), name)
    }
  }
})

test('strings whose orientation is assumed compare with those whose energy comes at its hours', async () => {
  const { data } = await get('/efficiency/health-matrix', 'mixed')
  const groups = Map.groupBy(data as Health[], ({ peer_group }) => peer_group)
  assert.deepEqual(
    [...groups].map(([group, { length }]) => [group, length]),
    [
      ['assumed/1/1', 10],
      ['assumed/1/2', 6],
      ['assumed/1/3', 4],
    ],
  )
  const ill = (data as Health[]).filter(({ status }) => status !== 'healthy')
  assert.deepEqual(
    ill.map((each) => `${nameOf(each)}: ${each.status}`),
    [],
  )
})

test('string rankings put the faulty ones last', async () => {
  const { data } = await get('/efficiency/strings?orientation=south')
  assert.equal(data.length, 24)
  const last = data.slice(-4).map(nameOf)
  assert.deepEqual(new Set(last), new Set(faults.map((fault) => nameOf(fault as never))))
})

test('an inverter side by side', async () => {
  const { data } = await get('/strings/inverter/1/compare')
  assert.equal(data.length, 12)
  assert.ok(data[7].zero_current_min > 600)
  assert.equal(data[7].max_current_a, 0)
  assert.ok(data[2].deviation_pct < -5 && data[2].correlation_with_median > 0.99)
})
