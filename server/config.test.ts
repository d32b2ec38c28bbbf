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
  const kept = (RETENTION_RAW_DAYS?: string, RETENTION_MINUTE_DAYS?: string) => {
    const given = Object.entries({ RETENTION_RAW_DAYS, RETENTION_MINUTE_DAYS })
    const config = readConfig(Object.fromEntries(given.filter(([, text]) => text !== undefined)))
    return [config.retention_raw_days, config.retention_minute_days]
  }
  assert.deepEqual(kept(), [35, 760])
  assert.deepEqual(kept('10', '10'), [10, 10])
  assert.deepEqual(kept('800'), [800, 800], 'the usual minutes are no shorter than what is given')
  assert.deepEqual(kept('35', '0'), [35, null])
  assert.deepEqual(kept('0'), [null, null])
  assert.throws(() => kept('9'), /RETENTION_RAW_DAYS: a whole number from 10/)
  assert.throws(() => kept('-1'), /RETENTION_RAW_DAYS/)
  assert.throws(() => kept('35', '34'), /RETENTION_MINUTE_DAYS: no less than .*, which is 35/)
  assert.throws(() => kept('0', '760'), /RETENTION_MINUTE_DAYS: no less than .*, which is for ever/)
})
