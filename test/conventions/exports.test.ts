/** Files over real sockets: slow readers, broken ones, failing queries, the places there are. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { endpoint } from '../../server/http/endpoint.ts'
import { Series } from '../../server/http/envelope.ts'
import { ApiError } from '../../server/http/errors.ts'
import { chooseFormat, exports_max } from '../../server/http/export.ts'
import { fetched } from '../../server/http/export-items.ts'
import { LoggerId, limit } from '../../server/http/params.ts'
import { serve } from '../../server/http/serve.ts'
import { rowsWindow } from '../../server/http/windows.ts'
import type { Queries } from '../../server/storage/database.ts'
import { silent, type TestDatabase, testDatabase } from '../postgres.ts'
import { addFixtures, addKey, type Fixtures } from './fixtures.ts'

/** What the loggers of these tests have measured. */
const sources: Readonly<Record<number, string>> = {
  1: 'FROM generate_series(1, 3) AS nth',
  2: 'FROM generate_series(1, 150000) AS nth',
  3: 'FROM generate_series(1, 150000) AS nth WHERE 1 / (120000 - nth) < 2',
  4: 'FROM generate_series(1, 3) AS nth WHERE 1 / (1 - nth) < 2',
  5: 'FROM generate_series(1, 3) AS nth, pg_sleep(600)',
}
/** Loggers from here on have measured the same, but their items are computed. */
const computed = 10
let computed_rows = 0
const large_rows = 150_000
const line_bytes = 200
/** Of tests that wait for the database: what never comes is a failure, not a run without end. */
const bounded = { timeout: 30_000 }

const history = endpoint({
  method: 'GET',
  path: '/loggers/{logger_id}/history',
  operation_id: 'logger_history',
  tag: 'Loggers',
  scope: 'plant:read',
  module: 'basic_scada',
  summary: 'A series of whatever length',
  params: { logger_id: LoggerId },
  window: rowsWindow(24),
  query: { limit: limit(500, 100) },
  returns: Series(Type.Object({ nth: Type.Integer(), text: Type.String() })),
  example: {
    answer: {
      data: [{ nth: 1, text: 'x' }],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle(_request, _needs: object) {
    const meta = { count: 0, truncated: false, next_start: null, previous_end: null }
    return { data: [], meta }
  },
  async exports({ params }) {
    const from = sources[params.logger_id % computed]
    if (from === undefined) throw new ApiError('not_found')
    if (params.logger_id >= computed) return { items: (queries) => items(queries, from) }
    return {
      columns: [
        { name: 'nth', sql: 'nth', type: 'number' },
        { name: 'text', sql: `repeat('x', ${line_bytes})`, type: 'word' },
      ],
      from,
      values: [],
    }
  },
})

async function* items(queries: Queries, from: string) {
  for await (const rows of fetched<{ nth: number }>(queries, `SELECT nth ${from}`, [])) {
    computed_rows += rows.length
    yield rows.map(({ nth }) => ({ nth, text: 'x'.repeat(line_bytes) }))
  }
}

let database: TestDatabase
let fixtures: Fixtures
let app: FastifyInstance
let failures: unknown[] = []
let responses: ServerResponse[] = []

before(async () => {
  database = await testDatabase()
  fixtures = await addFixtures(database.db)
  app = await serve({
    endpoints: [history],
    needs: {},
    db: database.db,
    clock: systemClock,
    timers: systemTimers,
    newId: randomUUID,
    log: { ...silent, error: (details: unknown) => void failures.push(details) },
  })
  app.server.on('request', (_request, response) => responses.push(response))
  await app.listen({ port: 0, host: '127.0.0.1' })
})
after(async () => {
  await app.close()
  await database.drop()
})

const port = () => (app.server.address() as AddressInfo).port
const pathOf = (logger_id: number, site = 'live-site') =>
  `/v1/sites/${site}/loggers/${logger_id}/history`
const asking = (key: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${key}`,
  accept: 'text/csv',
  ...more,
})

async function open(
  logger_id: number,
  headers = asking(fixtures.keys.full),
  { method = 'GET', site = fixtures.sites.live } = {},
) {
  const path = pathOf(logger_id, site)
  const request = get({ host: '127.0.0.1', port: port(), path, headers, method, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  // A reset is told twice: here, and to whoever reads the response.
  request.on('error', () => {})
  return { response }
}

/** The wait event of every statement of an export that runs; asked until it is as wanted. */
async function exporting(wanted: (waits: (string | null)[]) => boolean): Promise<void> {
  for (;;) {
    const running = await database.db.query<{ wait_event: string | null }>(
      `SELECT wait_event FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active'
         AND (query LIKE 'COPY%' OR query LIKE 'FETCH%')`,
    )
    if (wanted(running.map(({ wait_event }) => wait_event))) return
  }
}

/** What the database has written of the one COPY that runs, once it writes no more. */
async function producedWhenStalled(): Promise<number> {
  let last = -1
  for (let unchanged = 0; unchanged < 50; ) {
    const [copy] = await database.db.query<{ bytes_processed: number }>(
      'SELECT bytes_processed FROM pg_stat_progress_copy WHERE datname = current_database()',
    )
    if (!copy) throw new Error('the database could write all of it')
    unchanged = copy.bytes_processed === last ? unchanged + 1 : 0
    last = copy.bytes_processed
  }
  return last
}

async function assertReleased() {
  await exporting((waits) => waits.length === 0)
  const { db } = database
  // Also the connection of this very question is back by then.
  while (db.connections().idle < db.connections().total) await db.query('SELECT')
  const files = await Promise.all(
    Array.from({ length: exports_max.per_key }, async () => text((await open(1)).response)),
  )
  for (const file of files) assert.equal(file.split('\n').length, 5)
}

test('Accept chooses by name and weight, and JSON unless it says otherwise', () => {
  for (const [accept, format] of [
    [undefined, null],
    ['*/*', null],
    ['text/*', null],
    ['application/json, text/plain, */*', null],
    ['text/html,application/xhtml+xml,*/*;q=0.8', null],
    ['text/csv', 'csv'],
    ['Text/CSV; header=present; q=1.0', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['text/csv, */*', 'csv'],
    ['text/csv, application/json', null],
    ['text/csv, application/json;q=0.9', 'csv'],
    ['text/csv;q=0.5, */*', null],
    ['text/csv;q=0.5, */*;q=0.1', 'csv'],
    ['text/csv;q=0', null],
    ['text/csv;q=0, application/x-ndjson;q=0.2', 'ndjson'],
    ['text/csv;q=0.5, application/x-ndjson', 'ndjson'],
    ['application/x-ndjson, text/csv', 'csv'],
    ['application/vnd.apache.parquet', 'parquet'],
    ['application/vnd.apache.parquet, */*;q=0.1', 'parquet'],
    ['text/csv;q=nonsense', null],
  ] as const) {
    assert.equal(chooseFormat(accept), format, String(accept))
  }
})

test('a file says what it is, and HEAD says the same without reading a row', async () => {
  const { response } = await open(1)
  const { date: _date, 'x-request-id': _id, ratelimit: _rate, ...headers } = response.headers
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8; header=present')
  assert.match(
    headers['content-disposition']!,
    /^attachment; filename="live-site_loggers-1-history_\d{8}T\d{6}Z_\d{8}T\d{6}Z\.csv"$/,
  )
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers.vary, 'Authorization, Accept, Accept-Encoding')
  const file = `nth,text\n${[1, 2, 3].map(line).join('')}`
  assert.equal(await text(response), file)
  assert.equal(await text((await open(computed + 1)).response), file)
  // The query of this one would take ten minutes.
  const head = (await open(5, asking(fixtures.keys.full), { method: 'HEAD' })).response
  assert.equal(head.statusCode, 200)
  assert.equal(head.headers['content-type'], headers['content-type'])
  assert.equal(head.headers['content-length'], undefined)
  const window = '?start=2026-06-01T00:00:00Z&end=2026-07-01T02:00:00%2B02:00'
  const named = await fetch(`http://127.0.0.1:${port()}${pathOf(1)}${window}`, {
    headers: asking(fixtures.keys.full, { accept: 'application/x-ndjson' }),
  })
  assert.match(
    named.headers.get('content-disposition')!,
    /"live-site_loggers-1-history_20260601T000000Z_20260701T000000Z\.ndjson"$/,
  )
  assert.equal(named.headers.get('content-type'), 'application/x-ndjson')
  assert.equal((await named.text()).split('\n').length, 4)
})

const line = (nth: number) => `${nth},${'x'.repeat(line_bytes)}\n`

test('JSON is answered as ever', async () => {
  const { response } = await open(1, asking(fixtures.keys.full, { accept: '*/*' }))
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(response.headers['content-disposition'], undefined)
  assert.deepEqual(JSON.parse(await text(response)).data, [])
})

test('files are compressed as they come', async () => {
  const plain = await buffer((await open(2)).response)
  for (const [encoding, decompress, logger_id] of [
    ['gzip', gunzipSync, 2],
    ['br', brotliDecompressSync, 2],
    ['gzip', gunzipSync, computed + 2],
  ] as const) {
    const headers = asking(fixtures.keys.full, { 'accept-encoding': encoding })
    const { response } = await open(logger_id, headers)
    assert.equal(response.headers['content-encoding'], encoding)
    const packed = await buffer(response)
    assert.ok(packed.length < plain.length / 10)
    assert.ok(decompress(packed).equals(plain), encoding)
  }
})

test(
  'a reader that does not read makes the database wait, not the memory grow',
  bounded,
  async () => {
    const { response } = await open(2)
    const produced_bytes = await producedWhenStalled()
    assert.ok(produced_bytes < (large_rows * line_bytes) / 2)
    const { socket } = responses.at(-1)!
    const taken_bytes = socket!.bytesWritten - socket!.writableLength
    const held_bytes = produced_bytes - taken_bytes
    assert.ok(held_bytes < 2 << 20, `${held_bytes} bytes lie between database and kernel`)
    const file = await text(response)
    assert.equal(file.length, 'nth,text\n'.length + totalLength())
    assert.ok(file.endsWith(line(large_rows)))
  },
)

test('a reader that does not read stops the computing of items, too', bounded, async () => {
  computed_rows = 0
  const { response } = await open(computed + 2)
  let last = -1
  for (let unchanged = 0; unchanged < 50; last = computed_rows) {
    unchanged = computed_rows === last ? unchanged + 1 : 0
    await database.db.query('SELECT')
  }
  assert.ok(last < large_rows / 2, `${last} rows were computed`)
  assert.equal((await text(response)).length, 'nth,text\n'.length + totalLength())
  assert.equal(computed_rows, large_rows)
})

function totalLength(): number {
  let length = 0
  for (let nth = 1; nth <= large_rows; nth++) length += String(nth).length + line_bytes + 2
  return length
}

test('a reader that goes away cancels the query and frees its connection', bounded, async () => {
  const { response } = await open(2)
  await exporting((waits) => waits.includes('ClientWrite'))
  response.destroy()
  await assertReleased()
  // Between two statements of one.
  ;(await open(computed + 2)).response.destroy()
  await assertReleased()
  // Before the first byte, while the database sends nothing that could fail.
  for (const logger_id of [5, computed + 5]) {
    const waiting = connect(port(), '127.0.0.1')
    const head = `GET ${pathOf(logger_id)} HTTP/1.1\r\nhost: x\r\naccept: text/csv\r\n`
    waiting.write(`${head}authorization: Bearer ${fixtures.keys.full}\r\n\r\n`)
    await exporting((waits) => waits.includes('PgSleep'))
    waiting.destroy()
    await assertReleased()
  }
  assert.deepEqual(failures, [])
})

test('what fails before the first byte is an error like any other', async () => {
  for (const logger_id of [4, computed + 4]) {
    const { response } = await open(logger_id)
    assert.equal(response.statusCode, 500)
    assert.equal(response.headers['content-disposition'], undefined)
    assert.equal(JSON.parse(await text(response)).error.code, 'internal_error')
  }
  assert.equal(failures.length, 2)
  failures = []
  assert.equal((await open(9)).response.statusCode, 404)
  const url = `http://127.0.0.1:${port()}${pathOf(1)}?limit=0`
  assert.equal((await fetch(url, { headers: asking(fixtures.keys.full) })).status, 422)
  await assertReleased()
})

test(
  'what fails half-way breaks the connection, compressed or not, and old HTTP too',
  bounded,
  async () => {
    for (const logger_id of [3, computed + 3]) {
      for (const encoding of ['identity', 'gzip']) {
        const headers = asking(fixtures.keys.full, { 'accept-encoding': encoding })
        const { response } = await open(logger_id, headers)
        assert.equal(response.statusCode, 200)
        await assert.rejects(buffer(response), { code: 'ECONNRESET' }, encoding)
      }
    }
    const socket = connect(port(), '127.0.0.1')
    const head = `GET ${pathOf(3)} HTTP/1.0\r\naccept: text/csv\r\n`
    socket.write(`${head}authorization: Bearer ${fixtures.keys.full}\r\n\r\n`)
    await assert.rejects(buffer(socket), { code: 'ECONNRESET' })
    assert.equal(failures.length, 5)
    failures = []
    await assertReleased()
  },
)

test('so many exports at a time are those of a key, of a client, and all', bounded, async () => {
  const opened: IncomingMessage[] = []
  const { db } = database
  const { live, foreign } = fixtures.sites
  const own = fixtures.keys.full
  const other = await addKey(db, { client_id: 101, key_id: 'bbbbbbbbbbb1' })
  const foreigners = [
    await addKey(db, { client_id: 102, key_id: 'bbbbbbbbbbb2' }),
    await addKey(db, { client_id: 102, key_id: 'bbbbbbbbbbb3' }),
  ]
  const start = async (key: string, site = live) => {
    opened.push((await open(2, asking(key), { site })).response)
    assert.equal(opened.at(-1)!.statusCode, 200)
  }
  const assertRefused = async (key: string, policy: string, limit: number) => {
    const { response } = await open(1, asking(key))
    assert.equal(response.statusCode, 429)
    assert.equal(response.headers['retry-after'], '10')
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    const { details } = JSON.parse(await text(response)).error
    assert.deepEqual(details, { policy, limit, retry_after_s: 10 })
    const json = await open(1, asking(key, { accept: 'application/json' }))
    assert.equal(json.response.resume().statusCode, 200)
  }
  for (let nth = 0; nth < exports_max.per_key; nth += 1) await start(own)
  await assertRefused(own, 'concurrent_exports', exports_max.per_key)
  while (opened.length < exports_max.per_client) await start(other)
  await assertRefused(other, 'concurrent_exports_of_client', exports_max.per_client)

  for (const key of [foreigners[0]!, foreigners[0]!, foreigners[1]!]) await start(key, foreign)
  assert.equal(opened.length, exports_max.in_all)
  await db.execute(`insert into clients (client_id, name, modules) overriding system value
    values (104, 'third', '{basic_scada}')`)
  await db.execute("insert into sites (site_id, client_id, name) values ('third', 104, 'Third')")
  const third = await addKey(db, { client_id: 104, key_id: 'bbbbbbbbbbb4' })
  const refused = (await open(1, asking(third), { site: 'third' })).response.resume()
  assert.equal(refused.statusCode, 503)
  assert.equal(refused.headers['retry-after'], '10')
  for (const response of opened) response.destroy()
  await assertReleased()
  responses = []
})
