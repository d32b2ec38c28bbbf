import assert from 'node:assert/strict'
import test from 'node:test'
import { addReading, day_start, servedSite } from '../../fixtures/served-site.ts'

test('inverters', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  const add = (inverter_id: number, measured_at: string, values = {}) =>
    addReading(db, 'inverter', { inverter_id, measured_at, ...values })

  await add(1, '2026-06-20T21:30:00Z', { energy_total_kwh: 5000 })
  await add(1, '2026-06-21T04:00:00Z', { energy_total_kwh: 5010 })
  await add(1, '2026-06-21T09:59:50.250Z', {
    state: 'mppt',
    ac_power_kw: 49,
    dc_power_kw: 50.3,
    energy_total_kwh: 5120.5,
    alarm_1: 2 ** 7 + 2 ** 17,
    mppt_voltage_v: [700.5, null],
    mppt_current_a: [10, 11],
  })
  await add(2, '2026-06-21T04:00:00Z', { energy_total_kwh: 100 })
  await add(2, '2026-06-21T05:00:00Z', { energy_total_kwh: 130, state: 'fault' })
  await addReading(db, 'logger', { logger_id: 1, measured_at: '2026-06-21T09:59:50Z' })

  await t.test('a server of an earlier release updates the columns alone', async () => {
    const measured_at = '2026-06-21T09:00:05Z'
    await add(3, '2026-06-21T09:00:00Z', { dc_power_kw: 61.2, mppt_voltage_v: [701] })
    const voltages = async () => (await get('/inverters/3')).body.mppts.length
    assert.equal(await voltages(), 1)
    await db.execute(
      `update inverter_latest set measured_at = $1, received_at = $1, ac_power_kw = 60,
         dc_power_kw = null where inverter_id = 3`,
      [measured_at],
    )
    const { body } = await get('/inverters/3')
    assert.deepEqual([body.measured_at, body.ac_power_kw], ['2026-06-21T09:00:05.000Z', 60])
    assert.deepEqual([body.dc_power_kw, body.mppts], [null, []])
    await db.execute('delete from inverter_latest where inverter_id = 3')
    await db.execute('delete from inverter_readings where inverter_id = 3')
  })

  await t.test('the list tells who answers, what is measured and what is not', async () => {
    const { status, body } = await get('/inverters')
    assert.equal(status, 200)
    assert.equal(body.meta.count, 3)
    const [first, second, third] = body.data
    assert.equal(first.comm_state, 'connected')
    assert.equal(first.quality, 'good')
    assert.equal(first.age_s, 9.75)
    assert.equal(first.measured_at, '2026-06-21T09:59:50.250Z')
    assert.equal(first.efficiency_pct, 97.415507)
    assert.equal(first.reactive_power_kvar, null)
    assert.deepEqual(
      first.mppts.map((mppt: { dc_voltage_v: number }) => mppt.dc_voltage_v),
      [700.5, null],
    )
    assert.equal(first.mppts[1].dc_current_a, 11)
    assert.equal(second.comm_state, 'disconnected')
    assert.equal(second.quality, 'stale')
    assert.equal(third.comm_state, 'unknown')
    assert.equal(third.quality, 'missing')
    assert.equal(third.ac_power_kw, null)
  })

  await t.test('energy today is counted from midnight at the site', async () => {
    const { body } = await get('/inverters')
    const energies = body.data.map((one: { energy_today_kwh: number }) => one.energy_today_kwh)
    assert.deepEqual(energies, [120.5, 30, null])
    assert.equal(body.data[0].specific_yield_today_kwh_kwp, 120.5 / 40)
    assert.equal(body.data[0].energy_source, 'inverter_counter')
    assert.equal(body.data[2].energy_source, null)
  })

  await t.test('alarm bits are told, those that nothing explains too', async () => {
    const { body } = await get('/inverters/1')
    assert.deepEqual(body.active_alarm_codes, ['OVER_TEMP', 'alarm_1_bit_17'])
    assert.equal(body.active_alarm_count, 2)
    assert.equal((await get('/inverters/2')).body.active_alarm_count, 0)
  })

  await t.test('the filter by logger; an unknown logger is not found', async () => {
    const ids = async (query: string) =>
      (await get(`/inverters${query}`)).body.data.map(
        ({ inverter_id }: { inverter_id: number }) => inverter_id,
      )
    assert.deepEqual(await ids('?logger_id=2'), [3])
    assert.equal((await get('/inverters?logger_id=9')).status, 404)
    assert.equal((await get('/inverters?logger_id=x')).status, 422)
  })

  await t.test('at night a silent inverter is asleep', async () => {
    await addReading(db, 'logger', { logger_id: 1, measured_at: '2026-06-21T23:00:00Z' })
    clock.set('2026-06-21T23:00:05Z')
    assert.equal((await get('/inverters/2')).body.comm_state, 'asleep')
    clock.set('2026-06-21T10:00:00Z')
  })

  await t.test('what does not exist is 404, a bad id 422', async () => {
    assert.equal((await get('/inverters/99')).status, 404)
    assert.equal((await get('/inverters/99/history')).status, 404)
    assert.equal((await get('/inverters/one')).status, 422)
  })

  await t.test('a retired inverter stays readable', async () => {
    await db.execute("UPDATE inverters SET retired_at = '2026-06-21T06:00Z' WHERE inverter_id = 2")
    const { body } = await get('/inverters/2')
    assert.equal(body.retired_at, '2026-06-21T06:00:00.000Z')
    assert.equal((await get('/inverters/2/history')).body.meta.count, 2)
    assert.equal((await get('/plant/status')).body.inverters_total, 2)
    await db.execute('UPDATE inverters SET retired_at = null')
  })

  await t.test('history holds every column under its name', async () => {
    const { body } = await get(`/inverters/1/history?start=${day_start}`)
    assert.equal(body.meta.count, 2)
    const last = body.data[1]
    assert.equal(last.measured_at, '2026-06-21T09:59:50.250Z')
    assert.equal(last.quality, 'good')
    assert.equal(last.state, 'mppt')
    assert.equal(last.ac_power_kw, 49)
    assert.equal(last.alarm_1, 131_200)
    assert.deepEqual(last.mppt_voltage_v, [700.5, null])
    assert.equal(last.mppt_power_kw, null)
    assert.equal(last.voltage_l1_n_v, null)
  })

  await t.test('decoding asks each table in use, and drops no bit', async () => {
    const { status, body } = await get('/inverters/alarms/decode?alarm_1=129&alarm_3=8')
    assert.equal(status, 200)
    assert.deepEqual(body.input, {
      alarm_1: 129,
      alarm_2: null,
      alarm_3: 8,
      alarm_4: null,
      alarm_5: null,
    })
    const tables = body.tables.map(({ table_id }: { table_id: string }) => table_id)
    assert.deepEqual(tables, ['sunspec-inverter', 'sunspec-701'])
    const alarms = body.alarms.filter((alarm: Row) => alarm.table_id === 'sunspec-inverter')
    assert.deepEqual(
      alarms.map(({ code, word, bit }: Row) => [code, word, bit]),
      [
        ['GROUND_FAULT', 1, 0],
        ['OVER_TEMP', 1, 7],
      ],
    )
    assert.deepEqual(body.unknown_bits, [
      { table_id: 'sunspec-inverter', word: 3, bit: 3, mask: 8 },
      { table_id: 'sunspec-701', word: 3, bit: 3, mask: 8 },
    ])
    assert.equal(body.highest_severity, 'critical')
  })

  await t.test('words are decoded by the table of one inverter, or by a table', async () => {
    const decoded = async (query: string) => {
      const { status, body } = await get(`/inverters/alarms/decode?alarm_1=3&${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      const tables = body.tables.map(({ table_id }: Row) => table_id)
      return [tables, body.alarms.map(({ code }: Row) => code)]
    }
    await db.execute("UPDATE inverters SET driver = 'huawei_sun2000' WHERE inverter_id = 2")
    const sunspec = await decoded('inverter_id=1')
    const huawei = await decoded('inverter_id=2')
    assert.deepEqual([sunspec[0], huawei[0]], [['sunspec-inverter'], ['huawei-sun2000']])
    assert.notDeepEqual(sunspec[1], huawei[1])
    assert.deepEqual(await decoded('table_id=huawei-sun2000'), huawei)
    const both = await get('/inverters/alarms/decode?inverter_id=1&table_id=sunspec-inverter')
    assert.deepEqual([both.status, both.body.error.details.errors[0].field], [422, 'table_id'])
    for (const unknown of ['inverter_id=9', 'table_id=none']) {
      assert.equal((await get(`/inverters/alarms/decode?${unknown}`)).status, 404, unknown)
    }
    await db.execute("UPDATE inverters SET driver = 'sunspec'")
  })

  await t.test('alarm words outside 32 bits are refused, none at all is fine', async () => {
    assert.equal((await get('/inverters/alarms/decode?alarm_2=4294967295')).status, 200)
    assert.equal((await get('/inverters/alarms/decode?alarm_2=4294967296')).status, 422)
    assert.equal((await get('/inverters/alarms/decode?alarm_5=-1')).status, 422)
    assert.equal((await get('/inverters/alarms/decode?alarm_1=1.5')).status, 422)
    assert.equal((await get('/inverters/alarms/decode?alarm_6=1')).status, 422)
    assert.deepEqual((await get('/inverters/alarms/decode')).body.alarms, [])
  })

  await t.test('the table holds the rows of the tables in use', async () => {
    const { body } = await get('/inverters/alarms/table')
    assert.equal(body.meta.count, body.data.length)
    const ids = new Set(body.data.map(({ table_id }: Row) => table_id))
    assert.deepEqual([...ids], ['sunspec-inverter', 'sunspec-701'])
    await db.execute("UPDATE inverters SET manufacturer = 'Huawei Technologies'")
    const more = await get('/inverters/alarms/table')
    assert.ok(more.body.data.some(({ table_id }: Row) => table_id === 'huawei-sun2000'))
    await db.execute('UPDATE inverters SET retired_at = now()')
    const { body: none } = await get('/inverters/alarms/decode?alarm_1=3')
    assert.deepEqual(none.unknown_bits, [
      { table_id: null, word: 1, bit: 0, mask: 1 },
      { table_id: null, word: 1, bit: 1, mask: 2 },
    ])
  })
})

type Row = Record<string, unknown>
