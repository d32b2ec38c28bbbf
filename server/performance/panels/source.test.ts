import assert from 'node:assert/strict'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import test, { type TestContext } from 'node:test'
import { PanelListError } from './csv.ts'
import { readSource } from './source.ts'

async function served(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const refused = (source: string, message: RegExp, options = {}) =>
  assert.rejects(readSource(source, options), (error: Error) => {
    assert.ok(error instanceof PanelListError, `${error}`)
    assert.match(error.message, message)
    return true
  })

test('a file is read whole and remembered by its name', async (t) => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'heliograph-panels-'))
  t.after(() => rm(directory, { recursive: true }))
  const file = path.join(directory, 'CEC Modules.csv')
  await writeFile(file, 'abc')
  const { bytes, name } = await readSource(file)
  assert.deepEqual([String(bytes), name], ['abc', 'CEC Modules.csv'])
  await refused(path.join(directory, 'none.csv'), /none\.csv cannot be read/)
  await refused(directory, /is not a file/)
  await truncate(file, 50e6 + 1)
  await refused(file, /larger than 50 MB/)
})

test('an address is read whole, over redirects, and remembered without its query', async (t) => {
  const address = await served(t, ({ url }, answer) => {
    if (url?.startsWith('/moved')) answer.writeHead(302, { location: '/list.csv?secret=1' }).end()
    else answer.end('ab')
  })
  const { bytes, name } = await readSource(`${address}/moved?token=secret`)
  assert.deepEqual([String(bytes), name], ['ab', `${address}/moved`])
})

test('what an address cannot give is told, without what may be secret in it', async (t) => {
  const address = await served(t, ({ url }, answer) => {
    if (url?.startsWith('/gone')) answer.writeHead(404).end('no')
    else if (url === '/slow') answer.write('a,b')
    else if (url === '/broken') answer.writeHead(200, { 'content-length': 9 }).write('x')
    if (url === '/broken') setImmediate(() => answer.destroy())
    if (url === '/endless') {
      const block = Buffer.alloc(1 << 20, 'x')
      const write = () => {
        while (!answer.destroyed && answer.write(block));
      }
      answer.on('drain', write)
      write()
    }
  })
  await refused(`${address}/gone?token=secret`, /\/gone answers 404 Not Found$/)
  await refused(`${address}/slow`, /has not answered in full within 0\.2 s/, { timeout_ms: 200 })
  await refused(`${address}/broken`, /\/broken cannot be read/)
  await refused(`${address}/endless`, /larger than 50 MB/)
  await refused('http://127.0.0.1:1/x?token=secret', /^http:\/\/127\.0\.0\.1:1\/x cannot be read$/)
  await refused(
    'http://me:secret@127.0.0.1/x',
    /^an address must not have a user or password in it$/,
  )
  await refused('ftp://127.0.0.1/x', /from a file or from an http or https address/)
  await refused('file:///etc/passwd', /from a file or from an http or https address/)
})
