import assert from 'node:assert/strict'
import test from 'node:test'
import { addReading, servedSite } from '../../fixtures/served-site.ts'
import { readEdgeReports } from '../causes.ts'
import { addBatteries, bessValues, pcsValues } from '../fixtures/battery-site.ts'

test('logs and alarms of batteries', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addBatteries(db)
  const event = (
    [source_kind, source_id, code]: [string, string, string],
    edge: string,
    at: string,
    [severity, message, details]: [string, string, object?],
  ) =>
    db.execute(
      `INSERT INTO events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
         message, details)
       VALUES ('demo', $1, $1::timestamptz + interval '1 second', $2, $3, $4, $5, $6, $7, $8)`,
      [at, source_kind, source_id, code, edge, severity, message, details ?? null],
    )
  const warm = ['bess', '1', 'alarm:sunspec-battery-802:1:2'] as [string, string, string]
  const said = { alarm_code: 'OVER_TEMP_WARNING', name: 'Overtemperature, pre-alarm' }
  await addReading(db, 'bess', {
    bess_id: 1,
    measured_at: '2026-06-21T08:59:30Z',
    ...bessValues({ soc_pct: 64.5, power_kw: 180 }),
  })
  await event(warm, 'rising', '2026-06-19T09:00:00Z', ['warning', 'Overtemperature', said])
  await event(warm, 'falling', '2026-06-19T09:20:00Z', ['warning', 'over', said])
  await event(warm, 'rising', '2026-06-21T09:00:00Z', ['warning', 'Overtemperature', said])
  await event(
    ['bess', '1.cluster.1', 'alarm:sunspec-string-804:1:21'],
    'rising',
    '2026-06-21T09:10:00Z',
    ['major', 'Fan error', { alarm_code: 'FAN_ERROR', name: 'Fan error' }],
  )
  await event(['pcs', '1.1', 'device_offline'], 'rising', '2026-06-21T08:00:00Z', [
    'major',
    'pcs 1.1 does not answer: timeout',
  ])
  await event(['pcs', '1.1', 'device_offline'], 'falling', '2026-06-21T08:05:00Z', [
    'major',
    'pcs 1.1 answers again',
  ])
  await event(['pcs', '1.0', 'alarm:sunspec-inverter:1:7'], 'rising', '2026-06-21T09:58:12Z', [
    'minor',
    'Overtemperature',
    { alarm_code: 'OVER_TEMP', name: 'Overtemperature' },
  ])
  await event(['bess', '1.cells', 'device_offline'], 'rising', '2026-06-21T09:59:00Z', [
    'major',
    'bess 1.cells does not answer: timeout',
  ])
  await event(['bess', '1', 'device_identity_changed'], 'once', '2026-06-21T07:00:00Z', [
    'warning',
    'another device',
  ])
  // Not of this unit, though its id begins alike.
  await event(['bess', '10', 'device_offline'], 'rising', '2026-06-21T07:00:00Z', ['major', 'x'])
  await addReading(db, 'bess', {
    bess_id: 1,
    measured_at: '2026-06-21T09:59:58Z',
    ...bessValues({ alarm_1: 2 ** 2 + 2 ** 27, alarm_2: 0, alarm_3: 2 ** 31 + 8, alarm_4: null }),
    heartbeat_ok: 0,
    cell_temperature_max_c: 46.5,
    fire_system_state: 'normal',
  })
  for (const [index, alarm_1] of [2 ** 7 + 2 ** 23, 2 ** 32 - 1].entries()) {
    await addReading(db, 'pcs', {
      bess_id: 1,
      measured_at: `2026-06-21T09:59:5${index}Z`,
      ...pcsValues({ pcs_idx: index, alarm_1 }),
    })
  }
  for (const cluster_idx of [0, 1]) {
    await addReading(db, 'cluster', {
      bess_id: 1,
      cluster_idx,
      measured_at: '2026-06-21T09:59:55Z',
      alarm_1: cluster_idx * (2 ** 21 + 2 ** 2),
    })
  }
  await db.execute(
    `INSERT INTO battery_setups VALUES ('demo', 1, '2026-06-21', '2026-06-01', $1)`,
    [
      {
        protection: [
          {
            parameter: 'cell_over_temperature',
            level: 'level_1',
            trip_value: 55,
            unit: 'C',
            recover_value: 45,
            delay_ms: null,
            action: 'stop',
            source: 'bms',
          },
          {
            parameter: 'cell_over_temperature',
            level: 'pre_alarm',
            trip_value: 45,
            unit: 'C',
            recover_value: 40,
            delay_ms: null,
            action: 'warn',
            source: 'bms',
          },
        ],
      },
    ],
  )

  type Row = Record<string, unknown>
  const codesOf = ({ body }: { body: { data: Row[] } }) =>
    body.data.map(({ code, source, cluster_idx, pcs_idx }) => [code, source, cluster_idx, pcs_idx])

  await t.test('what is set is told with where, since when and against what', async () => {
    const { status, body } = await get('/bess/1/alarms/states?only_set=true')
    assert.equal(status, 200)
    assert.deepEqual(codesOf({ body }), [
      ['OVER_TEMP_WARNING', 'bms', null, null],
      ['alarm_1_bit_27', 'bms', null, null],
      ['OVER_TEMP', 'pcs', null, 0],
      ['alarm_1_bit_23', 'pcs', null, 0],
      ['OVER_TEMP_WARNING', 'cluster', 1, null],
      ['FAN_ERROR', 'cluster', 1, null],
      ['heartbeat_lost', 'communication', null, null],
      ['device_offline:cells', 'communication', null, null],
    ])
    const [warm, unknown, hot, , warm_cluster, fan] = body.data
    assert.deepEqual(
      [warm.set_at, warm.cleared_at, warm.level, warm.severity, warm.affects_power],
      ['2026-06-21T09:00:00.000Z', null, 1, 'warning', false],
    )
    assert.deepEqual([warm.raw_value, warm.threshold_value, warm.threshold_unit], [46.5, 45, 'C'])
    assert.deepEqual([unknown.severity, unknown.set_at, unknown.alert_id], ['warning', null, null])
    assert.deepEqual([hot.severity, hot.set_at], ['major', '2026-06-21T09:58:12.000Z'])
    assert.deepEqual([warm_cluster.raw_value, warm_cluster.threshold_value], [null, 45])
    assert.equal(fan.set_at, '2026-06-21T09:10:00.000Z')
  })

  await t.test('what could be set is told too, of clusters once', async () => {
    const { body } = await get('/bess/1/alarms/states')
    assert.equal(body.meta.count, body.data.length)
    const named = (code: string, source: string) =>
      body.data.filter((state: Row) => state.code === code && state.source === source)
    assert.deepEqual(
      named('GROUND_FAULT', 'cluster').map(({ is_set, cluster_idx }: Row) => [is_set, cluster_idx]),
      [[false, null]],
    )
    assert.equal(named('FAN_ERROR', 'cluster').length, 1)
    assert.equal(named('OVER_TEMP', 'pcs').length, 2)
    const [offline] = named('device_offline', 'communication')
    assert.deepEqual(
      [offline.is_set, offline.set_at, offline.cleared_at, offline.pcs_idx],
      [false, null, '2026-06-21T08:05:00.000Z', 1],
    )
    assert.deepEqual(
      named('fire_system_alarm', 'fire').map(({ is_set }: Row) => is_set),
      [false],
    )
  })

  await t.test('severity is one word of four', async () => {
    const { body } = await get('/bess/1/alarms/states?only_set=true&severity=major')
    assert.deepEqual(
      body.data.map(({ code }: Row) => code),
      ['OVER_TEMP', 'FAN_ERROR', 'heartbeat_lost', 'device_offline:cells'],
    )
    const none = await get('/bess/2/alarms/states?only_set=true&severity=critical')
    assert.deepEqual(none.body.data, [])
    const refused = await get('/bess/1/alarms/states?severity=bad')
    assert.equal(refused.status, 422)
    assert.match(JSON.stringify(refused.body.error.details), /severity/)
  })

  await t.test('fault words: every set bit, and none of a word that is not there', async () => {
    const { status, body } = await get('/bess/1/pcs/faults')
    assert.equal(status, 200)
    assert.equal(body.measured_at, '2026-06-21T09:59:50.000Z')
    const [first, second] = body.words
    assert.deepEqual(
      [first.raw, first.hex, first.table_id],
      [8_388_736, '0x00800080', 'sunspec-inverter'],
    )
    assert.deepEqual(
      first.bits.map(({ code, severity, asserted_since_at }: Row) => [
        code,
        severity,
        asserted_since_at,
      ]),
      [
        ['OVER_TEMP', 'major', '2026-06-21T09:58:12.000Z'],
        ['alarm_1_bit_23', 'warning', null],
      ],
    )
    assert.deepEqual([second.is_available, second.bits], [false, []])
    assert.deepEqual(
      [body.active_count, body.active.length, body.highest_severity],
      [2, 2, 'major'],
    )
    const none = (await get('/bess/2/pcs/faults')).body
    assert.deepEqual([none.measured_at, none.words, none.highest_severity], [null, [], null])
  })

  await t.test('history: ascending, with its length and what was measured then', async () => {
    const { body } = await get('/bess/1/alarms/history')
    assert.equal(body.meta.count, 8)
    assert.deepEqual(
      body.data.map(({ code, transition }: Row) => [code, transition]),
      [
        ['OVER_TEMP_WARNING', 'set'],
        ['OVER_TEMP_WARNING', 'cleared'],
        ['device_offline', 'set'],
        ['device_offline', 'cleared'],
        ['OVER_TEMP_WARNING', 'set'],
        ['FAN_ERROR', 'set'],
        ['OVER_TEMP', 'set'],
        ['device_offline:cells', 'set'],
      ],
    )
    assert.deepEqual(body.meta, {
      count: 8,
      truncated: false,
      next_start: null,
      previous_end: null,
      next_cursor: null,
    })
    const [hot, fan, warm, back, gone] = body.data.slice(2, 7).reverse()
    assert.deepEqual(
      [gone, back].map(({ name, message }: Row) => [name, message]),
      [
        ['Device does not answer', 'pcs 1.1 does not answer: timeout'],
        ['Device does not answer', 'pcs 1.1 answers again'],
      ],
      'what an alarm is called stays, what is said of it does not',
    )
    assert.deepEqual([hot.severity, hot.pcs_idx, fan.cluster_idx], ['warning', 0, 1])
    assert.deepEqual([warm.soc_pct, warm.power_kw, warm.duration_s], [64.5, 180, null])
    assert.deepEqual([back.duration_s, back.soc_pct, back.source], [300, null, 'communication'])
    assert.equal(back.received_at, '2026-06-21T08:05:01.000Z')
  })

  await t.test('history of one code, as long as asked, and as a file', async () => {
    const { body } = await get('/bess/1/alarms/history?code=OVER_TEMP_WARNING&limit=1')
    assert.deepEqual([body.meta.count, body.meta.truncated, body.data.length], [3, true, 1])
    assert.equal(body.data[0].occurred_at, '2026-06-21T09:00:00.000Z', 'the newest one')
    assert.equal((await get('/bess/1/alarms/history?code=device_offline:cells')).body.meta.count, 1)
    assert.equal((await get('/bess/1/alarms/history?code=nothing')).body.meta.count, 0)
    assert.equal((await get('/bess/1/alarms/history?limit=99999999')).status, 200)
    const all = await get('/bess/1/alarms/history')
    const lines = (await site.file('/bess/1/alarms/history', 'application/x-ndjson'))
      .trim()
      .split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      all.body.data,
    )
  })

  await t.test('counts are of what is set, and of what was set in a day', async () => {
    const { body } = await get('/bess/1/alarms/counts')
    assert.deepEqual(body, {
      measured_at: '2026-06-21T09:59:58.000Z',
      active: { info: 0, warning: 4, major: 4, critical: 0 },
      total_active: 8,
      last_24h: { info: 0, warning: 2, major: 3, critical: 0 },
      by_source: {
        bms: 2,
        cluster: 2,
        pcs: 2,
        fire: 0,
        meter: 0,
        ems: 0,
        communication: 2,
      },
      unacknowledged: 8,
    })
    const none = (await get('/bess/2/alarms/counts')).body
    assert.deepEqual([none.measured_at, none.total_active], [null, 0])
  })

  await t.test('reasons of deviations are looked for in the unit and its PCS', async () => {
    const told = await readEdgeReports(
      db,
      { site_id: 'demo', bess_id: 1 },
      { start_ms: Date.parse('2026-06-21'), end_ms: Date.parse('2026-06-22') },
    )
    assert.deepEqual(
      told.conditions.map(({ source_kind, source_id, edge }) => [source_kind, source_id, edge]),
      [
        ['bess', '1', 'rising'],
        ['bess', '1', 'falling'],
        ['pcs', '1.1', 'rising'],
        ['pcs', '1.1', 'falling'],
        ['bess', '1', 'rising'],
        ['pcs', '1.0', 'rising'],
      ],
    )
  })

  await t.test('what does not exist is 404, a bad id 422', async () => {
    for (const log of [
      'pcs/faults',
      'alarms/states',
      'alarms/history',
      'alarms/counts',
      'dispatch-log',
      'control-log',
      'deviations',
    ]) {
      assert.equal((await get(`/bess/9/${log}`)).status, 404, log)
      assert.equal((await get(`/bess/x/${log}`)).status, 422, log)
    }
  })
})

test('dispatch and control logs of batteries', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addBatteries(db)
  await db.execute(
    `INSERT INTO battery_dispatches (site_id, bess_id, issued_at, reported_at, schedule_id,
       interval_start_at, source, requested_power_kw, clamped_power_kw, clamp_reason, sent_at,
       acknowledged_at, soc_pct, status)
     SELECT 'demo', 1, '2026-06-21T09:00Z'::timestamptz - nth * interval '1 hour',
       '2026-06-21T09:00Z', 4, '2026-06-21T09:00Z'::timestamptz - nth * interval '1 hour',
       'schedule', 180, CASE WHEN nth = 0 THEN null ELSE 180 END,
       CASE WHEN nth = 0 THEN 'permit' END, '2026-06-21T09:00Z',
       CASE nth WHEN 1 THEN '2026-06-21T08:00:00.420Z'::timestamptz
         WHEN 2 THEN '2026-06-21T07:00Z' END, 70,
       CASE WHEN nth = 0 THEN 'clamped' ELSE 'achieved' END
     FROM generate_series(0, 29) AS nth`,
  )
  await db.execute(
    `INSERT INTO battery_control_notes (site_id, bess_id, at, nth, tier, actor, action,
       from_power_kw, to_power_kw, reason_code, message, overrode_tier, schedule_id, success)
     VALUES ('demo', 1, '2026-06-21T09:00Z', 0, 'permit', 'permit', 'clamp', 180, null, 'permit',
         'The permit leaves less', 'dispatch', 4, true),
       ('demo', 1, '2026-06-21T09:00Z', 1, 'dispatch', 'schedule 4', 'release', null, 180,
         'schedule', 'As planned', null, 4, true),
       ('demo', 2, '2026-06-21T09:00Z', 0, 'permit', 'permit', 'clamp', 1, null, 'permit',
         'Of another', null, null, true)`,
  )

  await t.test('without a window the dispatch log is of the last day, ascending', async () => {
    const { body } = await get('/bess/1/dispatch-log')
    assert.equal(body.meta.count, 24)
    const last = body.data.at(-1)
    assert.deepEqual(
      [last.issued_at, last.hour, last.clamped_power_kw, last.clamp_reason, last.latency_ms],
      ['2026-06-21T09:00:00.000Z', 9, null, 'permit', null],
    )
    assert.equal(body.data.at(-2).latency_ms, 420)
    const before = body.data.at(-3)
    assert.deepEqual([before.acknowledged_at, before.latency_ms], [before.issued_at, null])
  })

  await t.test('a limit is told, and where to go on', async () => {
    const { body } = await get('/bess/1/dispatch-log?limit=2')
    assert.deepEqual(
      body.data.map(({ hour }: { hour: number }) => hour),
      [8, 9],
    )
    assert.deepEqual(
      [body.meta.truncated, body.meta.previous_end],
      [true, '2026-06-21T08:00:00.000Z'],
    )
    const start = encodeURIComponent('2026-06-20T00:00:00Z')
    const first = (await get(`/bess/1/dispatch-log?start=${start}&limit=2`)).body
    assert.equal(first.data[0].issued_at, '2026-06-20T04:00:00.000Z')
    assert.equal(first.meta.next_start, '2026-06-20T05:00:00.001Z')
  })

  await t.test('both are files too', async () => {
    const lines = async (path: string) =>
      (await site.file(path, 'application/x-ndjson'))
        .trim()
        .split('\n')
        .map((l) => JSON.parse(l))
    const start = encodeURIComponent('2026-06-01T00:00:00Z')
    assert.deepEqual(
      await lines(`/bess/1/dispatch-log?start=${start}`),
      (await get(`/bess/1/dispatch-log?start=${start}`)).body.data,
    )
    assert.deepEqual(
      await lines('/bess/1/control-log?tier=permit'),
      (await get('/bess/1/control-log?tier=permit')).body.data,
    )
  })

  await t.test('the control log is ascending, of one tier or of all', async () => {
    const { body } = await get('/bess/1/control-log')
    assert.deepEqual(
      body.data.map(({ tier, request_id }: { tier: string; request_id: null }) => [
        tier,
        request_id,
      ]),
      [
        ['permit', null],
        ['dispatch', null],
      ],
    )
    const { body: newest } = await get('/bess/1/control-log?limit=1')
    assert.deepEqual([newest.meta.truncated, newest.data[0].tier], [true, 'dispatch'])
    const { body: of_permit } = await get('/bess/1/control-log?tier=permit&limit=1')
    assert.deepEqual([of_permit.meta.count, of_permit.data[0].to_power_kw], [1, null])
    const refused = await get('/bess/1/control-log?tier=boss')
    assert.equal(refused.status, 422)
    assert.match(JSON.stringify(refused.body.error.details), /tier/)
  })
})
