import assert from 'node:assert/strict'
import test from 'node:test'
import { addKey, addReading, day_start, servedSite } from '../../fixtures/served-site.ts'
import type { Database } from '../../storage/database.ts'

const channels = [
  {
    channel: 'oil',
    kind: 'temperature',
    label: 'Oil',
    role: 'oil',
    warn_high_c: 85,
    alarm_high_c: 95,
  },
  { channel: 'room', kind: 'temperature', label: 'Room', role: 'ambient' },
  { channel: 'air', kind: 'humidity', label: 'Air' },
  { channel: 'fan-1', kind: 'fan_current', label: 'Fan 1', relay: 'fans' },
  { channel: 'fan-2', kind: 'fan_current', label: 'Fan 2', running_above_a: 2 },
  { channel: 'door', kind: 'door', label: 'Door' },
  { channel: 'fans', kind: 'relay', label: 'Fans' },
]

async function addNodes(db: Database) {
  for (const [node_id, number] of [
    ['ts-1', 11],
    ['ts-2', 12],
    ['ts-3', 13],
  ] as const) {
    await db.execute(
      `INSERT INTO nodes (site_id, node_id, node_number, name, type, location_id, report_s,
         channels, created_at, updated_at)
       VALUES ('demo', $1, $2, $1, 'transformer_station', 2, 60, $3, now(), now())`,
      [node_id, number, JSON.stringify(channels)],
    )
  }
}

const addSwitching = (db: Database, node_id: string, at: string, to: boolean, cause = 'manual') =>
  db.execute(
    `INSERT INTO relay_events
       (site_id, node_id, channel, at, received_at, from_state, to_state, cause, reason)
     VALUES ('demo', $1, 'fans', $2, $2, $3, $4, $5, 'because')`,
    [node_id, at, !to, to, cause],
  )

test('sensors', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addNodes(db)
  const add = (node_number: number, measured_at: string, channel_values: (number | null)[]) =>
    addReading(db, 'node', { node_number, measured_at, channel_values })
  await add(11, '2026-06-21T09:58:30Z', [60, 31, 44, 1.5, 1.5, 1, 1])
  await add(11, '2026-06-21T09:59:30.500Z', [95, 30.5, 41, 0, 1.5, 1, 1])
  await add(12, '2026-06-21T09:59:30Z', [86, null, 41, 1, 3, 0, 0])
  await addSwitching(db, 'ts-1', '2026-06-21T09:00:00Z', true, 'automation')
  await addSwitching(db, 'ts-1', '2026-06-21T08:00:00Z', false)
  await addSwitching(db, 'ts-2', '2026-06-21T09:30:00Z', false, 'command')

  await t.test('the list tells channels and who is there', async () => {
    const { status, body } = await get('/sensors')
    assert.equal(status, 200)
    assert.equal(body.meta.count, 3)
    assert.deepEqual(
      body.data.map((node: Row) => [node['node_id'], node['status']]),
      [
        ['ts-1', 'online'],
        ['ts-2', 'degraded'],
        ['ts-3', 'unknown'],
      ],
    )
    const [first, , third] = body.data
    assert.equal(first.last_seen_at, '2026-06-21T09:59:30.500Z')
    assert.equal(third.last_seen_at, null)
    assert.deepEqual([first.relay_count, first.fan_count], [1, 2])
    assert.deepEqual(
      first.channels.map(({ unit, value }: Row) => [value, unit]),
      [
        [95, '°C'],
        [30.5, '°C'],
        [41, '%'],
        [0, 'A'],
        [1.5, 'A'],
        [1, null],
        [1, null],
      ],
    )
    assert.deepEqual([first.quality, first.age_s], ['good', 29.5])
    assert.equal(third.quality, 'missing')
    assert.ok(third.channels.every(({ value }: Row) => value === null))
  })

  await t.test('a node whose connection ended, or that is late, is offline', async () => {
    await db.execute(
      `INSERT INTO device_status (site_id, kind, id, comm_state, since_at, updated_at)
       VALUES ('demo', 'node', 'ts-1', 'disconnected', now(), now())`,
    )
    assert.equal((await get('/sensors')).body.data[0].status, 'offline')
    site.clock.set('2026-06-21T10:03:00Z')
    const { body } = await get('/sensors')
    assert.deepEqual(
      body.data.map(({ status }: Row) => status),
      ['offline', 'offline', 'unknown'],
    )
    site.clock.set('2026-06-21T10:00:00Z')
    await db.execute('DELETE FROM device_status')
  })

  await t.test('the dew point is of one air, as far as that is measured', async () => {
    const dewPoints = async () => {
      const nodes = ['ts-1', 'ts-2', 'ts-3'].map((id) => get(`/sensors/${id}/current`))
      return (await Promise.all(nodes)).map(({ body }) => body.dew_point_c)
    }
    assert.deepEqual(await dewPoints(), [15.8, null, null])
    const other = { channel: 'cellar', kind: 'humidity', label: 'Cellar' }
    const set = (all: unknown) =>
      db.execute("UPDATE nodes SET channels = $1 WHERE node_id = 'ts-1'", [JSON.stringify(all)])
    await set([...channels, other])
    assert.deepEqual(await dewPoints(), [null, null, null])
    await set(channels)
    await db.execute('UPDATE node_latest SET channel_values[3] = 0 WHERE node_number = 11')
    assert.deepEqual(await dewPoints(), [null, null, null])
    await db.execute('UPDATE node_latest SET channel_values[3] = 41 WHERE node_number = 11')
  })

  await t.test('current values by what they are, null where not measured', async () => {
    const { body } = await get('/sensors/ts-1/current')
    assert.equal(body.quality, 'good')
    assert.equal(body.age_s, 29.5)
    assert.equal(body.oil_temperature_c, 95)
    assert.equal(body.ambient_temperature_c, 30.5)
    assert.equal(body.winding_temperature_c, null)
    assert.equal(body.relative_humidity_pct, 41)
    assert.equal(body.dew_point_c, 15.8)
    assert.deepEqual(
      body.temperatures.map(({ status }: Row) => status),
      ['alarm', 'normal'],
    )
    assert.deepEqual(
      body.fans.map(({ running, commanded, fault }: Row) => [running, commanded, fault]),
      [
        [false, true, true],
        [false, null, null],
      ],
    )
    assert.equal(body.doors[0].open, true)
    const [relay] = body.relays
    assert.deepEqual([relay.state, relay.source, relay.reason], [true, 'automation', 'because'])
    assert.equal(relay.changed_at, '2026-06-21T09:00:00.000Z')

    const second = (await get('/sensors/ts-2/current')).body
    assert.deepEqual(
      second.temperatures.map(({ status }: Row) => status),
      ['warning', null],
    )
    assert.deepEqual([second.doors[0].open, second.relays[0].state], [false, false])
    const third = (await get('/sensors/ts-3/current')).body
    assert.equal(third.quality, 'missing')
    assert.equal(third.relays[0].state, null)
  })

  await t.test('a clock at the edge that is ahead makes nothing seen in the future', async () => {
    await db.execute(
      `INSERT INTO device_status
         (site_id, kind, id, comm_state, since_at, last_ok_at, updated_at)
       VALUES ('demo', 'node', 'ts-3', 'connected', $1, $1, $1)`,
      ['2030-01-01T00:00:00Z'],
    )
    const [, , { last_seen_at }] = (await get('/sensors')).body.data
    assert.equal(last_seen_at, site.clock.now().toISOString())
    await db.execute(`DELETE FROM device_status WHERE id = 'ts-3'`)
  })

  await t.test('history, as JSON and as a file, and what does not exist', async () => {
    const { body } = await get(`/sensors/ts-1/history?start=${day_start}`)
    assert.equal(body.meta.count, 2)
    assert.deepEqual(body.data[1], {
      measured_at: '2026-06-21T09:59:30.500Z',
      quality: 'good',
      channel_values: [95, 30.5, 41, 0, 1.5, 1, 1],
      values: Object.fromEntries(
        channels.map(({ channel }, index) => [channel, [95, 30.5, 41, 0, 1.5, 1, 1][index]]),
      ),
    })
    assert.equal((await get('/sensors/ts-9/history')).status, 404)
    assert.equal((await get('/sensors/ts-9/current')).status, 404)
    assert.equal((await get('/sensors/TS 1/current')).status, 422)
    assert.equal((await get('/sensors/ts-3/history')).body.meta.count, 0)
  })

  await t.test('relays: newest first, counted whole, by node', async () => {
    const { body } = await get('/commands/relay-history?limit=2')
    assert.equal(body.meta.count, 3)
    assert.deepEqual(
      body.data.map((one: Row) => [one['node_id'], one['command'], one['source']]),
      [
        ['ts-2', 'off', 'command'],
        ['ts-1', 'on', 'automation'],
      ],
    )
    const [newest] = body.data
    assert.equal(newest.switched_at, '2026-06-21T09:30:00.000Z')
    assert.deepEqual([newest.previous_state, newest.resulting_state], [true, false])
    assert.deepEqual([newest.label, newest.location_id], ['Fans', 2])
    const one = (await get('/commands/relay-history?node_id=ts-1')).body
    assert.equal(one.meta.count, 2)
    assert.equal((await get('/commands/relay-history?node_id=ts-9')).status, 404)
    assert.equal((await get('/commands/relay-history?limit=100000')).status, 200)
    const key = await addKey(db, { key_id: 'abcdefabcdef', scopes: ['plant:read'] })
    assert.equal((await get('/commands/relay-history', key)).status, 403)
  })
})

type Row = Record<string, unknown>
