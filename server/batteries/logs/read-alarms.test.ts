import assert from 'node:assert/strict'
import test from 'node:test'
import { addReading, servedSite } from '../../fixtures/served-site.ts'
import { addBatteries, bessValues } from '../fixtures/battery-site.ts'
import { readUnitNow } from './store.ts'

test('a lost heartbeat and a fire alarm have a beginning and an end', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addBatteries(db)
  const event = (source: string, code: string, edge: string, time: string, severity: string) =>
    db.execute(
      `INSERT INTO events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
         message, details)
       VALUES ('demo', $1, $1, split_part($2, ' ', 1), split_part($2, ' ', 2), $3, $4, $5, 'said',
         $6)`,
      [`2026-06-21T${time}Z`, source, code, edge, severity, { name: `Name of ${code}` }],
    )
  await event('bess 1', 'heartbeat_lost', 'rising', '09:00:00', 'major')
  await event('bess 1', 'heartbeat_lost', 'falling', '09:02:00', 'major')
  await event('pcs 1.1', 'heartbeat_lost', 'rising', '09:30:00', 'major')
  await event('bess 1', 'fire_system_alarm', 'rising', '09:40:00', 'critical')
  const read = (time: string, values: Parameters<typeof bessValues>[0]) =>
    addReading(db, 'bess', {
      bess_id: 1,
      measured_at: `2026-06-21T${time}Z`,
      ...bessValues(values),
    })
  await read('09:41:00', { heartbeat_ok: 1, fire_system_state: 'alarm' })
  type Row = Record<string, unknown>
  const states = async (query: string) =>
    (await get(`/bess/1/alarms/states?${query}`)).body.data.map((state: Row) =>
      ['code', 'source', 'pcs_idx', 'severity', 'is_set', 'set_at', 'cleared_at', 'name'].map(
        (field) => state[field],
      ),
    )
  const heartbeat = 'The heartbeat stands still'
  const lost_pcs = [
    'heartbeat_lost',
    'communication',
    1,
    'major',
    true,
    '2026-06-21T09:30:00.000Z',
    null,
    heartbeat,
  ]
  const fire = [
    'fire_system_alarm',
    'fire',
    null,
    'critical',
    true,
    '2026-06-21T09:40:00.000Z',
    null,
    'The fire alarm system tells: alarm',
  ]
  const countOf = async () => {
    const { body } = await get('/bess/1/alarms/counts')
    const { alarm_count } = (await get('/bess/1/current')).body
    return [body.active, body.by_source.fire, body.by_source.communication, alarm_count]
  }

  await t.test('states, of what is set and of one severity', async () => {
    assert.deepEqual(await states('only_set=true'), [fire, lost_pcs])
    assert.deepEqual(await states('only_set=true&severity=critical'), [fire])
    const major = await states('severity=major')
    assert.deepEqual(
      major.filter(([code]: [string]) => code === 'heartbeat_lost'),
      [
        [
          'heartbeat_lost',
          'communication',
          null,
          'major',
          false,
          null,
          '2026-06-21T09:02:00.000Z',
          heartbeat,
        ],
        lost_pcs,
      ],
    )
  })

  await t.test('history and counts', async () => {
    const { body } = await get('/bess/1/alarms/history')
    assert.deepEqual(
      body.data.map(({ code, source, transition, duration_s, name }: Row) =>
        [code, source, transition, duration_s, name].join(' '),
      ),
      [
        'heartbeat_lost communication set  Name of heartbeat_lost',
        'heartbeat_lost communication cleared 120 Name of heartbeat_lost',
        'heartbeat_lost communication set  Name of heartbeat_lost',
        'fire_system_alarm fire set  Name of fire_system_alarm',
      ],
    )
    assert.deepEqual((await get('/bess/1/alarms/counts')).body.last_24h, {
      info: 0,
      warning: 0,
      major: 2,
      critical: 1,
    })
    assert.deepEqual(await countOf(), [{ info: 0, warning: 0, major: 1, critical: 1 }, 1, 1, 2])
  })

  await t.test('of what is read no more the last that the edge told counts', async () => {
    await read('09:42:00', { heartbeat_ok: null, fire_system_state: null })
    assert.deepEqual(await states('only_set=true'), [fire, lost_pcs])
    assert.deepEqual(await countOf(), [{ info: 0, warning: 0, major: 1, critical: 1 }, 1, 1, 2])
  })

  await t.test(
    'one that is read and was not told yet counts once, as one that is over',
    async () => {
      await read('09:43:00', { heartbeat_ok: 0, fire_system_state: 'normal' })
      assert.deepEqual(
        (await states('only_set=true')).map(([code, , pcs_idx, , , set_at]: unknown[]) => [
          code,
          pcs_idx,
          set_at,
        ]),
        [
          ['heartbeat_lost', null, null],
          ['heartbeat_lost', 1, '2026-06-21T09:30:00.000Z'],
        ],
      )
      assert.deepEqual(await countOf(), [{ info: 0, warning: 0, major: 2, critical: 0 }, 0, 2, 2])
    },
  )

  await t.test('the dashboard tells the same, and reads the events once', async () => {
    const asked: string[] = []
    const queries = {
      ...db,
      query: ((statement, values) => {
        asked.push(typeof statement === 'string' ? statement : statement.name)
        return db.query(statement, values)
      }) as typeof db.query,
    }
    const at = new Date('2026-06-21T10:00:00Z')
    const { live, alarms } = await readUnitNow(
      queries,
      { site_id: 'demo', bess_id: 1 },
      { now: at, day_start_at: at },
    )
    assert.equal(asked.filter((name) => name === 'battery_conditions').length, 1)
    assert.equal(live.alarms.length, alarms.states.filter(({ is_set }) => is_set).length)
    const { body } = await get('/bess/1/dashboard')
    assert.deepEqual([body.alarms_summary.total_active, body.current.alarm_count], [2, 2])
  })
})
