/**
 * The whole demo as a person starts it, `npm start`, on ports and data of its own. The simulated
 * devices have fixed ports, so that one demo runs at a time; where one runs already,
 * HELIOGRAPH_DEMO names it (and HELIOGRAPH_DEMO_PAGES where its pages are served from elsewhere),
 * somebody who may invite, HELIOGRAPH_DEMO_EMAIL and HELIOGRAPH_DEMO_PASSWORD, and where its key
 * is, HELIOGRAPH_DEMO_KEY_FILE.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Demo {
  /** Where its pages are. */
  base_url: string
  /** The one-time link; null: there is an administrator already. */
  first_link: string | null
  /** That administrator. */
  administrator: { email: string; password: string } | null
  stop(): Promise<void>
}

export interface TestDemo extends Demo {
  /** The file that has its key. */
  key_file: string
  /** Ctrl-C. What it resolves to starts it again, as it was. Null: it is not ours to stop. */
  interrupt: (() => Promise<() => Promise<void>>) | null
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const ready_ms_max = 150_000
/** More than half of any month, for which a month has its ratios; `npm start` fills in 30 days. */
const of_tests = { HISTORY_DAYS: '18', METRICS_PORT: '0', LOG_LEVEL: 'warn' }

export async function startDemo(): Promise<TestDemo> {
  const given = process.env['HELIOGRAPH_DEMO']
  if (given) return runningDemo(given)
  const data_dir = mkdtempSync(join(tmpdir(), 'heliograph-browser-'))
  const remove = () => rmSync(data_dir, { recursive: true, force: true })
  const port = await freePort()
  const start = () => run({ DATA_DIR: data_dir, PORT: String(port) })
  let running = await start().catch((error: unknown) => {
    remove()
    throw error
  })
  const { platform } = running
  return {
    base_url: `http://127.0.0.1:${port}`,
    first_link: platform.includes('#') ? platform : null,
    administrator: null,
    key_file: join(data_dir, 'demo-key'),
    async interrupt() {
      await running.end()
      return async () => {
        running = await start()
      }
    },
    async stop() {
      await running.end()
      remove()
    },
  }
}

interface Running {
  /** What it calls `Platform`. */
  platform: string
  end(): Promise<void>
}

async function run(environment: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, ['scripts/start.ts'], {
    cwd: root,
    env: { ...process.env, ...environment, ...of_tests },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
    await exited
  }
  const told: string[] = []
  const ready = new Promise<string>((resolve) => {
    const read = (line: string) => {
      told.push(line)
      const [, platform] = /^\s*Platform\s+(\S+)/.exec(line) ?? []
      if (platform) resolve(platform)
    }
    for (const output of [child.stdout, child.stderr]) createInterface(output).on('line', read)
  })
  const platform = await Promise.race([
    ready,
    exited.then(() => null),
    once(AbortSignal.timeout(ready_ms_max), 'abort').then(() => null),
  ])
  if (platform !== null) return { platform, end }
  await end()
  throw new Error(`The demo did not get ready:\n${told.join('\n')}`)
}

function runningDemo(address: string): TestDemo {
  return {
    base_url: process.env['HELIOGRAPH_DEMO_PAGES'] ?? address,
    first_link: null,
    administrator: {
      email: process.env['HELIOGRAPH_DEMO_EMAIL'] ?? '',
      password: process.env['HELIOGRAPH_DEMO_PASSWORD'] ?? '',
    },
    key_file: process.env['HELIOGRAPH_DEMO_KEY_FILE'] ?? '',
    interrupt: null,
    stop: async () => {},
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  await once(probe.close(), 'close')
  return port
}
