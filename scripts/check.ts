/**
 * The whole proof, as CI runs it: `npm test`. Each step is a command that can be run alone; this
 * file only puts them in order. Peers that come from Debian are installed where that is possible,
 * and otherwise said to be missing.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { testGroups } from './test-groups.ts'

const peers = [
  { package: 'mbpoll', file: '/usr/bin/mbpoll', proves: 'the simulator read by mbpoll' },
  {
    package: 'python3-pymodbus',
    file: '/usr/lib/python3/dist-packages/pymodbus/__init__.py',
    proves: 'the simulator read by pymodbus, and a pymodbus device read by the edge',
  },
  {
    // What pymodbus imports, and Debian's package of it only recommends.
    package: 'python3-serial-asyncio',
    file: '/usr/lib/python3/dist-packages/serial_asyncio/__init__.py',
    proves: 'the same, as pymodbus imports it',
  },
  {
    package: 'mosquitto',
    file: '/usr/sbin/mosquitto',
    proves: 'the edge as a client of mosquitto, over TLS',
  },
  {
    package: 'mosquitto-clients',
    file: '/usr/bin/mosquitto_pub',
    proves: 'mosquitto_pub as a node on the broker of the edge',
  },
  {
    package: 'glpk-utils',
    file: '/usr/bin/glpsol',
    proves: 'plans of batteries as good as those of a second solver',
  },
  {
    package: 'poppler-utils',
    file: '/usr/bin/pdftotext',
    proves: 'reports on paper: what each page says and where',
  },
  {
    package: 'python3-openpyxl',
    file: '/usr/lib/python3/dist-packages/openpyxl/__init__.py',
    proves: 'reports as workbooks read by openpyxl',
  },
  {
    package: 'chromium',
    file: '/usr/bin/chromium',
    proves: 'the pages of the platform in a real browser',
  },
  {
    package: 'fonts-dejavu-core',
    file: '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
    proves: 'the same, with letters in its pictures',
  },
  {
    package: 'curl',
    file: '/usr/bin/curl',
    proves: 'the examples of README.md and of the reference, as they are typed',
  },
  {
    package: 'postgresql-15',
    file: '/usr/lib/postgresql/15/bin/postgres',
    proves: 'the storage tests on PostgreSQL 15',
  },
]

const started_at = performance.now()

/** Runs commands side by side and prints how long they took. Ends the process when one fails. */
async function run(title: string, ...commands: readonly (readonly string[])[]): Promise<void> {
  const began_at = performance.now()
  const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(0)} s`
  for (const words of commands) {
    const shown = words.length > 12 ? [...words.slice(0, 12), `… ${words.length - 12} more`] : words
    process.stdout.write(`\n— ${title}: ${shown.join(' ')}\n`)
  }
  const endings = commands.map(async ([command, ...parameters]) => {
    const child = spawn(command!, parameters, { stdio: 'inherit' })
    const [code, signal] = await once(child, 'exit')
    return code === 0 ? null : { code, why: signal ? `signal ${signal}` : `exit code ${code}` }
  })
  const failure = (await Promise.all(endings)).find((ending) => ending !== null)
  process.stdout.write(`\n— ${title} took ${seconds(began_at)}, ${seconds(started_at)} so far\n`)
  if (!failure) return
  process.stderr.write(`\n${title} failed: ${failure.why}\n`)
  process.exit(failure.code || 1)
}

function installPeers(): void {
  const missing = peers.filter(({ file }) => !existsSync(file))
  if (missing.length === 0) return
  const names = missing.map((peer) => peer.package)
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    for (const parameters of [['update'], ['install', '-y', '--no-install-recommends', ...names]]) {
      spawnSync('apt-get', ['-qq', ...parameters], { stdio: 'inherit', env: environment })
    }
  }
  for (const peer of peers.filter(({ file }) => !existsSync(file))) {
    process.stderr.write(`LEFT OUT: ${peer.proves}: Debian's ${peer.package} is not installed\n`)
  }
}

const filesOf = (folders: readonly string[]) => folders.map((folder) => `${folder}/**/*.test.ts`)
const tests = testGroups([
  'test/*.test.ts',
  ...filesOf(['test/contract', 'test/conventions', 'domain', 'physics', 'forecast', 'optimize']),
  ...filesOf(['server', 'cli', 'web']),
])
const programs = testGroups(filesOf(['edge', 'simulator', 'test/end-to-end']))
const pure = [...tests.pure, ...programs.pure]
/** Programs that poll and are polled: beside another test they would be late. */
const tests_in_real_time = [...programs.database, ...programs.outside]

const runTests = ['node', '--test', '--test-timeout=180000']
// Much of the time they wait for the database: one at a time leaves two processors half idle.
const at_once = `--test-concurrency=${Math.max(2, availableParallelism() - 1)}`

// Each of hundreds of test files is a process that would translate the same sources again.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/compiled')

installPeers()
await run('Format and lint', ['biome', 'ci', '--error-on-warnings'])
await run('Types', ['tsc', '-p', '.'])
await run('Types of the pages', ['tsc', '-p', 'web'])
await run('Generated files', ['node', 'scripts/generate.ts', '--check'])
await run('OpenAPI by Redocly', ['redocly', 'lint', 'openapi.json'])
// One process takes them all: a process for each file would take longer than its tests.
const inOneProcess = (half: number) => [
  ...runTests,
  '--test-isolation=none',
  ...pure.filter((_, nth) => nth % 2 === half),
]
await run('Tests without sockets, processes and threads', inOneProcess(0), inOneProcess(1))
if (existsSync('/usr/lib/postgresql/15/bin/postgres')) {
  const storage = tests.database.filter((file) => /^(server|test\/conventions)\//.test(file))
  const postgres15 = ['node', 'scripts/postgres15.ts', '--']
  await run('PostgreSQL 15', [...postgres15, ...runTests, at_once, ...storage])
}
await run('Tests', [...runTests, at_once, ...tests.database, ...tests.outside])
await run('Tests in real time', [...runTests, '--test-concurrency=1', ...tests_in_real_time])
// By itself: it runs the whole demo beside a browser and a shell.
await run('Pages and examples', [...runTests, 'test/browser/platform.browser.ts'])
