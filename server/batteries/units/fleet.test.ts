import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { addKey, addReading, type ServedSite, servedSite } from '../../fixtures/served-site.ts'
import {
  addBatteries,
  addBatteryReadings,
  bessValues,
  unit2Values,
} from '../fixtures/battery-site.ts'
import { addPrices, assignMarket } from '../fixtures/schedule-site.ts'

let site: ServedSite

before(async () => {
  site = await servedSite()
  await addBatteries(site.db)
})
after(() => site.close())

const summary = async () => {
  const { status, body } = await site.get('/bess/fleet/summary')
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('units that answer are in the sums of now; all are in the others', async () => {
  await addBatteryReadings(site.db, '2026-06-21T09:59:50Z')
  const fleet = await summary()
  assert.deepEqual([fleet.unit_count, fleet.online_count, fleet.fault_count], [2, 2, 0])
  assert.deepEqual([fleet.rated_energy_kwh, fleet.usable_energy_kwh], [500, 440])
  // 360 kWh at 60 % and 80 kWh at 40 %.
  assert.equal(fleet.soc_pct, 56.3636364)
  assert.equal(fleet.soh_pct, 98)
  // 50 % of 392 kWh above the reserve; 30 % of 100 kWh above the window.
  assert.equal(fleet.available_energy_kwh, 226)
  assert.deepEqual([fleet.power_kw, fleet.max_charge_power_kw], [100, 230])
  assert.equal(fleet.measured_at, '2026-06-21T09:59:50.000Z')
  assert.deepEqual(fleet.stale_unit_ids, [])

  const now = { bess_id: 1, measured_at: '2026-06-21T10:01:00Z', ...bessValues({ power_kw: -20 }) }
  await addReading(site.db, 'bess', now)
  site.clock.set('2026-06-21T10:01:05Z')
  const without = await summary()
  assert.deepEqual([without.stale_unit_ids, without.online_count], [[2], 1])
  assert.deepEqual([without.power_kw, without.soc_pct], [-20, 60])
  // Its PCS were not read since.
  assert.deepEqual([without.max_charge_power_kw, without.rated_energy_kwh], [0, 500])
  assert.equal(without.measured_at, '2026-06-21T10:01:00.000Z')
  site.clock.set('2026-06-21T10:00:00Z')
})

test('energies of today, and how many cycles they are', async () => {
  const before = { measured_at: '2026-06-20T21:59:00Z' }
  const then = bessValues({ charged_total_kwh: 51_690, discharged_total_kwh: 46_350 })
  await addReading(site.db, 'bess', { bess_id: 1, ...before, ...then })
  const first = await summary()
  assert.deepEqual([first.charged_today_kwh, first.discharged_today_kwh], [310, 150])
  // Of unit 2 there is the first reading of the day alone.
  assert.equal(first.cycles_today, 0.340909091)
  const other = { ...unit2Values(), charged_total_kwh: 8990, discharged_total_kwh: 8090 }
  await addReading(site.db, 'bess', { bess_id: 2, ...before, ...other })
  const both = await summary()
  assert.deepEqual([both.charged_today_kwh, both.discharged_today_kwh], [320, 160])
  assert.equal(both.cycles_today, 0.363636364)
})

test('one schedule of each unit counts: the approved, else the proposed, else the newest', async () => {
  const add = (bess_id: number, state: string, target_date = '2026-06-21') =>
    site.db.execute(
      `INSERT INTO battery_schedules (site_id, bess_id, target_date, state, objective, created_at,
         created_by, problem, plan, hours)
       VALUES ('demo', $1, $3, $2, 'arbitrage', now(), 'test', '{}', '{}', '[]')`,
      [bess_id, state, target_date],
    )
  assert.deepEqual((await summary()).schedules, { proposed: 0, approved: 0, rejected: 0 })
  await add(1, 'superseded')
  await add(1, 'rejected')
  await add(2, 'proposed', '2026-06-22')
  assert.deepEqual((await summary()).schedules, { proposed: 0, approved: 0, rejected: 1 })
  await add(1, 'approved')
  await add(1, 'proposed')
  await add(2, 'proposed')
  assert.deepEqual((await summary()).schedules, { proposed: 1, approved: 1, rejected: 0 })
  const { body } = await site.get('/bess')
  assert.deepEqual(
    body.data.map((unit: Record<string, unknown>) => unit['schedule_status_today']),
    ['approved', 'proposed'],
  )
})

test('what they earned today is at the prices of their market, a minute old at most', async () => {
  assert.equal((await summary()).earnings_today_amount, null)
  await assignMarket(site.db)
  for (const date of ['2026-06-20', '2026-06-21']) await addPrices(site.db, { date })
  // 50 kWh charged from 04:00Z to 04:15Z, at 76 a MWh, and 45 kWh discharged until 04:30Z.
  const add = (minute: number, charged_kwh: number, discharged_kwh: number) =>
    addReading(site.db, 'bess', {
      bess_id: 1,
      measured_at: `2026-06-21T04:${String(minute).padStart(2, '0')}:00Z`,
      ...bessValues({
        charged_total_kwh: 51_690 + charged_kwh,
        discharged_total_kwh: 46_350 + discharged_kwh,
      }),
    })
  await add(0, 0, 0)
  await add(15, 50, 0)
  await add(30, 50, 45)
  // Five minutes after the last test looked, too: nothing of it is taken then.
  site.clock.set('2026-06-21T10:06:06Z')
  const { earnings_today_amount, currency } = await summary()
  assert.deepEqual([earnings_today_amount, currency], [-0.38, 'EUR'])
  const key = await addKey(site.db, { key_id: 'dadadadadada', scopes: ['bess:read'] })
  const { body: blind } = await site.get('/bess/fleet/summary', key)
  assert.deepEqual(blind, {
    ...(await summary()),
    earnings_today_amount: null,
    earnings_today_reason: 'forbidden_scope',
    currency: null,
  })
  site.clock.set('2026-06-21T10:00:00Z')
})

test('the efficiency of the last thirty days is by the counters of each day', async () => {
  for (let day = 1; day <= 20; day += 1) {
    // 200 kWh in and 180 kWh out on each day, until where unit 1 stands today.
    const left = 21 - day
    await addReading(site.db, 'bess', {
      bess_id: 1,
      measured_at: `2026-06-${String(day).padStart(2, '0')}T09:00:00Z`,
      ...bessValues({
        charged_total_kwh: 52_000 - 200 * left,
        discharged_total_kwh: 46_500 - 180 * left,
      }),
    })
  }
  site.clock.set('2026-06-21T10:30:00Z')
  assert.equal((await summary()).roundtrip_efficiency_30d_pct, 90)
})

test('alarms that values tell count here as they do in the alarms of the unit', async () => {
  const values = { heartbeat_ok: 0, fire_system_state: 'alarm' } as const
  const measured_at = '2026-06-21T10:02:00Z'
  await addReading(site.db, 'bess', { bess_id: 1, measured_at, ...bessValues(values) })
  const active = { info: 0, warning: 0, major: 1, critical: 1 }
  assert.deepEqual((await summary()).active_alarm_counts, active)
  const counts = (await site.get('/bess/1/alarms/counts')).body
  assert.deepEqual(counts.active, active)
  assert.equal((await site.get('/bess/1/current')).body.alarm_count, counts.total_active)
})
