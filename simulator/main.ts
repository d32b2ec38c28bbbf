/** The simulator: a site whose devices answer by Modbus and MQTT. */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import type { Site } from '@heliograph/domain/site'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { describeProblems } from '@heliograph/domain/yaml-file'
import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { readConfig } from './config.ts'
import { misplacedFaults } from './faults.ts'
import { serveForecasts } from './forecast-service.ts'
import { serveModbus } from './modbus.ts'
import { publishNodes } from './nodes/publisher.ts'
import { createPlant } from './plant.ts'
import { createSimulation } from './site.ts'
import { keepSaved, openState, saveState } from './state-file.ts'

function readSite(file: string): Site {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`SITE_FILE: cannot read ${file}: ${(error as Error).message}`)
  }
  const parsed = parseSiteFile(text)
  if ('site' in parsed) return parsed.site
  throw new Error(describeProblems(file, parsed.problems).join('\n'))
}

async function main(): Promise<void> {
  const config = readConfig()
  const log = pino({ name: 'simulator', level: config.log_level })
  const site = readSite(config.site_file)
  const misplaced = misplacedFaults(site, config.faults)
  if (misplaced.length > 0) throw new Error(`FAULTS: ${misplaced.join('\n  ')}`)
  const state = openState(config.state_file, {
    site,
    seed: config.seed,
    now_ms: systemClock.now().getTime(),
  })
  const simulation = createSimulation(site, state.seed)
  const plant = createPlant(simulation, state.now, {
    clock: systemClock,
    speed: config.speed,
    faults: config.faults,
    limits: state.limits,
    batteries: state.batteries,
  })
  const stopSaving = keepSaved(config.state_file, state, {
    limits: plant.limits,
    timers: systemTimers,
  })
  plant.snapshot()
  const served = await serveModbus(plant, log, dirname(config.site_file))
  const credentials = config.mqtt_credentials
  const nodes = publishNodes(plant, { credentials, log })
  const { weather_port: port } = config
  const { now_ms } = plant
  const forecasts = port === null ? null : await serveForecasts(simulation, { port, now_ms, log })
  const faults = [...simulation.faults, ...config.faults]
  log.info({ connections: site.connections, faults }, 'simulating')

  const grace = closeWithGrace({ logger: log }, async ({ err }) => {
    if (err) log.fatal({ err }, err.message)
    await served.close()
    await nodes.close()
    await forecasts?.close()
    plant.snapshot()
    stopSaving()
    saveState(config.state_file, state)
    log.info('stopped')
  })
  process.once('disconnect', grace.close)
  process.send?.('ready')
}

main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
})
