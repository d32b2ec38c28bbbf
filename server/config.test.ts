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
    WEATHER_FORECAST: 'met_norway',
    WEATHER_FORECAST_URL: 'ftp://weather.example',
  }
  const named = [
    /PORT:/,
    /LOG_LEVEL:/,
    /DATABASE_URL:/,
    /'proxy.example'/,
    /'10.0.0.0\/33'/,
    /TLS_/,
    /WEATHER_FORECAST_URL:/,
    /WEATHER_FORECAST_CONTACT:/,
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

test('weather comes from nowhere unless it is asked for', () => {
  assert.equal(readConfig({}).weather_forecast, null)
  assert.equal(readConfig({ WEATHER_FORECAST: 'none' }).weather_forecast, null)
  assert.throws(() => readConfig({ WEATHER_FORECAST: 'frog' }), /one of none, open_meteo/)
  const { weather_forecast } = readConfig({
    WEATHER_FORECAST: 'open_meteo',
    WEATHER_FORECAST_URL: 'http://127.0.0.1:15026',
    WEATHER_FORECAST_KEY: 'secret',
  })
  assert.deepEqual(weather_forecast, {
    source: 'open_meteo',
    url: 'http://127.0.0.1:15026',
    key: 'secret',
    contact: null,
  })
})

test('readings are kept for a number of days, or for ever', () => {
  const kept = (RETENTION_RAW_DAYS?: string, RETENTION_MINUTE_DAYS?: string) => {
    const given = Object.entries({ RETENTION_RAW_DAYS, RETENTION_MINUTE_DAYS })
    const config = readConfig(Object.fromEntries(given.filter(([, text]) => text !== undefined)))
    return [config.retention_raw_days, config.retention_minute_days]
  }
  assert.deepEqual(kept(), [730, 3650])
  assert.deepEqual(kept('10', '10'), [10, 10])
  assert.deepEqual(kept('800'), [800, 3650])
  assert.deepEqual(kept('5000'), [5000, 5000], 'minutes are kept no shorter than all readings')
  assert.deepEqual(kept(undefined, '100'), [100, 100])
  assert.deepEqual(kept('35', '0'), [35, null])
  assert.deepEqual(kept('0'), [null, null])
  assert.throws(() => kept('9'), /RETENTION_RAW_DAYS: a whole number from 10/)
  assert.throws(() => kept('-1'), /RETENTION_RAW_DAYS/)
  assert.throws(() => kept('35', '34'), /RETENTION_MINUTE_DAYS: at least .*, which is 35/)
  assert.throws(() => kept('0', '760'), /RETENTION_MINUTE_DAYS: at least .*, which is unlimited/)
})

test('prices are fetched from the public addresses, without a token, unless told otherwise', () => {
  const usual = readConfig({}).prices
  assert.equal(usual.entsoe_token, null)
  assert.match(usual.entsoe_url, /^https:/)
  assert.match(usual.energy_charts_url, /^https:/)
  const ENTSOE_URL = 'http://127.0.0.1:8000/api'
  const told = readConfig({ ENTSOE_URL, ENTSOE_TOKEN: 'sesame' }).prices
  assert.deepEqual([told.entsoe_url, told.entsoe_token], [ENTSOE_URL, 'sesame'])
  assert.throws(
    () => readConfig({ ENTSOE_URL: 'ftp://x', ENTSOE_TOKEN: 'sesame' }),
    (error) => {
      assert.match(`${error}`, /ENTSOE_URL: an http or https address/)
      assert.doesNotMatch(`${error}`, /sesame/)
      return true
    },
  )
  assert.throws(() => readConfig({ ENERGY_CHARTS_URL: 'charts' }), /ENERGY_CHARTS_URL: an http/)
})
