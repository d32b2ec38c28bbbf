/** Runs over HTTP: asked for, listed, stopped and downloaded. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test, { after, before, beforeEach } from 'node:test'
import { type ServedReports, servedReports } from './fixtures/served-reports.ts'
import { makeReports } from './making.ts'
import { planReports } from './planning.ts'

let served: ServedReports
before(async () => {
  served = await servedReports()
})
beforeEach(() => served.clear())
after(() => served.close())

test('the catalogue has every template with the schema of its parameters', async () => {
  const { body, headers } = await served.ask('GET', '/catalog')
  assert.equal(body.meta.count, 1)
  assert.deepEqual(body.data[0].parameters_schema, {
    type: 'object',
    properties: {
      top_count: {
        type: 'integer',
        minimum: 1,
        maximum: 50,
        default: 10,
        description: 'How many.',
      },
    },
    additionalProperties: false,
  })
  const again = await served.ask('GET', '/catalog', {
    headers: { 'if-none-match': String(headers.etag) },
  })
  assert.equal(again.status, 304)
})

test('a requested run is made, and its file can be downloaded', async () => {
  const { sub_id } = await served.subscribe({ logger_ids: [1] })
  const queued = await served.ask('POST', `/subscriptions/${sub_id}/run`)
  assert.equal(queued.status, 202)
  const { run_id } = queued.body
  assert.deepEqual(queued.body, { run_id, status: 'queued' })
  assert.equal(queued.headers.location, `/v1/sites/demo/reports/runs/${run_id}/file`)
  const early = await served.ask('GET', `/runs/${run_id}/file`)
  assert.deepEqual([early.status, early.body.error.code], [409, 'conflict_state'])
  assert.equal(early.body.error.details.current_state, 'queued')

  await makeReports(served.server)
  const [run] = (await served.ask('GET', '/runs')).body.data
  assert.deepEqual([run.run_id, run.status, run.trigger], [run_id, 'succeeded', 'api'])
  assert.equal(run.requested_by, '0123456789ab')
  assert.equal(run.download_url, queued.headers.location)
  const { status, headers, bytes } = await served.ask('GET', `/runs/${run_id}/file`, {
    headers: { 'accept-encoding': 'gzip' },
  })
  assert.equal(status, 200)
  assert.equal(createHash('sha256').update(bytes).digest('hex'), run.sha256)
  assert.equal(headers['content-type'], 'application/pdf')
  assert.equal(headers['content-disposition'], 'attachment; filename="demo_small_2026-06-20.pdf"')
  assert.equal(headers['content-length'], String(run.file_size_bytes))
  assert.equal(headers['cache-control'], 'private, no-cache')
  assert.equal(headers['content-encoding'], undefined)
  assert.equal(headers.etag, `"${run.sha256}"`)
  const again = await served.ask('GET', `/runs/${run_id}/file`, {
    headers: { 'if-none-match': String(headers.etag) },
  })
  assert.deepEqual([again.status, again.bytes.length], [304, 0])
  assert.equal(again.headers['content-disposition'], undefined)
})

test('at most 20 requested runs are queued, also by simultaneous requests', async () => {
  const subscriptions = await Promise.all(Array.from({ length: 8 }, () => served.subscribe()))
  const [{ sub_id: first }] = subscriptions as [{ sub_id: number }]
  for (let nth = 0; nth < 19; nth += 1) {
    assert.equal((await served.ask('POST', `/subscriptions/${first}/run`)).status, 202)
  }
  const answers = await Promise.all(
    subscriptions.map(({ sub_id }) => served.ask('POST', `/subscriptions/${sub_id}/run`)),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted(),
    [202, 409, 409, 409, 409, 409, 409, 409],
  )
})

test('an expired file is refused with 409, an unknown run with 404', async () => {
  const { sub_id } = await served.subscribe()
  const { run_id } = (await served.ask('POST', `/subscriptions/${sub_id}/run`)).body
  await makeReports(served.server)
  served.later(60 * 86_400_000)
  const over = await served.ask('GET', `/runs/${run_id}/file`)
  assert.deepEqual([over.status, over.body.error.details.current_state], [409, 'expired'])
  assert.equal((await served.ask('GET', '/runs')).body.data[0].status, 'expired')
  const none = await served.ask(
    'GET',
    `/runs/${run_id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))}/file`,
  )
  assert.equal(none.status, 404)
  assert.equal((await served.ask('GET', '/runs/1/file')).status, 422)
})

test('queued runs of a disabled or deleted subscription fail, and past runs stay', async () => {
  const { sub_id } = await served.subscribe()
  await served.ask('POST', `/subscriptions/${sub_id}/run`)
  await makeReports(served.server)
  served.at('2026-06-22T04:00:20Z')
  await planReports(served.server)
  await served.ask('PATCH', `/subscriptions/${sub_id}`, { body: { enabled: false } })
  served.later(1000)
  await served.ask('POST', `/subscriptions/${sub_id}/run`)
  assert.equal((await served.ask('DELETE', `/subscriptions/${sub_id}`)).status, 204)
  await makeReports(served.server)
  const { data, meta } = (await served.ask('GET', '/runs')).body
  assert.equal(meta.count, 3)
  const became = data.map((run: { status: string; error_code: string | null }) => [
    run.status,
    run.error_code,
  ])
  assert.deepEqual(became, [
    ['failed', 'subscription_deleted'],
    ['failed', 'subscription_disabled'],
    ['succeeded', null],
  ])
  const { body } = await served.ask('GET', '/overview')
  assert.deepEqual([body.runs_last_30d, body.runs_failed_last_30d], [3, 0])
})

test('a run beyond the full queue is refused', async () => {
  const { sub_id } = await served.subscribe()
  for (let nth = 0; nth < 20; nth += 1) await served.ask('POST', `/subscriptions/${sub_id}/run`)
  const refused = await served.ask('POST', `/subscriptions/${sub_id}/run`)
  assert.deepEqual([refused.status, refused.body.error.details.current_state], [409, 'queue_full'])
})

test('runs are listed newest first, by page, with their total count', async () => {
  const { sub_id } = await served.subscribe()
  const asked: string[] = []
  for (let nth = 0; nth < 5; nth += 1) {
    served.later(1000)
    asked.unshift((await served.ask('POST', `/subscriptions/${sub_id}/run`)).body.run_id)
  }
  const { data, meta } = (await served.ask('GET', '/runs?limit=3')).body
  assert.deepEqual(
    data.map((run: { run_id: string }) => run.run_id),
    asked.slice(0, 3),
  )
  assert.equal(meta.count, 5)
  const rest = (await served.ask('GET', `/runs?limit=3&cursor=${meta.next_cursor}`)).body
  assert.deepEqual(
    rest.data.map((run: { run_id: string }) => run.run_id),
    asked.slice(3),
  )
  assert.deepEqual(rest.meta, { count: 5, next_cursor: null })
})

test('the overview counts templates, subscriptions and runs', async () => {
  const { sub_id } = await served.subscribe()
  await served.subscribe({ enabled: false })
  await served.ask('POST', `/subscriptions/${sub_id}/run`)
  await makeReports(served.server)
  const { recent_runs, ...counts } = (await served.ask('GET', '/overview')).body
  assert.deepEqual(counts, {
    templates_total: 1,
    subscriptions_active: 1,
    runs_last_30d: 1,
    runs_failed_last_30d: 0,
    last_run_at: '2026-06-21T10:00:00.000Z',
    next_run_at: '2026-06-22T04:00:00.000Z',
  })
  assert.equal(recent_runs.length, 1)
  served.later(31 * 86_400_000)
  assert.equal((await served.ask('GET', '/overview')).body.runs_last_30d, 0)
})
