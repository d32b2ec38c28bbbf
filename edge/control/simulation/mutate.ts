/**
 * Do the checks bite? Each mutation is made in a copy of the code, and the simulation of the edge
 * that it concerns and the tests beside it are run on the copy: `npm run mutate-control`.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import type { EdgeName } from './episode.ts'
import { core, type Mutation } from './mutation.ts'
import { mutations } from './mutations.ts'

interface Found {
  by: string
  after: string
}

const run = promisify(execFile)
const inCore = (names: string[]) => names.map((name) => `${core}/${name}.test.ts`)
const inDrivers = (names: string[]) => names.map((name) => `edge/drivers/${name}.test.ts`)
const tests = {
  thin: inCore(['ceiling', 'share', 'device-limits', 'device-ramp', 'device-rounding', 'decide']),
  controller: inCore([
    'controller',
    'controller-clock',
    'controller-disk',
    'controller-faults',
    'controller-restart',
    'contention',
    'device-answers',
    'late-device',
    'limit-forgetting',
    'limited-by',
    'not-as-set',
    'lost-rows',
    'lower-only',
    'ordering',
    'row-watch',
    'device-limits',
    'device-ramp',
    'device-rounding',
    'foreign-limit',
    'arming',
    'excess-watch',
    'unheard-time',
    'vain-writes',
    'one-at-a-time',
    'night-watch',
    'proof',
  ]),
  batteries: [
    'pcs-power',
    'decide-dispatch',
    'dispatcher',
    'dispatch-hours',
    'battery-room.prop',
    'removed-pcs',
    'pcs-notes',
    'controlled-pcs',
    'controlled-unit',
    'standing-room',
    'dispatch-log',
    'pcs-targets',
    'unit-rooms',
    'night',
  ].map((name) => `edge/battery/${name}.test.ts`),
  none: [
    ...inDrivers(['sunspec-limit.prop', 'sunspec-limit', 'register-limit', 'profiles']),
    'edge/bus/control-requests.test.ts',
  ],
} as const

/** A copy of what the core needs, in which nothing else can be broken. */
function copyOfTheCode(root: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-mutation-'))
  for (const folder of ['domain', 'edge', 'simulator']) {
    cpSync(join(root, folder), join(dir, folder), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    })
  }
  writeFileSync(join(dir, 'package.json'), readFileSync(join(root, 'package.json')))
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  return dir
}

/** What finds the mutation; null: nothing does. */
async function hunt(root: string, mutation: Mutation, ticks: number): Promise<Found | null> {
  const { edge = 'thin' } = mutation
  return await inMutated(root, mutation, async (dir) => {
    const is_simulated = edge === 'thin' || edge === 'controller'
    const after = is_simulated ? await inSimulation(dir, edge, ticks) : null
    const by = await inTests(dir, tests[edge])
    if (after !== null && by) return { by: `simulation, and ${by}`, after }
    return after !== null ? { by: 'simulation', after } : by ? { by, after: '-' } : null
  })
}

/** Does it in a copy of the code that has the mutation. */
export async function inMutated<Of>(
  root: string,
  { name, file, from, to }: Mutation,
  job: (dir: string) => Promise<Of>,
): Promise<Of> {
  const dir = copyOfTheCode(root)
  try {
    const path = join(dir, file)
    const text = readFileSync(path, 'utf8')
    if (text.split(from).length !== 2) {
      throw new Error(`"${name}": its place is not there, or twice, in ${file}`)
    }
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
    return await job(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function inTests(dir: string, names: readonly string[]): Promise<string | null> {
  const files = names.map((name) => join(dir, name))
  try {
    await run('node', ['--test', '--test-reporter=tap', ...files], { cwd: dir })
    return null
  } catch (error) {
    const { stdout } = error as { stdout: string }
    const found = /^not ok \d+ - (.*)$/m.exec(stdout)?.[1]
    // A file that cannot even be loaded finds nothing.
    if (found === undefined || found.endsWith('.test.ts')) throw new Error(stdout)
    return found
  }
}

/** After how many ticks; null: not in so many. */
export async function inSimulation(
  dir: string,
  edge: EdgeName,
  ticks: number,
): Promise<string | null> {
  const main = join(dir, core, 'simulation/main.ts')
  const parameters = [main, '--edge', edge, '--seed', '1', '--ticks', String(ticks)]
  try {
    await run('node', parameters, { cwd: dir, maxBuffer: 1e8 })
    return null
  } catch (error) {
    const { stdout } = error as { stdout: string }
    const after = /: (\d+) ticks in/.exec(stdout)?.[1]
    if (after === undefined) throw new Error(stdout)
    return after
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { ticks: { type: 'string', default: '100000' }, only: { type: 'string' } },
  })
  const root = join(import.meta.dirname, '../../..')
  const { file, from } = mutations[0]!
  for (const edge of ['thin', 'controller', 'batteries', 'none'] as const) {
    const unchanged = { name: 'nothing', edge, file, from, to: from }
    const found = await hunt(root, unchanged, 5000)
    if (found) throw new Error(`nothing is wrong yet, and it is found by ${found.by}`)
  }
  for (const mutation of mutations) {
    if (values.only !== undefined && !mutation.name.includes(values.only)) continue
    const found = await hunt(root, mutation, Number(values.ticks))
    const told = found ? `${found.after.padStart(7)} | ${found.by}` : 'NOT FOUND'
    process.stdout.write(`| ${mutation.name} | ${mutation.edge ?? 'thin'} | ${told} |\n`)
    if (!found) process.exitCode = 1
  }
}
