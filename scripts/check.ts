/**
 * `npm test`: all checks and tests, as CI runs them. Each step is a command that can be run alone;
 * this file puts them in order. Peers from Debian are installed if possible, else reported missing.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { generateSdk } from '@heliograph/sdk/generate'
import { testGroups } from './test-groups.ts'

const postgres15 = '/usr/lib/postgresql/15/bin/postgres'

/** Debian's package, a file of it, and what it proves. */
const peers: readonly (readonly [name: string, file: string, proves: string])[] = [
  ['mbpoll', '/usr/bin/mbpoll', 'the simulator read by mbpoll'],
  [
    'python3-pymodbus',
    '/usr/lib/python3/dist-packages/pymodbus/__init__.py',
    'the simulator read by pymodbus, and a pymodbus device read by the edge',
  ],
  // Imported by pymodbus; Debian's package only recommends it.
  [
    'python3-serial-asyncio',
    '/usr/lib/python3/dist-packages/serial_asyncio/__init__.py',
    'the same, as pymodbus imports it',
  ],
  ['mosquitto', '/usr/sbin/mosquitto', 'the edge as a client of mosquitto, over TLS'],
  [
    'mosquitto-clients',
    '/usr/bin/mosquitto_pub',
    'mosquitto_pub as a node on the broker of the edge',
  ],
  ['tshark', '/usr/bin/tshark', 'the APDUs of the IEC 60870-5-104 station read by tshark'],
  ['prometheus', '/usr/bin/prometheus', 'the metrics of a site scraped by Prometheus'],
  ['glpk-utils', '/usr/bin/glpsol', 'battery plans compared with those of a second solver'],
  ['poppler-utils', '/usr/bin/pdftotext', 'the text and layout of PDF reports'],
  [
    'python3-openpyxl',
    '/usr/lib/python3/dist-packages/openpyxl/__init__.py',
    'reports as workbooks read by openpyxl',
  ],
  [
    'chromium-headless-shell',
    '/usr/bin/chromium-headless-shell',
    'the pages of the platform in a real browser',
  ],
  [
    'fonts-dejavu-core',
    '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
    'the same, with text in its pictures',
  ],
  [
    'curl',
    '/usr/bin/curl',
    'the examples of README.md, the guides and the API reference, as typed',
  ],
  ['postgresql-15', postgres15, 'the tests of storage and the API on PostgreSQL 15'],
]

/** Where a release has no such package: another, and its file. */
const substitutes: Readonly<Record<string, { name: string; file: string }>> = {
  'chromium-headless-shell': { name: 'chromium', file: '/usr/bin/chromium' },
}

/** Space for the databases, journals and logs of a whole run, with a margin. */
const memory_bytes_min = 6e9
/** The database server of the tests runs on for some seconds. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 500 }
const started_at = performance.now()

/** Far more than any step takes: one that hangs fails. */
const step_ms_max = 2_400_000

interface Step {
  title: string
  /** They run side by side. */
  commands: readonly (readonly string[])[]
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill()
})

/** A step that has the processor first; what it writes is printed at its end. */
const runFirst = (title: string, ...commands: Step['commands']) =>
  play({ title, commands }, { output: 'pipe' })

/** A step that has what the others leave of the processor, and a database server of its own. */
const run = (title: string, ...commands: Step['commands']) =>
  play({ title, commands: commands.map(patiently) }, { output: 'inherit', env: patient })

/** The same beside another such step. */
const runBeside = (title: string, ...commands: Step['commands']) =>
  play({ title, commands: commands.map(patiently) }, { output: 'pipe', env: patient })

const patiently = (words: readonly string[]) => ['nice', '-n', '19', ...words]

interface Playing {
  output: 'inherit' | 'pipe'
  env?: Record<string, string>
}

/** Prints the time that it took. Ends the process when a command fails. */
async function play({ title, commands }: Step, { output, env }: Playing): Promise<void> {
  const began_at = performance.now()
  const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(0)} s`
  for (const words of commands) {
    const shown = words.length > 12 ? [...words.slice(0, 12), `… ${words.length - 12} more`] : words
    process.stdout.write(`\n— ${title}: ${shown.join(' ')}\n`)
  }
  const written: Buffer[] = []
  const endings = commands.map(async ([command, ...parameters]) => {
    const stdio = ['inherit', output, output] as const
    const child = spawn(command!, parameters, {
      stdio: [...stdio],
      timeout: step_ms_max,
      env: { ...process.env, ...env },
    })
    running.add(child)
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => written.push(chunk))
    }
    const [code, signal] = await once(child, 'close')
    running.delete(child)
    return code === 0 ? null : { code, why: signal ? `signal ${signal}` : `exit code ${code}` }
  })
  const failure = (await Promise.all(endings)).find((ending) => ending !== null)
  await new Promise((resolve) => process.stdout.write(Buffer.concat(written), resolve))
  process.stdout.write(`\n— ${title} took ${seconds(began_at)}, ${seconds(started_at)} so far\n`)
  if (!failure) return
  process.stderr.write(`\n${title} failed: ${failure.why}\n`)
  await stopOthers()
  process.exit(failure.code || 1)
}

/** What they print after their database server is gone would hide what failed. */
async function stopOthers(): Promise<void> {
  const ended = [...running].map((child) => once(child, 'close'))
  for (const child of running) child.kill()
  await Promise.all(ended)
}

/** A directory in memory; null if there is too little memory. */
function dirInMemory(): string | null {
  const shared_memory = '/dev/shm'
  if (!existsSync(shared_memory)) return null
  const { bavail, bsize } = statfsSync(shared_memory)
  if (Math.min(bavail * bsize, freemem()) < memory_bytes_min) return null
  const directory = mkdtempSync(join(shared_memory, 'heliograph-check-'))
  // Started by root, PostgreSQL runs as another user.
  chmodSync(directory, 0o711)
  return directory
}

function installPeers(): void {
  const missing = () => peers.filter(([, file]) => !existsSync(file)).map(([name]) => name)
  if (missing().length === 0) return
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const apt = (...words: string[]) =>
      spawnSync('apt-get', ['-qq', ...words], { stdio: 'inherit', env })
    const isKnown = (name: string) => spawnSync('apt-cache', ['show', name]).status === 0
    apt('update')
    const names = missing().map((name) => (isKnown(name) ? name : substitutes[name]?.name) ?? name)
    apt('install', '-y', '--no-install-recommends', ...names)
  }
  const left_out = missing().filter((name) => !existsSync(substitutes[name]?.file ?? ''))
  for (const [name, , proves] of peers.filter(([name]) => left_out.includes(name))) {
    process.stderr.write(`LEFT OUT: ${proves}: Debian's ${name} is not installed\n`)
  }
}

installPeers()

const filesOf = (folders: readonly string[]) => folders.map((folder) => `${folder}/**/*.test.ts`)
const tests = testGroups([
  'test/*.test.ts',
  ...filesOf(['test/contract', 'test/conventions', 'test/end-to-end']),
  ...filesOf(['domain', 'physics', 'forecast', 'optimize', 'server', 'cli', 'web']),
  ...filesOf(['edge', 'simulator']),
])
/** Tests with polling programs, which would be late beside many other tests. */
const isInRealTime = (file: string) =>
  /^(edge\/(?!drivers\/|control\/)|test\/end-to-end\/)/.test(file)
/**
 * The conventions run on the oldest PostgreSQL that is supported, if it is here, and all else on
 * the embedded one. Windows of years send the same statements as short ones.
 */
const isForPostgres15 = (file: string) =>
  existsSync(postgres15) &&
  tests.database.includes(file) &&
  /^test\/conventions\/(?!windows)/.test(file)
// The longest, those of whole servers, start first.
const beside_others = [...tests.database, ...tests.outside]
  .filter((file) => !isInRealTime(file) && !isForPostgres15(file))
  .sort()
  .reverse()
// The longest, those from end to end, start first.
const in_real_time = [...tests.database, ...tests.outside].filter(isInRealTime).reverse()
/** Tests of the SQL dialect, which run on both: storage, bulk writes and exports. */
const isOfDialect = (file: string) =>
  /^server\/(storage|jobs|link)\/|\/(store|export-rows)\.test\.ts$/.test(file)
const on_postgres15 = tests.database.filter((file) => isForPostgres15(file) || isOfDialect(file))

const cores = availableParallelism()
// With a larger young generation, garbage is collected half as often: a fifth of the time less.
const runTests = (processes: number) => [
  '--max-semi-space-size=64',
  'scripts/run-tests.ts',
  String(processes),
]
// These tests mostly wait for the database.
const database_tests = runTests(2 * cores)
// Programs that are killed or busy would disturb other tests of a process.
const test_context = resolve('scripts/test-context.ts')
const aFileEach = ['node', '--import', test_context, '--test', '--test-timeout=180000']

// Hundreds of test processes share the compiled sources.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/compiled')
// Hundreds of databases are copied file by file; a disk takes six times as long.
const memory_dir = process.env['TMPDIR'] === undefined ? dirInMemory() : null
if (memory_dir !== null) process.env['TMPDIR'] = memory_dir
process.on('exit', () => memory_dir && rmSync(memory_dir, removal))
/** Of steps that have what others leave: their database server is not that of the others. */
const patient_dir = mkdtempSync(join(tmpdir(), 'patient-'))
chmodSync(patient_dir, 0o711)
process.on('exit', () => rmSync(patient_dir, removal))
const patient = { TMPDIR: patient_dir }
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

await generateSdk()

/** What mostly waits, and would be late beside what is busy. */
async function runInRealTime(): Promise<void> {
  const real_time_tests = `--test-concurrency=${cores + 1}`
  await runFirst('Tests in real time', [...aFileEach, real_time_tests, ...in_real_time])
  await runFirst('Pages and examples', [...aFileEach, 'test/browser/platform.browser.ts'])
}

async function runPatiently(): Promise<void> {
  await run(
    'Format, lint, types, generated files and the API document',
    ['biome', 'ci', '--error-on-warnings'],
    // Each checker infers the types that it meets: four take twice the processor time of one.
    ['tsc', '-p', '.', '--checkers', '1'],
    ['tsc', '-p', 'web', '--checkers', '1'],
    ['node', 'scripts/generate.ts', '--check'],
    ['redocly', 'lint', 'openapi.json'],
  )
  await run('Tests without sockets, processes and threads', [
    'node',
    ...runTests(cores),
    ...tests.pure,
  ])
  const statements = join(patient_dir, 'statements.jsonl')
  const recorded = ['env', `STATEMENTS_FILE=${statements}`, 'node']
  const recordStatements = ['--import', resolve('test/record-statements.ts')]
  await run('Tests', [...recorded, ...recordStatements, ...database_tests, ...beside_others])
  await run('Statements of the server, whether a cluster can run them', [
    'node',
    'scripts/cluster-statements.ts',
    statements,
  ])
  await runOnPostgres15(statements)
}

/** They wait as often as they compute. */
const runBenches = () =>
  runBeside('Benches, to see that they work', ['node', 'scripts/bench.ts', '--quick'])

async function runOnPostgres15(statements: string): Promise<void> {
  if (!existsSync(postgres15)) return
  const withServer = ['node', 'scripts/postgres15.ts', '--']
  await run('PostgreSQL 15', [...withServer, 'node', ...database_tests, ...on_postgres15])
  await run('PostgreSQL 15, every statement of the tests', [
    ...withServer,
    'node',
    'scripts/prepare-statements.ts',
    statements,
  ])
}

await Promise.all([runInRealTime().then(runBenches), runPatiently()])
