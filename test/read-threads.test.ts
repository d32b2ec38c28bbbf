/** What threads answer to heavy reads, beside what the main thread computes of the same data. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { emptyReading, readingKinds } from '@heliograph/domain/readings'
import { utcDate } from '@heliograph/domain/utc-day'
import type { FastifyInstance } from 'fastify'
import { fillPlant, inverters, strings } from '../bench/fixtures/heavy-plant.ts'
import { addTenant } from '../bench/fixtures/served-plant.ts'
import { addBatteries, batteries } from '../server/batteries/fixtures/battery-site.ts'
import { createDeps } from '../server/deps.ts'
import { endpoints } from '../server/endpoints.ts'
import { serve } from '../server/http/serve.ts'
import { createReadThreads, type ReadThreads } from '../server/read-threads.ts'
import { eventually } from './conventions/virtual-time.ts'
import { silent, type TestDatabase, testDatabase } from './postgres.ts'

const days = 6
/** The past alone: what is still to come changes with the clock. */
const now = Date.now()
const [first, last] = [utcDate(now - 5 * day_ms), utcDate(now - 2 * day_ms)]
const window = `start=${first}T00:00:00Z&end=${last}T00:00:00Z`
/** Readings are of the last hours. */
const recent = `start=${new Date(now - day_ms).toISOString()}&end=${new Date(now).toISOString()}`

const paths: Readonly<Record<string, string>> = {
  loggers_history_list: `/loggers/1/history?${recent}&limit=300`,
  loggers_hourly_energy_list: `/loggers/1/hourly-energy?since=${first}T00:00:00Z`,
  inverters_history_list: `/inverters/1/history?${recent}&limit=300`,
  strings_history_list: `/strings/inverter/1/history?${recent}&limit=300`,
  strings_hourly_list: `/strings/inverter/1/hourly?${window}`,
  sensors_history_list: `/sensors/1/history?${recent}`,
  weather_history_list: `/weather/logger/1/history?${recent}&limit=300`,
  efficiency_loggers_list: `/efficiency/loggers?${window}`,
  efficiency_inverters_list: `/efficiency/inverters?${window}`,
  efficiency_strings_list: `/efficiency/strings?${window}`,
  efficiency_health_list: `/efficiency/health-matrix?${window}`,
  efficiency_losses_list: `/efficiency/loss-analysis?${window}`,
  strings_compare_list: `/strings/inverter/1/compare?${window}`,
  iv_expected_list: `/iv/strings/1/1/expected?${recent}&limit=200`,
  energy_hourly_list: `/energy/hourly?${window}`,
  curtailment_history_list: '/curtailment/history?days=30',
  earnings_summary_get: `/earnings/summary?start=${first}&end=${last}`,
  earnings_hourly_list: `/earnings/hourly?start=${first}&end=${last}`,
  earnings_cross_border_prices_list: `/earnings/cross-border-prices?start=${first}&end=${last}&base=BE&sold=DE-LU`,
  predictions_production_list: `/predictions/production?${window}`,
  predictions_prices_list: `/predictions/prices?${window}`,
  bess_history_list: `/bess/1/history?${recent}`,
  bess_pcs_history_list: `/bess/1/pcs/history?${recent}`,
  bess_alarms_history_list: '/bess/1/alarms/history',
  bess_dispatch_log_list: `/bess/1/dispatch-log?${recent}`,
  bess_control_log_list: '/bess/1/control-log',
}

let database: TestDatabase
let threads: ReadThreads
let authorization: string
let inProcess: FastifyInstance
let inThreads: FastifyInstance
const failures: { err: Error }[] = []

before(async () => {
  database = await testDatabase()
  const { db, url } = database
  for (const { table } of Object.values(readingKinds)) {
    await db.execute(`CREATE TABLE ${table}_any PARTITION OF ${table} DEFAULT`)
  }
  authorization = await addTenant(db, {
    site_id: 'plant',
    key_id: '0123456789ab',
    inverters,
    strings,
  })
  await fillPlant(db, days)
  await addOthers()
  threads = createReadThreads({ url, log_level: 'silent', check_answers: 'strict' })
  const input = {
    endpoints,
    needs: createDeps(db, systemClock),
    db,
    clock: systemClock,
    timers: systemTimers,
    newId: randomUUID,
    log: { ...silent, error: (details: unknown) => void failures.push(details as never) },
  }
  inProcess = await serve(input)
  inThreads = await serve({ ...input, options: { reading: threads } })
  await inThreads.listen({ host: '127.0.0.1', port: 0 })
})
after(async () => {
  inThreads.server.closeAllConnections()
  await inThreads.close()
  await inProcess.close()
  await threads.close()
  await database.drop()
})

/** A node, a battery and an order of the past, each with what was recorded of it. */
async function addOthers(): Promise<void> {
  const { db } = database
  await addBatteries(db, { site_id: 'plant', units: batteries.slice(0, 1) })
  const measured_at = new Date(now - 3_600_000).toISOString()
  const add = async (kind: 'bess' | 'pcs' | 'node', values: object) => {
    const row = { ...emptyReading(kind), site_id: 'plant', quality: 'good', measured_at, ...values }
    const { table } = readingKinds[kind]
    await db.execute(
      `INSERT INTO ${table} SELECT r.* FROM jsonb_populate_record(null::${table}, $1) AS r`,
      [JSON.stringify(row)],
    )
  }
  await add('bess', { bess_id: 1, state: 'standby', power_kw: 0, soc_pct: 50 })
  await add('pcs', { bess_id: 1, pcs_idx: 0, state: 'running', ac_power_kw: 0 })
  await db.query(`
    INSERT INTO nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
      updated_at)
    VALUES ('plant', '1', 1, 'Node', 'cabinet', 60,
      '[{"channel": "oil", "label": "Oil", "kind": "temperature"}]', now(), now());
    INSERT INTO events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
      message)
    VALUES ('plant', '${measured_at}', now(), 'bess', '1.cluster.1', 'alarm:sunspec-string-804:1:1',
      'rising', 'warning', 'test');
    INSERT INTO battery_dispatches (site_id, bess_id, issued_at, reported_at, source,
      requested_power_kw, clamped_power_kw, status)
    VALUES ('plant', 1, '${measured_at}', now(), 'schedule', 10, 10, 'achieved');
    INSERT INTO battery_control_notes (site_id, bess_id, at, nth, tier, actor, action, reason_code,
      message, success)
    VALUES ('plant', 1, '${measured_at}', 0, 'dispatch', 'schedule', 'setpoint', 'schedule', 'Test',
      true);
    INSERT INTO curtailment_groups (site_id, group_id, source, created_at)
    VALUES ('plant', '1', 'edge_local', now());
    INSERT INTO curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw)
    VALUES ('plant', '1', 1, '${first}', '${last}', 50)`)
  await add('node', { node_number: 1, channel_values: [40] })
}

function ask(app: FastifyInstance, path: string, accept = 'application/json') {
  return app.inject({ url: `/v1/sites/plant${path}`, headers: { authorization, accept } })
}

/** Both once more where an hour has ended meanwhile, as some answers depend on the present one. */
async function askBoth(path: string, accept?: string) {
  for (;;) {
    const began_ms = Date.now()
    const expected = await ask(inProcess, path, accept)
    const answered = await ask(inThreads, path, accept)
    if (Math.floor(began_ms / hour_ms) === Math.floor(Date.now() / hour_ms)) {
      return { expected, answered }
    }
  }
}

test('every heavy read is compared', () => {
  const heavy = endpoints.filter(({ heavy }) => heavy).map(({ operation_id }) => operation_id)
  assert.deepEqual(heavy.toSorted(), Object.keys(paths).toSorted())
})

for (const [operation_id, path] of Object.entries(paths)) {
  test(`${operation_id}: a thread answers what the main thread computes`, async () => {
    const { expected, answered } = await askBoth(path)
    assert.equal(expected.statusCode, 200, expected.payload)
    const [other, own] = [answered, expected].map(({ payload }) =>
      payload.replace(/"calculated_at":"[^"]+"/, ''),
    )
    assert.equal(other, own)
    const { data = [{}] } = expected.json()
    assert.ok(data.length > 0 || operation_id.startsWith('strings_'), 'nothing is compared')
  })
}

const computed = endpoints.filter(
  ({ operation_id, exports }) => exports && paths[operation_id] !== undefined,
)
for (const { operation_id } of computed) {
  for (const accept of ['text/csv', 'application/x-ndjson']) {
    test(`${operation_id} as ${accept}: a thread writes what the main thread does`, async () => {
      const path = paths[operation_id]!.replace(/&limit=\d+/, '')
      const { expected, answered } = await askBoth(path, accept)
      assert.equal(expected.statusCode, 200, expected.payload)
      assert.equal(answered.payload, expected.payload)
      assert.deepEqual(namesOf(answered.headers), namesOf(expected.headers))
    })
  }
}

const namesOf = (headers: object) => Object.keys(headers).toSorted()

test('what a read refuses in a thread is refused alike', async () => {
  for (const path of ['/bess/9/history', '/inverters/999/history', '/loggers/9/history?limit=x']) {
    const [expected, answered] = [await ask(inProcess, path), await ask(inThreads, path)]
    const { error } = answered.json()
    assert.ok([404, 422].includes(answered.statusCode), answered.payload)
    assert.deepEqual({ ...error, request_id: null }, { ...expected.json().error, request_id: null })
  }
})

test('what fails in a thread is a 500 whose cause is in the log', async () => {
  await database.db.execute('ALTER TABLE price_runs RENAME TO away')
  const answered = await ask(inThreads, paths['predictions_prices_list']!)
  await database.db.execute('ALTER TABLE away RENAME TO price_runs')
  assert.equal(answered.statusCode, 500)
  assert.match(failures.at(-1)!.err.message, /relation "price_runs" does not exist/)
  assert.equal((await ask(inThreads, paths['predictions_prices_list']!)).statusCode, 200)
})

test('an export that fails in a thread is a 500 before its first byte', async () => {
  await database.db.execute('ALTER TABLE price_runs RENAME TO away')
  const answered = await ask(inThreads, paths['predictions_prices_list']!, 'text/csv')
  await database.db.execute('ALTER TABLE away RENAME TO price_runs')
  assert.equal(answered.statusCode, 500)
})

for (const accept of ['application/json', 'text/csv']) {
  test(`a statement for ${accept} ends with its reader`, { timeout: 30_000 }, async () => {
    const { db } = database
    const failed = failures.length
    const locked = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    const holding = db.transaction(async (tx) => {
      await tx.execute('LOCK TABLE logger_hours')
      locked.resolve()
      await done.promise
    })
    const waiting = async () => {
      const rows = await db.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database()
           AND application_name = 'heliograph-server-read' AND wait_event_type = 'Lock'`,
      )
      return rows.length
    }
    const { port } = inThreads.server.address() as AddressInfo
    const path = `/v1/sites/plant${paths['earnings_hourly_list']}`
    const open = () =>
      get({ host: '127.0.0.1', port, path, agent: false, headers: { authorization, accept } })
    try {
      await locked.promise
      const request = open()
      request.on('error', () => {})
      await eventually(async () => assert.equal(await waiting(), 1))
      request.destroy()
      await eventually(async () => assert.equal(await waiting(), 0))
    } finally {
      done.resolve()
      await holding
    }
    const [response] = (await once(open(), 'response')) as [IncomingMessage]
    response.resume()
    assert.equal(response.statusCode, 200)
    assert.equal(failures.length, failed, 'nothing has failed')
  })
}

test('an export whose thread has died does not begin again in the middle of its file', async () => {
  const started: Worker[] = []
  const noteStart = (worker: Worker) => void started.push(worker)
  process.on('worker', noteStart)
  const own = createReadThreads({ url: database.url, log_level: 'silent', check_answers: 'strict' })
  const opened = Promise.withResolvers<Parameters<ReadThreads['export']>>()
  const app = await serve({
    endpoints,
    needs: createDeps(database.db, systemClock),
    db: database.db,
    clock: systemClock,
    timers: systemTimers,
    newId: randomUUID,
    log: silent,
    options: {
      reading: {
        ...own,
        async *export(...asked) {
          opened.resolve(asked)
          yield Buffer.from('')
        },
      },
    },
  })
  try {
    await ask(app, paths['predictions_prices_list']!, 'text/csv')
    const parts = own.export(...(await opened.promise))[Symbol.asyncIterator]()
    assert.equal((await parts.next()).done, false)
    await started.at(-1)!.terminate()
    await assert.rejects(async () => {
      for (let part = await parts.next(); !part.done; part = await parts.next()) {}
    }, /export/)
  } finally {
    process.off('worker', noteStart)
    await app.close()
    await own.close()
  }
})
