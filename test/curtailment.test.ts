/** Curtailment from the request to the edge and back, through HTTP and the link. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { hello } from '../server/link/fixtures/edge-client.ts'
import { noon } from '../server/link/fixtures/plant.ts'
import {
  type CurtailmentPlant,
  curtailmentPlant,
  forgetCurtailment,
  fromTo,
  hasGroup,
  isReleased,
  manualTimers,
  plant_1,
  reportOf,
  site_60,
  untilDesired,
  withoutListening,
} from './curtailment-plant.ts'

let plant: CurtailmentPlant

before(async () => {
  plant = await curtailmentPlant()
})
after(() => plant.close())
beforeEach(() => forgetCurtailment(plant))

type Row = Record<string, unknown>

test('a window reaches the edge, and what the edge makes of it is told', async () => {
  const edge = await plant.edge()
  const made = await plant.call('POST', '/curtailment/window', { ...site_60, ...fromTo(0, 2) })
  assert.equal(made.status, 201, made.text)
  const { group_id, schedules } = made.body
  assert.deepEqual(
    schedules.map((row: Row) => [row['logger_id'], row['max_power_kw'], row['status']]),
    [
      [1, 120, 'active'],
      [2, 60, 'active'],
    ],
  )
  assert.equal(made.body.site_max_power_kw, 180)
  assert.equal(made.body.hold_until_at, null)
  assert.deepEqual([made.body.warnings, made.body.skipped], [[], []])
  const rows = await untilDesired(edge, hasGroup(group_id))
  assert.deepEqual(rows, [
    {
      group_id,
      logger_id: 1,
      start_at: noon,
      end_at: noon + 2 * hour_ms,
      max_power_kw: 120,
      released_at: null,
    },
    {
      group_id,
      logger_id: 2,
      start_at: noon,
      end_at: noon + 2 * hour_ms,
      max_power_kw: 60,
      released_at: null,
    },
  ])
  plant.clock.pass(2000)
  await plant.report(
    edge,
    reportOf(rows[0]!, noon + 2000, {
      acknowledged_at: noon + 50,
      applied_at: noon + 800,
      verified_at: noon + 1500,
      last_checked_at: noon + 2000,
      observed_limit_kw: 120,
      observed_power_kw: 119,
      samples: 4,
      compliant_samples: 3,
      violation_s: 1.5,
      retry_count: 1,
    }),
    reportOf(rows[1]!, noon + 2000, { failure_code: 'timeout', failure_message: 'no answer' }),
  )
  const [first, second] = await plant.listed()
  assert.equal(first!['apply_latency_ms'], 800)
  assert.equal(first!['verified_at'], new Date(noon + 1500).toISOString())
  assert.deepEqual(
    [first!['applied'], first!['restored'], first!['is_active']],
    [true, false, true],
  )
  assert.deepEqual([first!['compliance_pct'], first!['violation_s']], [75, 1.5])
  assert.deepEqual([first!['observed_limit_kw'], first!['observed_power_kw']], [120, 119])
  assert.equal(first!['created_by'], 'control room')
  assert.deepEqual([second!['applied'], second!['failure_code']], [false, 'timeout'])
})

test('what is asked for is told on connecting, to agents alone', async () => {
  await plant.call('POST', '/curtailment/immediate', plant_1)
  const edge = await plant.edge()
  const [row] = await untilDesired(edge, () => true)
  assert.equal(row!.max_power_kw, 50)
  assert.equal(row!.end_at - row!.start_at, 7 * 24 * hour_ms)
  const importer = await plant.edge({ ...hello, role: 'importer', epoch: 'history' })
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  await untilDesired(edge, hasGroup(group_id))
  assert.deepEqual(
    importer.messages.map(({ type }) => type),
    ['welcome'],
  )
})

test('an immediate one holds for its time, or for seven days', async () => {
  const until = async (duration: object) =>
    (await plant.call('POST', '/curtailment/immediate', { ...plant_1, ...duration })).body
      .hold_until_at
  assert.equal(await until({ duration_minutes: 90 }), new Date(noon + 1.5 * hour_ms).toISOString())
  const week = new Date(noon + 7 * 24 * hour_ms).toISOString()
  assert.equal(await until({}), week)
  assert.equal(await until({ duration_minutes: null }), week)
  assert.equal(await until({ duration_minutes: 10_080 }), week)
})

test('a site is split by rated power over the plants in service', async () => {
  await plant.db.execute('update loggers set retired_at = now() where logger_id = 2')
  const kw_90 = { scope: 'site', logger_id: 'whatever', limit_mode: 'kw', limit_value: 90.0005 }
  const { body } = await plant.call('POST', '/curtailment/immediate', kw_90)
  assert.deepEqual(body.skipped, [{ logger_id: 2, reason: 'retired' }])
  assert.deepEqual(
    body.schedules.map((row: Row) => row['max_power_kw']),
    [90],
  )
  const gone = await plant.call('POST', '/curtailment/immediate', { ...plant_1, logger_id: 2 })
  assert.equal(gone.body.error.details.errors[0].code, 'unknown_reference')
  await plant.db.execute('update loggers set retired_at = null')
  const both = await plant.call('POST', '/curtailment/immediate', kw_90)
  assert.deepEqual(
    both.body.schedules.map((row: Row) => row['max_power_kw']),
    [60, 30],
  )
  await plant.db.execute('update loggers set retired_at = now()')
  const none = await plant.call('POST', '/curtailment/immediate', kw_90)
  assert.deepEqual([none.status, none.body.error.code], [409, 'conflict_state'])
  await plant.db.execute('update loggers set retired_at = null')
})

const window = { ...plant_1, ...fromTo(1, 2) }
const refusals: readonly (readonly [what: string, body: object, field: string, code: string])[] = [
  ['no scope', { ...window, scope: undefined }, 'scope', 'required'],
  ['another scope', { ...window, scope: 'fleet' }, 'scope', 'not_allowed_value'],
  ['another mode', { ...window, limit_mode: 'MW' }, 'limit_mode', 'not_allowed_value'],
  ['no limit', { ...window, limit_value: undefined }, 'limit_value', 'required'],
  ['a limit of 0', { ...window, limit_value: 0 }, 'limit_value', 'out_of_range'],
  ['a negative limit', { ...window, limit_value: -5 }, 'limit_value', 'out_of_range'],
  ['no number', { ...window, limit_value: '5' }, 'limit_value', 'invalid_type'],
  [
    'NaN, which JSON has not',
    { ...window, limit_value: Number.NaN },
    'limit_value',
    'invalid_type',
  ],
  ['no logger', { ...window, logger_id: undefined }, 'logger_id', 'required'],
  ['null for a logger', { ...window, logger_id: null }, 'logger_id', 'required'],
  ['a logger by name', { ...window, logger_id: 'South' }, 'logger_id', 'invalid_type'],
  ['half a logger', { ...window, logger_id: 1.5 }, 'logger_id', 'invalid_type'],
  ['a logger below 0', { ...window, logger_id: -1 }, 'logger_id', 'out_of_range'],
  ['a huge logger', { ...window, logger_id: 1e300 }, 'logger_id', 'out_of_range'],
  ['an unknown logger', { ...window, logger_id: 77 }, 'logger_id', 'unknown_reference'],
  ['a reversed window', { ...window, ...fromTo(2, 1) }, 'end_at', 'end_not_after_start'],
  ['an empty window', { ...window, ...fromTo(1, 1) }, 'end_at', 'end_not_after_start'],
  ['a window that is over', { ...window, ...fromTo(-2, 0) }, 'end_at', 'out_of_range'],
  ['a naive time', { ...window, start_at: '2026-06-21T13:00:00' }, 'start_at', 'naive_timestamp'],
  ['no such day', { ...window, end_at: '2027-02-30T00:00:00Z' }, 'end_at', 'invalid_timestamp'],
  ['a window without an end', { ...window, end_at: undefined }, 'end_at', 'required'],
  [
    'a duration of a window',
    { ...window, duration_minutes: 5 },
    'duration_minutes',
    'unknown_field',
  ],
  ['a note', { ...window, note: 'x' }, 'note', 'unknown_field'],
]
const nowRefusals: typeof refusals = [
  ['no minutes', { ...plant_1, duration_minutes: 0 }, 'duration_minutes', 'out_of_range'],
  ['too many', { ...plant_1, duration_minutes: 10_081 }, 'duration_minutes', 'out_of_range'],
  ['half a minute', { ...plant_1, duration_minutes: 0.5 }, 'duration_minutes', 'invalid_type'],
  ['a start', { ...plant_1, start_at: window.start_at }, 'start_at', 'unknown_field'],
]

test('what is wrong is named by its field, and leaves nothing behind', async () => {
  const tried = [
    ...refusals.map((refusal) => ['/curtailment/window', ...refusal] as const),
    ...nowRefusals.map((refusal) => ['/curtailment/immediate', ...refusal] as const),
  ]
  for (const [path, what, body, field, code] of tried) {
    const { status, body: answer } = await plant.call('POST', path, body)
    assert.equal(status, 422, what)
    const found = answer.error.details.errors.map((one: Row) => [one['field'], one['code']])
    assert.deepEqual(found, [[field, code]], what)
  }
  const infinite = JSON.stringify(window).replace(':50', ':1e999')
  const sent = await plant.app.inject({
    method: 'POST',
    url: '/v1/sites/park/curtailment/window',
    headers: { 'content-type': 'application/json', authorization: plant.authorization },
    payload: infinite,
  })
  assert.equal(sent.json().error.details.errors[0].field, 'limit_value')
  assert.equal(await plant.groups(), 0)
})

test('a limit above the rated power reduces nothing, and is accepted; so is a long window', async () => {
  for (const [limit_mode, limit_value] of [
    ['percent', 100.001],
    ['percent', 1e308],
    ['kw', 201],
    ['kw', 1e308],
  ] as const) {
    const body = { ...window, limit_mode, limit_value }
    const { status, body: group } = await plant.call('POST', '/curtailment/window', body)
    assert.equal(status, 201)
    assert.equal(group.schedules[0].max_power_kw, 200)
    assert.equal(group.schedules[0].limit_value, limit_value)
    assert.ok(group.schedules[0].requested_max_power_kw > 200)
  }
  const begun = { ...window, start_at: '1970-01-01T00:00:00Z', end_at: '2999-12-31T23:59:59Z' }
  const { body } = await plant.call('POST', '/curtailment/window', begun)
  assert.equal(body.status, 'active')
  assert.equal(body.schedules[0].start_at, '1970-01-01T00:00:00.000Z')
})

test('a write to any replica reaches the edge wherever it is, notified or not', async () => {
  const other = await plant.replica()
  const deaf = await plant.replica({ db: withoutListening(plant.db) })
  const timeless = await plant.replica({ timers: manualTimers().timers })
  for (const [written, connected] of [
    [other, plant],
    [other, timeless],
    [other, deaf],
  ] as const) {
    const edge = await connected.edge()
    const { group_id } = (await written.call('POST', '/curtailment/immediate', plant_1)).body
    const began_ms = performance.now()
    await untilDesired(edge, hasGroup(group_id))
    assert.ok(performance.now() - began_ms < 1000)
    const releasing = written.call('DELETE', `/curtailment/group/${group_id}`)
    const [row] = (await untilDesired(edge, isReleased(group_id))).filter(
      (one) => one.group_id === group_id,
    )
    await plant.report(edge, reportOf(row!, noon, { restored_at: noon }))
    await releasing
  }
})

test('without an edge there is a warning, and after half a minute a reason', async () => {
  await plant.db.execute('update edges set last_seen_at = null')
  const made = await plant.call('POST', '/curtailment/immediate', plant_1)
  assert.deepEqual(made.body.warnings, ['logger_offline'])
  plant.clock.pass(30_000)
  assert.equal((await plant.listed())[0]!['failure_code'], 'edge_offline')
  const edge = await plant.edge()
  const [row] = await untilDesired(edge, hasGroup(made.body.group_id))
  await plant.report(edge, reportOf(row!, noon + 30_000))
  assert.equal((await plant.listed())[0]!['failure_code'], null)
  edge.socket.close()
  const offline = "select from events where code = 'edge_offline' and edge = 'rising'"
  while ((await plant.db.query(offline)).length === 0) await new Promise(setImmediate)
  const again = await plant.call('POST', '/curtailment/immediate', plant_1)
  assert.deepEqual(again.body.warnings, ['logger_offline', `overlaps_group:${made.body.group_id}`])
})

test('history has what is over, the newest first, for so many days', async () => {
  for (const [from_h, to_h] of [
    [1, 2],
    [5, 6],
    [3, 4],
    [100, 200],
  ] as const) {
    await plant.call('POST', '/curtailment/window', { ...plant_1, ...fromTo(from_h, to_h) })
  }
  await plant.db.execute('update curtailment_rows set restored_at = end_at where end_at < $1', [
    new Date(noon + 7 * hour_ms),
  ])
  plant.clock.set(noon + 7 * hour_ms)
  const starts = async (path: string) => (await plant.listed(path)).map((row) => row['start_at'])
  const at = (hours: number) => new Date(noon + hours * hour_ms).toISOString()
  assert.deepEqual(await starts('/curtailment/history'), [at(5), at(3), at(1)])
  assert.deepEqual(await starts('/curtailment'), [at(100)])
  const file = await plant.app.inject({
    url: '/v1/sites/park/curtailment/history',
    headers: { authorization: plant.authorization, accept: 'application/x-ndjson' },
  })
  const lines = file.body.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    await plant.listed('/curtailment/history'),
  )
  plant.clock.set(noon + 29 * hour_ms)
  assert.deepEqual(await starts('/curtailment/history?days=1'), [at(5)])
  const refused = await plant.call('GET', '/curtailment/history?days=366')
  assert.equal(refused.status, 422)
})

test('a server that was restored learns of rows and releases from the edge', async () => {
  const edge = await plant.edge()
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  const [row] = await untilDesired(edge, hasGroup(group_id))
  await plant.db.query('delete from curtailment_rows; delete from curtailment_groups')
  await plant.report(edge, reportOf(row!, noon, { applied_at: noon }))
  const [known] = await plant.listed()
  assert.deepEqual(
    [known!['group_id'], known!['source'], known!['max_power_kw'], known!['limit_value']],
    [group_id, 'edge_local', 50, null],
  )
  assert.equal(known!['rated_power_kw'], 200)
  await plant.report(
    edge,
    reportOf({ ...row!, released_at: noon }, noon + 1, { restored_at: noon + 1 }),
  )
  assert.deepEqual(await plant.listed(), [])
  const { body } = await plant.call('DELETE', `/curtailment/group/${group_id}`)
  assert.equal(body.status, 'cancelled')
})
