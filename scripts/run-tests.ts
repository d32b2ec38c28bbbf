/**
 * Runs test files in a few processes, as a process for each file would take longer to start than
 * most files run. A process runs one file after the other, each as a suite with its own hooks, and
 * takes the next file when it has run the last:
 *
 *     node scripts/run-tests.ts PROCESSES FILE …
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'

/** Most take milliseconds; a busy machine of half the usual speed must not end the longest. */
const timeout_ms = 600_000
const test_context = join(import.meta.dirname, 'test-context.ts')

const [processes, ...files] = process.argv.slice(2)
if (processes === undefined) await runGiven()
else await runIn(Number(processes))

/** Runs the files that the parent names until it names none. */
async function runGiven(): Promise<void> {
  // The same draws in each run: a test that fails was broken by the change.
  fc.configureGlobal({ seed: 1 })
  let is_done = false
  // A test that calls process.exit() ends all that follow it.
  process.on('exit', () => {
    if (!is_done) process.exitCode = 1
  })
  for (;;) {
    process.send?.('next')
    const [{ file }] = (await once(process, 'message')) as [{ file?: string }]
    if (file === undefined) break
    await suite(file, async () => {
      await import(pathToFileURL(file).href)
    })
  }
  is_done = true
  process.disconnect?.()
}

async function runIn(count: number): Promise<void> {
  const options = [
    ...process.execArgv,
    '--import',
    test_context,
    `--test-timeout=${timeout_ms}`,
    import.meta.filename,
  ]
  const waiting = [...files]
  const children = Array.from({ length: count }, (): ChildProcess => {
    const child = spawn(process.execPath, options, {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
    child.on('message', () => child.send({ file: waiting.shift() }))
    return child
  })
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
  process.exitCode = codes.every((code) => code === 0) && waiting.length === 0 ? 0 : 1
}
