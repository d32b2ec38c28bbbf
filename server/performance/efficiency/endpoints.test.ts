import assert from 'node:assert/strict'
import test from 'node:test'
import { servedSite } from '../../fixtures/served-site.ts'
import { inverterSums } from '../rollups/inverter-hour.ts'

test('yields and losses', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site

  /** A sunny day of one inverter: of everything the same in each hour from 4 to 19 UTC. */
  async function addDay(inverter_id: number, given: Record<string, number>) {
    const values: Record<string, unknown> = {
      ...Object.fromEntries(inverterSums.map((name) => [name, 0])),
      covered_s: 3600,
      daylight_covered_s: 3600,
      sun_covered_s: 3600,
      demanded_s: 3600,
      energy_source: 'inverter_counter',
      load_s: new Array(10).fill(0),
      load_dc_kwh: new Array(10).fill(0),
      load_ac_kwh: new Array(10).fill(0),
      ...given,
    }
    const names = Object.keys(values)
    await db.execute(
      `INSERT INTO inverter_hours (site_id, inverter_id, hour_at, ${names})
       SELECT 'demo', $1, at, ${names.map((_, nth) => `$${nth + 2}`)}
       FROM generate_series('2026-06-19 04:00Z'::timestamptz, '2026-06-19 19:00Z', '1 h') AS at`,
      [inverter_id, ...Object.values(values)],
    )
  }
  const sun = { insolation_kwh_m2: 0.5, reference_kwh_m2: 0.5 }
  await addDay(1, { ac_energy_kwh: 16, reference_ac_kwh: 16, peak_power_kw: 30, ...sun })
  await addDay(2, { ac_energy_kwh: 17, reference_ac_kwh: 17, fault_s: 60, ...sun })
  await db.execute(
    'UPDATE inverter_hours SET load_s[8] = 60, load_dc_kwh[8] = 10, load_ac_kwh[8] = 9.7',
  )
  await db.execute(
    `UPDATE loggers SET guaranteed_yield_kwh_kwp = 1100, guaranteed_performance_ratio_pct = 80
     WHERE logger_id = 1`,
  )
  const window = 'start=2026-06-19T00:00:00Z&end=2026-06-20T00:00:00Z'

  await t.test('loggers, the best first and those without data last', async () => {
    const { status, body } = await get(`/efficiency/loggers?${window}`)
    assert.equal(status, 200)
    assert.equal(body.meta.count, 2)
    const [south, east] = body.data
    assert.deepEqual([south.logger_id, south.rank, south.percentile_pct], [1, 1, null])
    assert.equal(south.energy_kwh, 16 * 33)
    assert.equal(south.specific_yield_kwh_kwp, 6.6)
    assert.equal(south.poa_insolation_kwh_m2, 8)
    assert.equal(south.performance_ratio_pct, 82.5)
    assert.equal(south.guaranteed_yield_kwh_kwp, 1100)
    assert.equal(south.performance_ratio_to_guaranteed_pct, 103.125)
    assert.ok(south.daylight_h > 15.9 && south.daylight_h < 16.2)
    assert.deepEqual(
      [east.logger_id, east.rank, east.energy_kwh, east.excluded_reason, east.completeness_pct],
      [2, null, null, 'insufficient_data', 0],
    )
  })

  await t.test('inverters, with their peers', async () => {
    const { body } = await get(`/efficiency/inverters?${window}&logger_id=1`)
    const [second, first] = body.data
    assert.deepEqual([second.inverter_id, first.inverter_id], [2, 1])
    assert.deepEqual([second.rank, first.rank], [1, 2])
    assert.deepEqual([second.fault_min, first.fault_min], [16, 0])
    assert.equal(first.peer_group, '180/25')
    assert.ok(Math.abs(first.deviation_from_peers_pct - 100 * (16 / 16.5 - 1)) < 1e-3)
    assert.equal(first.peak_power_kw, 30)
    assert.equal(body.meta.count, 2)
    assert.equal((await get(`/efficiency/inverters?${window}`)).body.meta.count, 3)
    assert.equal((await get('/efficiency/inverters?logger_id=9')).status, 404)
  })

  await t.test('ranks by specific yield, capacity factor and efficiency', async () => {
    await db.execute('UPDATE inverters SET dc_capacity_kwp = 50 WHERE inverter_id = 2')
    await db.execute(
      `UPDATE inverter_hours SET conversion_dc_kwh = 17.5,
         conversion_ac_kwh = CASE inverter_id WHEN 1 THEN 17 ELSE 16.8 END`,
    )
    const order = async (query: string) => {
      const { body } = await get(`/efficiency/inverters?${window}&logger_id=1${query}`)
      return body.data.map((one: Record<string, number>) => [
        one['inverter_id'],
        one['rank'],
        one['percentile_pct'],
        one['specific_yield_rank'],
        one['capacity_factor_rank'],
        one['efficiency_rank'],
      ])
    }
    const [first, second] = [
      [1, 1, 100, 1, 2, 1],
      [2, 2, 0, 2, 1, 2],
    ]
    assert.deepEqual(await order(''), [first, second])
    assert.deepEqual(await order('&rank_by=specific_yield'), [first, second])
    assert.deepEqual(await order('&rank_by=efficiency'), [first, second])
    assert.deepEqual(await order('&rank_by=capacity_factor'), [
      [2, 1, 100, 2, 1, 2],
      [1, 2, 0, 1, 2, 1],
    ])
    const { body } = await get(`/efficiency/loggers?${window}&rank_by=capacity_factor`)
    const [south, east] = body.data
    assert.deepEqual(
      [south.rank, south.specific_yield_rank, south.capacity_factor_rank, east.rank],
      [1, 1, 1, null],
    )
    const refused = await get(`/efficiency/loggers?${window}&rank_by=efficiency`)
    assert.equal(refused.status, 422)
    await db.execute('UPDATE inverters SET dc_capacity_kwp = 40 WHERE inverter_id = 2')
    await db.execute('UPDATE inverter_hours SET conversion_dc_kwh = 0, conversion_ac_kwh = 0')
  })

  await t.test('energy that counters tell of gaps is in the energy, and in no ratio', async () => {
    const [, before] = (await get(`/efficiency/inverters?${window}&logger_id=1`)).body.data
    await db.execute(
      `INSERT INTO inverter_gap_hours (site_id, inverter_id, hour_at, gap_start_at, energy_kwh)
       VALUES ('demo', 1, '2026-06-19 12:00Z', '2026-06-19 12:30Z', 3),
              ('demo', 1, '2026-06-19 20:00Z', '2026-06-19 19:30Z', 1),
              ('demo', 1, '2026-06-20 00:00Z', '2026-06-19 23:30Z', 7)`,
    )
    const [, after] = (await get(`/efficiency/inverters?${window}&logger_id=1`)).body.data
    assert.deepEqual(after, {
      ...before,
      energy_kwh: before.energy_kwh + 4,
      specific_yield_kwh_kwp: 6.5,
      capacity_factor_pct: 10.833,
      deviation_from_peers_pct: after.deviation_from_peers_pct,
    })
    const [south] = (await get(`/efficiency/loggers?${window}`)).body.data
    assert.equal(south.energy_kwh, 16 * 33 + 4)
    await db.execute('DELETE FROM inverter_gap_hours')
  })

  await t.test('losses by inverter and load', async () => {
    const { body } = await get(`/efficiency/loss-analysis?${window}`)
    assert.deepEqual(
      body.data.map(({ inverter_id }: { inverter_id: number }) => inverter_id),
      [1, 2, 3],
    )
    const [first] = body.data
    assert.equal(first.load_bins.length, 10)
    assert.deepEqual(first.load_bins[7], {
      load_from_pct: 70,
      load_to_pct: 80,
      duration_h: 0.267,
      efficiency_pct: 97,
    })
    assert.equal(first.dc_energy_kwh, null)
  })

  await t.test('windows that hold nothing', async () => {
    for (const query of [
      'start=2027-01-01T00:00:00Z&end=2027-01-02T00:00:00Z',
      'start=2026-06-18T23:10:00Z&end=2026-06-18T23:10:01Z',
    ]) {
      const { status, body } = await get(`/efficiency/loggers?${query}`)
      assert.equal(status, 200, query)
      assert.equal(body.data[0].excluded_reason, 'no_daylight')
      assert.equal(body.data[0].energy_kwh, null)
    }
    assert.equal(
      (await get('/efficiency/loggers')).body.data[0].excluded_reason,
      'insufficient_data',
    )
    const years = 'start=1970-01-01T00:00:00Z&end=2999-12-31T23:59:59Z'
    assert.equal((await get(`/efficiency/loggers?${years}`)).status, 200)
  })
})

test('small lasting losses stand in the health matrix beside the status', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  const matrix = async (window: string) => {
    const { status, body } = await get(`/efficiency/health-matrix?${window}`)
    assert.equal(status, 200)
    return body.data
  }
  // To 0:30 of the 20th at the site.
  const week = 'start=2026-06-13T00:00:00Z&end=2026-06-19T22:30:00Z'
  const before = await matrix(week)
  await db.execute(
    `INSERT INTO string_steps VALUES
       ('demo', 1, 0, '2026-01-10', '2026-01-20', 0.02, NULL),
       ('demo', 1, 0, '2026-04-02', '2026-04-11', 0.0142, NULL),
       ('demo', 1, 0, '2026-06-20', '2026-06-21', 0.03, NULL),
       ('demo', 1, 0, '2026-06-21', '2026-06-27', 0.04, NULL),
       ('demo', 1, 1, '2026-05-01', '2026-05-09', 0.02, '2026-06-20'),
       ('other', 1, 2, '2026-05-01', '2026-05-09', 0.02, NULL)`,
  )
  interface Item {
    inverter_id: number
    step_loss_pct: number | null
    step_loss_since_date: string | null
  }
  const stepsIn = (items: Item[]) =>
    items
      .filter(({ inverter_id }) => inverter_id === 1)
      .slice(0, 3)
      .map(({ step_loss_pct, step_loss_since_date }) => [step_loss_pct, step_loss_since_date])
  const none = [null, null]
  assert.deepEqual(stepsIn(before), [none, none, none])
  const after = await matrix(week)
  assert.deepEqual(stepsIn(after), [[3, '2026-06-20'], none, none])
  assert.deepEqual(after.map(bare), before.map(bare))
  const earlier = await matrix('start=2026-06-13T00:00:00Z&end=2026-06-19T22:00:00Z')
  assert.deepEqual(stepsIn(earlier), [[1.42, '2026-04-02'], [2, '2026-05-01'], none])
  const winter = await matrix('start=2025-12-01T00:00:00Z&end=2025-12-08T00:00:00Z')
  assert.deepEqual(stepsIn(winter), [none, none, none])

  function bare(item: Item): object {
    return { ...item, step_loss_pct: null, step_loss_since_date: null }
  }
})
