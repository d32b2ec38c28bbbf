import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { addReading, type ServedSite, servedSite } from '../../fixtures/served-site.ts'
import {
  addBatteries,
  addBatteryReadings,
  batteries,
  bessValues,
  pcsValues,
} from '../fixtures/battery-site.ts'

type Row = Record<string, unknown>

let site: ServedSite
const measured_at = '2026-06-21T09:59:58.500Z'

before(async () => {
  site = await servedSite()
  await addBatteries(site.db)
})
after(() => site.close())

const get = async (path: string) => {
  const { status, body } = await site.get(path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('a unit that was never read is told as such', async () => {
  const { data } = await get('/bess')
  assert.deepEqual(
    data.map((unit: Row) => [unit.bess_id, unit.status, unit.operating_mode, unit.last_seen_at]),
    [
      [1, 'unknown', 'idle', null],
      [2, 'unknown', 'idle', null],
    ],
  )
  const now = await get('/bess/1/current')
  assert.deepEqual([now.quality, now.power_kw, now.charged_today_kwh], ['missing', null, null])
  const envelope = await get('/bess/1/envelope')
  assert.deepEqual([envelope.quality, envelope.max_discharge_power_kw], ['missing', 0])
  assert.equal(envelope.available_discharge_energy_kwh, null)
  const pcs = await get('/bess/1/pcs/current')
  assert.deepEqual([pcs.quality, pcs.ac_power_kw, pcs.pcs.length], ['missing', null, 2])
  const cluster = await get('/bess/1/clusters/1')
  assert.deepEqual([cluster.quality, cluster.cells_quality], ['missing', 'missing'])
  assert.deepEqual(cluster.cell_voltages_mv, Array(12).fill(null))
  const fleet = await get('/bess/fleet/summary')
  assert.deepEqual(fleet.stale_unit_ids, [1, 2])
  assert.deepEqual([fleet.power_kw, fleet.soc_pct, fleet.measured_at], [null, null, null])
  assert.equal(fleet.rated_energy_kwh, 500)
  assert.deepEqual((await get('/bess/1/history')).data, [])
})

test('units are told by their inventory, and what follows from it', async () => {
  await addBatteryReadings(site.db, measured_at)
  const { data, meta } = await get('/bess')
  assert.equal(meta.count, 2)
  const [first, second] = data
  assert.deepEqual(first, await get('/bess/1'))
  const { name, logger_id, usable_energy_kwh, c_rate, cluster_count } = first
  assert.deepEqual([name, logger_id, usable_energy_kwh], ['Battery South', 1, 360])
  assert.deepEqual([c_rate, cluster_count, first.module_count, first.cell_count], [0.5, 2, 6, 24])
  assert.deepEqual([first.pcs_count, first.commissioned_date], [2, '2025-03-01'])
  assert.equal(first.last_seen_at, measured_at)
  assert.deepEqual([first.status, second.status], ['online', 'standby'])
  // Without one of the datasheet: the window of 80 % of 100 kWh.
  assert.deepEqual([second.usable_energy_kwh, second.logger_id], [80, null])
})

test('what is measured now, and what follows from it', async () => {
  const now = await get('/bess/1/current')
  assert.deepEqual([now.quality, now.age_s, now.state], ['good', 1.5, 'discharging'])
  assert.deepEqual([now.power_kw, now.soc_pct, now.dod_pct], [100, 60, 40])
  assert.deepEqual([now.cell_voltage_spread_mv, now.cell_temperature_spread_c], [14, 3])
  assert.deepEqual([now.cell_voltage_min_id, now.cell_temperature_max_id], ['1.2', '1.2'])
  assert.deepEqual([now.heartbeat_ok, now.local_remote, now.grid_connected], [true, 'remote', true])
  assert.deepEqual([now.alarm_count, now.fire_system_state], [0, null])
  const { cell_voltage_min_id, cell_voltage_spread_mv } = await get('/bess/2/current')
  assert.deepEqual([cell_voltage_min_id, cell_voltage_spread_mv], [null, null])
})

test('what is left to discharge and to charge is the same wherever it is told', async () => {
  const fleet = await get('/bess/fleet/summary')
  const both = await Promise.all(
    [1, 2].map(async (bess_id) => {
      const now = await get(`/bess/${bess_id}/current`)
      const envelope = await get(`/bess/${bess_id}/envelope`)
      const [reading] = (await get(`/bess/${bess_id}/history`)).data
      const told = [now.available_energy_kwh, now.energy_to_full_kwh]
      const { available_discharge_energy_kwh: out_kwh, available_charge_energy_kwh } = envelope
      assert.deepEqual(told, [out_kwh, available_charge_energy_kwh])
      assert.deepEqual(told, [reading.available_energy_kwh, reading.energy_to_full_kwh])
      return told
    }),
  )
  // From 60 % of 392 kWh to the reserve, of which the device knows nothing; up to what it allows.
  assert.deepEqual(both, [
    [196, 126],
    [30, 50],
  ])
  assert.equal(fleet.available_energy_kwh, 226)
})

test('what the device does not report is of the inventory and the edge', async () => {
  const setup = await get('/bess/1/setup')
  // Of the inventory, and of the edge, which gives up a heartbeat that stands for five polls.
  assert.deepEqual([setup.ramp_rate_kw_s, setup.heartbeat_timeout_s], [50, 10])
})

test('what plans go by stands in the envelope', async () => {
  assert.equal((await get('/bess/1/envelope')).curve, null)
  const curve = [
    { soc_pct: 0, max_charge_power_kw: 200, max_discharge_power_kw: 0 },
    { soc_pct: 10, max_charge_power_kw: 200, max_discharge_power_kw: 200 },
  ]
  const set = (value: string | null) =>
    site.db.execute('UPDATE batteries SET power_curve = $1 WHERE bess_id = 1', [value])
  await set(JSON.stringify(curve))
  assert.deepEqual((await get('/bess/1/envelope')).curve, curve)
  await set(null)
})

test('of a unit that fell silent nobody knows whether it hears its heartbeat', async () => {
  site.clock.set('2026-06-21T10:00:50Z')
  const { quality, heartbeat_ok, power_kw } = await get('/bess/1/current')
  assert.deepEqual([quality, heartbeat_ok, power_kw], ['stale', null, 100])
  site.clock.set('2026-06-21T10:00:00Z')
})

test('a history has what /current has measured, under the same names', async () => {
  const now = await get('/bess/1/current')
  const { data, meta } = await get('/bess/1/history')
  assert.equal(meta.count, 1)
  const [reading] = data
  assert.equal(reading.measured_at, measured_at)
  for (const [name, value] of Object.entries(reading)) assert.deepEqual(value, now[name], name)
  const pcs = await get('/bess/1/pcs/current')
  const { data: readings } = await get('/bess/1/pcs/history')
  assert.deepEqual(
    readings.map(({ pcs_idx }: Row) => pcs_idx),
    [0, 1],
  )
  for (const [name, value] of Object.entries(readings[1])) {
    assert.deepEqual(value, pcs.pcs[1][name], name)
  }
})

test('histories come as files, too', async () => {
  const csv = await site.file('/bess/1/history', 'text/csv')
  const [head, line, ...rest] = csv.trimEnd().split('\n')
  const at = (name: string) => line!.split(',')[head!.split(',').indexOf(name)]
  assert.deepEqual(
    [at('measured_at'), at('dod_pct'), at('heartbeat_ok')],
    [measured_at, '40', 'true'],
  )
  assert.deepEqual([at('cell_voltage_spread_mv'), at('cell_voltage_min_id')], ['14', '1.2'])
  assert.deepEqual(rest, [])
  const lines = await site.file('/bess/1/pcs/history', 'application/x-ndjson')
  const { data } = await get('/bess/1/pcs/history')
  assert.deepEqual(
    lines
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one)),
    data,
  )
})

test('PCS together and one by one, with what comes out of what goes in', async () => {
  const both = await get('/bess/1/pcs/current')
  assert.deepEqual([both.pcs_count, both.ac_power_kw, both.dc_power_kw], [2, 96, 100])
  assert.deepEqual([both.max_charge_power_kw, both.quality, both.age_s], [200, 'good', 1.5])
  assert.deepEqual([both.pcs[0].efficiency_pct, both.pcs[0].ac_breaker_closed], [96, true])
  const without = `UPDATE pcs_latest SET dc_power_kw = $1 WHERE bess_id = 1 AND pcs_idx = 0`
  const [{ dc_power_kw }] = both.pcs
  await site.db.execute(without, [null])
  const incomplete = await get('/bess/1/pcs/current')
  assert.deepEqual([incomplete.ac_power_kw, incomplete.dc_power_kw], [96, null])
  await site.db.execute(without, [dc_power_kw])
  const [idle] = (await get('/bess/2/pcs/current')).pcs
  assert.deepEqual([idle.ac_power_kw, idle.efficiency_pct], [0, null])
})

test('clusters, and one down to its cells', async () => {
  const { data, meta } = await get('/bess/1/clusters')
  assert.equal(meta.count, 2)
  const [first] = data
  assert.deepEqual([first.cluster_idx, first.power_kw, first.alarm_count], [0, 51.12, 0])
  assert.deepEqual([first.module_count, first.cell_count], [3, 12])
  assert.deepEqual(first.contactors, { positive: true, negative: true, precharge: false })
  const cluster = await get('/bess/1/clusters/0')
  for (const [name, value] of Object.entries(first)) assert.deepEqual(cluster[name], value, name)
  assert.deepEqual(cluster.cell_voltages_mv, [
    3298,
    3299,
    3300,
    3298,
    3304,
    3297,
    3299,
    3298,
    3298,
    null,
    3290,
    3299,
  ])
  assert.deepEqual([cluster.cell_voltage_min_index, cluster.cell_voltage_max_index], [10, 4])
  assert.deepEqual([cluster.cell_temperature_min_index, cluster.cell_temperature_max_index], [0, 5])
  assert.deepEqual(
    cluster.cell_balancing.flatMap((is_on: boolean, index: number) => (is_on ? [index] : [])),
    [4],
  )
  assert.deepEqual(cluster.outlier_cell_indexes, [])
  assert.deepEqual([cluster.cells_per_module, cluster.temperature_sensors_per_module], [4, 2])
  assert.deepEqual(cluster.modules, [
    { module_idx: 0, voltage_v: 13.195, soc_pct: 60, soh_pct: null, temperature_c: 24.5 },
    { module_idx: 1, voltage_v: 13.198, soc_pct: 60.5, soh_pct: null, temperature_c: 25.5 },
    { module_idx: 2, voltage_v: null, soc_pct: 59.5, soh_pct: null, temperature_c: 26.5 },
  ])
  // Unit 2 says nothing of its modules: they are the sums of their cells.
  const other = await get('/bess/2/clusters/0')
  assert.deepEqual(
    other.modules.map(({ voltage_v, temperature_c }: Row) => [voltage_v, temperature_c]),
    [
      [14.8, null],
      [14.8, null],
    ],
  )
  assert.deepEqual(other.cell_balancing, Array(8).fill(null))
})

test('cells have an age of their own', async () => {
  const later = '2026-06-21T10:03:10Z'
  site.clock.set(later)
  await addReading(site.db, 'cluster', {
    bess_id: 1,
    cluster_idx: 0,
    measured_at: '2026-06-21T10:03:05Z',
    voltage_v: 721,
  })
  const cluster = await get('/bess/1/clusters/0')
  assert.deepEqual([cluster.quality, cluster.age_s, cluster.voltage_v], ['good', 5, 721])
  assert.deepEqual([cluster.cells_quality, cluster.cells_age_s], ['stale', 191.5])
  site.clock.set('2026-06-21T10:00:00Z')
})

test('what does not exist is 404, a bad form 422', async () => {
  const below = [
    '',
    '/current',
    '/history',
    '/clusters',
    '/clusters/0',
    '/pcs/current',
    '/pcs/history',
    '/envelope',
    '/protection',
    '/setup',
  ]
  for (const path of below) {
    assert.equal((await site.get(`/bess/9${path}`)).status, 404, path)
    assert.equal((await site.get(`/bess/one${path}`)).status, 422, path)
  }
  assert.equal((await site.get('/bess/1/clusters/2')).status, 404)
  assert.equal((await site.get('/bess/1/clusters/-1')).status, 422)
  assert.equal((await site.get('/bess/1/clusters/99999999999')).status, 422)
  assert.equal((await site.get('/bess/1/history?start=2026-06-21T10:00:00')).status, 422)
})

test('a retired unit stays readable and counts in no sum', async () => {
  await site.db.execute("UPDATE batteries SET retired_at = '2026-06-21T09:00Z' WHERE bess_id = 2")
  assert.equal((await get('/bess/2')).retired_at, '2026-06-21T09:00:00.000Z')
  assert.equal((await get('/bess')).meta.count, 2)
  const fleet = await get('/bess/fleet/summary')
  assert.deepEqual([fleet.unit_count, fleet.rated_energy_kwh], [1, 400])
  await site.db.execute('UPDATE batteries SET retired_at = null')
})

test('pages of PCS end with a whole instant, and going on leaves nothing out', async () => {
  const [{ pcs }] = batteries as [(typeof batteries)[number]]
  const start = '2026-06-20T00:00:00.000Z'
  const at = (second: number) => new Date(Date.parse(start) + 1000 * second).toISOString()
  for (const second of [0, 2, 4, 6, 8]) {
    for (const { pcs_idx } of pcs) {
      const values = pcsValues({ pcs_idx, ac_power_kw: second })
      await addReading(site.db, 'pcs', { bess_id: 1, measured_at: at(second), ...values })
    }
  }
  const window = `start=${start}&end=${at(60)}`
  const page = async (query: string) => {
    const { data, meta } = await get(`/bess/1/pcs/history?${query}`)
    return { rows: data.map((row: Row) => `${row.ac_power_kw}/${row.pcs_idx}`), ...meta }
  }
  const first = await page(`${window}&limit=3`)
  assert.deepEqual([first.rows, first.count, first.truncated], [['0/0', '0/1'], 10, true])
  const second = await page(`start=${first.next_start}&end=${at(60)}&limit=4`)
  assert.deepEqual(second.rows, ['2/0', '2/1', '4/0', '4/1'])
  const newest = await page(`end=${at(60)}&limit=3`)
  assert.deepEqual([newest.rows, newest.previous_end], [['8/0', '8/1'], at(8)])
  const before = await page(`end=${newest.previous_end}&limit=2`)
  assert.deepEqual(before.rows, ['6/0', '6/1'])
  const whole = await page(`${window}&limit=10`)
  assert.deepEqual([whole.rows.length, whole.truncated, whole.next_start], [10, false, null])
  const cut = await page(`${window}&limit=1`)
  assert.deepEqual([cut.rows, cut.truncated, cut.next_start], [['0/0'], true, null])
  const lines = await site.file(`/bess/1/pcs/history?${window}&limit=3`, 'application/x-ndjson')
  assert.equal(lines.trimEnd().split('\n').length, 2)
})

test('energy of today is what the counters rose by since midnight at the site', async () => {
  const add = (measured_at: string, charged_total_kwh: number, discharged_total_kwh: number) =>
    addReading(site.db, 'bess', {
      bess_id: 1,
      measured_at,
      ...bessValues({ charged_total_kwh, discharged_total_kwh }),
    })
  // Midnight at the site is 22:00Z of the day before.
  await add('2026-06-20T21:00:00Z', 51_000, 46_000)
  await add('2026-06-21T01:00:00Z', 51_700, 46_100)
  const energies = async () => {
    const { charged_today_kwh, discharged_today_kwh } = await get('/bess/1/current')
    return [charged_today_kwh, discharged_today_kwh]
  }
  assert.deepEqual(await energies(), [300, 400])
  await add('2026-06-20T21:50:00Z', 51_600, 46_050)
  assert.deepEqual(await energies(), [400, 450])
  await add('2026-06-21T09:59:59Z', 20, 46_510)
  assert.deepEqual(await energies(), [null, 460])
})
