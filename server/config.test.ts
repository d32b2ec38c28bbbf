import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { readConfig } from './config.ts'

test('every setting that is not right is named, all at once', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-config-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const no_pem = join(directory, 'no.pem')
  writeFileSync(no_pem, 'not a certificate')
  const environment = {
    PORT: '65536',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://db',
    TRUSTED_PROXIES: '10.0.0.1, proxy.example 10.0.0.0/33',
    TLS_CERT_FILE: no_pem,
    TLS_KEY_FILE: no_pem,
  }
  const named = [
    /PORT:/,
    /LOG_LEVEL:/,
    /DATABASE_URL:/,
    /'proxy.example'/,
    /'10.0.0.0\/33'/,
    /TLS_/,
  ]
  assert.throws(
    () => readConfig(environment),
    ({ message }: Error) => {
      for (const name of named) assert.match(message, name)
      assert.doesNotMatch(message, /'10.0.0.1'/)
      return true
    },
  )
})

test('proxies are addresses and networks of both families', () => {
  const { trusted_proxies } = readConfig({
    TRUSTED_PROXIES: '10.0.0.1,172.16.0.0/12 ::1, fd00::/8',
  })
  assert.deepEqual(trusted_proxies, ['10.0.0.1', '172.16.0.0/12', '::1', 'fd00::/8'])
})

test('readings are kept for a number of days, or for ever', () => {
  const kept = (RETENTION_RAW_DAYS?: string) =>
    readConfig(RETENTION_RAW_DAYS === undefined ? {} : { RETENTION_RAW_DAYS }).retention_raw_days
  assert.equal(kept(), 730)
  assert.equal(kept('35'), 35)
  assert.equal(kept('0'), null)
  assert.throws(() => kept('34'), /RETENTION_RAW_DAYS: a whole number from 35/)
  assert.throws(() => kept('-1'), /RETENTION_RAW_DAYS/)
})
