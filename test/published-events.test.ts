/** Each operation and each report of an edge publishes its events, with the records of the API. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import type { RowReport } from '@heliograph/domain/curtailment'
import { hour_ms } from '@heliograph/domain/durations'
import type { Frame, LinkEvent } from '@heliograph/domain/link'
import { Compile } from 'typebox/compile'
import { shareRoundOfAlerts } from '../server/alerts/rounds.ts'
import {
  addKey,
  addReading,
  noon as noon_at,
  type ServedSite,
  servedSite,
} from '../server/fixtures/served-site.ts'
import { round_channel } from '../server/jobs/site-rounds.ts'
import { ingestInto } from '../server/link/ingest.ts'
import { recordHello, recordOffline } from '../server/link/presence.ts'
import { watchHealth } from '../server/overview/sites/health-watch.ts'
import { eventCatalogue } from '../server/push/catalogue.ts'
import { silent } from './postgres.ts'

// biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
type Answer = any

const noon = noon_at.getTime()
const edge = { site_id: 'demo', edge_id: '0123456789ab' }
const checkers = new Map(eventCatalogue.map(({ type, schema }) => [type, Compile(schema)]))
let served: ServedSite
let db: ServedSite['db']
let key: string
let last_id = 0
let seq = 0

before(async () => {
  served = await servedSite()
  ;({ db } = served)
  key = await addKey(db, { key_id: 'aaaaaaaaaaaa' })
  await db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256) values ('demo', $1, 'edge', '')`,
    [edge.edge_id],
  )
})
beforeEach(() => news())
after(() => served.close())

async function write(method: 'POST' | 'PUT' | 'DELETE', path: string, payload: object = {}) {
  const response = await served.app.inject({
    method,
    url: `/v1/sites/demo${path}`,
    headers: { authorization: `Bearer ${key}` },
    payload,
  })
  assert.ok(response.statusCode < 300, response.payload)
  return response.json() as Answer
}

/** The events since the last call. */
async function news(): Promise<Answer[]> {
  const { body } = await served.get(`/events?after=${last_id}`)
  last_id = body.data.at(-1)?.event_id ?? last_id
  for (const event of body.data) assert.ok(checkers.get(event.type)!.Check(event), event.type)
  return body.data
}

const named = (events: Answer[]) => events.map(({ type, subject }: Answer) => `${type} ${subject}`)

const ingest = (kind: string, payload: unknown) => {
  seq += 1
  const frames: Frame[] = [{ seq, kind, payload }]
  return ingestInto(db).ingest({ ...edge, epoch: 'a', lane: 'live', frames, received_at: noon })
}

test('work orders and defects', async () => {
  const order = await write('POST', '/work-orders', { title: 'Fuse', description: 'Spare fuse.' })
  const [created, ...more] = await news()
  assert.deepEqual(named([created, ...more]), [`work_order.created work_order/${order.wo_id}`])
  assert.deepEqual(created.record, order)
  assert.equal((await served.get(created.link)).status, 200)
  const place = `/work-orders/${order.wo_id}`
  await write('PUT', place, { status: 'in_progress' })
  await write('PUT', place, { status: 'in_progress' })
  await write('PUT', place, { status: 'completed' })
  const approved = await write('POST', `${place}/approve`)
  const changes = await news()
  assert.deepEqual(
    changes.map(({ type, record }) => [type, record.status]),
    [
      ['work_order.changed', 'in_progress'],
      ['work_order.changed', 'completed'],
      ['work_order.approved', 'approved'],
    ],
  )
  assert.deepEqual(changes.at(-1).record, approved)
  const defect = await write('POST', '/defects', { title: 'Crack', severity: 'low' })
  const changed = await write('PUT', `/defects/${defect.defect_id}`, { severity: 'high' })
  assert.deepEqual(
    (await news()).map(({ type, record }) => [type, record]),
    [
      ['defect.reported', defect],
      ['defect.changed', changed],
    ],
  )
})

test('a write that fails publishes nothing', async () => {
  const { statusCode } = await served.app.inject({
    method: 'POST',
    url: '/v1/sites/demo/work-orders/99/approve',
    headers: { authorization: `Bearer ${key}` },
    payload: {},
  })
  assert.equal(statusCode, 404)
  assert.deepEqual(await news(), [])
})

test('the steps of a curtailment order', async () => {
  const command = { scope: 'site', limit_mode: 'percent', limit_value: 50, duration_minutes: 60 }
  const group = await write('POST', '/curtailment/immediate', command)
  const [first, second] = await news()
  assert.deepEqual(named([first, second]), [
    'curtailment.accepted curtailment/1',
    'curtailment.accepted curtailment/2',
  ])
  assert.deepEqual([first.record.logger_id, first.record.status], [1, 'active'])
  const { group_id } = group
  const of = (change: Partial<RowReport>): RowReport => ({
    row: {
      group_id,
      logger_id: 1,
      start_at: noon,
      end_at: noon + hour_ms,
      max_power_kw: 100,
      released_at: null,
    },
    reported_at: noon,
    acknowledged_at: noon,
    applied_at: null,
    verified_at: null,
    restore_started_at: null,
    restored_at: null,
    last_checked_at: null,
    observed_limit_kw: null,
    observed_power_kw: null,
    samples: 0,
    compliant_samples: 0,
    violation_s: 0,
    retry_count: 0,
    failure_code: null,
    failure_message: null,
    ...change,
  })
  await ingest('curtailment', [of({})])
  assert.deepEqual(await news(), [])
  const failed = { failure_code: 'timeout', failure_message: 'no answer' } as const
  await ingest('curtailment', [of({ reported_at: noon + 1, ...failed })])
  await ingest('curtailment', [of({ reported_at: noon + 2, ...failed })])
  const applied = { applied_at: noon + 2, verified_at: noon + 3 }
  await ingest('curtailment', [of({ reported_at: noon + 3, ...applied })])
  await ingest('curtailment', [of({ reported_at: noon + 4, ...applied })])
  const restored = { ...applied, restored_at: noon + hour_ms }
  await ingest('curtailment', [of({ reported_at: noon + hour_ms, ...restored })])
  const steps = await news()
  assert.deepEqual(
    named(steps),
    ['failed', 'applied', 'verified', 'restored'].map(
      (step) => `curtailment.${step} curtailment/1`,
    ),
  )
  assert.equal(steps[0].record.failure_code, 'timeout')
  assert.equal(steps[3].record.status, 'completed')
  assert.equal(steps[3].at, new Date(noon + hour_ms).toISOString())
})

test('devices and edges that are offline', async () => {
  const event = (code: string, is_rising: boolean): LinkEvent => ({
    at: noon,
    source_kind: 'inverter',
    source_id: '1',
    code,
    edge: is_rising ? 'rising' : 'falling',
    severity: 'warning',
    message: 'Inverter 1 does not answer.',
    details: null,
  })
  await ingest('events', [event('device_offline', true), event('door_open', true)])
  await ingest('events', [event('device_offline', false)])
  const hello = { agent_version: '1', sent_at: noon, received_at: noon }
  const mark = await recordHello(db, edge, hello)
  await recordOffline(db, edge, { mark, reason: 'closed', at: new Date(noon + 1) })
  await recordOffline(db, edge, { mark, reason: 'closed', at: new Date(noon + 2) })
  await recordHello(db, edge, { ...hello, received_at: noon + 3 })
  const events = await news()
  assert.deepEqual(named(events), [
    'device.offline inverter/1',
    'device.online inverter/1',
    `edge.offline edge/${edge.edge_id}`,
    `edge.online edge/${edge.edge_id}`,
  ])
  assert.deepEqual(events[0].record, {
    kind: 'inverter',
    id: '1',
    state: 'offline',
    since_at: noon_at.toISOString(),
    message: 'Inverter 1 does not answer.',
  })
})

test('a serious event of an edge makes its alert at once, on a server that shares the round', async () => {
  const rounds: string[] = []
  const listening = await db.listen(round_channel, {
    notified: (job) => void rounds.push(job),
    resumed() {},
  })
  const event = {
    at: noon,
    source_kind: 'logger',
    source_id: '1',
    edge: 'rising',
    message: 'The power exceeds the permit.',
    details: null,
  } as const
  await ingest('events', [{ ...event, code: 'door_open', severity: 'warning' }])
  await ingest('events', [{ ...event, code: 'permit_exceeded', severity: 'critical' }])
  while (rounds.length === 0) await db.query('select')
  await listening.stop()
  assert.deepEqual(rounds, ['evaluate_alerts'])
  const times = { now: () => noon_at, signal: new AbortController().signal }
  await shareRoundOfAlerts({ db, log: silent }, times)
  const raised = (await news()).filter(({ type }) => type === 'alert.raised')
  assert.ok(raised.some(({ record }) => record.code === 'permit_exceeded'))
  assert.ok(raised.every(({ record }) => record.lost_amount === null))
})

test('the health of a site, when it changes', async () => {
  const healthOf = async () => {
    const { health_status, health_reasons } = (await served.get('/overview')).body.site
    return { health_status, health_reasons }
  }
  const measured_at = noon_at.toISOString()
  for (const logger_id of [1, 2]) await addReading(db, 'logger', { logger_id, measured_at })
  const before_health = await healthOf()
  await watchHealth(db, noon_at)
  await watchHealth(db, noon_at)
  assert.deepEqual(await news(), [])
  const later = new Date(noon + 2 * hour_ms)
  await watchHealth(db, later)
  await watchHealth(db, later)
  served.clock.set(later)
  const [changed, ...more] = await news()
  assert.deepEqual(named([changed, ...more]), ['site.health_changed site/demo'])
  const after_health = await healthOf()
  assert.notDeepEqual(after_health, before_health)
  const { name, previous_health_status, ...health } = changed.record
  assert.deepEqual(health, after_health)
  assert.equal(previous_health_status, before_health.health_status)
})
