/** The server's settings, read once from the environment; docs/operating.md lists them. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { type Settings, settingsOf } from '@heliograph/domain/settings'

/** A year and the one before it, to compare it with. */
const retention_raw_days_usual = 730

export interface ServerConfig {
  host: string
  port: number
  data_dir: string
  /** null: the embedded PostgreSQL in the data directory. */
  database_url: string | null
  database_connections: number
  metrics_port: number | null
  /** Readings as they came are kept this many days; null: for ever. */
  retention_raw_days: number | null
  log_level: string
  tls: { cert: Buffer; key: Buffer } | null
  /** Addresses or networks of the proxies whose X-Forwarded-* is believed. */
  trusted_proxies: string[]
}

/** Reads the settings; every fault is named at once, with its variable. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): ServerConfig {
  const settings = settingsOf(environment)
  const trusted_proxies = (settings.text('TRUSTED_PROXIES') ?? '').split(/[\s,]+/).filter(Boolean)
  for (const proxy of trusted_proxies.filter((text) => !isNetwork(text))) {
    const what = `an address or a network such as 10.0.0.0/8, not '${proxy}'`
    settings.fault('TRUSTED_PROXIES', what)
  }
  const database_url = settings.text('DATABASE_URL')
  if (database_url !== null && !/^postgres(ql)?:\/\//.test(database_url)) {
    settings.fault('DATABASE_URL', 'a postgres:// address')
  }
  const port = (name: string, fallback: number) =>
    settings.integer(name, { fallback, minimum: 0, maximum: 65_535 })
  const config: ServerConfig = {
    host: settings.text('HOST') ?? '127.0.0.1',
    port: port('PORT', 8080),
    data_dir: resolve(settings.text('DATA_DIR') ?? './data'),
    database_url,
    database_connections: settings.integer('DATABASE_CONNECTIONS', {
      fallback: 20,
      minimum: 4,
      maximum: 500,
    }),
    metrics_port: port('METRICS_PORT', 9464) || null,
    retention_raw_days: readRetention(settings),
    log_level: settings.logLevel(),
    tls: readTls(settings),
    trusted_proxies,
  }
  settings.check()
  return config
}

/** A short one would drop what an edge that was cut off for weeks is yet to send. */
function readRetention(settings: Settings): number | null {
  const range = { fallback: retention_raw_days_usual, minimum: 35, maximum: 36_500 }
  if (settings.text('RETENTION_RAW_DAYS') === '0') return null
  return settings.integer('RETENTION_RAW_DAYS', range)
}

function readTls(settings: Settings): ServerConfig['tls'] {
  const read = (name: string): Buffer | null => {
    const path = settings.text(name)
    if (path === null) return null
    try {
      return readFileSync(path)
    } catch (error) {
      settings.fault(name, `cannot read ${path}: ${(error as Error).message}`)
      return null
    }
  }
  const cert = read('TLS_CERT_FILE')
  const key = read('TLS_KEY_FILE')
  const both = 'TLS_CERT_FILE and TLS_KEY_FILE'
  if ((cert === null) !== (key === null)) settings.fault(both, 'set both or neither')
  if (cert === null || key === null) return null
  const fault = tlsFault({ cert, key })
  if (fault) settings.fault(both, fault)
  return { cert, key }
}

/** Why a certificate and a key are none, or not of each other; null where they are good. */
function tlsFault(pair: { cert: Buffer; key: Buffer }): string | null {
  try {
    createSecureContext(pair)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const bits_max = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
  if (bits === undefined) return bits_max > 0
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= bits_max
}
