/** The SDK on the API itself. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  connect,
  etagOf,
  everyItem,
  everyWindow,
  type Heliograph,
  isCode,
  type Page,
  type Retry,
  type Window,
} from '@heliograph/sdk'
import { addKey } from '../server/fixtures/served-site.ts'
import { cuttingProxy, madeReport, type SdkSite, sdkSite } from './sdk-site.ts'

const site_id = 'demo'
let site: SdkSite
let heliograph: Heliograph

before(async () => {
  site = await sdkSite(new Date('2026-06-21T10:00:00Z'), 25)
  heliograph = connect({ base_url: site.base_url, api_key: site.api_key, retries: 0 })
})
after(() => site.close())

const code = (expected: string) => (error: unknown) => isCode(error, expected)

/** Waits that are over as soon as they have begun. */
const atOnce = {
  after(_: number, callback: () => void) {
    setImmediate(callback)
    return () => {}
  },
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const gathered: Item[] = []
  for await (const item of items) gathered.push(item)
  return gathered
}

test('what is read has its type and its values', async () => {
  const { data: sites } = await heliograph.sitesList()
  assert.deepEqual(
    sites.map((each) => [each.site_id, each.timezone satisfies string | null]),
    [['demo', 'Europe/Berlin']],
  )
  const { inverters_total } = await heliograph.plantStatusGet({ site_id })
  assert.equal(inverters_total, 3)
})

test('errors come by their code, with what it needs', async () => {
  await assert.rejects(heliograph.overviewGet({ site_id: 'other' }), code('not_found'))
  const stranger = connect({ base_url: site.base_url, api_key: 'svc_live_none', retries: 0 })
  await assert.rejects(stranger.sitesList(), code('invalid_api_key'))
  const wrong = heliograph.workOrderCreate({ site_id, title: '', labour_h: -1 })
  await assert.rejects(wrong, (error) => {
    assert.ok(isCode(error, 'validation_error'))
    assert.deepEqual(error.violations.map(({ location, field }) => [location, field]).sort(), [
      ['body', 'labour_h'],
      ['body', 'title'],
    ])
    return true
  })
  const api_key = await addKey(site.db, { key_id: 'ad0000000002', scopes: ['plant:read'] })
  const reader = connect({ base_url: site.base_url, api_key, retries: 0 })
  await assert.rejects(reader.alertsList({ site_id }), code('forbidden_scope'))
})

test('a list is read page by page to its end', async () => {
  for (let number = 1; number <= 7; number += 1) {
    await heliograph.defectCreate({ site_id, title: `D${number}`, severity: 'low' })
  }
  const read = (page: Page) => heliograph.defectsList({ site_id, ...page })
  const titles = (await all(everyItem(read, { limit: 3 }))).map(({ title }) => title)
  assert.deepEqual(titles.sort(), ['D1', 'D2', 'D3', 'D4', 'D5', 'D6', 'D7'])
})

test('a series is walked over its windows, each row once, up to the end', async () => {
  const read = (window: Window) =>
    heliograph.invertersHistoryList({ site_id, inverter_id: 1, limit: 4, ...window })
  const [start = ''] = site.minutes
  const rows = await all(everyWindow(read, { start }))
  const utc = (text: string) => new Date(text).toISOString()
  assert.deepEqual(
    rows.map(({ measured_at }) => utc(measured_at)),
    site.minutes,
  )
  const end = new Date(site.minutes[8]!)
  const half = await all(everyWindow(read, { start: new Date(start), end }))
  assert.deepEqual(
    half.map(({ ac_power_kw }) => ac_power_kw),
    [0, 1, 2, 3, 4, 5, 6, 7],
  )
})

test('a write whose answer is lost is done once, and its answer comes all the same', async (t) => {
  const proxy = await cuttingProxy(site.base_url)
  t.after(() => proxy.close())
  const retries: Retry[] = []
  const { api_key } = site
  const cut = connect({
    base_url: proxy.base_url,
    api_key,
    timers: atOnce,
    onRetry: (retry) => retries.push(retry),
  })
  const made = await cut.workOrderCreate({ site_id, title: 'Once' })
  assert.equal(proxy.cuts(), 1)
  assert.deepEqual(
    retries.map(({ error }) => error.code).filter((each) => each !== 'idempotency_in_progress'),
    ['network_error'],
  )
  const { data } = await heliograph.workOrdersList({ site_id })
  const once = data.filter(({ title }) => title === 'Once')
  assert.deepEqual(
    once.map(({ wo_id }) => wo_id),
    [made.wo_id],
  )
})

test('a client beyond its rate waits as long as it is told to, and goes on', async () => {
  const api_key = await addKey(site.db, { key_id: 'ad0000000003' })
  await site.db.execute("update api_keys set general_per_minute = 3 where key_id = 'ad0000000003'")
  site.clock.set('2026-06-21T10:00:20Z')
  const waits: number[] = []
  const limited = connect({
    base_url: site.base_url,
    api_key,
    timers: {
      after(delay_ms, callback) {
        waits.push(delay_ms)
        site.clock.set(new Date(site.clock.now().getTime() + delay_ms))
        return atOnce.after(delay_ms, callback)
      },
    },
  })
  for (let call = 0; call < 5; call += 1) await limited.sitesList()
  // The window slides: its first requests leave it a minute after they came.
  assert.deepEqual(waits, [60_000])
})

test('a change of what was seen passes, one of what has changed since does not', async () => {
  const { wo_id } = await heliograph.workOrderCreate({ site_id, title: 'Seen' })
  const seen = await heliograph.workOrderGet({ site_id, wo_id })
  const change = { site_id, wo_id, 'If-Match': etagOf(seen) }
  await heliograph.workOrderChange({ ...change, title: 'Changed' })
  const late = heliograph.workOrderChange({ ...change, title: 'Late' })
  await assert.rejects(late, code('precondition_failed'))
  const again = heliograph.workOrderGet({ site_id, wo_id, 'If-None-Match': etagOf(seen) })
  assert.equal((await again).title, 'Changed')
})

test('an export and a report come as the files that they are', async () => {
  const series = { site_id, inverter_id: 1, start: site.minutes[0] }
  const csv = await heliograph.file('invertersHistoryList', series)
  assert.match(csv.name, /\.csv$/)
  assert.equal((await csv.response.text()).trimEnd().split('\n').length, 1 + site.minutes.length)
  const accept = 'application/x-ndjson'
  const lines = await heliograph.file('invertersHistoryList', series, { accept })
  const [first = ''] = (await lines.response.text()).split('\n')
  assert.equal(JSON.parse(first).ac_power_kw, 0)
  const run_id = await madeReport(site)
  const report = await heliograph.file('reportRunFile', { site_id, run_id })
  assert.match(`${report.name} ${report.type}`, /\.csv text\/csv/)
  assert.ok((await report.response.blob()).size > 100)
  const none = { site_id, run_id: '5b1f0c1e-6f0b-4c55-8a53-0f6f3f4f2f11' }
  await assert.rejects(heliograph.file('reportRunFile', none), code('not_found'))
})

test('an instant without an offset never gets to the server', async () => {
  const asked = heliograph.gapsList({ site_id, start: '2026-06-21T10:00:00' })
  await assert.rejects(asked, { name: 'TypeError', message: /^start is / })
})
