import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { createGet } from './http-get.ts'

async function served(t: TestContext, listener: RequestListener): Promise<URL> {
  const server = createServer(listener)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/?securityToken=sesame`)
}

const never = new AbortController().signal
const bounds = { timeout_ms: 5000, bytes_max: 1000 }

test('an answer of any status is given, its text whole', async (t) => {
  const url = await served(t, (_, response) => {
    response.statusCode = 418
    response.write(Buffer.from('Malm\u00f6').subarray(0, 5))
    response.end(Buffer.from('Malm\u00f6').subarray(5))
  })
  assert.deepEqual(await createGet(bounds)(url, never), { status: 418, text: 'Malmö' })
})

test('a redirection is not followed: it would carry the token along', async (t) => {
  let asked = 0
  const url = await served(t, (_, response) => {
    asked += 1
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  assert.equal((await createGet(bounds)(url, never)).status, 302)
  assert.equal(asked, 1)
})

test('what is too long, too late or broken is told without the address', async (t) => {
  const endless = await served(t, (_, response) => response.end('x'.repeat(1001)))
  const silent = await served(t, () => {})
  const broken = await served(t, ({ socket }) => socket.destroy())
  const refused: [URL, RegExp, typeof bounds?][] = [
    [endless, /exceeds 1000 bytes/],
    [silent, /no answer within 0.02 s/, { timeout_ms: 20, bytes_max: 1000 }],
    [broken, /other side closed|socket hang up|ECONNRESET/],
    [new URL('http://127.0.0.1:1/?securityToken=sesame'), /ECONNREFUSED|bad port/],
  ]
  for (const [url, why, within = bounds] of refused) {
    await assert.rejects(createGet(within)(url, never), (error: Error) => {
      assert.match(error.message, why)
      assert.doesNotMatch(`${error.message} ${error.cause ?? ''}`, /sesame/)
      return true
    })
  }
})

test('a server that stops is no fault of the source', async (t) => {
  const stopping = new AbortController()
  const url = await served(t, () => stopping.abort(new Error('the server stops')))
  await assert.rejects(createGet(bounds)(url, stopping.signal), /the server stops/)
})
