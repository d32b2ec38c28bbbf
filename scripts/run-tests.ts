/**
 * Runs test files in a few processes, as a process for each file would take longer to start than
 * most files run. A process runs its files one after the other, each as a suite with its own hooks:
 *
 *     node scripts/run-tests.ts PROCESSES FILE …
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, suite } from 'node:test'
import { pathToFileURL } from 'node:url'

const timeout_ms = 180_000
const test_context = join(import.meta.dirname, 'test-context.ts')

const [processes, ...files] = process.argv.slice(2)
if (processes === '1') runHere()
else await runIn(Number(processes))

function runHere(): void {
  let is_done = false
  after(() => {
    is_done = true
  })
  // A test that calls process.exit() ends all that follow it.
  process.on('exit', () => {
    if (!is_done) process.exitCode = 1
  })
  for (const file of files) {
    suite(file, async () => {
      await import(pathToFileURL(file).href)
    })
  }
}

async function runIn(count: number): Promise<void> {
  const options = [
    ...process.execArgv,
    '--import',
    test_context,
    `--test-timeout=${timeout_ms}`,
    import.meta.filename,
    '1',
  ]
  const children = Array.from({ length: count }, (_, nth) => {
    const share = files.filter((_, at) => at % count === nth)
    return spawn(process.execPath, [...options, ...share], { stdio: 'inherit' })
  })
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
  process.exitCode = codes.every((code) => code === 0) ? 0 : 1
}
