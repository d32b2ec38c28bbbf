import assert from 'node:assert/strict'
import test from 'node:test'
import { addReading, servedSite } from '../../fixtures/served-site.ts'

test('loggers', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  const minutes = Array.from({ length: 10 }, (_, index) => `2026-06-21T09:5${index}:00Z`)
  for (const [index, measured_at] of minutes.entries()) {
    await addReading(db, 'logger', { logger_id: 1, measured_at, ac_power_kw: index })
  }
  for (const inverter_id of [1, 2]) {
    const add = (measured_at: string, energy_total_kwh: number) =>
      addReading(db, 'inverter', { inverter_id, measured_at, energy_total_kwh })
    await add('2026-06-20T21:00:00Z', 1000)
    await add('2026-06-21T09:59:55Z', 1000 + 50 * inverter_id)
  }

  await t.test('the list sums what its inverters know', async () => {
    const { status, body } = await get('/loggers')
    assert.equal(status, 200)
    assert.equal(body.meta.count, 2)
    const [south, east] = body.data
    assert.equal(south.status, 'online')
    assert.equal(south.comm_state, 'unknown')
    assert.equal(south.last_data_at, '2026-06-21T09:59:55.000Z')
    assert.equal(south.ac_power_kw, 9)
    assert.equal(south.quality, 'stale')
    assert.equal(south.energy_today_kwh, 150)
    assert.equal(south.energy_today_inverter_count, 2)
    assert.equal(south.specific_yield_today_kwh_kwp, 150 / 80)
    assert.equal(south.dc_ac_ratio, 0.4)
    assert.deepEqual([south.inverter_count, south.string_count, south.module_count], [2, 8, 176])
    assert.deepEqual([south.azimuth_deg, south.tilt_deg, south.orientation], [180, 25, 'south'])
    assert.equal(south.commissioned_date, '2024-05-01')
    assert.equal(east.status, 'unknown')
    assert.equal(east.energy_today_kwh, null)
    assert.deepEqual([east.azimuth_deg, east.tilt_deg, east.orientation], [null, 25, 'mixed'])
  })

  await t.test('what was heard of the edge is there', async () => {
    await db.execute(
      `INSERT INTO edges (site_id, edge_id, name, secret_sha256, last_seen_at, agent_version,
         clock_offset_ms, journal_depth_frames, journal_oldest_at)
       VALUES ('demo', 'aaaaaaaaaaaa', 'e', '', '2026-06-21T09:59:58Z', '1.2.3', -7, 40,
         '2026-06-21T08:00:00Z')`,
    )
    const [south] = (await get('/loggers')).body.data
    assert.equal(south.comm_state, 'backfilling')
    assert.equal(south.agent_version, '1.2.3')
    assert.equal(south.clock_offset_ms, -7)
    assert.equal(south.buffer_depth_frames, 40)
    assert.equal(south.buffer_oldest_at, '2026-06-21T08:00:00.000Z')
  })

  const powers = (body: { data: { ac_power_kw: number }[] }) =>
    body.data.map(({ ac_power_kw }) => ac_power_kw)

  await t.test(
    'without a start: the newest rows, ascending, and where those before end',
    async () => {
      const { body } = await get('/loggers/1/history?limit=4')
      assert.deepEqual(powers(body), [6, 7, 8, 9])
      assert.deepEqual(body.meta, {
        count: 10,
        truncated: true,
        next_start: null,
        previous_end: '2026-06-21T09:56:00.000Z',
        resolution_s: null,
      })
      const before = await get(`/loggers/1/history?limit=4&end=${body.meta.previous_end}`)
      assert.deepEqual(powers(before.body), [2, 3, 4, 5])
      const first = await get(`/loggers/1/history?limit=4&end=${before.body.meta.previous_end}`)
      assert.deepEqual(powers(first.body), [0, 1])
      assert.equal(first.body.meta.truncated, false)
      assert.equal(first.body.meta.previous_end, null)
    },
  )

  await t.test('with a start: the first rows, and where to go on', async () => {
    const { body } = await get('/loggers/1/history?start=2026-06-21T09:51:00Z&limit=5')
    assert.deepEqual(powers(body), [1, 2, 3, 4, 5])
    assert.equal(body.meta.count, 9)
    assert.equal(body.meta.previous_end, null)
    const next = await get(`/loggers/1/history?start=${body.meta.next_start}&limit=5`)
    assert.deepEqual(powers(next.body), [6, 7, 8, 9])
    assert.deepEqual(next.body.meta, {
      count: 4,
      truncated: false,
      next_start: null,
      previous_end: null,
      resolution_s: null,
    })
  })

  await t.test('a window is half-open and may be empty', async () => {
    const { body } = await get(
      '/loggers/1/history?start=2026-06-21T09:52:00Z&end=2026-06-21T09:54:00Z',
    )
    assert.deepEqual(powers(body), [2, 3])
    const empty = await get(
      '/loggers/1/history?start=2020-01-01T00:00:00Z&end=2020-01-02T00:00:00Z',
    )
    assert.deepEqual(empty.body.data, [])
    assert.equal(empty.body.meta.count, 0)
    assert.deepEqual((await get('/loggers/2/history')).body.data, [])
  })

  await t.test('offsets are converted; naive and reversed windows are refused', async () => {
    const { body } = await get(
      `/loggers/1/history?start=${encodeURIComponent('2026-06-21T11:58:00+02:00')}`,
    )
    assert.deepEqual(powers(body), [8, 9])
    assert.equal((await get('/loggers/1/history?start=2026-06-21T09:52:00')).status, 422)
    const reversed = '/loggers/1/history?start=2026-06-21T09:52:00Z&end=2026-06-21T09:52:00Z'
    assert.equal((await get(reversed)).status, 422)
  })

  await t.test('a limit above the cap is the cap; below one it is refused', async () => {
    assert.equal((await get('/loggers/1/history?limit=10001')).status, 200)
    assert.equal((await get('/loggers/1/history?limit=0')).status, 422)
    assert.equal((await get('/loggers/9/history')).status, 404)
  })
})
