/** The edge agent as a program: `node edge/main.ts`. Ends with 2 when its site file is wrong. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { systemClock, systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import { boundedLine } from '@heliograph/domain/log-line'
import { isLoopback } from '@heliograph/domain/loopback'
import { notify } from '@heliograph/domain/service-manager'
import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { startAgent } from './agent.ts'
import { openBus } from './bus/bus.ts'
import { type EdgeConfig, readConfig } from './config.ts'
import { driverOf } from './drivers/drivers.ts'
import { createMetrics, type Figures, serveMetrics } from './metrics.ts'
import { SiteFileError } from './site-watch.ts'

const exit_site_file = 2
/** A disk that hangs must not keep the program from ending. */
const stop_ms_max = 10_000

async function run(config: EdgeConfig): Promise<void> {
  const log = pino({
    level: config.log_level,
    base: null,
    hooks: { streamWrite: boundedLine },
  })
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
  const { protocol, hostname } = new URL(config.server_url)
  if (protocol === 'ws:' && !isLoopback(hostname)) {
    log.warn('SERVER_URL is ws://: the token and the data travel unencrypted')
  }
  let figures: () => Figures = () => {
    throw new Error('not started yet')
  }
  const metrics = createMetrics(() => figures())
  const server =
    config.metrics_port === null ? null : await serveMetrics(metrics.registry, config.metrics_port)
  const random = Math.random
  const agent = await startAgent({
    config,
    agent_version: version,
    clock: systemClock,
    stopwatch: systemStopwatch,
    timers: systemTimers,
    random,
    newEpoch: randomUUID,
    newOrderId: randomUUID,
    log,
    openBus: (connection) => openBus(connection, { timers: systemTimers, random }),
    driverOf,
    onPoll: metrics.onPoll,
  })
  figures = agent.figures
  log.info({ server_url: config.server_url, site_file: config.site_file }, 'edge agent started')
  let stopNotifying = () => {}
  const grace = closeWithGrace({ delay: stop_ms_max, logger: log }, async ({ err }) => {
    if (err) log.fatal({ err }, err.message)
    stopNotifying()
    server?.close()
    server?.closeAllConnections()
    // A thread that hangs in the disk would keep this one from exiting.
    if (!(await agent.stop())) process.kill(process.pid, 'SIGKILL')
    log.info('stopped')
  })
  // Where another program started this one, it ends with that.
  process.once('disconnect', grace.close)
  process.send?.('ready')
  if (config.service_manager !== null) {
    let rounds = -1
    stopNotifying = notify(config.service_manager, {
      timers: systemTimers,
      isAlive() {
        const { control_rounds } = agent.figures()
        const goes_on = control_rounds !== rounds
        rounds = control_rounds
        return goes_on
      },
      onFailure: (err) => log.error({ err }, 'cannot tell the service manager'),
    })
  }
}

try {
  await run(readConfig())
} catch (error) {
  const is_site_file = error instanceof SiteFileError
  process.stderr.write(`${is_site_file ? error.problems.join('\n') : (error as Error).message}\n`)
  process.exit(is_site_file ? exit_site_file : 1)
}
