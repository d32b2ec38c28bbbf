/**
 * `npm run search-control -- NAME --max 1000000`: explores the states of one configuration, or of
 * all. `--order breadth` finds the shortest way to a fault. A million states of a configuration
 * with ramps need `node --max-old-space-size=8000`.
 */
import { parseArgs } from 'node:util'
import { configs } from './configurations.ts'
import { type Order, search } from './search.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    max: { type: 'string', default: '60000' },
    order: { type: 'string', default: 'depth' },
  },
})
const names = positionals.length > 0 ? positionals : configs.map(({ name }) => name)
for (const name of names) {
  const config = configs.find((one) => one.name === name)
  if (!config) throw new Error(`no configuration ${name}`)
  const began_ms = performance.now()
  const { states, steps, is_complete, failure } = search(
    config,
    Number(values.max),
    values.order as Order,
  )
  const took_s = ((performance.now() - began_ms) / 1000).toFixed(0)
  const extent = is_complete ? 'complete' : 'bounded'
  const ending = failure === null ? extent : `FAILS: ${failure}`
  process.stdout.write(`${name}: ${states} states, ${steps} steps in ${took_s} s, ${ending}\n`)
  if (failure !== null) process.exit(1)
}
