/** The headers of the reference page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from '../../server/endpoints.ts'
import { documents } from '../../server/http/documents.ts'
import { sampleServer } from './sample-server.ts'

test('the reference page may load its own style and script, and be framed by nobody', async () => {
  const options = { documents: documents(endpoints, []) }
  const server = await sampleServer({ options })
  try {
    const { statusCode, headers } = await server.app.inject('/docs')
    assert.equal(statusCode, 200)
    const policy = String(headers['content-security-policy'])
    const directives = new Map(
      policy.split('; ').map((directive) => directive.split(/ (.*)/, 2) as [string, string]),
    )
    assert.deepEqual(Object.fromEntries(directives), {
      'default-src': "'none'",
      'style-src': "'self'",
      'script-src': "'self'",
      'img-src': 'data:',
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
    const style = await server.app.inject('/docs/page.css')
    assert.match(String(style.headers['content-type']), /^text\/css/)
    assert.equal(style.headers['x-content-type-options'], 'nosniff')
  } finally {
    await server.drop()
  }
})
