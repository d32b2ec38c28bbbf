/** The edge agent's settings, read once from the environment; docs/settings.md lists them. */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { edgeTokenPattern } from '@heliograph/domain/link'
import { parseMqttCredentials } from '@heliograph/domain/node'
import { type ServiceManager, serviceManagerOf } from '@heliograph/domain/service-manager'
import { type Settings, settingsOf } from '@heliograph/domain/settings'
import type { MqttAccess } from './nodes/nodes.ts'

export interface EdgeFiles {
  site_file: string
  permit_file: string
  data_dir: string
}

/** What an agent needs beside a server. */
export interface LocalConfig extends EdgeFiles {
  journal_bytes_max: number
  /** Of what gathered during an outage, while it follows behind live data. */
  backlog_bytes_per_s: number
  mqtt: MqttAccess
}

export interface EdgeConfig extends LocalConfig {
  server_url: string
  token: string
  /** null: no metrics are served. */
  metrics_port: number | null
  log_level: string
  service_manager: ServiceManager | null
}

const journal_bytes_min = 4 * 2 ** 20

/** Reads the settings; every fault is named at once, with its variable and never with a secret. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): EdgeConfig {
  const settings = settingsOf(environment)
  const server_url = settings.text('SERVER_URL') ?? 'ws://127.0.0.1:8080'
  if (!isWebSocketUrl(server_url)) {
    settings.fault('SERVER_URL', 'a ws:// or wss:// address without user, query or fragment')
  }
  const config: EdgeConfig = {
    ...localOf(settings),
    server_url,
    token: readToken(settings),
    metrics_port:
      settings.integer('METRICS_PORT', { fallback: 9465, minimum: 0, maximum: 65_535 }) || null,
    log_level: settings.logLevel(),
    service_manager: serviceManagerOf(environment),
  }
  settings.check()
  return config
}

/** The settings of an agent without a server; faults as `readConfig` names them. */
export function readLocalConfig(environment: NodeJS.ProcessEnv = process.env): LocalConfig {
  const settings = settingsOf(environment)
  const config = localOf(settings)
  settings.check()
  return config
}

function localOf(settings: Settings): LocalConfig {
  return {
    ...filesOf(settings),
    journal_bytes_max: settings.integer('JOURNAL_BYTES_MAX', {
      fallback: 2 ** 30,
      minimum: journal_bytes_min,
      maximum: 2 ** 40,
    }),
    backlog_bytes_per_s: settings.integer('BACKLOG_BYTES_PER_S', {
      fallback: 2 ** 20,
      minimum: 1024,
      maximum: 2 ** 30,
    }),
    mqtt: readMqtt(settings),
  }
}

/** Where the files of the edge are, for what is done beside the agent. */
export function readFiles(environment: NodeJS.ProcessEnv = process.env): EdgeFiles {
  return filesOf(settingsOf(environment))
}

/** Where `heliograph-edge setup` writes, and what the agent will need. */
export interface SetupConfig
  extends Pick<LocalConfig, 'site_file' | 'data_dir' | 'journal_bytes_max'> {
  token_file: string
  /** The file of settings of the service; null: the settings come from the environment alone. */
  settings_file: string | null
}

export function readSetupConfig(environment: NodeJS.ProcessEnv = process.env): SetupConfig {
  const settings = settingsOf(environment)
  const { site_file, data_dir, journal_bytes_max } = localOf(settings)
  settings.check()
  const settings_file = settings.text('EDGE_SETTINGS_FILE')
  return {
    site_file,
    data_dir,
    journal_bytes_max,
    token_file: resolve(settings.text('EDGE_TOKEN_FILE') ?? './edge-token'),
    settings_file: settings_file && resolve(settings_file),
  }
}

/** Who asks for something on the edge's machine, as far as the account says. */
export function readOperator(environment: NodeJS.ProcessEnv = process.env): string {
  const by = environment['SUDO_USER']
  try {
    const { username } = userInfo()
    return by ? `${by} as ${username}` : username
  } catch {
    // An account without a name, as in a container.
    return `account ${process.getuid?.() ?? 'unknown'}`
  }
}

function filesOf(settings: Settings): EdgeFiles {
  return {
    site_file: resolve(settings.text('SITE_FILE') ?? './site.yaml'),
    permit_file: resolve(settings.text('PERMIT_FILE') ?? './permit.yaml'),
    data_dir: resolve(settings.text('EDGE_DATA_DIR') ?? './data/edge'),
  }
}

function readToken(settings: Settings): string {
  const file = settings.text('EDGE_TOKEN_FILE')
  let token = settings.text('EDGE_TOKEN') ?? ''
  if (file && token) settings.fault('EDGE_TOKEN and EDGE_TOKEN_FILE', 'set one of them')
  else if (file) {
    try {
      token = readFileSync(file, 'utf8').trim()
    } catch (error) {
      settings.fault('EDGE_TOKEN_FILE', `cannot read ${file}: ${(error as Error).message}`)
      return ''
    }
  }
  if (!edgeTokenPattern.test(token)) {
    const what = 'the token that the server gave for this edge, edge_<12 hex>_<64 hex>'
    settings.fault(file ? 'EDGE_TOKEN_FILE' : 'EDGE_TOKEN', what)
  }
  return token
}

function readMqtt(settings: Settings): MqttAccess {
  const file = settings.text('MQTT_CREDENTIALS_FILE')
  const ca_file = settings.text('MQTT_CA_FILE')
  const access = { credentials: null, ca_file: ca_file && resolve(ca_file) }
  if (!file) return access
  try {
    const credentials = parseMqttCredentials(readFileSync(file, 'utf8'))
    if (credentials) return { ...access, credentials }
    settings.fault('MQTT_CREDENTIALS_FILE', `${file} must hold one line, user:password`)
  } catch (error) {
    settings.fault('MQTT_CREDENTIALS_FILE', `cannot read ${file}: ${(error as Error).message}`)
  }
  return access
}

function isWebSocketUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  const extra = username + password + search + hash
  return ['ws:', 'wss:'].includes(protocol) && extra === ''
}
