/** Settings of the simulator from the environment; docs/settings.md lists them. */
import { readFileSync } from 'node:fs'
import { type MqttCredentials, parseMqttCredentials } from '@heliograph/domain/node'
import { type Settings, settingsOf } from '@heliograph/domain/settings'
import { type Fault, parseFault } from './faults.ts'

interface SimulatorConfig {
  site_file: string
  seed: number
  speed: number
  faults: Fault[]
  mqtt_credentials: MqttCredentials | null
  /** File with the energy counters; null keeps them in memory. */
  state_file: string | null
  weather_port: number | null
  log_level: string
}

/** @throws {Error} naming every invalid setting */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): SimulatorConfig {
  const settings = settingsOf(environment)
  const speed = Number(settings.text('SPEED') ?? 1)
  if (!(speed > 0 && speed <= 10_000)) {
    settings.fault('SPEED', `a number above 0 and up to 10000, not '${settings.text('SPEED')}'`)
  }
  const config: SimulatorConfig = {
    site_file: settings.text('SITE_FILE') ?? './site.yaml',
    seed: settings.integer('SEED', { fallback: 1, minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }),
    speed,
    faults: readFaults(settings),
    mqtt_credentials: readCredentials(settings),
    state_file: settings.text('STATE_FILE'),
    weather_port:
      settings.integer('WEATHER_PORT', { fallback: 0, minimum: 0, maximum: 65_535 }) || null,
    log_level: settings.logLevel(),
  }
  settings.check()
  return config
}

function readFaults(settings: Settings): Fault[] {
  const texts = (settings.text('FAULTS') ?? '').split(',').filter((part) => part.trim())
  return texts.flatMap((text) => {
    try {
      return [parseFault(text)]
    } catch (error) {
      settings.fault('FAULTS', (error as Error).message)
      return []
    }
  })
}

function readCredentials(settings: Settings): MqttCredentials | null {
  const file = settings.text('MQTT_CREDENTIALS_FILE')
  if (!file) return null
  try {
    const credentials = parseMqttCredentials(readFileSync(file, 'utf8'))
    if (!credentials) settings.fault('MQTT_CREDENTIALS_FILE', `${file}: one line, user:password`)
    return credentials
  } catch (error) {
    settings.fault('MQTT_CREDENTIALS_FILE', `cannot read ${file}: ${(error as Error).message}`)
    return null
  }
}
