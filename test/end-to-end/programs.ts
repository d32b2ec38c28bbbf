/** The real programs as child processes over real sockets, for the tests that kill them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Site } from '@heliograph/domain/site'
import { program_environment } from '../program-environment.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const end_ms_max = 30_000

export type ProgramName = 'server' | 'edge' | 'simulator'

export interface Programs {
  dir: string
  api: string
  server_dir: string
  edge_dir: string
  site: Site
  /** With these settings besides those of all programs. */
  start(name: ProgramName, change?: Record<string, string>): void
  isRunning(name: ProgramName): boolean
  /** Ends a program and waits until it has; nothing happens to one that has ended. */
  end(name: ProgramName, signal: NodeJS.Signals): Promise<void>
  /** Kills the embedded PostgreSQL, and gives the server time to end by itself, as it must. */
  killDatabase(): Promise<void>
  serverIsReady(): Promise<void>
  /** The last lines that a program wrote, for a failure to show. */
  lastWords(name: ProgramName): string
  endAll(): Promise<void>
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** Prepares a directory in which the three programs run against each other. */
export async function programsIn(
  dir: string,
  template: Site,
  overrides: Record<string, string> = {},
): Promise<Programs> {
  const connections = await Promise.all(
    template.connections.map(async (one) => ({ ...one, port: await freePort() })),
  )
  const site = { ...template, connections } as Site
  const port = await freePort()
  const place = { server_dir: join(dir, 'server'), edge_dir: join(dir, 'edge') }
  for (const path of Object.values(place)) mkdirSync(path, { recursive: true })
  const site_file = join(dir, 'site.yaml')
  // JSON is YAML.
  writeFileSync(site_file, JSON.stringify(site, null, 1))
  const settings = {
    ...program_environment,
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: '0',
    DATA_DIR: place.server_dir,
    SITE_FILE: site_file,
    STATE_FILE: join(dir, 'simulator.json'),
    EDGE_DATA_DIR: place.edge_dir,
    EDGE_TOKEN_FILE: join(dir, 'token'),
    SERVER_URL: `ws://127.0.0.1:${port}`,
    ANSWER_CHECK: 'strict',
    ...overrides,
  }
  const api = `http://127.0.0.1:${port}`
  return { ...runner(dir, settings, api), dir, api, site, ...place }
}

function runner(dir: string, settings: Record<string, string | undefined>, api: string) {
  const running = new Map<ProgramName, ChildProcess>()
  const logOf = (name: ProgramName) => join(dir, `${name}.log`)
  const programs = {
    start(name: ProgramName, change: Record<string, string> = {}) {
      const log = createWriteStream(logOf(name), { flags: 'a' })
      const child = spawn(process.execPath, [join(root, name, 'main.ts')], {
        env: { ...settings, ...change },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child.stdout.pipe(log, { end: false })
      child.stderr.pipe(log, { end: false })
      running.set(name, child)
    },
    isRunning(name: ProgramName): boolean {
      const child = running.get(name)
      return child !== undefined && child.exitCode === null && child.signalCode === null
    },
    async end(name: ProgramName, signal: NodeJS.Signals) {
      const child = running.get(name)
      if (!child || !programs.isRunning(name)) return
      const exit = once(child, 'exit')
      child.kill(signal)
      let is_stuck = false
      const patience = setTimeout(() => {
        is_stuck = true
        child.kill('SIGKILL')
      }, end_ms_max)
      await exit
      clearTimeout(patience)
      if (is_stuck) throw new Error(`the ${name} did not end by itself:\n${lastWords(name)}`)
    },
    async killDatabase() {
      const file = join(settings['DATA_DIR']!, 'postgres/cluster/postmaster.pid')
      const server = running.get('server')
      if (!server || !programs.isRunning('server') || !existsSync(file)) return
      const exit = once(server, 'exit')
      try {
        process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGKILL')
      } catch (error) {
        // Gone between the look and the shot.
        if (!['ESRCH', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
        return
      }
      // A server that has just begun outlives the database that a killed one left behind.
      await Promise.race([exit, wait(5000, undefined, { ref: false })])
    },
    async serverIsReady() {
      for (let attempt = 0; attempt < 600; attempt += 1) {
        if ((await fetch(`${api}/readyz`).catch(() => null))?.ok) return
        if (!programs.isRunning('server'))
          throw new Error(`the server ended:\n${lastWords('server')}`)
        await wait(100)
      }
      throw new Error(`the server is not ready:\n${lastWords('server')}`)
    },
    async endAll() {
      for (const name of ['edge', 'simulator', 'server'] as const)
        await programs.end(name, 'SIGTERM')
    },
    lastWords,
  }
  function lastWords(name: ProgramName): string {
    return existsSync(logOf(name)) ? readFileSync(logOf(name), 'utf8').slice(-4000) : ''
  }
  return programs
}
