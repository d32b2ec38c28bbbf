/**
 * Runs every bench, or those named, one after the other: `npm run bench -- ingest history`. Options
 * come last and go to each: `npm run bench -- sustained --minutes 1`. `--quick` is for the bench
 * runner: see bench/fixtures/quick.ts.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const all = readdirSync(new URL('../bench', import.meta.url))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace('.ts', ''))
/** Options of the real programs: see the scripts `server` and `edge` of package.json. */
const flags = ['--max-semi-space-size=8']
const given = process.argv.slice(2)
const first_option = given.findIndex((word) => word.startsWith('-'))
const wanted = first_option < 0 ? given : given.slice(0, first_option)
const is_quick = given.includes('--quick')
const options = given.slice(wanted.length).filter((word) => word !== '--quick')
const unknown = wanted.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no bench ${unknown.join(', ')}; there are ${all.join(', ')}\n`)
  process.exit(2)
}
const waiting = wanted.length > 0 ? wanted : all
/** The slowest quick bench takes 90 s on a quiet machine. */
const quick_ms_max = 600_000
let failed = false

async function runWaiting(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (is_quick) await proveQuickly(name)
    else measure(name)
  }
}

function measure(name: string): void {
  process.stdout.write(`\n— ${name}\n`)
  const { status } = spawnSync(process.execPath, [...flags, `bench/${name}.ts`, ...options], {
    stdio: 'inherit',
  })
  failed ||= status !== 0
}

/** Shows the output of a bench that fails, and ends one that hangs. */
async function proveQuickly(name: string): Promise<void> {
  const began_at = performance.now()
  const child = spawn(process.execPath, [...flags, `bench/${name}.ts`, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, BENCH_QUICK: '1' },
    timeout: quick_ms_max,
    killSignal: 'SIGKILL',
  })
  let written = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      written += text
    })
  }
  const [status] = await once(child, 'close')
  const took_s = (performance.now() - began_at) / 1000
  process.stdout.write(`${name} ${status === 0 ? 'works' : 'FAILED'}, ${took_s.toFixed(1)} s\n`)
  if (status !== 0) process.stdout.write(`${written}\n`)
  failed ||= status !== 0
}

// Quick runs have no limits, and mostly wait; that of control is the longest.
const at_once = is_quick ? availableParallelism() + 1 : 1
if (is_quick) waiting.sort((a, b) => Number(b === 'control') - Number(a === 'control'))
await Promise.all(Array.from({ length: at_once }, runWaiting))
process.exit(failed ? 1 : 0)
