import assert from 'node:assert/strict'
import test from 'node:test'
import { readConfig } from './config.ts'

const token = `edge_${'0a'.repeat(6)}_${'1b'.repeat(32)}`

test('the defaults need a token and nothing else', () => {
  const config = readConfig({ EDGE_TOKEN: token })
  assert.equal(config.server_url, 'ws://127.0.0.1:8080')
  assert.equal(config.metrics_port, 9465)
  assert.equal(config.backlog_bytes_per_s, 2 ** 20)
  assert.match(config.site_file, /\/site\.yaml$/)
  assert.match(config.permit_file, /\/permit\.yaml$/)
})

test('every wrong setting is named at once, and no secret is', () => {
  const environment = {
    EDGE_TOKEN: 'edge_wrong',
    SERVER_URL: 'https://user:pw@example.org',
    METRICS_PORT: 'x',
    LOG_LEVEL: 'loud',
    JOURNAL_BYTES_MAX: '5',
    BACKLOG_BYTES_PER_S: '0',
  }
  assert.throws(
    () => readConfig(environment),
    ({ message }: Error) => {
      for (const name of Object.keys(environment)) assert.match(message, new RegExp(`${name}: `))
      assert.doesNotMatch(message, /edge_wrong|pw/)
      return true
    },
  )
  assert.throws(() => readConfig({ EDGE_TOKEN: token, EDGE_TOKEN_FILE: '/x' }), /set one of them/)
  assert.throws(() => readConfig({ EDGE_TOKEN_FILE: '/nowhere/token' }), /cannot read \/nowhere/)
})
