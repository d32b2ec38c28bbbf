/** Settings of the server from the environment; docs/settings.md lists them. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { type ServiceManager, serviceManagerOf } from '@heliograph/domain/service-manager'
import { type Settings, settingsOf } from '@heliograph/domain/settings'
import { type WeatherSettings, weatherSources } from './forecasts/weather/settings.ts'
import type { AnswerCheck } from './http/answer.ts'
import { type MailSettings, readMailSettings, readPublicUrl } from './mail/settings.ts'
import type { PriceSettings } from './markets/fetch.ts'
import type { BackupSchedule } from './storage/scheduled-backups.ts'
import type { RetentionSettings } from './telemetry/retention.ts'

/** Usual days of retention: two years to compare, and ten of minutes. */
const usual_days = { raw: 730, minute: 3650 }

export interface ServerConfig extends RetentionSettings {
  version: string
  host: string
  port: number
  data_dir: string
  /** null for the embedded PostgreSQL in the data directory. */
  database_url: string | null
  database_connections: number
  metrics_port: number | null
  prices: PriceSettings
  /** Source of weather forecasts; null for none. */
  weather_forecast: WeatherSettings | null
  /** The address that browsers use; null when not configured. */
  public_url: string | null
  /** The mail server; null for none. */
  mail: MailSettings | null
  /** null to make no backups. */
  backups: BackupSchedule | null
  log_level: string
  check_answers: AnswerCheck
  tls: { cert: Buffer; key: Buffer } | null
  /** Addresses or networks of proxies whose X-Forwarded-* headers are trusted. */
  trusted_proxies: string[]
  /** Addresses or networks beside the public internet to which webhooks may be sent. */
  webhook_networks: string[]
  service_manager: ServiceManager | null
}

/** Reads the settings; throws all faults at once, with their variables. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): ServerConfig {
  const settings = settingsOf(environment)
  const trusted_proxies = readNetworks(settings, 'TRUSTED_PROXIES')
  const database_url = settings.text('DATABASE_URL')
  if (database_url !== null && !/^postgres(ql)?:\/\//.test(database_url)) {
    settings.fault('DATABASE_URL', 'a postgres:// address')
  }
  const port = (name: string, fallback: number) =>
    settings.integer(name, { fallback, minimum: 0, maximum: 65_535 })
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
  const config: ServerConfig = {
    version,
    host: settings.text('HOST') ?? '127.0.0.1',
    port: port('PORT', 8080),
    data_dir: resolve(settings.text('DATA_DIR') ?? './data'),
    database_url,
    database_connections: settings.integer('DATABASE_CONNECTIONS', {
      fallback: 20,
      minimum: 6,
      maximum: 500,
    }),
    metrics_port: port('METRICS_PORT', 9464) || null,
    ...readRetention(settings),
    prices: readPriceSources(settings),
    weather_forecast: readWeather(settings),
    public_url: readPublicUrl(settings),
    mail: readMailSettings(settings),
    backups: readBackups(settings),
    log_level: settings.logLevel(),
    check_answers: settings.choice('ANSWER_CHECK', ['strict', 'lenient'], 'lenient'),
    tls: readTls(settings),
    trusted_proxies,
    webhook_networks: readNetworks(settings, 'WEBHOOK_NETWORKS'),
    service_manager: serviceManagerOf(environment),
  }
  settings.check()
  return config
}

function readBackups(settings: Settings): BackupSchedule | null {
  const dir = settings.text('BACKUP_DIR')
  const hour = settings.integer('BACKUP_HOUR', { fallback: 1, minimum: 0, maximum: 23 })
  const kept = settings.integer('BACKUPS_KEPT', { fallback: 14, minimum: 1, maximum: 1000 })
  if (dir === null) return null
  if (settings.text('DATABASE_URL') !== null) {
    settings.fault('BACKUP_DIR', 'only for the embedded database, without DATABASE_URL')
  }
  return { dir: resolve(dir), hour, kept }
}

/** Readings that arrive after their week was thinned enter no sum, so this is the minimum. */
const retention_days_min = 10

function readRetention(settings: Settings): RetentionSettings {
  const days = (name: string, fallback: number | null) => {
    const text = settings.text(name)
    if (text === null) return fallback
    if (text === '0') return null
    const range = { fallback: 0, minimum: retention_days_min, maximum: 36_500 }
    return settings.integer(name, range) || null
  }
  const asked = days('RETENTION_RAW_DAYS', usual_days.raw)
  const usual_minute = asked === null ? null : Math.max(asked, usual_days.minute)
  const minute = days('RETENTION_MINUTE_DAYS', usual_minute)
  // Without a setting, all readings are kept no longer than minutes are.
  const is_usual = settings.text('RETENTION_RAW_DAYS') === null
  const raw = is_usual && minute !== null ? Math.min(usual_days.raw, minute) : asked
  if (minute !== null && minute < (raw ?? Number.POSITIVE_INFINITY)) {
    const shown = raw === null ? 'unlimited' : `${raw}`
    settings.fault('RETENTION_MINUTE_DAYS', `at least RETENTION_RAW_DAYS, which is ${shown}`)
  }
  return { retention_raw_days: raw, retention_minute_days: minute }
}

function readPriceSources(settings: Settings): PriceSettings {
  return {
    entsoe_token: settings.text('ENTSOE_TOKEN'),
    entsoe_url: webAddress(settings, 'ENTSOE_URL', 'https://web-api.tp.entsoe.eu/api'),
    energy_charts_url: webAddress(settings, 'ENERGY_CHARTS_URL', 'https://api.energy-charts.info'),
  }
}

function webAddress(settings: Settings, name: string, usual: string): string {
  const text = settings.text(name) ?? usual
  const { protocol } = URL.parse(text) ?? {}
  if (protocol === 'https:' || protocol === 'http:') return text
  settings.fault(name, 'an http or https address')
  return usual
}

function readWeather(settings: Settings): WeatherSettings | null {
  const source = settings.choice('WEATHER_FORECAST', ['none', ...weatherSources], 'none')
  if (source === 'none') return null
  const is_own = settings.text('WEATHER_FORECAST_URL') !== null
  const url = is_own ? webAddress(settings, 'WEATHER_FORECAST_URL', '') : null
  const contact = settings.text('WEATHER_FORECAST_CONTACT')
  if (source === 'met_norway' && !/^[\x20-\x7e]+$/.test(contact ?? '')) {
    const what = 'a mail address or web site for contact, which met_norway requires'
    settings.fault('WEATHER_FORECAST_CONTACT', what)
  }
  return { source, url, key: settings.text('WEATHER_FORECAST_KEY'), contact }
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

/** The error of a certificate and key that are invalid or do not match; null otherwise. */
function tlsFault(pair: { cert: Buffer; key: Buffer }): string | null {
  try {
    createSecureContext(pair)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

function readNetworks(settings: Settings, name: string): string[] {
  const networks = (settings.text(name) ?? '').split(/[\s,]+/).filter(Boolean)
  for (const network of networks.filter((text) => !isNetwork(text))) {
    settings.fault(name, `an address or a network such as 10.0.0.0/8, not '${network}'`)
  }
  return networks
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const bits_max = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
  if (bits === undefined) return bits_max > 0
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= bits_max
}
