/**
 * Every list is walked to its end by what its declaration offers: `cursor`, `offset`, a window. A
 * list that offers nothing is whole. The fixture holds more than a page of each list with pages.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  addBatteries,
  addBatteryReadings,
  bessValues,
  pcsValues,
} from '../../server/batteries/fixtures/battery-site.ts'
import { addPrices, assignMarket } from '../../server/batteries/fixtures/schedule-site.ts'
import { endpoints } from '../../server/endpoints.ts'
import {
  addKey,
  addReading,
  type ServedSite,
  servedSite,
} from '../../server/fixtures/served-site.ts'
import { keepReports, kept_run_id } from '../../server/reports/fixtures/kept-reports.ts'
import { notify } from '../../server/work/notifications.ts'
import { type AnyEndpoint, addressOf } from './calls.ts'
import type { Fixtures } from './fixtures.ts'

const day = '2026-06-21'
const minutes = ['09:00', '09:05', '09:10', '09:15', '09:20'].map(
  (time) => `${day}T${time}:00.000Z`,
)

const pyranometer = {
  sensor_id: 'G',
  name: 'G',
  type: 'pyranometer',
  quantity: 'poa_irradiance_w_m2',
  point: '302[0].POAI',
  azimuth_deg: 180,
  tilt_deg: 25,
}

let site: ServedSite

before(async () => {
  site = await servedSite()
  await addRows()
})
after(() => site.close())

async function addRows() {
  const { app, db, clock } = site
  await addBatteries(db)
  await keepReports(db)
  await assignMarket(db)
  await addPrices(db, { date: day })
  await addBatteryReadings(db, new Date(clock.now().getTime() - 1000).toISOString())
  const authorization = `Bearer ${await addKey(db, { key_id: 'aaaaaaaaaaaa' })}`
  const url = '/v1/sites/demo/bess/1/optimize'
  assert.equal(
    (await app.inject({ method: 'POST', url, headers: { authorization } })).statusCode,
    201,
  )
  await db.execute(
    `insert into stations (site_id, station_id, logger_id, name, instruments, created_at,
       updated_at)
     values ('demo', 1, 1, 'Mast', $1, now(), now())`,
    [JSON.stringify([pyranometer])],
  )
  await db.query(`
    insert into sites (site_id, client_id, name) select 's' || n, 1, 'S' from generate_series(1, 5) n;
    insert into nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
      updated_at)
    values ('demo', '1', 1, 'Node', 'cabinet', 60, '[]', now(), now());
    insert into relay_events (site_id, node_id, channel, at, received_at, to_state, cause)
    select 'demo', '1', 'fan' || n, timestamptz '${day}' + n / 2 * interval '1 s', now(), true,
      'manual'
    from generate_series(1, 5) n;
    insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
      source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
    select 'demo', 'k' || n, 'gone_code', 'Fault', 'Fault.', 'equipment', 'info',
      case when n % 3 = 0 then 'active' else 'acknowledged' end, 'inverter', n::text,
      timestamptz '${day}' - n / 3 * interval '1 minute', now(), now(), now(), now()
    from generate_series(1, 1100) n;
    insert into gaps (site_id, logger_id, source_type, device_id, sub_id, source_id, start_at,
      widest_start_at, widest_expected_count, step_s, expected_count, during_daylight, status,
      detected_at, updated_at)
    select 'demo', 1, 'inverter', n, 0, n::text, at, at, 9, 60, 9, true, 'open', now(), now()
    from generate_series(1, 7) n, lateral (
      select timestamptz '${day}' + (n > 4)::int * interval '1 hour' as at) as a;
    insert into events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
      message)
    select 'demo', timestamptz '${day}' + n / 2 * interval '1 s', now(), 'bess', '1.cluster.1',
      'alarm:sunspec-string-804:1:1', case when n % 2 = 0 then 'rising' else 'falling' end,
      'warning', 'test'
    from generate_series(1, 5) n;
    insert into published_events (site_id, event_id, at, type, subject, link)
    select 'demo', n, now(), 'gap.opened', 'gap/' || n, '/gaps' from generate_series(1, 250) n;
    insert into battery_control_notes (site_id, bess_id, at, nth, tier, actor, action, reason_code,
      message, success)
    select 'demo', 1, timestamptz '${day}' + n / 2 * interval '1 s', n, 'dispatch', 'schedule',
      'setpoint', 'schedule', 'Test', true
    from generate_series(1, 5) n;
    insert into battery_dispatches (site_id, bess_id, issued_at, reported_at, source,
      requested_power_kw, clamped_power_kw, status)
    select 'demo', 1, timestamptz '${day}' + n * interval '1 s', now(), 'schedule', 10, 10,
      'achieved'
    from generate_series(1, 5) n;
    insert into report_runs select r.*
    from report_runs kept, generate_series(1, 5) n, lateral jsonb_populate_record(kept,
      jsonb_build_object('run_id', '5b1f0c1e-6f0b-4c55-8a53-0f6f3f4f2f0' || n,
        'queued_at', timestamptz '${day}' + n / 2 * interval '1 s')) as r;
    insert into battery_schedules select r.*
    from battery_schedules made, generate_series(2, 45) n, lateral jsonb_populate_record(made,
      jsonb_build_object('schedule_id', n, 'state',
        case n when 2 then 'approved' else 'superseded' end)) as r;
    insert into work_orders (site_id, number, title, description, type, priority, status,
      created_by, created_at, updated_at)
    select 'demo', 'WO-' || n, 'Work', '', 'corrective', 'normal', 'open', 'x', now(), now()
    from generate_series(1, 5) n;
    insert into defects (site_id, number, title, severity, status, detected_at, reported_by,
      created_at, updated_at)
    select 'demo', 'DEF-' || n, 'Crack', 'low', 'open', now(), 'x', now(), now()
    from generate_series(1, 5) n`)
  for (const nth of [1, 2, 3, 4, 5]) {
    await notify(db, {
      site_id: 'demo',
      at: clock.now(),
      type: 'defect_created',
      severity: 'info',
      recipient: null,
      title: `Defect ${nth}`,
      body: 'Crack',
      resource_type: 'defect',
      resource_id: String(nth),
    })
  }
  for (const measured_at of minutes) {
    await addReading(db, 'logger', { measured_at, logger_id: 1, ac_power_kw: 50 })
    await addReading(db, 'inverter', { measured_at, inverter_id: 1, ac_power_kw: 50 })
    const strings = { first_string_index: 0, current_a: [1, 2, 3, 4], voltage_v: [600] }
    await addReading(db, 'string', { measured_at, inverter_id: 1, ...strings })
    await addReading(db, 'node', { measured_at, node_number: 1, channel_values: [] })
    await addReading(db, 'weather', { measured_at, station_id: 1, instrument_values: [900] })
    await addReading(db, 'bess', { measured_at, bess_id: 1, ...bessValues() })
    await addReading(db, 'pcs', { measured_at, bess_id: 1, pcs_idx: 0, ...pcsValues() })
  }
}

const values: Record<string, string> = {
  market_code: 'AT',
  run_id: kept_run_id,
  q: 'a',
  date: day,
  start_hour: '11',
  end_hour: '14',
}
const fixtures = { sites: { live: 'demo' }, values } as unknown as Fixtures

/** Of a page: strings of one instant, and what is told of one place at a time, stay together. */
const page_sizes: Readonly<Record<string, number>> = { strings_history_list: 4 }

interface Answer {
  data: unknown[]
  meta: {
    count: number
    next_cursor?: string | null
    next_start?: string | null
    previous_end?: string | null
  }
}

async function ask(endpoint: AnyEndpoint, query: Record<string, string>): Promise<Answer> {
  const asked = new URLSearchParams(query).toString()
  const { status, body } = await site.get(addressOf(endpoint, fixtures, { query: asked }))
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

const has = ({ query }: AnyEndpoint, name: string) => query?.[name] !== undefined
const pageSizeOf = ({ operation_id }: AnyEndpoint) => String(page_sizes[operation_id] ?? 2)
const limited = (endpoint: AnyEndpoint) =>
  has(endpoint, 'limit') ? { limit: pageSizeOf(endpoint) } : {}

/** Pages until the name of the next one is null. */
async function walked(
  endpoint: AnyEndpoint,
  first: Record<string, string>,
  step: readonly [from: 'next_cursor' | 'next_start' | 'previous_end', to: string],
): Promise<Answer[]> {
  const [from, to] = step
  const pages = [await ask(endpoint, { ...limited(endpoint), ...first })]
  for (;;) {
    const next = pages.at(-1)!.meta[from]
    if (next === null || next === undefined) return pages
    assert.ok(pages.length < 100, 'the list does not end')
    pages.push(await ask(endpoint, { ...limited(endpoint), ...first, [to]: next }))
  }
}

async function walkedByOffset(endpoint: AnyEndpoint): Promise<Answer[]> {
  const pages = [await ask(endpoint, limited(endpoint))]
  for (let received = pages[0]!.data.length; received < pages[0]!.meta.count; ) {
    const page = await ask(endpoint, { ...limited(endpoint), offset: String(received) })
    assert.ok(page.data.length > 0, 'a page before the end is empty')
    received += page.data.length
    pages.push(page)
  }
  return pages
}

function assertWhole(pages: readonly Answer[]) {
  const items = pages.flatMap(({ data }) => data.map((item) => JSON.stringify(item)))
  assert.equal(new Set(items).size, items.length, 'an item came twice')
  assert.equal(items.length, pages[0]!.meta.count)
  assert.ok(pages.length > 2, 'the fixture has more than two pages of it')
}

const isList = ({ method, returns }: AnyEndpoint) => {
  const { properties } = returns as { properties?: Record<string, unknown> }
  return method === 'GET' && properties?.['data'] !== undefined && properties['meta'] !== undefined
}

for (const endpoint of endpoints.filter(isList)) {
  const name = `${endpoint.method} ${endpoint.path}`
  if (endpoint.cursor) {
    test(`${name} is read by cursor, each item once`, async () => {
      assertWhole(await walked(endpoint, {}, ['next_cursor', 'cursor']))
    })
    test(`${name} refuses a cursor that it did not give`, async () => {
      const strange = ['', 'x', 'bnVsbA', 'e30', Buffer.from('{"__proto__":1}').toString('base64')]
      for (const cursor of strange) {
        const query = `cursor=${encodeURIComponent(cursor)}`
        const { status, body } = await site.get(addressOf(endpoint, fixtures, { query }))
        assert.equal(status, 422, cursor)
        const [{ field, code }] = body.error.details.errors
        assert.deepEqual([field, code], ['cursor', 'invalid_cursor'])
      }
    })
  } else if (has(endpoint, 'offset')) {
    test(`${name} is read by offset, each item once`, async () => {
      assertWhole(await walkedByOffset(endpoint))
    })
  } else if (has(endpoint, 'limit')) {
    test(`${name} is read by its window, forwards and backwards, each item once`, async () => {
      const start = `${day}T00:00:00Z`
      const ways = [
        await walked(endpoint, { start }, ['next_start', 'start']),
        await walked(endpoint, { end: `${day}T10:00:00Z` }, ['previous_end', 'end']),
      ]
      for (const pages of ways) assertWhole(pages)
    })
  } else {
    test(`${name} is whole, or says where it goes on`, async () => {
      const pages = await walked(endpoint, {}, ['next_start', 'start'])
      for (const { data, meta } of pages) assert.equal(data.length, meta.count)
    })
  }
}
