/** The server's settings, read once from the environment; docs/operating.md lists them. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'

export interface ServerConfig {
  host: string
  port: number
  data_dir: string
  /** null: the embedded PostgreSQL in the data directory. */
  database_url: string | null
  database_connections: number
  metrics_port: number | null
  log_level: string
  tls: { cert: Buffer; key: Buffer } | null
  /** Addresses or networks of the proxies whose X-Forwarded-* is believed. */
  trusted_proxies: string[]
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the settings; every fault is named at once, with its variable. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): ServerConfig {
  const faults: string[] = []
  const integer = (name: string, fallback: number, minimum: number, maximum: number): number => {
    const text = environment[name]
    if (text === undefined || text === '') return fallback
    const value = Number(text)
    if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
    faults.push(`${name}: a whole number from ${minimum} to ${maximum}, not '${text}'`)
    return fallback
  }
  const file = (name: string): Buffer | null => {
    const path = environment[name]
    if (!path) return null
    try {
      return readFileSync(path)
    } catch (error) {
      faults.push(`${name}: cannot read ${path}: ${(error as Error).message}`)
      return null
    }
  }
  const cert = file('TLS_CERT_FILE')
  const key = file('TLS_KEY_FILE')
  if ((cert === null) !== (key === null)) {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE: set both or neither')
  }
  const tls = cert && key ? { cert, key } : null
  const tls_fault = tls && tlsFault(tls)
  if (tls_fault) faults.push(`TLS_CERT_FILE and TLS_KEY_FILE: ${tls_fault}`)
  const trusted_proxies = (environment['TRUSTED_PROXIES'] || '').split(/[\s,]+/).filter(Boolean)
  for (const proxy of trusted_proxies.filter((text) => !isNetwork(text))) {
    faults.push(`TRUSTED_PROXIES: an address or a network such as 10.0.0.0/8, not '${proxy}'`)
  }
  const log_level = environment['LOG_LEVEL'] || 'info'
  if (!logLevels.includes(log_level)) {
    faults.push(`LOG_LEVEL: one of ${logLevels.join(', ')}, not '${log_level}'`)
  }
  const database_url = environment['DATABASE_URL'] || null
  if (database_url !== null && !/^postgres(ql)?:\/\//.test(database_url)) {
    faults.push('DATABASE_URL: a postgres:// address')
  }
  const metrics_port = integer('METRICS_PORT', 9464, 0, 65_535)
  const config: ServerConfig = {
    host: environment['HOST'] || '127.0.0.1',
    port: integer('PORT', 8080, 0, 65_535),
    data_dir: resolve(environment['DATA_DIR'] || './data'),
    database_url,
    database_connections: integer('DATABASE_CONNECTIONS', 20, 4, 500),
    metrics_port: metrics_port === 0 ? null : metrics_port,
    log_level,
    tls,
    trusted_proxies,
  }
  if (faults.length > 0) throw new Error(`The settings are not right:\n  ${faults.join('\n  ')}`)
  return config
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
