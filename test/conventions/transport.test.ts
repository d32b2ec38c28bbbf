/** What only real sockets show: broken HTTP, compression, TLS, proxies, the end of a server. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as secureRequest } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createMetrics, metricsServer } from '../../server/http/metrics.ts'
import { shutDown } from '../../server/http/shutdown.ts'
import { type SampleServer, sampleServer } from './sample-server.ts'

let server: SampleServer
let authorization: string
const metrics = createMetrics({ pool: () => ({ total: 3, idle: 2, waiting: 0 }) })
let settled = async () => {}

before(async () => {
  server = await sampleServer({ options: { metrics }, plant: { settled: () => settled() } })
  authorization = `Bearer ${server.fixtures.keys.full}`
  await server.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => server.drop())

const portOf = (app: FastifyInstance) => (app.server.address() as AddressInfo).port
const url = (path: string, app = server.app) => `http://127.0.0.1:${portOf(app)}${path}`
const history = '/v1/sites/live-site/loggers/1/history?limit=500'

/** Sends bytes as they are and returns all that comes back until the server closes. */
async function raw(text: string, { end = false } = {}): Promise<string> {
  const socket = connect(portOf(server.app), '127.0.0.1')
  socket.setEncoding('utf8')
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  socket.on('error', () => {})
  socket.write(text)
  if (end) socket.end()
  await once(socket, 'close')
  return received
}

function assertRaw(answer: string, status: number, code: string) {
  assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
  const { error } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
  assert.equal(error.code, code)
  assert.ok(answer.toLowerCase().includes(`x-request-id: ${error.request_id}\r\n`))
}

test('what is not HTTP is answered in the envelope', async () => {
  assertRaw(await raw('nonsense\r\n\r\n'), 400, 'malformed_request')
  assertRaw(await raw('GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n'), 400, 'malformed_request')
  const long = `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`
  assertRaw(await raw(long), 431, 'headers_too_large')
  const path = `GET /v1/sites/${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`
  assertRaw(await raw(path), 431, 'headers_too_large')
})

test('requests at the edge of HTTP are answered like any other', async () => {
  const close = 'connection: close\r\n\r\n'
  assertRaw(await raw(`GET /v1/sites HTTP/1.1\r\n${close}`), 401, 'missing_api_key')
  const expecting = `GET /v1/sites HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\n${close}`
  assertRaw(await raw(expecting), 401, 'missing_api_key')
  assertRaw(await raw(`GET /v1/sites/%zz HTTP/1.1\r\nhost: x\r\n${close}`), 404, 'not_found')
  assertRaw(await raw(`GET //v1//sites HTTP/1.1\r\nhost: x\r\n${close}`), 404, 'not_found')
})

test('an offer to upgrade to what is not spoken here is declined: the request is served', async () => {
  // As long as the edge link listens for upgrades, all of them would go there.
  server.app.server.on('upgrade', (_request, socket) => socket.destroy())
  const offer = (path: string, protocol: string) =>
    raw(
      `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
        `connection: upgrade, close\r\nupgrade: ${protocol}\r\n\r\n`,
    )
  // Some clients offer HTTP/2 with every request on a plain connection.
  assert.match(await offer('/v1/sites', 'h2c'), /^HTTP\/1.1 200 .*"data":\[/s)
  assertRaw(await offer('/v1/sites/nowhere/loggers', 'websocket'), 404, 'not_found')
  assert.equal(await offer('/edge/v1', 'websocket'), '')
})

const head = () =>
  `POST /v1/sites/live-site/notes HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\n`

test('a body that is cut off harms nobody, one without end is refused', async () => {
  const { db } = server.database
  const count = async () => (await db.query('select from sample_notes')).length
  const before_ = await count()
  await raw(`${head()}content-length: 100\r\n\r\n{"text":"cut`, { end: true })
  assert.equal(await count(), before_)
  const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`
  const endless = `${head()}transfer-encoding: chunked\r\n\r\n${chunk.repeat(20)}`
  assertRaw(await raw(endless), 413, 'payload_too_large')
  const two = `${head()}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`
  assertRaw(await raw(two), 400, 'malformed_request')
  assert.equal((await fetch(url('/healthz'))).status, 200)
})

test('large answers are compressed as the client likes, and have the same content', async () => {
  const ask = async (encoding: string) => {
    const headers = { authorization, 'accept-encoding': encoding }
    const answer = await fetch(url(history), { headers })
    return {
      encoding: answer.headers.get('content-encoding'),
      json: (await answer.json()) as { data: unknown[] },
    }
  }
  const plain = await ask('identity')
  assert.equal(plain.encoding, null)
  for (const [accepted, chosen] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.1, gzip;q=0.5', 'gzip'],
    ['*', 'br'],
    ['br;q=0, gzip;q=0', null],
  ] as const) {
    const { encoding, json } = await ask(accepted)
    assert.equal(encoding, chosen, accepted)
    assert.equal(json.data.length, plain.json.data.length)
  }
})

test('a compressed representation has its own ETag, and both are recognised', async () => {
  const { db } = server.database
  await db.execute('update sample_notes set text = $1 where note_id = 1', ['x'.repeat(5000)])
  const ask = (headers: Record<string, string>) =>
    fetch(url('/v1/sites/live-site/notes/1'), { headers: { authorization, ...headers } })
  const plain = (await ask({ 'accept-encoding': 'identity' })).headers.get('etag')!
  const small = (await ask({ 'accept-encoding': 'br' })).headers.get('etag')!
  assert.equal(small, plain.replace(/"$/, '-br"'))
  for (const etag of [plain, small, `"other", ${small}`, '*']) {
    assert.equal((await ask({ 'if-none-match': etag })).status, 304, etag)
  }
  assert.equal((await ask({ 'if-none-match': '"other"' })).status, 200)
  const change = (if_match: string) =>
    fetch(url('/v1/sites/live-site/notes/1'), {
      method: 'PUT',
      headers: { authorization, 'if-match': if_match, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'changed' }),
    })
  const stale = await change('"stale"')
  assert.equal(stale.status, 412)
  assert.match(await stale.text(), /"code":"precondition_failed"/)
  assert.equal((await change(small)).status, 200)
  assert.equal((await change(plain)).status, 412)
})

test('operations are counted by name and status, on a server of their own', async () => {
  await fetch(url(history), { headers: { authorization } })
  const own = metricsServer(metrics).listen(0, '127.0.0.1')
  await once(own, 'listening')
  const text = await (
    await fetch(`http://127.0.0.1:${(own.address() as AddressInfo).port}/metrics`)
  ).text()
  own.close()
  assert.match(text, /http_requests_total\{operation="logger_history",status="200"\} \d+/)
  assert.match(text, /database_connections\{state="idle"\} 2/)
  assert.match(text, /nodejs_eventloop_lag_seconds/)
  assert.ok(!text.includes('svc_live_'))
})

test('the address of a client comes from a trusted proxy only', async () => {
  const proxied = await server.replica({ options: { trusted_proxies: ['127.0.0.1'] } })
  const guess = (app: FastifyInstance, address: string) =>
    app.inject({
      url: '/v1/sites',
      headers: { authorization: 'Bearer wrong', 'x-forwarded-for': address },
    })
  const direct = await server.replica()
  for (let i = 0; i < 21; i++) {
    assert.equal((await guess(proxied, `192.0.2.${i}`)).statusCode, 401)
    assert.equal((await guess(direct, `192.0.2.${i}`)).statusCode, i < 20 ? 401 : 429)
  }
  const secure = { 'x-forwarded-proto': 'https' }
  const hsts = async (app: FastifyInstance) =>
    (await app.inject({ url: '/healthz', headers: secure })).headers['strict-transport-security']
  assert.match(String(await hsts(proxied)), /^max-age=\d+/)
  assert.equal(await hsts(direct), undefined)
})

test('with a certificate it serves TLS and says to stay with it', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-tls-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const self = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const out = ['-nodes', '-subj', '/CN=localhost', '-keyout', key, '-out', cert]
  try {
    execFileSync('openssl', [...self, ...out], { stdio: 'ignore' })
  } catch {
    t.skip('openssl is not there to make a certificate with')
    return
  }
  const tls = { cert: readFileSync(cert), key: readFileSync(key) }
  const app = await server.replica({ options: { tls } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const request = secureRequest({
    port: portOf(app),
    path: '/v1/sites',
    headers: { authorization },
    ca: tls.cert,
    servername: 'localhost',
    checkServerIdentity: () => undefined,
  }).end()
  const [response] = await once(request, 'response')
  response.resume()
  assert.equal(response.statusCode, 200)
  assert.match(response.headers['strict-transport-security'], /^max-age=\d+/)
})

const never = { after: () => () => {} }
const soon = { timeout: 10_000 }

test('when it ends, what is in flight is finished and nothing new is accepted', soon, async () => {
  const app = await server.replica()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const waiting = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  settled = () => {
    waiting.resolve()
    return gate.promise
  }
  const address = url('/v1/sites/live-site/curtailment/group/g', app)
  const inFlight = fetch(address, { method: 'DELETE', headers: { authorization } })
  await waiting.promise
  const ended = shutDown(app, { timers: never, bound_ms: 10_000 })
  await assert.rejects(fetch(address))
  gate.resolve()
  const answer = await inFlight
  assert.equal(answer.status, 200)
  assert.deepEqual(await answer.json(), { status: 'cancelled' })
  assert.equal(answer.headers.get('connection'), 'close')
  await ended
})

test('what does not finish in time is cut off', async () => {
  const app = await server.replica()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const waiting = Promise.withResolvers<void>()
  settled = () => {
    waiting.resolve()
    return new Promise(() => {})
  }
  const address = url('/v1/sites/live-site/curtailment/group/g', app)
  const inFlight = fetch(address, { method: 'DELETE', headers: { authorization } })
  await waiting.promise
  const timers = {
    after(_: number, cut: () => void) {
      setImmediate(cut)
      return () => {}
    },
  }
  await Promise.all([assert.rejects(inFlight), shutDown(app, { timers, bound_ms: 1 })])
})
