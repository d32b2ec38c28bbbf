import assert from 'node:assert/strict'
import test from 'node:test'
import { servedSite } from '../../fixtures/served-site.ts'
import type { Database } from '../../storage/database.ts'

/** Gaps by day of June, hour to hour; `null` for one that lasts. */
async function addGap(
  db: Database,
  {
    day,
    from,
    to,
    ...more
  }: { day: number; from: number; to: number | null; [name: string]: unknown },
): Promise<void> {
  const at = (hour: number) => `2026-06-${String(day).padStart(2, '0')}T${hour}:00:00Z`
  const row: Record<string, unknown> = {
    site_id: 'demo',
    logger_id: 1,
    source_type: 'inverter',
    device_id: 1,
    sub_id: 0,
    source_id: '1',
    start_at: at(from),
    end_at: to === null ? null : at(to),
    step_s: 10,
    widest_start_at: at(from),
    widest_end_at: null,
    expected_count: 400,
    widest_expected_count: 400,
    during_daylight: true,
    detected_at: at(from),
    status: to === null ? 'open' : 'unrecoverable',
    updated_at: at(from),
    ...more,
  }
  const names = Object.keys(row)
  await db.execute(
    `insert into gaps (${names}) values (${names.map((_, nth) => `$${nth + 1}`)})`,
    Object.values(row),
  )
}

test('gaps', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  for (const day of [10, 11, 12, 13, 14]) await addGap(db, { day, from: 10, to: 12 })
  await addGap(db, { day: 20, from: 10, to: null, cause: 'communication' })
  await addGap(db, {
    day: 14,
    from: 11,
    to: 13,
    logger_id: 2,
    source_id: '3',
    status: 'backfilled',
    received_count: 300,
    backfilled_count: 300,
    backfilled_at: '2026-06-15T00:00:00Z',
  })
  await db.execute("insert into sites (site_id, client_id, name) values ('other', 1, 'Other')")
  await addGap(db, { day: 12, from: 10, to: 12, site_id: 'other' })

  const starts = (body: { data: { start_at: string }[] }) =>
    body.data.map(({ start_at }) => start_at.slice(8, 13))

  await t.test('without a window all of them, ascending, as records', async () => {
    const { status, body } = await get('/gaps')
    assert.equal(status, 200)
    assert.deepEqual(starts(body), ['10T10', '11T10', '12T10', '13T10', '14T10', '14T11', '20T10'])
    assert.equal(body.meta.count, 7)
    const [filled, open] = body.data.slice(-2)
    assert.equal(filled.source_id, '3')
    assert.deepEqual(
      [filled.expected_sample_count, filled.received_sample_count, filled.missing_sample_count],
      [400, 300, 100],
    )
    assert.equal(filled.completeness_pct, 75)
    assert.equal(filled.backfilled_at, '2026-06-15T00:00:00.000Z')
    // It is the 21st, 10 o'clock.
    assert.deepEqual([open.end_at, open.duration_s, open.status], [null, 86_400, 'open'])
    assert.equal(open.cause, 'communication')
  })

  await t.test('a gap has the alert that tells of it, in a page as in a file', async () => {
    await db.query(`
      insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
        source_type, source_id, started_at, ended_at, detected_at, last_seen_at, created_at,
        updated_at, resolved_at, resolution)
      select site_id, code || n, code, 'T', 'M.', 'communication', 'major', status, source_type,
        source_id, at::timestamptz, until::timestamptz, now(), now(), now(), now(),
        case status when 'resolved' then now() end, case status when 'resolved' then 'auto' end
      from (values
        (1, 'demo', 'inverter_offline', 'inverter', '1', 'resolved', '2026-06-12T10:01Z',
          '2026-06-12T12:00Z'),
        (2, 'demo', 'logger_offline', 'logger', '2', 'acknowledged', '2026-06-14T11:00Z', null),
        (3, 'demo', 'inverter_offline', 'inverter', '1', 'active', '2026-06-20T10:00Z', null),
        (4, 'other', 'inverter_offline', 'inverter', '1', 'active', '2026-06-10T10:00Z', null)
      ) as a (n, site_id, code, source_type, source_id, status, at, until)`)
    const ids = await db.query<{ alert_id: number }>(
      'select alert_id from alerts order by dedup_key',
    )
    const [first, third, , second] = ids.map(({ alert_id }) => alert_id)
    const told = [null, null, first, null, null, second, third]
    const { body } = await get('/gaps')
    assert.deepEqual(
      body.data.map(({ alert_id }: { alert_id: number | null }) => alert_id),
      told,
    )
    const lines = (await site.file('/gaps', 'application/x-ndjson')).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).alert_id),
      told,
    )
  })

  await t.test('a window has those that share time with it', async () => {
    const within = async (start: string, end?: string) =>
      starts(
        (await get(`/gaps?start=2026-06-${start}:00Z${end ? `&end=2026-06-${end}:00Z` : ''}`)).body,
      )
    assert.deepEqual(await within('12T11:00', '13T10:00'), ['12T10'])
    assert.deepEqual(await within('12T12:00', '13T10:01'), ['13T10'])
    assert.deepEqual(await within('14T12:30'), ['14T11', '20T10'])
    assert.deepEqual(await within('25T00:00', '26T00:00'), ['20T10'])
    assert.equal((await get('/gaps?start=2026-06-12T11:00:00')).status, 422)
  })

  await t.test('by logger, as a filter and as a path', async () => {
    assert.deepEqual(starts((await get('/gaps?logger_id=2')).body), ['14T11'])
    assert.equal((await get('/gaps?logger_id=9')).status, 404)
    const { body } = await get('/gaps/logger/1?end=2026-06-12T00:00:00Z')
    assert.deepEqual(starts(body), ['10T10', '11T10'])
    assert.equal((await get('/gaps/logger/9')).status, 404)
  })

  await t.test('a limit keeps the newest, and says where those before are', async () => {
    const { body } = await get('/gaps?limit=3')
    assert.deepEqual(starts(body), ['14T10', '14T11', '20T10'])
    const { next_cursor, ...meta } = body.meta
    assert.deepEqual(meta, {
      count: 7,
      truncated: true,
      next_start: null,
      previous_end: '2026-06-14T10:00:00.000Z',
    })
    const by_cursor = (await get(`/gaps?limit=3&cursor=${next_cursor}`)).body
    assert.deepEqual(starts(by_cursor), ['11T10', '12T10', '13T10'])
    const before = (await get(`/gaps?limit=3&end=${body.meta.previous_end}`)).body
    assert.deepEqual(starts(before), ['11T10', '12T10', '13T10'])
    const first = (await get(`/gaps?limit=3&end=${before.meta.previous_end}`)).body
    assert.deepEqual(starts(first), ['10T10'])
    assert.equal(first.meta.previous_end, null)
    assert.equal((await get('/gaps?limit=501')).status, 200)
    assert.equal((await get('/gaps?limit=0')).status, 422)
  })

  await t.test('gaps of one instant are not torn apart', async () => {
    for (const source_id of ['5', '6', '7'])
      await addGap(db, { day: 13, from: 10, to: 12, source_id })
    const { body } = await get('/gaps?limit=5')
    assert.deepEqual(starts(body), ['14T10', '14T11', '20T10'])
    assert.equal(body.meta.count, 10)
    const before = (await get(`/gaps?limit=4&end=${body.meta.previous_end}`)).body
    assert.deepEqual(starts(before), ['13T10', '13T10', '13T10', '13T10'])
  })
})
