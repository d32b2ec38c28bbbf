import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { silent, testDatabase } from '../../test/postgres.ts'
import { serve } from './serve.ts'
import { readWebPages } from './web-pages.ts'

const html =
  '<!doctype html><meta name="style-nonce" content="__NONCE__"><script type="module" src="/assets/a.js"></script>'

async function servedPages(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-web-'))
  t.after(() => rmSync(folder, { recursive: true }))
  assert.equal(readWebPages(folder), null, 'nothing is built')
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), html)
  writeFileSync(join(folder, 'assets/a.js'), 'export {}')
  writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  const web = readWebPages(folder)!
  const { db, drop } = await testDatabase()
  const app = await serve({
    endpoints: [],
    needs: {},
    db,
    log: silent,
    newId: () => 'test',
    clock: { now: () => new Date('2026-06-21T10:00:00Z') },
    timers: { after: () => () => {} },
    options: { documents: web.documents, page: web.page },
  })
  t.after(async () => {
    await app.close()
    await drop()
  })
  return (url: string, headers: Record<string, string> = {}, method: 'GET' | 'POST' = 'GET') =>
    app.inject({ method, url, headers: { accept: 'text/html', ...headers } })
}

test('every address of the browser is the page, with a policy of its own each time', async (t) => {
  const ask = await servedPages(t)
  const nonces = new Set<string>()
  for (const url of ['/', '/sites/demo/alerts', '/invitation', '/sites/demo?x=1.5']) {
    const { statusCode, headers, payload } = await ask(url)
    assert.equal(statusCode, 200, url)
    assert.match(String(headers['content-type']), /^text\/html/)
    assert.equal(headers['cache-control'], 'no-store')
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; script-src 'self'; /)
    assert.ok(!/unsafe/.test(policy))
    const [, nonce = ''] = /content="([^"]+)"/.exec(payload) ?? []
    assert.ok(policy.includes(`style-src 'self' 'nonce-${nonce}'`))
    nonces.add(nonce)
  }
  assert.equal(nonces.size, 4)
})

test('what a program asks for is no page, nor is a file that is not there', async (t) => {
  const ask = await servedPages(t)
  for (const [url, headers, method] of [
    ['/sites/demo', { accept: 'application/json' }, 'GET'],
    ['/v1/nothing', {}, 'GET'],
    ['/platform/nothing', {}, 'GET'],
    ['/assets/gone.js', {}, 'GET'],
    ['/robots.txt', {}, 'GET'],
    ['/sites/demo', {}, 'POST'],
  ] as const) {
    const { statusCode, headers: given } = await ask(url, headers, method)
    assert.equal(statusCode, 404, url)
    assert.match(String(given['content-type']), /^application\/json/)
  }
})

test('built files are kept for ever, others are asked for again', async (t) => {
  const ask = await servedPages(t)
  const script = await ask('/assets/a.js')
  assert.match(String(script.headers['content-type']), /^text\/javascript/)
  assert.equal(script.headers['cache-control'], 'public, max-age=31536000, immutable')
  const icon = await ask('/icon.svg')
  assert.equal(icon.headers['content-type'], 'image/svg+xml')
  const again = await ask('/icon.svg', { 'if-none-match': String(icon.headers['etag']) })
  assert.equal(again.statusCode, 304)
})
