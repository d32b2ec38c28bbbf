import assert from 'node:assert/strict'
import test from 'node:test'
import { addKey, addReading, noon, servedSite } from '../../fixtures/served-site.ts'

test('sites', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site

  await t.test('before any data the health is unknown and what is known is there', async () => {
    const { status, body } = await get('/v1/sites')
    assert.equal(status, 200)
    assert.equal(body.meta.count, 1)
    const [demo] = body.data
    assert.equal(demo.site_id, 'demo')
    assert.equal(demo.health_status, 'unknown')
    assert.deepEqual(demo.health_reasons, ['logger_no_data:1', 'logger_no_data:2'])
    assert.equal(demo.timezone, 'Europe/Berlin')
    assert.equal(demo.commissioning_safe_mode, false)
    assert.equal(demo.ac_capacity_kw, 300)
    assert.equal(demo.dc_capacity_kwp, 100)
    assert.deepEqual([demo.logger_count, demo.inverter_count, demo.string_count], [2, 3, 10])
    assert.equal(demo.sensor_node_count, 0)
    assert.equal(demo.last_data_at, null)
    assert.equal(demo.simulated, false)
  })

  await t.test('a second later the list is read anew, in the background', async () => {
    for (const logger_id of [1, 2]) {
      await addReading(db, 'logger', { logger_id, measured_at: '2026-06-21T10:00:00Z' })
    }
    for (const inverter_id of [1, 2, 3]) {
      await addReading(db, 'inverter', { inverter_id, measured_at: '2026-06-21T10:00:00Z' })
    }
    assert.equal((await get('/v1/sites')).body.data[0].health_status, 'unknown')
    clock.set(new Date(noon.getTime() + 1500))
    await eventually(async () => {
      const [demo] = (await get('/v1/sites')).body.data
      return demo.health_status === 'healthy' && demo.last_data_at === '2026-06-21T10:00:00.000Z'
    })
  })

  await t.test('nothing older than five seconds is given out', async () => {
    await db.execute("UPDATE sites SET name = 'Renamed', safe_mode_since_at = '2026-06-21T09:00Z'")
    clock.set(new Date(noon.getTime() + 60_000))
    const [demo] = (await get('/v1/sites')).body.data
    assert.equal(demo.name, 'Renamed')
    assert.equal(demo.commissioning_safe_mode, true)
    assert.equal(demo.safe_mode_since_at, '2026-06-21T09:00:00.000Z')
  })

  await t.test('alerts are counted for who may read them; health is for all', async () => {
    for (const inverter_id of [1, 2, 3]) {
      await addReading(db, 'inverter', { inverter_id, measured_at: '2026-06-21T10:01:00Z' })
    }
    for (const logger_id of [1, 2]) {
      await addReading(db, 'logger', { logger_id, measured_at: '2026-06-21T10:01:00Z' })
    }
    const blind = await addKey(db, { key_id: 'dddddddddddd', scopes: ['plant:read'] })
    const told = async (at_s: number, key?: string) => {
      clock.set(new Date(noon.getTime() + at_s * 1000))
      const [demo] = (await get('/v1/sites', key)).body.data
      const { active_alert_count, highest_alert_severity, health_status, health_reasons } = demo
      return [active_alert_count, highest_alert_severity, health_status, ...health_reasons]
    }
    assert.deepEqual(await told(61), [0, null, 'healthy'])
    await db.query(`
      insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
        source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at,
        resolved_at, resolution)
      select 'demo', n, 'door_open', 'A door is open', 'Open.', 'security', severity, status, 'node',
        'ts-1', now(), now(), now(), now(), now(),
        case status when 'resolved' then now() end, case status when 'resolved' then 'auto' end
      from (values (1, 'major', 'active'), (2, 'info', 'active'), (3, 'warning', 'active'),
        (4, 'critical', 'acknowledged'), (5, 'critical', 'resolved')) as a (n, severity, status)`)
    assert.deepEqual(await told(70), [3, 'major', 'degraded', 'critical_alerts:1'])
    assert.deepEqual(await told(70, blind), [null, null, 'degraded', 'critical_alerts:1'])
    const resolve = (condition: string) =>
      db.execute(`update alerts set status = 'resolved', resolution = 'auto', resolved_at = now()
        where ${condition}`)
    await resolve("severity = 'critical'")
    await db.execute(
      "update alerts set code = 'logger_underperformance', logger_id = 2 where dedup_key = '1'",
    )
    assert.deepEqual(await told(80), [3, 'major', 'degraded', 'logger_underperformance:2'])
    await db.execute("update alerts set suppressed_reason = 'maintenance' where dedup_key = '1'")
    assert.deepEqual(await told(90), [3, 'major', 'healthy'], 'the work explains it')
    await resolve('true')
    assert.deepEqual(await told(100), [0, null, 'healthy'])
  })

  await t.test('a key without any scope lists its sites and says so', async () => {
    const key = await addKey(db, { key_id: 'aaaaaaaaaaaa', scopes: [] })
    const { status, body } = await get('/v1/sites', key)
    assert.equal(status, 200)
    assert.deepEqual(body.data[0].scopes, [])
    assert.equal(body.data[0].modules.length, 5)
  })

  await t.test('a key sees the sites it was given and those of its client alone', async () => {
    await db.execute("INSERT INTO sites (site_id, client_id, name) VALUES ('second', 1, 'Second')")
    await db.execute("INSERT INTO clients (name, modules) VALUES ('Other', '{basic_scada}')")
    await db.execute("INSERT INTO sites (site_id, client_id, name) VALUES ('alien', 2, 'Alien')")
    clock.set(new Date(noon.getTime() + 120_000))
    const ids = async (key?: string) => {
      const { body } = await get('/v1/sites', key)
      assert.equal(body.meta.count, body.data.length)
      return body.data.map(({ site_id }: { site_id: string }) => site_id)
    }
    assert.deepEqual(await ids(), ['demo', 'second'])
    const narrow = await addKey(db, { key_id: 'bbbbbbbbbbbb', site_ids: ['second'] })
    assert.deepEqual(await ids(narrow), ['second'])
    const other = await addKey(db, { key_id: 'cccccccccccc', client_id: 2 })
    assert.deepEqual(await ids(other), ['alien'])
  })

  await t.test('a page is searched, sorted and cut, and its cursor goes on', async () => {
    const ids = async (query: string) => {
      const { body } = await get(`/v1/sites?${query}`)
      return body.data.map(({ site_id }: { site_id: string }) => site_id)
    }
    await db.execute("UPDATE sites SET name = 'Park 10' WHERE site_id = 'demo'")
    await db.execute("UPDATE sites SET name = 'Park 9' WHERE site_id = 'second'")
    clock.set(new Date(noon.getTime() + 180_000))
    assert.deepEqual(await ids('sort=name'), ['second', 'demo'])
    assert.deepEqual(await ids('sort=-name'), ['demo', 'second'])
    assert.deepEqual(await ids('sort=-site_id'), ['second', 'demo'])
    assert.deepEqual(await ids('q=PARK%209'), ['second'])
    assert.deepEqual(await ids('q=dem'), ['demo'])
    assert.deepEqual(await ids('q=nowhere'), [])
    assert.equal((await get('/v1/sites')).body.meta.next_cursor, null)
    const first = (await get('/v1/sites?sort=name&limit=1')).body
    assert.deepEqual([first.meta.count, first.data[0].site_id], [2, 'second'])
    const rest = `sort=name&limit=1&cursor=${first.meta.next_cursor}`
    assert.deepEqual(await ids(rest), ['demo'])
    assert.equal((await get(`/v1/sites?${rest}`)).body.meta.next_cursor, null)
    assert.equal((await get('/v1/sites?limit=100000')).status, 200)
    assert.equal((await get('/v1/sites?cursor=x')).status, 422)
    assert.equal((await get('/v1/sites?sort=power')).status, 422)
  })

  await t.test('a site that was not announced yet is there with nothing made up', async () => {
    const { body } = await get('/v1/sites')
    const second = body.data[1]
    assert.equal(second.timezone, 'UTC')
    assert.equal(second.latitude, null)
    assert.equal(second.health_status, 'unknown')
    assert.equal(second.ac_capacity_kw, 0)
  })
})

/** The background is waited for by asking again; a hang fails by the limit of the runner. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(setImmediate)
}
