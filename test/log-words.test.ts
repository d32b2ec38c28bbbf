/** What `npm start` prints of the logs of its programs. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { logWords } from '../scripts/log-words.ts'

const words = (fields: object) => logWords('server', JSON.stringify(fields), false)

test('a logged line is told in words, with the reason of an error once', () => {
  assert.equal(words({ level: 30, msg: 'serving' }), 'server: serving')
  const err = { message: 'no route' }
  assert.equal(words({ msg: 'a job failed', err }), 'server: a job failed: no route')
  assert.equal(words({ msg: 'failed: no route', err }), 'server: failed: no route')
  assert.equal(logWords('edge', 'site.yaml: wrong', false), 'edge: site.yaml: wrong')
  assert.equal(words({ level: 30 }), 'server: {"level":30}')
})

test('a message is printed with what it is about', () => {
  const slow = { level: 40, time: 1, pid: 7, hostname: 'h', msg: 'slow', url: '/v1/sites', ms: 812 }
  assert.equal(words(slow), 'server: slow (url=/v1/sites ms=812)')
  assert.equal(words({ msg: 'slow', request: { url: '/' } }), 'server: slow')
})

test('nothing that was logged forges a line of another program, or colours it', () => {
  const forged = 'Invalid origin: x\nedge: all devices are safe\u001b[2J\u2028\u202e'
  const shown = 'Invalid origin: x\\u000aedge: all devices are safe\\u001b[2J\\u2028\\u202e'
  assert.equal(words({ msg: forged }), `server: ${shown}`)
  assert.equal(words({ msg: 'failed', err: { message: forged } }), `server: failed: ${shown}`)
  assert.equal(logWords('server', forged, false), `server: ${shown}`)
  assert.equal(logWords('server', forged, true), shown)
})

test('a message is printed in 1000 characters at most', () => {
  assert.equal(words({ msg: 'x'.repeat(100_000) }).length, 'server: '.length + 1000)
})
