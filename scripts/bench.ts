/**
 * Runs every bench, or those named, one after the other: `npm run bench -- ingest history`. Options
 * come last and go to each: `npm run bench -- sustained --minutes 1`. `--quick` is for the bench
 * runner: see bench/fixtures/quick.ts.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const all = readdirSync(new URL('../bench', import.meta.url))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace('.ts', ''))
/** As the programs run: see the scripts `server` and `edge` of package.json. */
const flags = ['--max-semi-space-size=8']
const given = process.argv.slice(2)
const first_option = given.findIndex((word) => word.startsWith('-'))
const wanted = first_option < 0 ? given : given.slice(0, first_option)
const is_quick = given.includes('--quick')
const options = given.slice(wanted.length).filter((word) => word !== '--quick')
const env = { ...process.env, ...(is_quick && { BENCH_QUICK: '1' }) }
const unknown = wanted.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no bench ${unknown.join(', ')}; there are ${all.join(', ')}\n`)
  process.exit(2)
}
let failed = false
for (const name of wanted.length > 0 ? wanted : all) {
  process.stdout.write(`\n— ${name}\n`)
  const began_at = performance.now()
  const { status } = spawnSync(process.execPath, [...flags, `bench/${name}.ts`, ...options], {
    stdio: 'inherit',
    env,
  })
  failed ||= status !== 0
  if (!is_quick) continue
  const took_s = (performance.now() - began_at) / 1000
  process.stdout.write(`${name} ${status === 0 ? 'works' : 'FAILED'}, ${took_s.toFixed(1)} s\n`)
}
process.exit(failed ? 1 : 0)
