/**
 * The end-to-end test for as long as asked: `npm run soak -- --minutes 5 --seed 7`. Each round is a
 * fresh installation of thirty seconds of kills; the first failure prints its seed and ends it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chaos } from './end-to-end/chaos.ts'
import { loadSite } from './end-to-end/load-site.ts'
import { programsIn } from './end-to-end/programs.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
  },
})
const until = Date.now() + Number(values.minutes) * 60_000
const seconds = 30

for (let seed = Number(values.seed); Date.now() < until; seed += 1) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-soak-'))
  const programs = await programsIn(dir, loadSite)
  try {
    const { kills, journaled, missing, invented, changed } = await chaos(programs, {
      seed,
      seconds,
    })
    const faults = missing.length + invented.length + changed.length
    process.stdout.write(
      `seed ${seed}: ${journaled} readings, kills ${JSON.stringify(kills)}, ` +
        `${missing.length} missing, ${invented.length} invented, ${changed.length} changed\n`,
    )
    if (faults > 0) {
      const all = { missing, invented, changed }
      process.stdout.write(`${JSON.stringify(all, null, 1).slice(0, 5000)}\n`)
      process.stdout.write(`Replay: CHAOS_SEED=${seed} CHAOS_SECONDS=${seconds} npx node --test `)
      process.stdout.write('test/end-to-end/exactly-once.test.ts\n')
      process.exitCode = 1
      break
    }
  } finally {
    await programs.endAll()
    rmSync(dir, { recursive: true, force: true })
  }
}
