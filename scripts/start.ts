/**
 * `npm start`: all of Heliograph on one machine with a simulated demo site. Starts the server, the
 * simulator and the edge agent as separate programs, creates a client, a site, a key and an
 * enrolled edge for the demo, and fills in 30 days of history at the first start.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { withDatabase } from '@heliograph/cli/database'
import { systemClock } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/durations'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { utcDate } from '@heliograph/domain/utc-day'
import { createClient, listClients } from '@heliograph/server/access/clients'
import { createEdge } from '@heliograph/server/access/edges'
import { createKey } from '@heliograph/server/access/keys'
import { createSite, listSites } from '@heliograph/server/access/sites'
import { hasUsers, inviteUser } from '@heliograph/server/access/user-admin'
import { readConfig, type ServerConfig } from '@heliograph/server/config'
import { importContracts, listContracts } from '@heliograph/server/contracts/admin'
import { modules, scopes } from '@heliograph/server/http/endpoint'
import { createSimulatedMarket, followMarket } from '@heliograph/server/markets/admin'
import { fetchMarket } from '@heliograph/server/markets/fetch'
import type { Database } from '@heliograph/server/storage/database'
import { startEmbedded } from '@heliograph/server/storage/embedded'
import { buildWeb } from './build-web.ts'
import { logWords } from './log-words.ts'

const client = 'Demo'
const site_id = 'demo'
const site_file = fileURLToPath(new URL('../simulator/demo/site.yaml', import.meta.url))
const permit_file = fileURLToPath(new URL('../simulator/demo/permit.yaml', import.meta.url))
const contracts_file = fileURLToPath(new URL('../simulator/demo/contracts.yaml', import.meta.url))
const seed = 20261
/** Tests fill in fewer. */
const history_days = Number(process.env['HISTORY_DAYS'] || 30)
/** A price model needs at least six weeks, and is better with some months. */
const price_days = 120
/** A port next to those of the simulated devices. */
const weather_port = 15_026
const server_ms_max = 180_000
const first_readings_ms_max = 30_000
/** Interval of polling the API, below the rate limit of the demo's key. */
const ask_again_ms = 500

const say = (text: string) => process.stdout.write(`${text}\n`)
const quiet = { info() {}, warn() {}, error() {} }

const config = settings()
const scheme = config.tls ? 'https' : 'http'
const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host
const address = `${scheme}://${host}:${config.port}`
const path = {
  key: join(config.data_dir, 'demo-key'),
  token: join(config.data_dir, 'demo-edge-token'),
  mqtt: join(config.data_dir, 'demo-mqtt-credentials'),
  edge: join(config.data_dir, 'edge'),
  state: join(config.data_dir, 'simulator.json'),
  history: join(config.data_dir, 'demo-history-is-complete'),
}
const children: { name: string; process: ChildProcess }[] = []
let stopping = false
let has_served = false

function settings(): ServerConfig {
  try {
    return readConfig()
  } catch (error) {
    say((error as Error).message)
    process.exit(1)
  }
}

/** Starts a program of the project as a child; if one ends by itself, all others are stopped. */
function start(name: string, program: string, environment: Record<string, string>): ChildProcess {
  const url = new URL(`../${program}`, import.meta.url)
  const child = fork(url, {
    env: { LOG_LEVEL: 'warn', ...process.env, DATA_DIR: config.data_dir, ...environment },
    // Ctrl-C reaches the whole group; this process stops the children in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.unshift({ name, process: child })
  for (const output of [child.stdout, child.stderr]) relay(name, output!)
  child.once('exit', (code, signal) => {
    if (stopping || (name === 'history' && code === 0)) return
    say(`The ${name} ended (${signal ?? `exit code ${code}`}); stopping.`)
    stop(1)
  })
  return child
}

/** Prints the log of a program in plain words; unchanged if LOG_LEVEL is set. */
function relay(name: string, output: Readable): void {
  const asked = Boolean(process.env['LOG_LEVEL'])
  createInterface(output).on('line', (line) => say(logWords(name, line, asked)))
}

/** Stops the newest first: the edge before its server. */
function stop(exit_code: number): void {
  if (stopping) return
  stopping = true
  void (async () => {
    for (const { process: child } of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    await endDatabase()
    if (children.length > 0) say('Stopped.')
    process.exit(exit_code)
  })()
}

/**
 * A server that was killed, or stopped during its start, may leave its PostgreSQL running: this
 * takes it over and stops it. A database that cannot be taken over belongs to another program.
 */
async function endDatabase(): Promise<void> {
  const server = children.find(({ name }) => name === 'server')
  if (config.database_url !== null || !server) return
  if (has_served && server.process.exitCode === 0) return
  const embedded = await startEmbedded({ data_dir: config.data_dir, log: quiet }).catch(() => null)
  await embedded?.stop()
}

/** Throws with a plain message if the port is in use or not permitted. */
async function checkPort(setting: string, on: string, port: number): Promise<void> {
  const probe = createServer()
  try {
    await once(probe.listen({ host: on, port }), 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'another program listens there' : message
    throw new Error(`Port ${port} on ${on} cannot be used: ${why}. Choose another by ${setting}.`)
  }
  await once(probe.close(), 'close')
}

/** Resolves to true once the answer to a GET satisfies the check, to false after the time. */
async function satisfied(
  target: string,
  ms_max: number,
  by: (answer: Response) => boolean | Promise<boolean>,
): Promise<boolean> {
  const until = Date.now() + ms_max
  const headers = existsSync(path.key) ? { authorization: `Bearer ${readKey()}` } : {}
  while (Date.now() < until && !stopping) {
    const answer = await fetch(address + target, { headers }).catch(() => null)
    if (answer && (await by(answer))) return true
    await wait(ask_again_ms)
  }
  return false
}

const readKey = () => readFileSync(path.key, 'utf8').trim()

/** Creates client, site, key and edge of the demo if they are missing. */
async function provision(db: Database): Promise<void> {
  const admin = { db, clock: systemClock, randomBytes }
  const clients = await listClients(admin)
  if (!clients.some(({ name }) => name === client)) {
    await createClient(admin, { name: client, modules })
  }
  const sites = await listSites(admin)
  if (!sites.some((site) => site.site_id === site_id)) {
    if (existsSync(path.key) || existsSync(path.token)) {
      throw new Error(`${config.data_dir} belongs to another database: choose another DATA_DIR.`)
    }
    await createSite(admin, { site_id, client, name: 'Demo (simulated)', safe_mode: false })
  }
  if (!existsSync(path.key)) {
    const { key } = await createKey(admin, {
      client,
      name: 'demo',
      scopes,
      site_ids: null,
      expires_at: null,
      created_by: 'npm start',
    })
    secretFile(path.key, key)
  }
  if (!existsSync(path.token)) {
    const { token } = await createEdge(admin, { site_id, name: 'demo' })
    secretFile(path.token, token)
  }
  await followSimulatedMarket(db)
  if (!existsSync(path.mqtt)) secretFile(path.mqtt, `node:${randomBytes(24).toString('hex')}`)
}

/** Follows the simulated market and fetches its past prices; the server's job continues. */
async function followSimulatedMarket(db: Database): Promise<void> {
  const admin = { db, clock: systemClock }
  const parsed = parseSiteFile(readFileSync(site_file, 'utf8'))
  if ('problems' in parsed) throw new Error(`${site_file} is not a site file`)
  const { timezone, country_code = null } = parsed.site
  const market = await createSimulatedMarket(admin, { timezone, country_code })
  if (market.source !== null) return
  const since = utcDate(Date.now() - price_days * day_ms)
  const order = { market_code: market.market_code, source: 'simulated', from: since }
  await fetchMarket(await followMarket(admin, order), {
    ...admin,
    log: quiet,
    settings: config.prices,
    signal: new AbortController().signal,
  })
}

/** Imports contracts once the plants are known, unless there are contracts. */
async function takeContracts(db: Database): Promise<void> {
  const { assignments } = await listContracts({ db }, { site_id })
  const plants = await db.query('select from loggers where site_id = $1', [site_id])
  if (assignments.length > 0 || plants.length === 0) return
  await importContracts({ db }, { file: contracts_file, site_id, dry_run: false })
}

function secretFile(file: string, secret: string): void {
  writeFileSync(file, `${secret}\n`, { mode: 0o600 })
}

function fillHistory(environment: Record<string, string>): void {
  if (existsSync(path.history)) return
  const child = start('history', 'scripts/backfill.ts', {
    ...environment,
    DAYS: String(history_days),
  })
  const began = Date.now()
  let told = 0
  child.on('message', ({ done, total }: { done: number; total: number }) => {
    const percent = Math.floor((100 * done) / total)
    if (percent === told || (percent < told + 10 && done < total)) return
    told = percent
    const seconds = ((Date.now() - began) / 1000).toFixed(0)
    say(`History: ${percent} % of ${history_days} days after ${seconds} s`)
  })
  child.once('exit', (code) => {
    if (code === 0) writeFileSync(path.history, '')
  })
}

/** Creates a link to the first account at each start until an account exists. */
async function firstLink(db: Database): Promise<string | null> {
  const admin = { db, clock: systemClock, randomBytes }
  if (await hasUsers(admin)) return null
  const order = { client, role: 'administrator', email: null, created_by: 'npm start' } as const
  return `${address}${(await inviteUser(admin, order)).link_path}`
}

/** The demo's weather is simulated, unless another source is set. */
function weatherSettings(): Record<string, string> {
  if (process.env['WEATHER_FORECAST']) return {}
  return {
    WEATHER_FORECAST: 'open_meteo',
    WEATHER_FORECAST_URL: `http://127.0.0.1:${weather_port}`,
    WEATHER_FORECAST_KEY: '',
  }
}

async function startServer(): Promise<void> {
  start('server', 'server/main.ts', { ANSWER_CHECK: 'strict', ...weatherSettings() })
  has_served = await satisfied('/readyz', server_ms_max, ({ ok }) => ok)
  if (!has_served && !stopping) throw new Error(`The server does not answer at ${address}.`)
  if (!stopping) await withDatabase(config, quiet, provision)
}

async function startPlant(): Promise<void> {
  const environment = {
    SITE_FILE: site_file,
    PERMIT_FILE: permit_file,
    SEED: String(seed),
    STATE_FILE: path.state,
    EDGE_DATA_DIR: path.edge,
    EDGE_TOKEN_FILE: path.token,
    MQTT_CREDENTIALS_FILE: path.mqtt,
    SERVER_URL: address.replace(/^http/, 'ws'),
    METRICS_PORT: '0',
    WEATHER_PORT: String(weather_port),
  }
  const simulator = start('simulator', 'simulator/main.ts', environment)
  await Promise.race([once(simulator, 'message'), once(simulator, 'exit')])
  if (stopping) return
  start('edge', 'edge/main.ts', environment)
  fillHistory(environment)
  await satisfied(`/v1/sites/${site_id}/plant/status`, first_readings_ms_max, async (answer) => {
    return answer.ok && ((await answer.json()) as { quality: string }).quality === 'good'
  })
}

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stop(0))
  }
  await checkPort('PORT', config.host, config.port)
  if (config.metrics_port) await checkPort('METRICS_PORT', '127.0.0.1', config.metrics_port)
  mkdirSync(config.data_dir, { recursive: true })
  say(`Starting Heliograph with data in ${config.data_dir}`)
  await buildWeb({ when_missing: true })
  await startServer()
  if (!stopping) await startPlant()
  if (!stopping) await withDatabase(config, quiet, takeContracts)
  const first_link = stopping ? null : await withDatabase(config, quiet, firstLink)
  if (stopping) return
  say(`
Heliograph is ready, with the simulated site '${site_id}'.

  Platform    ${first_link ?? address}${first_link ? '\n              (one-time link: create the first administrator account)' : ''}
  API         ${address}/v1/sites
  Reference   ${address}/docs
  API key     ${readKey()}
              (also in ${path.key})

Try:  curl -H "Authorization: Bearer $(cat '${path.key}')" ${address}/v1/sites

Ctrl-C stops all programs.
`)
}

main().catch((error: unknown) => {
  // Errors of a stop in progress are not reported.
  if (!stopping) say((error as Error).message)
  stop(1)
})
