import assert from 'node:assert/strict'
import test from 'node:test'
import { addBatteries, addBatteryReadings } from '../batteries/fixtures/battery-site.ts'
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
    assert.equal(body.dc_power_kw, null, 'the third reports none')
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

  await t.test('other powers are of the same inverters as the AC power, or null', async () => {
    const set = (name: string, power_kw: number | null, ids: number[]) =>
      db.execute(`UPDATE inverter_latest SET ${name} = $1 WHERE inverter_id = ANY ($2)`, [
        power_kw,
        ids,
      ])
    const powers = async () => {
      const { body } = await get('/plant/status')
      return [body.ac_power_kw, body.dc_power_kw, body.available_power_kw]
    }
    await set('available_power_kw', 45, [1, 2])
    assert.deepEqual(await powers(), [70, null, null], 'two of three are no sum beside three')
    for (const table of ['inverter_readings', 'inverter_latest']) {
      await db.execute(`DELETE FROM ${table} WHERE inverter_id = 3`)
    }
    await add(3, { ac_power_kw: 0, dc_power_kw: 0, available_power_kw: 5, state: 'fault' })
    assert.deepEqual(await powers(), [70, 72, 95])
    await set('available_power_kw', null, [1, 2, 3])
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
    assert.deepEqual([body.strings[9].measured_at, body.strings[9].quality], [null, 'missing'])
    const strings = { inverter_id: 3, first_string_index: 0, current_a: [4, 5] }
    await addReading(db, 'string', { ...strings, measured_at: at })
    const fresh = (await get('/overview')).body.strings[9]
    assert.deepEqual(
      [fresh.current_a, fresh.measured_at, fresh.quality, fresh.status],
      [5, null, 'good', 'ok'],
    )
    await db.execute("update string_latest set measured_at = '2026-06-21T08:00Z'")
    const old = (await get('/overview')).body.strings[9]
    assert.deepEqual(
      [old.current_a, old.measured_at, old.quality, old.status],
      [5, '2026-06-21T08:00:00.000Z', 'stale', 'no_data'],
    )
    await db.query('delete from string_latest; delete from string_readings')
    assert.equal(body.partial, false)
    assert.deepEqual(body.bess, [])
    assert.deepEqual(body.missing_sections, [])
  })

  await t.test('alerts that are not resolved are counted, for who may read them', async () => {
    assert.deepEqual((await get('/overview')).body.alerts, {
      active: 0,
      acknowledged: 0,
      critical: 0,
    })
    await db.query(`
      INSERT INTO alerts (site_id, dedup_key, code, title, message, category, severity, status,
        source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at,
        resolved_at, resolution)
      SELECT 'demo', n, 'door_open', 'A door is open', 'Open.', 'security', severity, status, 'node',
        'ts-1', now(), now(), now(), now(), now(),
        CASE status WHEN 'resolved' THEN now() END, CASE status WHEN 'resolved' THEN 'auto' END
      FROM (VALUES (1, 'critical', 'active'), (2, 'warning', 'active'),
        (3, 'critical', 'acknowledged'), (4, 'critical', 'resolved')) AS a (n, severity, status)`)
    const { body } = await get('/overview')
    assert.deepEqual(body.alerts, { active: 2, acknowledged: 1, critical: 2 })
    const { active_alert_count, highest_alert_severity } = body.site
    assert.deepEqual([active_alert_count, highest_alert_severity], [2, 'critical'])
    const degraded = ['degraded', 'critical_alerts:2', 'inverter_fault:3']
    for (const told of [body.site, body.status, (await get('/plant/status')).body]) {
      assert.deepEqual([told.health_status, ...told.health_reasons], degraded)
    }
    const key = await addKey(db, { key_id: 'eeeeeeeeeeee', scopes: ['plant:read'] })
    const blind = (await get('/overview', key)).body
    assert.equal(blind.alerts, null)
    assert.ok(blind.missing_sections.includes('alerts'))
    assert.deepEqual(
      [blind.site.active_alert_count, blind.site.highest_alert_severity],
      [null, null],
    )
    assert.deepEqual(blind.site.health_reasons, ['critical_alerts:2', 'inverter_fault:3'])
    await db.query('DELETE FROM alerts')
  })

  await t.test('battery units in service are told in short, for who may read them', async () => {
    await addBatteries(db)
    await addBatteryReadings(db, '2026-06-21T09:59:58Z')
    await db.execute('UPDATE batteries SET retired_at = now() WHERE bess_id = 2')
    const { bess } = (await get('/overview')).body
    const [unit, current] = [(await get('/bess/1')).body, (await get('/bess/1/current')).body]
    assert.equal(bess.length, 1)
    for (const [name, value] of Object.entries(bess[0])) {
      assert.deepEqual(value, { ...unit, ...current }[name], name)
    }
    assert.deepEqual([bess[0].status, bess[0].power_kw, bess[0].quality], ['online', 100, 'good'])
    const key = await addKey(db, { key_id: 'babababababa', scopes: ['plant:read'] })
    const blind = (await get('/overview', key)).body
    assert.equal(blind.bess, null)
    assert.ok(blind.missing_sections.includes('bess'))
    await db.execute("UPDATE clients SET modules = array_remove(modules, 'bess')")
    const without = await addKey(db, { key_id: 'abababababab' })
    assert.equal((await get('/overview', without)).body.bess, null)
    await db.query("UPDATE clients SET modules = modules || '{bess}'; DELETE FROM batteries")
  })

  await t.test('what curtailment keeps back is told, for who may read it', async () => {
    const none = { active_count: 0, limit_kw: null, curtailed_now_kw: null }
    assert.deepEqual((await get('/overview')).body.curtailment, none)
    await db.query(`
      INSERT INTO curtailment_groups (site_id, group_id, source, created_at)
      SELECT 'demo', g, 'api', now() FROM unnest('{high,low,over,later,released}'::text[]) AS g;
      INSERT INTO curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw,
        released_at)
      VALUES ('demo', 'high', 1, '2026-06-21T09:00Z', '2026-06-21T12:00Z', 90, null),
             ('demo', 'low', 1, '2026-06-21T10:00Z', '2026-06-21T12:00Z', 70, null),
             ('demo', 'over', 1, '2026-06-21T09:00Z', '2026-06-21T10:00Z', 10, null),
             ('demo', 'later', 1, '2026-06-21T10:00:01Z', '2026-06-21T12:00Z', 10, null),
             ('demo', 'released', 2, '2026-06-21T09:00Z', '2026-06-21T12:00Z', 10, now())`)
    const dark = (await get('/overview')).body
    assert.deepEqual(dark.curtailment, { active_count: 2, limit_kw: 170, curtailed_now_kw: null })
    await db.execute('UPDATE inverter_latest SET available_power_kw = 45, limited_by = $1', [
      'curtailment',
    ])
    const { body } = await get('/overview')
    assert.deepEqual(body.curtailment, { active_count: 2, limit_kw: 170, curtailed_now_kw: 20 })
    assert.equal(body.status.curtailed_power_kw, 20)
    assert.equal(body.inverters[0].limited_by, 'curtailment')
    const limits = body.loggers.map((logger: Row) => [
      logger['curtailment_active'],
      logger['power_limit_kw'],
      logger['limit_pct_of_rated'],
    ])
    assert.deepEqual(limits, [
      [true, 70, 35],
      [false, null, null],
    ])
    const key = await addKey(db, { key_id: 'dddddddddddd', scopes: ['plant:read'] })
    const blind = (await get('/overview', key)).body
    assert.equal(blind.curtailment, null)
    assert.ok(blind.missing_sections.includes('curtailment'))
    await db.query('DELETE FROM curtailment_rows; DELETE FROM curtailment_groups')
  })

  await t.test(
    'the overview has weather by station and instrument, and needs no scope but its own',
    async () => {
      await db.execute('UPDATE stations SET instruments = $1 WHERE station_id = 2', [
        JSON.stringify([
          { sensor_id: 'poa', name: 'Front', quantity: 'poa_irradiance_w_m2' },
          { sensor_id: 'rain', name: 'Gauge', quantity: 'rain_mm' },
        ]),
      ])
      await db.execute("UPDATE weather_latest SET instrument_values = '{900}' WHERE station_id = 2")
      await db.execute(
        `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at,
         updated_at) VALUES ('demo', 3, 2, 'New', '[]', now(), now())`,
      )
      const { weather } = (await get('/overview')).body
      assert.deepEqual(
        weather.map(({ station_id, poa_irradiance_w_m2, quality }: Row) => [
          station_id,
          poa_irradiance_w_m2,
          quality,
        ]),
        [
          [1, 800, 'good'],
          [2, 900, 'good'],
          [3, null, 'missing'],
        ],
      )
      assert.deepEqual(weather[1].sensors, [
        { sensor_id: 'poa', name: 'Front', quantity: 'poa_irradiance', unit: 'W/m²', value: 900 },
        { sensor_id: 'rain', name: 'Gauge', quantity: 'rain', unit: 'mm', value: null },
      ])
      const key = await addKey(db, { key_id: 'cccccccccccc', scopes: ['plant:read'] })
      const { body } = await get('/overview', key)
      assert.deepEqual(body.weather, weather)
      assert.deepEqual(body.missing_sections, ['curtailment', 'bess', 'alerts'])
    },
  )

  await t.test('the overview has the sensor nodes as they show themselves', async () => {
    const channels = [
      { channel: 'room', kind: 'temperature', label: 'Room' },
      { channel: 'fans', kind: 'relay', label: 'Fans' },
    ]
    for (const [node_number, node_id, retired_at] of [
      [1, 'ts-1', null],
      [2, 'ts-2', null],
      [3, 'ts-old', at],
    ]) {
      await db.execute(
        `INSERT INTO nodes (site_id, node_id, node_number, name, type, location_id, report_s,
           channels, created_at, updated_at, retired_at)
         VALUES ('demo', $1, $4, $1, 'cabinet', 2, 60, $2, now(), now(), $3)`,
        [node_id, JSON.stringify(channels), retired_at, node_number],
      )
    }
    await addReading(db, 'node', { node_number: 1, measured_at: at, channel_values: [31, 1] })
    for (const [time, to] of [
      ['08:00', true],
      ['09:00', false],
    ]) {
      await db.execute(
        `INSERT INTO relay_events (site_id, node_id, channel, at, received_at, to_state, cause)
         VALUES ('demo', 'ts-1', 'fans', $1, now(), $2, 'manual')`,
        [`2026-06-21T${time}:00Z`, to],
      )
    }
    const { sensors } = (await get('/overview')).body
    assert.deepEqual(
      sensors.map(({ node_id }: Row) => node_id),
      ['ts-1', 'ts-2'],
    )
    assert.equal(sensors[0].relays[0].changed_at, '2026-06-21T09:00:00.000Z')
    for (const node of sensors) {
      assert.deepEqual(node, (await get(`/sensors/${node['node_id']}/current`)).body)
    }
  })

  await t.test('energy of the month and the year at the site is that of the hours', async () => {
    const before = (await get('/plant/status')).body
    assert.deepEqual([before.energy_month_kwh, before.energy_year_kwh], [null, null])
    const hours: [string, number, number | null][] = [
      ['2025-12-31T22:00Z', 1, 1000],
      // Midnight of the year at the site.
      ['2025-12-31T23:00Z', 1, 100],
      ['2026-05-31T21:00Z', 2, 10],
      ['2026-05-31T22:00Z', 2, 1],
      ['2026-06-21T09:00Z', 1, 0.25],
      ['2026-06-21T09:00Z', 2, null],
    ]
    for (const [hour_at, logger_id, energy_kwh] of hours) {
      await db.execute(
        `INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count,
           energy_kwh, estimated_energy_kwh, awake_covered_s, sun_covered_s)
         VALUES ('demo', $1, $2, 1, 1, $3, 0, 0, 0)`,
        [logger_id, hour_at, energy_kwh],
      )
    }
    clock.set('2026-06-21T10:03:01Z')
    const { body } = await get('/plant/status')
    assert.deepEqual([body.energy_month_kwh, body.energy_year_kwh], [1.25, 111.25])
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

  await t.test('with the sun just above the horizon nothing is estimated', async () => {
    clock.set('2026-06-21T19:05:00Z')
    const { body } = await get('/plant/status')
    assert.ok(body.sun_elevation_deg > 0 && body.sun_elevation_deg < 3, body.sun_elevation_deg)
    assert.deepEqual([body.ac_power_kw, body.quality], [null, 'stale'])
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
    assert.deepEqual([body.ac_power_kw, body.quality], [0, 'estimated'])
    assert.deepEqual([body.measured_at, body.power_inverter_count], [null, 0])
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
    assert.deepEqual(south.node_ids, ['ts-1', 'ts-2'])
    assert.deepEqual(body.data[0].node_ids, [])
    assert.equal(south.parent_location_id, 1)
    assert.equal((await get('/locations/9')).status, 404)
  })

  await t.test('locations count open work, for who may read it', async () => {
    await db.query(`
      insert into work_orders (site_id, number, title, description, type, priority, status,
        location_id, created_by, created_at, updated_at)
      select 'demo', status, 'x', '', 'corrective', 'low', status, 2, 'x', now(), now()
      from unnest(array['open', 'on_hold', 'completed', 'cancelled']) as status;
      insert into defects (site_id, number, title, severity, status, location_id, detected_at,
        reported_by, created_at, updated_at)
      select 'demo', status, 'x', 'low', status, 2, now(), 'x', now(), now()
      from unnest(array['open', 'resolved', 'dismissed']) as status`)
    const counts = async (key?: string) =>
      (await get('/locations', key)).body.data.map(
        (one: Row) => [one.open_work_order_count, one.open_defect_count] as const,
      )
    assert.deepEqual(await counts(), [
      [0, 0],
      [2, 1],
    ])
    const key = await addKey(db, { key_id: 'bbbbbbbbbbbb', scopes: ['plant:read'] })
    assert.deepEqual(await counts(key), [
      [null, null],
      [null, null],
    ])
  })

  await t.test('a key needs the scope', async () => {
    const key = await addKey(db, { key_id: 'aaaaaaaaaaaa', scopes: ['weather:read'] })
    for (const path of ['/overview', '/plant/status', '/locations', '/locations/1']) {
      const { status, body } = await get(path, key)
      assert.deepEqual([status, body.error.code], [403, 'forbidden_scope'])
    }
  })
})

type Row = Record<string, unknown>
