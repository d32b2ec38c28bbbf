/**
 * Runs the tests, the search and a simulation of the control core within one process, for each
 * mutant that Stryker makes of it: a process of its own for each would take a day.
 */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { configs as searched } from '../edge/control/core/search/configurations.ts'
import type { search as searchCore } from '../edge/control/core/search/search.ts'
import type { simulate as simulateControl } from '../edge/control/simulation/episode.ts'

const files = ['core', 'events', 'external-limit', 'ramp', 'core.prop'].map(
  (name) => `edge/control/core/${name}.test.ts`,
)
/** Of each configuration: about 2 s together. */
const states_max = 60
const ticks = 2000
/** Cases of a property; `npm test` has 1000. */
const runs = 100
/** Evaluations of the changed expression, of which a run has less than 1 % of this. */
const hit_limit = 30_000_000

type Check = { name: string; run(): unknown }
type MutantRun = { activeMutant: { id: string }; testFilter?: readonly string[] }
type Instrumented = typeof globalThis & {
  __stryker__?: {
    activeMutant?: string
    hitCount?: number
    hitLimit?: number
    currentTestId?: string
    mutantCoverage?: unknown
  }
  tests?: [string, (context: object) => unknown][]
}
const scope: Instrumented = globalThis

class CoreRunner {
  #checks: Check[] = []

  capabilities() {
    return { reloadEnvironment: false }
  }

  /** Imports what Stryker copied into the working directory. */
  async init() {
    process.env['CONTROL_RUNS'] ??= String(runs)
    scope.__stryker__ ??= {}
    scope.tests = []
    const shim = 'export default (name, run) => void globalThis.tests.push([name, run])'
    const url = `data:text/javascript,${encodeURIComponent(shim)}`
    const hooks = registerHooks({
      resolve: (name, context, next) =>
        name === 'node:test' ? { url, shortCircuit: true } : next(name, context),
    })
    const load = (path: string) => import(pathToFileURL(join(process.cwd(), path)).href)
    for (const file of files) await load(file)
    hooks.deregister()
    const { configs }: { configs: typeof searched } = await load(
      'edge/control/core/search/configurations.ts',
    )
    const { search }: { search: typeof searchCore } = await load(
      'edge/control/core/search/search.ts',
    )
    const { simulate }: { simulate: typeof simulateControl } = await load(
      'edge/control/simulation/episode.ts',
    )
    this.#checks = [
      ...scope.tests.map(([name, run], nth) => ({
        name: `${nth} ${name}`,
        run: () => run({ diagnostic() {} }),
      })),
      ...configs.map((config) => ({
        name: `search ${config.name}`,
        run: () => expectNone(search(config, states_max).failure),
      })),
      {
        name: 'simulation',
        run: async () => expectNone((await simulate(1, ticks, 'thin')).failure?.broken),
      },
    ]
  }

  /** Also notes which check evaluates which mutant: the others need not run for it. */
  async dryRun() {
    const known = scope.__stryker__!
    const tests = []
    for (const { name, run } of this.#checks) {
      known.currentTestId = name
      const began_ms = performance.now()
      const failureMessage = await messageOf(run)
      const test = { id: name, name, timeSpentMs: performance.now() - began_ms }
      tests.push(
        failureMessage === null ? { ...test, status: 0 } : { ...test, status: 1, failureMessage },
      )
    }
    delete known.currentTestId
    return { status: 'complete', tests, mutantCoverage: known.mutantCoverage }
  }

  async mutantRun({ activeMutant, testFilter }: MutantRun) {
    // Each file of the sandbox holds on to this object.
    Object.assign(scope.__stryker__!, {
      activeMutant: activeMutant.id,
      hitCount: 0,
      hitLimit: hit_limit,
    })
    const checks = this.#checks.filter(({ name }) => testFilter?.includes(name) ?? true)
    const nrOfTests = checks.length
    for (const { name, run } of checks) {
      const failureMessage = await messageOf(run)
      if (failureMessage === null) continue
      return { status: 'killed', killedBy: [name], failureMessage, nrOfTests }
    }
    return { status: 'survived', nrOfTests }
  }
}

/** null: it passes. */
async function messageOf(run: Check['run']): Promise<string | null> {
  try {
    await run()
    return null
  } catch (error) {
    return String(error).slice(0, 200)
  }
}

function expectNone(failure: string | null | undefined): void {
  if (failure != null) throw new Error(failure)
}

export const strykerPlugins = [
  { kind: 'TestRunner', name: 'core', injectableClass: CoreRunner },
] as const
