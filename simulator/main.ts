/** The simulator: a site in a box, served to any Modbus master as its real devices would be. */
import { readFileSync } from 'node:fs'
import { systemClock } from '@heliograph/domain/clock'
import { parseSiteFile } from '@heliograph/domain/site-file'
import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { readConfig } from './config.ts'
import { serveModbus } from './modbus.ts'
import { createPlant } from './plant.ts'
import { createSimulation } from './site.ts'
import { openState, saveState } from './state-file.ts'

const save_interval_ms = 10_000

async function main(): Promise<void> {
  const config = readConfig()
  const log = pino({ name: 'simulator', level: config.log_level })
  const parsed = parseSiteFile(readFileSync(config.site_file, 'utf8'))
  if ('problems' in parsed) {
    const lines = parsed.problems.map(
      ({ line, field, message }) => `${config.site_file}:${line}: ${field}: ${message}`,
    )
    throw new Error(lines.join('\n'))
  }
  const { site } = parsed
  const state = openState(config.state_file, {
    site,
    seed: config.seed,
    now_ms: systemClock.now().getTime(),
  })
  const plant = createPlant(createSimulation(site, state.seed), state.now, {
    clock: systemClock,
    speed: config.speed,
    faults: config.faults,
  })
  plant.snapshot()
  const served = await serveModbus(plant, log)
  log.info({ connections: site.connections, faults: config.faults }, 'simulating')

  const saving = setInterval(() => saveState(config.state_file, state), save_interval_ms)
  const grace = closeWithGrace({ logger: log }, async ({ err }) => {
    if (err) log.fatal({ err }, err.message)
    clearInterval(saving)
    await served.close()
    plant.snapshot()
    saveState(config.state_file, state)
    log.info('stopped')
  })
  // Where another program started this one, it ends with that.
  process.once('disconnect', grace.close)
  process.send?.('ready')
}

main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
})
