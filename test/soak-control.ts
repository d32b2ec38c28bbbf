/**
 * The end-to-end test of control for as long as asked: `npm run soak-control -- --minutes 5 --seed
 * 7`. Each round is a fresh installation; the first failure prints its seed and ends it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { control } from './end-to-end/control.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
  },
})
const until = Date.now() + Number(values.minutes) * 60_000
/** Long enough for keys that a killed server locked to be free again. */
const seconds = 120

for (let seed = Number(values.seed); Date.now() < until; seed += 1) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-soak-control-'))
  try {
    const { faults, write_log, ...counts } = await control(dir, { seed, seconds })
    process.stdout.write(`seed ${seed}: ${faults.length} faults, ${JSON.stringify(counts)}\n`)
    process.stdout.write(`Writes by the log of each device:\n${write_log}\n`)
    if (faults.length > 0) {
      process.stdout.write(`${faults.slice(0, 20).join('\n')}\n`)
      process.stdout.write(
        `Replay: CONTROL_SEED=${seed} CONTROL_SECONDS=${seconds} npx node --test `,
      )
      process.stdout.write('test/end-to-end/control.test.ts\n')
      process.exitCode = 1
      break
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
