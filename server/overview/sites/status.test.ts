import assert from 'node:assert/strict'
import test from 'node:test'
import { addKey, addReading, servedSite } from '../../fixtures/served-site.ts'
import { updateEnergyToday } from '../../performance/rollups/energy-today.ts'
import { updatePower } from '../../plant/site-status.ts'

const nothing = {
  ac_power_kw: null,
  power_at: null,
  energy_today_kwh: null,
  energy_to_expected_pct: null,
  energy_at: null,
  revenue_today_amount: null,
  currency: null,
  revenue_at: null,
}

test('the status of sites', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  const listed = async (at: string, query = 'include=status', key?: string) => {
    clock.set(at)
    const { status, body } = await get(`/v1/sites?${query}`, key)
    assert.equal(status, 200)
    return body
  }
  const demoAt = async (at: string, key?: string) =>
    (await listed(at, 'include=status', key)).data[0].status
  const power = (inverter_id: number, measured_at: string, ac_power_kw: number) =>
    addReading(db, 'inverter', { inverter_id, measured_at, ac_power_kw })

  await t.test('without include the answer has neither status nor totals', async () => {
    const body = await listed('2026-06-21T10:00:00Z', '')
    assert.equal('status' in body.data[0], false)
    assert.deepEqual(body.meta, { count: 1, next_cursor: null })
    const page = await listed('2026-06-21T10:00:10Z', 'limit=5')
    assert.equal('status' in page.data[0], false)
    assert.deepEqual(page.meta, { count: 1, next_cursor: null })
  })

  await t.test('what nothing is known of is null, and no site counts', async () => {
    const { data, meta } = await listed('2026-06-21T10:00:20Z')
    assert.deepEqual(data[0].status, { ...nothing, open_alert_count: 0 })
    assert.deepEqual(meta, {
      count: 1,
      next_cursor: null,
      totals: {
        ac_capacity_kw: 300,
        ac_power_kw: null,
        power_site_count: 0,
        energy_today_kwh: null,
        energy_site_count: 0,
        energy_to_expected_pct: null,
        expected_site_count: 0,
        revenue_today: [],
        open_alert_count: 0,
        healthy_count: 0,
        degraded_count: 0,
        offline_count: 0,
        unknown_count: 1,
      },
    })
  })

  await t.test('power is that of fresh readings, with the oldest of them', async () => {
    // Polled every 20 s, so that readings are fresh for 60 s.
    await power(1, '2026-06-21T10:00:50Z', 60.5)
    await power(2, '2026-06-21T10:00:40Z', 30)
    await power(3, '2026-06-21T09:59:00Z', 11)
    await updatePower(db, ['demo'], new Date('2026-06-21T10:01:00Z'))
    const { data, meta } = await listed('2026-06-21T10:01:00Z')
    const { ac_power_kw, power_at } = data[0].status
    assert.deepEqual([ac_power_kw, power_at], [90.5, '2026-06-21T10:00:40.000Z'])
    assert.deepEqual([meta.totals.ac_power_kw, meta.totals.power_site_count], [90.5, 1])
  })

  await t.test('old power stays with its instant, and leaves the totals', async () => {
    await updatePower(db, ['demo'], new Date('2026-06-21T10:10:00Z'))
    const { data, meta } = await listed('2026-06-21T10:15:41Z')
    assert.equal(data[0].status.ac_power_kw, 90.5)
    assert.equal(data[0].status.power_at, '2026-06-21T10:00:40.000Z')
    assert.deepEqual([meta.totals.ac_power_kw, meta.totals.power_site_count], [null, 0])
  })

  await t.test('at night power without fresh readings is 0', async () => {
    const { data, meta } = await listed('2026-06-21T22:30:00Z')
    const { ac_power_kw, power_at } = data[0].status
    assert.deepEqual([ac_power_kw, power_at], [0, '2026-06-21T22:30:00.000Z'])
    assert.deepEqual([meta.totals.ac_power_kw, meta.totals.power_site_count], [0, 1])
  })

  await t.test('energy is that of the local day, compared where it can be', async () => {
    const hour = (at: string, logger_id: number, energy: number, expected: number | null) =>
      db.execute(
        `INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count,
           energy_kwh, estimated_energy_kwh, awake_covered_s, sun_covered_s, expected_energy_kwh)
         VALUES ('demo', $1, $2, 1, 1, $3, 0, 3600, $4, $5)`,
        [logger_id, at, energy, expected === null ? 0 : 3600, expected],
      )
    await hour('2026-06-20T21:00:00Z', 1, 1000, 1000)
    await hour('2026-06-21T08:00:00Z', 1, 45, 50)
    await hour('2026-06-21T09:00:00Z', 1, 35, 50)
    await hour('2026-06-21T09:00:00Z', 2, 7, null)
    const summed = new Date('2026-06-21T09:55:00Z')
    await db.transaction((transaction) =>
      updateEnergyToday(transaction, { site_id: 'demo', timezone: 'Europe/Berlin' }, summed),
    )
    const { data, meta } = await listed('2026-06-21T10:30:00Z')
    const { energy_today_kwh, energy_to_expected_pct, energy_at } = data[0].status
    assert.deepEqual([energy_today_kwh, energy_to_expected_pct], [87, 80])
    assert.equal(energy_at, summed.toISOString())
    assert.deepEqual([meta.totals.energy_today_kwh, meta.totals.energy_site_count], [87, 1])
    assert.deepEqual([meta.totals.energy_to_expected_pct, meta.totals.expected_site_count], [80, 1])
  })

  await t.test('energy and revenue of yesterday are not those of today', async () => {
    await db.execute(
      `UPDATE site_status SET revenue_date = '2026-06-21', revenue_timezone = 'Europe/Brussels',
         net_revenue = 12.34, currency = 'EUR', revenue_at = '2026-06-21T10:00:00Z'`,
    )
    const today = await demoAt('2026-06-21T21:59:59Z')
    assert.deepEqual([today.energy_today_kwh, today.revenue_today_amount], [87, 12.34])
    const tomorrow = await demoAt('2026-06-21T22:00:10Z')
    assert.deepEqual(
      { ...tomorrow, ac_power_kw: null, power_at: null },
      {
        ...nothing,
        open_alert_count: 0,
      },
    )
  })

  await t.test('each metric needs its scope, in the totals as well', async () => {
    await db.query(`
      insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
        source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
      select 'demo', n, 'door_open', 'A door is open', 'Open.', 'security', 'major', status, 'node',
        'ts-1', now(), now(), now(), now(), now()
      from (values (1, 'active'), (2, 'acknowledged')) as a (n, status)`)
    const of_plant = { energy_today_kwh: 87, energy_to_expected_pct: 80 }
    const of_revenue = { revenue_today_amount: 12.34, currency: 'EUR' }
    const all = await demoAt('2026-06-21T10:02:00Z')
    assert.deepEqual(
      { ...all },
      { ...all, ...of_plant, ...of_revenue, ac_power_kw: 90.5, open_alert_count: 2 },
    )
    const keyFor = async (key_id: string, scope?: 'plant:read' | 'earnings:read' | 'alerts:read') =>
      addKey(db, { key_id, scopes: scope ? [scope] : [] })
    const as = async (key: string) => {
      const { data, meta } = await listed('2026-06-21T10:02:00Z', 'include=status', key)
      return [data[0].status, meta.totals]
    }
    const [blind, blind_totals] = await as(await keyFor('aaaaaaaaaaaa'))
    assert.deepEqual(blind, { ...nothing, open_alert_count: null })
    assert.deepEqual(
      [blind_totals.ac_power_kw, blind_totals.energy_today_kwh, blind_totals.revenue_today],
      [null, null, []],
    )
    assert.deepEqual(
      [blind_totals.open_alert_count, blind_totals.energy_to_expected_pct],
      [null, null],
    )
    const [plant, plant_totals] = await as(await keyFor('bbbbbbbbbbbb', 'plant:read'))
    assert.deepEqual([plant.ac_power_kw, plant.energy_today_kwh], [90.5, 87])
    assert.deepEqual([plant.revenue_today_amount, plant.open_alert_count], [null, null])
    assert.deepEqual([plant_totals.ac_power_kw, plant_totals.revenue_today], [90.5, []])
    const [money, money_totals] = await as(await keyFor('cccccccccccc', 'earnings:read'))
    assert.deepEqual(
      [money.ac_power_kw, money.revenue_today_amount, money.currency],
      [null, 12.34, 'EUR'],
    )
    assert.deepEqual(money_totals.revenue_today, [
      { currency: 'EUR', net_amount: 12.34, site_count: 1 },
    ])
    const [alerts, alert_totals] = await as(await keyFor('dddddddddddd', 'alerts:read'))
    assert.deepEqual([alerts.ac_power_kw, alerts.open_alert_count], [null, 2])
    assert.equal(alert_totals.open_alert_count, 2)
  })

  await t.test('totals cover all pages and what q matches', async () => {
    await db.execute(
      `INSERT INTO sites (site_id, client_id, name) VALUES ('second', 1, 'Second');
       INSERT INTO site_status (site_id, ac_power_kw, power_at, revenue_date, revenue_timezone,
         net_revenue, currency)
       VALUES ('second', 9.5, '2026-06-21T10:01:00Z', '2026-06-21', 'UTC', 1, 'SEK')`,
    )
    const first = await listed('2026-06-21T10:03:00Z', 'include=status&limit=1')
    assert.deepEqual([first.meta.count, first.data.length, first.data[0].site_id], [2, 1, 'demo'])
    assert.deepEqual([first.meta.totals.ac_power_kw, first.meta.totals.power_site_count], [100, 2])
    assert.deepEqual(
      first.meta.totals.revenue_today.map(({ currency }: { currency: string }) => currency),
      ['EUR', 'SEK'],
    )
    const found = await listed('2026-06-21T10:03:00Z', 'include=status&q=sec')
    assert.deepEqual([found.data[0].status.ac_power_kw, found.meta.totals.ac_power_kw], [9.5, 9.5])
    assert.equal((await get('/v1/sites?include=all')).status, 422)
  })

  await t.test('power is updated again after 20 s at the earliest', async () => {
    const powerAfter = async (now: string) => {
      await updatePower(db, ['demo', 'second'], new Date(now))
      return (await db.queryOne<{ ac_power_kw: number }>(
        "SELECT ac_power_kw FROM site_status WHERE site_id = 'demo'",
      ))!.ac_power_kw
    }
    await power(1, '2026-06-21T11:00:00Z', 50)
    assert.equal(await powerAfter('2026-06-21T11:00:05Z'), 50)
    await power(1, '2026-06-21T11:00:10Z', 70)
    assert.equal(await powerAfter('2026-06-21T11:00:15Z'), 50)
    assert.equal(await powerAfter('2026-06-21T11:00:25Z'), 70)
    await db.execute('UPDATE inverters SET retired_at = now() WHERE inverter_id = 1')
    await power(2, '2026-06-21T11:00:50Z', 5)
    assert.equal(await powerAfter('2026-06-21T11:00:55Z'), 5)
  })
})
