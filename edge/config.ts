/** The edge agent's settings, read once from the environment; docs/operating.md lists them. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { edgeTokenPattern } from '@heliograph/domain/link'

export interface EdgeConfig {
  site_file: string
  data_dir: string
  server_url: string
  token: string
  /** null: no metrics are served. */
  metrics_port: number | null
  log_level: string
  journal_bytes_max: number
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const journal_bytes_min = 4 * 2 ** 20

/** Reads the settings; every fault is named at once, with its variable and never with a secret. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): EdgeConfig {
  const faults: string[] = []
  const integer = (name: string, fallback: number, minimum: number, maximum: number): number => {
    const text = environment[name]
    if (text === undefined || text === '') return fallback
    const value = Number(text)
    if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
    faults.push(`${name}: a whole number from ${minimum} to ${maximum}, not '${text}'`)
    return fallback
  }
  const server_url = environment['SERVER_URL'] || 'ws://127.0.0.1:8080'
  if (!isWebSocketUrl(server_url)) {
    faults.push('SERVER_URL: a ws:// or wss:// address without user, query or fragment')
  }
  const token = readToken(environment, faults)
  const log_level = environment['LOG_LEVEL'] || 'info'
  if (!logLevels.includes(log_level)) {
    faults.push(`LOG_LEVEL: one of ${logLevels.join(', ')}, not '${log_level}'`)
  }
  const metrics_port = integer('METRICS_PORT', 9465, 0, 65_535)
  const config: EdgeConfig = {
    site_file: resolve(environment['SITE_FILE'] || './site.yaml'),
    data_dir: resolve(environment['EDGE_DATA_DIR'] || './data/edge'),
    server_url,
    token,
    metrics_port: metrics_port === 0 ? null : metrics_port,
    log_level,
    journal_bytes_max: integer('JOURNAL_BYTES_MAX', 2 ** 30, journal_bytes_min, 2 ** 40),
  }
  if (faults.length > 0) throw new Error(`The settings are not right:\n  ${faults.join('\n  ')}`)
  return config
}

function readToken(environment: NodeJS.ProcessEnv, faults: string[]): string {
  const file = environment['EDGE_TOKEN_FILE']
  let token = environment['EDGE_TOKEN'] ?? ''
  if (file && token) faults.push('EDGE_TOKEN and EDGE_TOKEN_FILE: set one of them')
  else if (file) {
    try {
      token = readFileSync(file, 'utf8').trim()
    } catch (error) {
      faults.push(`EDGE_TOKEN_FILE: cannot read ${file}: ${(error as Error).message}`)
      return ''
    }
  }
  if (!edgeTokenPattern.test(token)) {
    const name = file ? 'EDGE_TOKEN_FILE' : 'EDGE_TOKEN'
    faults.push(`${name}: the token that the server gave for this edge, edge_<12 hex>_<64 hex>`)
  }
  return token
}

function isWebSocketUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  const extra = username + password + search + hash
  return ['ws:', 'wss:'].includes(protocol) && extra === ''
}
