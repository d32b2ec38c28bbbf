/**
 * `--part kills`: the end-to-end test for as long as asked. Each round is a fresh installation of
 * thirty seconds of kills; the first failure prints its seed and ends it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chaos } from '../end-to-end/chaos.ts'
import { loadSite } from '../end-to-end/load-site.ts'
import { programsIn } from '../end-to-end/programs.ts'

const seconds = 30

/** Returns the number of faults. */
export async function kills(options: { seed: number; minutes: number }): Promise<number> {
  const until = Date.now() + options.minutes * 60_000
  for (let { seed } = options; Date.now() < until; seed += 1) {
    const dir = mkdtempSync(join(tmpdir(), 'heliograph-soak-'))
    const programs = await programsIn(dir, loadSite)
    try {
      const { journaled, missing, invented, changed, ...counts } = await chaos(programs, {
        seed,
        seconds,
      })
      const faults = missing.length + invented.length + changed.length
      process.stdout.write(
        `seed ${seed}: ${journaled} readings, kills ${JSON.stringify(counts.kills)}, ` +
          `${missing.length} missing, ${invented.length} invented, ${changed.length} changed\n`,
      )
      if (faults > 0) {
        const all = { missing, invented, changed }
        process.stdout.write(`${JSON.stringify(all, null, 1).slice(0, 5000)}\n`)
        process.stdout.write(
          `Replay: CHAOS_SEED=${seed} CHAOS_SECONDS=${seconds} npx node --test ` +
            'test/end-to-end/exactly-once.test.ts\n',
        )
        return faults
      }
    } finally {
      await programs.endAll()
      rmSync(dir, { recursive: true, force: true })
    }
  }
  return 0
}
