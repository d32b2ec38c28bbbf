/**
 * `npm start`: the whole of Heliograph on one machine with a simulated demo site. Starts the
 * server, the simulator and the edge agent as the programs that they are, gives the demo a client,
 * a site, a key and an enrolled edge, and fills in 30 days of history at the first start.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { withDatabase } from '@heliograph/cli/database'
import { systemClock } from '@heliograph/domain/clock'
import { createClient, listClients } from '@heliograph/server/admin/clients'
import { createEdge } from '@heliograph/server/admin/edges'
import { createKey } from '@heliograph/server/admin/keys'
import { createSite, listSites } from '@heliograph/server/admin/sites'
import { readConfig } from '@heliograph/server/config'
import { modules, scopes } from '@heliograph/server/http/endpoint'
import type { Database } from '@heliograph/server/storage/database'

const client = 'Demo'
const site_id = 'demo'
const site_file = new URL('../simulator/demo/site.yaml', import.meta.url).pathname
const seed = 20261
const history_days = 30
const ready_ms_max = 180_000

const config = readConfig()
const scheme = config.tls ? 'https' : 'http'
const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host
const address = `${scheme}://${host}:${config.port}`
const path = {
  key: join(config.data_dir, 'demo-key'),
  token: join(config.data_dir, 'demo-edge-token'),
  edge: join(config.data_dir, 'edge'),
  state: join(config.data_dir, 'simulator.json'),
  history: join(config.data_dir, 'demo-history-is-complete'),
}
const children: { name: string; process: ChildProcess }[] = []
let stopping = false

const say = (text: string) => process.stdout.write(`${text}\n`)

/** A program of the project as a child; when one ends by itself, all the others are stopped. */
function start(name: string, program: string, settings: Record<string, string>): ChildProcess {
  const url = new URL(`../${program}`, import.meta.url)
  const child = fork(url, {
    env: { LOG_LEVEL: 'warn', ...process.env, DATA_DIR: config.data_dir, ...settings },
    // Ctrl-C reaches the whole group; the children are stopped by us, in order.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  children.unshift({ name, process: child })
  child.once('exit', (code, signal) => {
    if (stopping || (name === 'history' && code === 0)) return
    say(`The ${name} ended (${signal ?? code}); stopping.`)
    stop(1)
  })
  return child
}

/** Newest first: the edge before the server that it talks to. */
function stop(exit_code: number): void {
  if (stopping) return
  stopping = true
  void (async () => {
    for (const { process: child } of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    process.exit(exit_code)
  })()
}

async function serverIsReady(): Promise<void> {
  const until = Date.now() + ready_ms_max
  while (Date.now() < until && !stopping) {
    const answer = await fetch(`${address}/readyz`).catch(() => null)
    if (answer?.ok) return
    await wait(100)
  }
  if (!stopping) throw new Error(`the server did not answer at ${address}`)
}

/** What the demo needs to be there; what is there already stays. */
async function provision(db: Database): Promise<void> {
  const admin = { db, clock: systemClock, randomBytes }
  const clients = await listClients(admin)
  if (!clients.some(({ name }) => name === client)) {
    await createClient(admin, { name: client, modules })
  }
  const sites = await listSites(admin)
  if (!sites.some((site) => site.site_id === site_id)) {
    await createSite(admin, { site_id, client, name: 'Demo (simulated)' })
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
}

function secretFile(file: string, secret: string): void {
  writeFileSync(file, `${secret}\n`, { mode: 0o600 })
}

function fillHistory(settings: Record<string, string>): void {
  if (existsSync(path.history)) return
  const child = start('history', 'scripts/backfill.ts', {
    ...settings,
    DAYS: String(history_days),
  })
  const began = Date.now()
  let told = 0
  child.on('message', ({ done, total }: { done: number; total: number }) => {
    const percent = Math.floor((100 * done) / total)
    if (percent < told + 10 && done < total) return
    told = percent
    const seconds = ((Date.now() - began) / 1000).toFixed(0)
    say(`History: ${percent} % of ${history_days} days after ${seconds} s`)
    if (done >= total) writeFileSync(path.history, '')
  })
}

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stop(0))
  }
  mkdirSync(config.data_dir, { recursive: true })
  say(`Starting Heliograph; its data lies in ${config.data_dir}`)
  start('server', 'server/main.ts', {})
  await serverIsReady()
  if (stopping) return
  const quiet = { info() {}, warn() {}, error() {} }
  await withDatabase(config, quiet, provision)
  if (stopping) return

  const settings = {
    SITE_FILE: site_file,
    SEED: String(seed),
    STATE_FILE: path.state,
    EDGE_DATA_DIR: path.edge,
    EDGE_TOKEN_FILE: path.token,
    SERVER_URL: address.replace(/^http/, 'ws'),
    METRICS_PORT: '0',
  }
  const simulator = start('simulator', 'simulator/main.ts', settings)
  await Promise.race([once(simulator, 'message'), once(simulator, 'exit')])
  if (stopping) return
  start('edge', 'edge/main.ts', settings)
  fillHistory(settings)

  say(`
Heliograph is ready, with the simulated site '${site_id}'.

  API         ${address}/v1/sites
  Reference   ${address}/docs
  API key     ${readFileSync(path.key, 'utf8').trim()}
              (also in ${path.key})

Try:  curl -H "Authorization: Bearer $(cat ${path.key})" ${address}/v1/sites

Ctrl-C stops it.
`)
}

main().catch((error: unknown) => {
  say((error as Error).message)
  stop(1)
})
