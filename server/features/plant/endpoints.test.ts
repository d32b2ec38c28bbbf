import assert from 'node:assert/strict'
import test from 'node:test'
import { addKey, addReading, day_start, servedSite } from '../fixtures/served-site.ts'

test('plant', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site

  await t.test('of a plant that never measured anything nothing is made up', async () => {
    const { body } = await get('/plant/status')
    assert.equal(body.quality, 'missing')
    assert.equal(body.ac_power_kw, null)
    assert.equal(body.energy_today_kwh, null)
    assert.equal(body.export_power_kw, null)
    assert.equal(body.health_status, 'unknown')
    assert.equal(body.inverters_unknown, 3)
    assert.equal(body.strings_no_data, 10)
    assert.equal(body.is_daylight, true)
    assert.equal(body.day_start_at, day_start)
  })

  const at = '2026-06-21T09:59:50Z'
  for (const logger_id of [1, 2]) await addReading(db, 'logger', { logger_id, measured_at: at })
  const add = (inverter_id: number, values: object) =>
    addReading(db, 'inverter', { inverter_id, measured_at: at, ...values })
  await add(1, { ac_power_kw: 40, dc_power_kw: 41, frequency_hz: 50.5, state: 'mppt' })
  await add(2, { ac_power_kw: 30, dc_power_kw: 31, frequency_hz: 49.5, state: 'mppt' })
  await add(3, { ac_power_kw: 0, state: 'fault' })

  await t.test('sums and counts', async () => {
    const { status, body } = await get('/plant/status')
    assert.equal(status, 200)
    assert.equal(body.quality, 'good')
    assert.equal(body.measured_at, '2026-06-21T09:59:50.000Z')
    assert.equal(body.age_s, 10)
    assert.equal(body.ac_power_kw, 70)
    assert.equal(body.dc_power_kw, 72)
    assert.equal(body.power_inverter_count, 3)
    assert.equal(body.grid_frequency_hz, 50)
    assert.deepEqual(
      [body.inverters_producing, body.inverters_faulted, body.inverters_total],
      [2, 1, 3],
    )
    assert.deepEqual([body.loggers_online, body.loggers_total], [2, 2])
    assert.ok(String(body.sun_elevation_deg).length <= 10)
    assert.equal(body.health_status, 'degraded')
    assert.deepEqual(body.health_reasons, ['inverter_fault:3'])
  })

  await t.test('the meter of the grid connection tells export from import', async () => {
    await db.execute(
      `INSERT INTO meters (site_id, meter_id, role, name, created_at, updated_at)
       VALUES ('demo', 1, 'grid_connection', 'Grid', now(), now())`,
    )
    await addReading(db, 'meter', {
      meter_id: 1,
      measured_at: '2026-06-21T09:59:55Z',
      active_power_kw: 68,
      frequency_hz: 50.25,
    })
    const { body } = await get('/plant/status')
    assert.deepEqual([body.export_power_kw, body.import_power_kw], [68, 0])
    assert.equal(body.grid_frequency_hz, 50.25)
  })

  await t.test('weather is the mean of the stations that answer', async () => {
    for (const [station_id, poa_irradiance_w_m2] of [
      [1, 800],
      [2, 900],
    ] as const) {
      await db.execute(
        `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at,
           updated_at) VALUES ('demo', $1, 1, 'Met', '[]', now(), now())`,
        [station_id],
      )
      await addReading(db, 'weather', {
        station_id,
        measured_at: '2026-06-21T09:59:55Z',
        poa_irradiance_w_m2,
      })
    }
    const { body } = await get('/plant/status')
    assert.equal(body.poa_irradiance_w_m2, 850)
    assert.equal(body.ambient_temperature_c, null)
  })

  await t.test('the overview holds the same, and says what is missing', async () => {
    const { status, body } = await get('/overview')
    assert.equal(status, 200)
    assert.equal(body.site.site_id, 'demo')
    assert.equal(body.site.health_status, 'degraded')
    assert.deepEqual(body.status, (await get('/plant/status')).body)
    assert.deepEqual(body.loggers, (await get('/loggers')).body.data)
    assert.deepEqual(body.inverters, (await get('/inverters')).body.data)
    assert.equal(body.strings.length, 10)
    assert.equal(body.strings[9].status, 'no_data')
    assert.equal(body.weather, null)
    assert.equal(body.partial, true)
    assert.ok(body.missing_sections.includes('weather'))
  })

  await t.test('what is silent by day is offline, and the sums say that they lack it', async () => {
    await addReading(db, 'inverter', {
      inverter_id: 1,
      measured_at: '2026-06-21T10:05:00Z',
      ac_power_kw: 45,
    })
    for (const logger_id of [1, 2]) {
      await addReading(db, 'logger', { logger_id, measured_at: '2026-06-21T10:05:00Z' })
    }
    clock.set('2026-06-21T10:05:10Z')
    const { body } = await get('/plant/status')
    assert.equal(body.ac_power_kw, 45)
    assert.equal(body.power_inverter_count, 1)
    assert.equal(body.quality, 'suspect')
    assert.equal(body.inverters_offline, 2)
    assert.equal(body.export_power_kw, null)
    assert.deepEqual(body.health_reasons, ['inverter_disconnected:2', 'inverter_disconnected:3'])
  })

  await t.test('when the night has come all sleep and the plant is healthy', async () => {
    for (const logger_id of [1, 2]) {
      await addReading(db, 'logger', { logger_id, measured_at: '2026-06-21T22:30:00Z' })
    }
    clock.set('2026-06-21T22:30:10Z')
    const { body } = await get('/plant/status')
    assert.equal(body.is_daylight, false)
    assert.equal(body.inverters_asleep, 3)
    assert.equal(body.strings_asleep, 10)
    assert.equal(body.ac_power_kw, null)
    assert.equal(body.quality, 'stale')
    assert.equal(body.health_status, 'healthy')
  })

  await t.test('when the loggers are silent the site is offline', async () => {
    clock.set('2026-06-21T22:46:00Z')
    const { body } = await get('/plant/status')
    assert.equal(body.health_status, 'offline')
    assert.equal(body.inverters_unknown, 3)
    assert.equal(body.loggers_online, 0)
  })

  await t.test('locations name what stands there', async () => {
    const { body } = await get('/locations')
    assert.equal(body.meta.count, 2)
    const { body: south } = await get('/locations/2')
    assert.deepEqual(south, body.data[1])
    assert.deepEqual(south.logger_ids, [1])
    assert.deepEqual(south.inverter_ids, [1, 2])
    assert.deepEqual(south.station_ids, [])
    assert.equal(south.parent_location_id, 1)
    assert.equal((await get('/locations/9')).status, 404)
  })

  await t.test('a key needs the scope', async () => {
    const key = await addKey(db, { key_id: 'aaaaaaaaaaaa', scopes: ['weather:read'] })
    for (const path of ['/overview', '/plant/status', '/locations', '/locations/1']) {
      const { status, body } = await get(path, key)
      assert.deepEqual([status, body.error.code], [403, 'forbidden_scope'])
    }
  })
})
