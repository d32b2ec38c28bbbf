import assert from 'node:assert/strict'
import test from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { render } from './render.ts'
import { cachedDocument } from './send.ts'

test('a document that stays the same is compressed once for each encoding', async () => {
  const text = 'the same for everybody '.repeat(1000)
  const {
    content_type,
    headers = {},
    ...kept
  } = cachedDocument({
    path: '/docs',
    content_type: 'text/html',
    text,
    headers: { 'x-kept': 'yes' },
  })
  const ask = async (accept_encoding: string, if_none_match?: string) =>
    render(
      { status: 200, headers, ...kept },
      { cache: 'static', content_type, asked: { accept_encoding, if_none_match, is_read: true } },
    )
  const [first, second] = await Promise.all([ask('br'), ask('br')])
  assert.equal(first.body, second.body)
  assert.equal(String(brotliDecompressSync(first.body)), text)
  assert.equal(first.headers['x-kept'], 'yes')
  const packed = await ask('gzip')
  assert.equal((await ask('gzip')).body, packed.body)
  assert.equal(String(gunzipSync(packed.body)), text)
  assert.equal(String((await ask('')).body), text)
  assert.match(first.headers['etag']!, /^"[\w-]{27}-br"$/)
  assert.equal((await ask('gzip', first.headers['etag'])).status, 304)
})
