/** The server: the API, the edge link, the jobs and the embedded database. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import { boundedLine } from '@heliograph/domain/log-line'
import { notify } from '@heliograph/domain/service-manager'
import closeWithGrace from 'close-with-grace'
import { type Logger, pino } from 'pino'
import { openPlatform } from './access/platform.ts'
import { agentEndpoints } from './agents/endpoints.ts'
import { createMcp } from './agents/mcp.ts'
import { readConfig, type ServerConfig } from './config.ts'
import { createDeps } from './deps.ts'
import { endpoints } from './endpoints.ts'
import { observeWeatherForecasts } from './forecasts/weather/metrics.ts'
import { documents } from './http/documents.ts'
import { createMetrics, type Metrics, metricsServer } from './http/metrics.ts'
import { serve } from './http/serve.ts'
import { shutDown } from './http/shutdown.ts'
import { readWebPages } from './http/web-pages.ts'
import { createJobs } from './jobs/queue.ts'
import { requestWhenNotified } from './jobs/wake.ts'
import { createJobTable } from './jobs.ts'
import { attachLink } from './link/serve.ts'
import { observeMails } from './mail/metrics.ts'
import { queued_channel as mails_channel } from './mail/outbox.ts'
import { observePriceSources } from './markets/metrics.ts'
import { createRollups } from './performance/rollups/job.ts'
import { platformEndpoints } from './platform-endpoints.ts'
import { eventCatalogue } from './push/catalogue.ts'
import { startDeliveries } from './push/webhooks/deliver.ts'
import { createReadThreads, type ReadThreads } from './read-threads.ts'
import { queued_channel as reports_channel } from './reports/runs.ts'
import { type Database, openDatabase } from './storage/database.ts'
import { guardDisk } from './storage/disk-space.ts'
import { startEmbedded } from './storage/embedded.ts'
import { migrate } from './storage/migrate.ts'

const web_folder = fileURLToPath(new URL('../web/dist', import.meta.url))
const in_flight_ms_max = 10_000
const stop_ms_max = 60_000

/** Stop functions, newest first. */
type Stops = (() => unknown)[]

async function main(): Promise<void> {
  const config = configOrExit()
  const log = pino({
    name: 'server',
    level: config.log_level,
    hooks: { streamWrite: boundedLine },
  })
  const stops: Stops = []
  let is_stopping = false
  const grace = closeWithGrace({ delay: stop_ms_max, logger: log }, async ({ err }) => {
    is_stopping = true
    if (err) log.fatal({ err }, err.message)
    await stopAll(stops, log)
  })
  // A server started by another program ends with it.
  process.once('disconnect', grace.close)

  try {
    const url = config.database_url ?? (await embeddedDatabase(config, log, stops))
    const db = await openDatabase({
      url,
      log,
      application_name: 'heliograph-server',
      max: config.database_connections,
    })
    stops.unshift(() => db.close())
    await prepare(db, log)
    const reading = createReadThreads({
      url,
      log_level: config.log_level,
      check_answers: config.check_answers,
    })
    stops.unshift(() => reading.close())
    await serveAll(config, { db, url, reading, log }, stops)
  } catch (error) {
    // An interrupted start fails, because the shutdown stops its dependencies.
    if (!is_stopping) throw error
  }
}

async function embeddedDatabase(config: ServerConfig, log: Logger, stops: Stops): Promise<string> {
  const starting = startEmbedded({ data_dir: config.data_dir, log })
  // A signal during the start stops it too; a failed start stops itself.
  stops.unshift(async () => (await starting.catch(() => null))?.stop())
  const embedded = await starting
  void embedded.exited.then(({ expected, reason }) => {
    if (!expected) throw new Error(`the embedded database ended: ${reason}`)
  })
  return embedded.url
}

async function prepare(db: Database, log: Logger): Promise<void> {
  const applied = await migrate(db)
  if (applied.length > 0) log.info({ applied }, 'migrated')
}

async function serveAll(
  config: ServerConfig,
  { db, url, reading, log }: { db: Database; url: string; reading: ReadThreads; log: Logger },
  stops: Stops,
): Promise<void> {
  const metrics = createMetrics({ pool: db.connections })
  observePriceSources(metrics.registry, db)
  observeWeatherForecasts(metrics.registry, db)
  observeMails(metrics.registry, db)
  await startJobs(config, { db, url, log, metrics }, stops)
  const web = readWebPages(web_folder)
  if (web === null) log.warn('the pages of the platform are not built: npm run build-web')
  const guarded = await guardedDatabase(config, { db, log, metrics }, stops)
  const platform = await openPlatform(guarded, {
    clock: systemClock,
    log,
    public_url: config.public_url,
    is_encrypted: config.tls !== null,
  })
  const webhooks = { networks: config.webhook_networks }
  const app = await serve({
    endpoints: [...endpoints, ...platformEndpoints, ...agentEndpoints],
    needs: {
      ...createDeps(db, systemClock),
      db: guarded,
      mail: { is_sent: config.mail !== null, public_url: config.public_url },
      installation: config,
      webhooks,
    },
    db: guarded,
    clock: systemClock,
    timers: systemTimers,
    newId: randomUUID,
    log,
    options: {
      tls: config.tls,
      trusted_proxies: config.trusted_proxies,
      check_answers: config.check_answers,
      documents: [...documents(endpoints, eventCatalogue), ...(web?.documents ?? [])],
      ...(web && { page: web.page }),
      sessions: platform.sessions,
      subtrees: [platform.subtree],
      keyed_path: createMcp({ public_url: config.public_url, version: config.version, log }),
      reading,
      metrics,
    },
  })
  const link = attachLink({
    server: app.server,
    db: guarded,
    clock: systemClock,
    log,
    metrics: metrics.registry,
  })
  stops.unshift(async () => {
    await link.close()
    await shutDown(app, { timers: systemTimers, bound_ms: in_flight_ms_max })
  })
  const deliveries = await startDeliveries({
    db: guarded,
    clock: systemClock,
    timers: systemTimers,
    log,
    settings: webhooks,
  })
  stops.unshift(() => deliveries.stop())
  const rollups = createRollups(guarded, { clock: systemClock, timers: systemTimers, log })
  rollups.start()
  stops.unshift(() => rollups.stop())
  if (config.metrics_port !== null) {
    const exporter = metricsServer(metrics)
    stops.unshift(() => exporter.close())
    exporter.listen(config.metrics_port, '127.0.0.1')
    await once(exporter, 'listening').catch((error: Error) => {
      throw new Error(`METRICS_PORT ${config.metrics_port}: ${error.message}`, { cause: error })
    })
  }
  const address = await app.listen({ host: config.host, port: config.port })
  log.info({ address }, 'serving')
  if (config.service_manager === null) return
  const stopNotifying = notify(config.service_manager, {
    timers: systemTimers,
    // As long as its timers run.
    isAlive: () => true,
    onFailure: (err) => log.error({ err }, 'cannot tell the service manager'),
  })
  stops.unshift(stopNotifying)
}

/** Jobs use the unguarded database, as some of them free disk space. */
async function guardedDatabase(
  { database_url, data_dir }: ServerConfig,
  { db, log, metrics }: { db: Database; log: Logger; metrics: Metrics },
  stops: Stops,
): Promise<Database> {
  if (database_url !== null) return db
  const settings = { data_dir, timers: systemTimers, log, metrics: metrics.registry }
  const guard = await guardDisk(db, settings)
  stops.unshift(() => guard.stop())
  return guard.db
}

async function startJobs(
  config: ServerConfig,
  { db, url, log, metrics }: { db: Database; url: string; log: Logger; metrics: Metrics },
  stops: Stops,
): Promise<void> {
  const { backups: schedule, data_dir } = config
  const backups = schedule && { ...schedule, url, data_dir }
  const queue = createJobs({
    db,
    clock: systemClock,
    log,
    registry: metrics.registry,
    jobs: createJobTable({ ...config, backups }),
  })
  stops.unshift(() => queue.stop())
  await queue.start()
  for (const [channel, job] of [
    [reports_channel, 'run_reports'],
    [mails_channel, 'send_mail'],
  ] as const) {
    const { request } = queue
    const subscription = await requestWhenNotified({ db, log }, { channel, job, request })
    stops.unshift(() => subscription.stop())
  }
  await queue.request('make_partitions')
  await queue.request('fetch_prices')
  await queue.request('fetch_weather')
}

/** Stops everything. Failures are logged and reported by the exit code. */
async function stopAll(stops: Stops, log: Logger): Promise<void> {
  const failures: unknown[] = []
  for (const stop of stops) {
    try {
      await stop()
    } catch (error) {
      failures.push(error)
      log.error({ err: error }, 'could not stop in order')
    }
  }
  log.info('stopped')
  if (failures.length > 0) throw new AggregateError(failures, 'could not stop in order')
}

/** Reports invalid settings without a stack trace. */
function configOrExit(): ServerConfig {
  try {
    return readConfig()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(1)
  }
}

await main()
