/** `npm run fuzz-iec104 -- --apdus 1000000 --seed 7`: random APDUs at the station of IEC 104. */
import { parseArgs } from 'node:util'
import { Fuzz } from './fuzz.ts'

const { values } = parseArgs({
  options: {
    apdus: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
  },
})
/** A tenth of the APDUs warms the program up; after that its memory may grow by so much. */
const growth_bytes_max = 32 * 2 ** 20
const seed = Number(values.seed)
const apdus = Number(values.apdus)
const fuzz = new Fuzz(seed)

const heap = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

await fuzz.run(Math.ceil(apdus / 10))
const before_bytes = heap()
const { answers, closings, fault, apdus: sent } = await fuzz.run(apdus - Math.ceil(apdus / 10))
const growth_bytes = heap() - before_bytes
const mb = (growth_bytes / 2 ** 20).toFixed(1)
process.stdout.write(`seed ${seed}: ${sent} APDUs, ${closings} closings, heap +${mb} MiB\n`)
for (const [answer, count] of [...answers].sort()) process.stdout.write(`${answer}: ${count}\n`)
if (fault !== null) process.stdout.write(`${fault}\n`)
if (fault !== null || growth_bytes > growth_bytes_max) process.exitCode = 1
