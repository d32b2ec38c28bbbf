/** The SDK on answers that a test makes up, on a virtual clock. */
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type ConnectOptions,
  connect,
  etagOf,
  HeliographError,
  isCode,
  type Retry,
} from '@heliograph/sdk'
import { virtualTime } from './conventions/virtual-time.ts'

type Told = Response | Error

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  })

const failure = (code: string, status: number, headers: Record<string, string> = {}) =>
  json({ error: { code, message: 'M.', request_id: 'r1', details: null } }, status, headers)

const busy = (retry_after: string, headers: Record<string, string> = {}) =>
  failure('rate_limited', 429, { 'retry-after': retry_after, ...headers })

/** A client whose requests get these answers, in order, and whose waits are over at once. */
function told(answers: Told[], options: ConnectOptions = {}) {
  const requests: { url: string; init: RequestInit; headers: Headers }[] = []
  const retries: Retry[] = []
  const waits: number[] = []
  const time = virtualTime()
  const heliograph = connect({
    base_url: 'https://api.test',
    api_key: 'key',
    async fetch(url, init = {}) {
      requests.push({ url: String(url), init, headers: new Headers(init.headers) })
      const answer = answers.shift() ?? assert.fail(`one request too many: ${url}`)
      if (answer instanceof Error) throw answer
      return answer
    },
    timers: {
      after(delay_ms, callback) {
        waits.push(delay_ms)
        const cancel = time.timers.after(delay_ms, callback)
        time.advance(delay_ms)
        return cancel
      },
    },
    chance: () => 0.5,
    nowMs: () => time.clock.now().getTime(),
    onRetry: (retry) => retries.push(retry),
    ...options,
  })
  return { heliograph, requests, retries, waits }
}

const site_id = 'demo'
const list = { data: [], meta: { count: 0 } }

/** What a call is rejected with. */
async function failed(call: Promise<unknown>): Promise<HeliographError> {
  const error = await call.then(
    () => assert.fail('it was answered'),
    (reason) => reason,
  )
  assert.ok(error instanceof HeliographError, String(error))
  return error
}

test('parameters go where they belong, and the answer comes back as it is', async () => {
  const { heliograph, requests } = told([json(list), json({ wo_id: 7 }, 201)])
  const answer = await heliograph.workOrdersList({
    site_id: 'a/b',
    status: 'open',
    logger_id: undefined,
    limit: 5,
  })
  assert.deepEqual(answer, list)
  const made = await heliograph.workOrderCreate({ site_id, title: 'T', due_at: null })
  assert.equal(made.wo_id, 7)
  const [read, write] = requests
  assert.equal(read!.url, 'https://api.test/v1/sites/a%2Fb/work-orders?status=open&limit=5')
  assert.equal(read!.init.method, 'GET')
  assert.equal(read!.init.credentials, 'omit')
  assert.equal(read!.init.body, null)
  assert.deepEqual(
    [...read!.headers],
    [
      ['accept', 'application/json'],
      ['authorization', 'Bearer key'],
    ],
  )
  assert.equal(write!.init.body, '{"title":"T","due_at":null}')
  assert.equal(write!.headers.get('content-type'), 'application/json')
  assert.match(write!.headers.get('idempotency-key')!, /^[0-9a-f]{32}$/)
})

test('without a key the session of the page counts, and is announced', async () => {
  const { heliograph, requests } = told([json(list), json({})], { api_key: undefined })
  await heliograph.sitesList()
  await heliograph.alertsAcknowledge({ site_id, alert_id: 1 })
  for (const { headers, init } of requests) {
    assert.equal(headers.get('x-heliograph-session'), '1')
    assert.equal(headers.get('authorization'), null)
    assert.equal(init.credentials, 'same-origin')
  }
  assert.equal(requests[1]!.headers.get('content-type'), null, 'nothing is sent')
})

test('where the server is must be clear outside of a page, and a bad key is not shown', () => {
  for (const base_url of [undefined, '', 'api.test', '/', 'ftp://api.test']) {
    assert.throws(() => connect({ base_url, api_key: 'key' }), /base_url must be/, base_url)
  }
  const thrown = (api_key: string) => {
    try {
      connect({ base_url: 'https://api.test', api_key })
    } catch (error) {
      return String(error)
    }
    return assert.fail('connected')
  }
  assert.equal(thrown('secret\nkey'), 'TypeError: api_key is not an API key')
  assert.equal(thrown(''), 'TypeError: api_key is not an API key')
})

test('an address may end in a slash, in /v1, or have a path', async () => {
  for (const [base_url, sent] of [
    ['https://api.test/', 'https://api.test/v1/sites'],
    ['https://api.test/v1/', 'https://api.test/v1/sites'],
    ['https://api.test/solar', 'https://api.test/solar/v1/sites'],
  ] as const) {
    const { heliograph, requests } = told([json(list)], { base_url })
    await heliograph.sitesList()
    assert.equal(requests[0]!.url, sent)
  }
})

test('a write keeps its Idempotency-Key on every attempt, and no other write has it', async () => {
  const { heliograph, requests } = told([new TypeError('cut'), busy('1'), json({}), json({})])
  await heliograph.defectCreate({
    site_id,
    title: 'T',
    description: 'D',
    severity: 'minor',
  } as never)
  await heliograph.alertsResolve({ site_id, alert_id: 1 })
  const keys = requests.map(({ headers }) => headers.get('idempotency-key'))
  assert.equal(new Set(keys.slice(0, 3)).size, 1)
  assert.equal(new Set(keys).size, 2)
  assert.equal(new Set(requests.slice(0, 3).map(({ init }) => init.body)).size, 1)
})

test("a caller's own Idempotency-Key wins", async () => {
  const { heliograph, requests } = told([new TypeError('cut'), json({})])
  await heliograph.alertsResolve({ site_id, alert_id: 1, 'Idempotency-Key': 'mine' })
  assert.deepEqual(
    requests.map(({ headers }) => headers.get('idempotency-key')),
    ['mine', 'mine'],
  )
})

test('what may pass is tried again, four times in all', async () => {
  const passing = [429, 502, 503, 504].map((status) => () => failure('any', status))
  const all = [
    () => new TypeError('cut'),
    () => failure('idempotency_in_progress', 409),
    ...passing,
  ]
  for (const make of all) {
    const { heliograph, requests, waits } = told([make(), make(), make(), make()])
    await failed(heliograph.sitesList())
    assert.equal(requests.length, 4)
    assert.deepEqual(waits, [250, 500, 1000], 'half of what it may be, by chance')
  }
})

test('what will not pass is not tried again', async () => {
  for (const [code, status] of [
    ['conflict_state', 409],
    ['internal_error', 500],
    ['validation_error', 422],
    ['invalid_api_key', 401],
  ] as const) {
    const { heliograph } = told([failure(code, status)])
    assert.equal((await failed(heliograph.sitesList())).code, code)
  }
  const { heliograph } = told([busy('1')], { retries: 0 })
  assert.equal((await failed(heliograph.sitesList())).code, 'rate_limited')
})

test('an answer that breaks off is asked for again', async () => {
  const broken = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"data":['))
      controller.error(new TypeError('terminated'))
    },
  })
  const half = new Response(broken, { headers: { 'content-type': 'application/json' } })
  const { heliograph, retries } = told([half, json(list)])
  assert.deepEqual(await heliograph.sitesList(), list)
  assert.equal(retries[0]!.error.code, 'network_error')
})

test('waits grow to eight seconds and no further', async () => {
  const answers = Array.from({ length: 8 }, () => new TypeError('cut'))
  const { heliograph, waits } = told(answers, { retries: 7, chance: () => 1 })
  await failed(heliograph.sitesList())
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000])
})

test('Retry-After is obeyed, in seconds, as a date by the clock of the server, or of here', async () => {
  const { heliograph, waits, retries } = told([
    busy('7'),
    busy('Mon, 01 Jun 2026 12:00:09 GMT', { date: 'Mon, 01 Jun 2026 12:00:00 GMT' }),
    busy('Mon, 01 Jun 2026 10:00:21 GMT'),
    json(list),
  ])
  await heliograph.sitesList()
  assert.deepEqual(waits, [7000, 9000, 5000], 'the last: 16 s of 21 have passed')
  assert.deepEqual(
    retries.map(({ attempt, wait_ms, error, method, url }) => [
      attempt,
      wait_ms,
      error.retry_after_s,
      method,
      url,
    ])[0],
    [1, 7000, 7, 'GET', 'https://api.test/v1/sites'],
  )
})

test('a wait that is too long is left to the caller', async () => {
  const { heliograph } = told([busy('61')])
  assert.equal((await failed(heliograph.sitesList())).retry_after_s, 61)
  const patient = told([busy('61'), json(list)], { wait_s_max: 100 })
  await patient.heliograph.sitesList()
})

test('an abort ends a wait and a request, with its own reason', async () => {
  const reason = new Error('enough')
  const waiting = new AbortController()
  let cancelled = 0
  const { heliograph, requests } = told([busy('5')], {
    timers: {
      after: () => () => {
        cancelled += 1
      },
    },
    onRetry: () => queueMicrotask(() => waiting.abort(reason)),
  })
  await assert.rejects(heliograph.sitesList({}, { signal: waiting.signal }), reason)
  assert.equal(cancelled, 1)
  assert.equal(requests.length, 1)
  const sent = new AbortController()
  const hanging = told([], {
    retries: 0,
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason))
        sent.abort(reason)
      }),
  })
  await assert.rejects(hanging.heliograph.sitesList({}, { signal: sent.signal }), reason)
  const before = told([], { fetch: () => Promise.reject(new TypeError('never')) })
  const over = AbortSignal.abort(reason)
  await assert.rejects(before.heliograph.sitesList({}, { signal: over }), reason)
})

test('an error tells all that the server told', async () => {
  const errors = [
    { location: 'body', field: 'title', code: 'too_short', message: 'must not be empty' },
  ]
  const body = { code: 'validation_error', message: 'No.', request_id: 'r9', details: { errors } }
  const { heliograph } = told([json({ error: body }, 422)])
  const error = await failed(heliograph.workOrderCreate({ site_id, title: '' }))
  assert.equal(error.name, 'HeliographError')
  assert.equal(error.status, 422)
  assert.equal(error.request_id, 'r9')
  assert.equal(error.message, 'No. · title must not be empty')
  assert.deepEqual(error.violations, errors)
  assert.ok(isCode(error, 'validation_error') && !isCode(error, 'not_found'))
  assert.ok(!isCode(new Error('x'), 'validation_error'))
  if (isCode(error, 'validation_error')) error.code satisfies 'validation_error'
})

test('no answer, and what is none of the API, are told apart', async () => {
  const lost = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
  const none = told([lost], { retries: 0 })
  const network = await failed(none.heliograph.sitesList())
  assert.equal(network.code, 'network_error')
  assert.equal(network.status, null)
  assert.equal(network.cause, lost)
  assert.match(network.message, /GET https:\/\/api.test\/v1\/sites: .*ECONNREFUSED/)
  const page = () => new Response('<p>Sign in', { headers: { 'content-type': 'text/html' } })
  const cut = () => new Response('{"data"', { headers: { 'content-type': 'application/json' } })
  const plain = () => new Response('{"data":[]}', { headers: { 'content-type': 'text/plain' } })
  for (const answer of [page(), cut(), plain(), new Response('', { status: 502 })]) {
    const { status } = answer
    const error = await failed(told([answer], { retries: 0 }).heliograph.sitesList())
    assert.equal(error.code, 'unexpected_answer')
    assert.equal(error.status, status)
  }
  const same = told([new Response(null, { status: 304 })])
  const asked = same.heliograph.workOrderGet({ site_id, wo_id: 1, 'If-None-Match': '"x"' })
  assert.equal((await failed(asked)).code, 'not_modified')
  assert.equal(same.requests[0]!.headers.get('if-none-match'), '"x"')
})

test('an answer without content is none', async () => {
  const { heliograph } = told([new Response(null, { status: 204 })])
  assert.equal(await heliograph.reportSubscriptionDelete({ site_id, sub_id: 1 }), undefined)
})

test('the version of an answer goes into If-Match', async () => {
  const { heliograph, requests } = told([
    json({ wo_id: 1 }, 200, { etag: '"v1"' }),
    json({}),
    json({}),
  ])
  const order = await heliograph.workOrderGet({ site_id, wo_id: 1 })
  const changed = await heliograph.workOrderChange({
    site_id,
    wo_id: 1,
    'If-Match': etagOf(order),
    status: 'on_hold',
  })
  assert.equal(requests[1]!.headers.get('if-match'), '"v1"')
  const unseen = { site_id, wo_id: 1, 'If-Match': etagOf(changed) }
  await heliograph.workOrderChange({ ...unseen, status: 'open' })
  assert.equal(requests[2]!.headers.get('if-match'), null)
})

test('an instant is a Date or has an offset; what is neither is refused unsent', async () => {
  const { heliograph, requests } = told([json(list), json({}, 201)])
  const start = new Date('2026-06-21T10:00:00Z')
  const series = { site_id, inverter_id: 1 }
  for (const naive of ['2026-06-21T10:00', '2026-06-21 10:00:00', '2026-06-21T10:00:00.5']) {
    await assert.rejects(heliograph.invertersHistoryList({ ...series, end: naive }), {
      name: 'TypeError',
      message: /^end is 2026.* has no offset/,
    })
    await assert.rejects(heliograph.workOrderCreate({ site_id, title: naive, due_at: naive }), {
      name: 'TypeError',
      message: /^due_at is/,
    })
  }
  const never = new Date(Number.NaN)
  await assert.rejects(heliograph.gapsList({ site_id, start: never }), /start is a Date that/)
  await heliograph.invertersHistoryList({ ...series, start, end: '2026-06-21T12:00+02:00' })
  await heliograph.workOrderCreate({ site_id, title: '2026-06-21T10:00', due_at: start })
  assert.match(requests[0]!.url, /\?start=2026-06-21T10%3A00%3A00.000Z&end=2026-06-21T12%3A00%2B02/)
  assert.match(String(requests[1]!.init.body), /"due_at":"2026-06-21T10:00:00.000Z"/)
  assert.equal(requests.length, 2)
  // @ts-expect-error: a day is no instant
  void (() => heliograph.earningsSummaryGet({ site_id, start }))
})

test('a file comes unread, in the form that was asked for, and only in that', async () => {
  const csv = (type = 'text/csv; charset=utf-8') =>
    new Response('a,b\n', {
      headers: { 'content-type': type, 'content-disposition': 'attachment; filename="x-1.csv"' },
    })
  const { heliograph, requests } = told([csv(), csv('application/pdf'), csv(), busy('1'), csv()])
  const exported = await heliograph.file('gapsList', { site_id, start: new Date(0) })
  assert.equal(exported.name, 'x-1.csv')
  assert.equal(await exported.response.text(), 'a,b\n')
  const report = await heliograph.file('reportRunFile', { site_id, run_id: 'r' })
  assert.equal(report.type, 'application/pdf')
  const lines = { accept: 'application/x-ndjson' } as const
  const error = await failed(heliograph.file('gapsList', { site_id }, lines))
  assert.equal(error.code, 'unexpected_answer')
  await heliograph.file('gapsList', { site_id })
  assert.deepEqual(
    requests.map(({ headers }) => headers.get('accept')),
    ['text/csv', '*/*', 'application/x-ndjson', 'text/csv', 'text/csv'],
  )
})
