/**
 * `npm run simulate-control -- --edge controller --ticks 1000000 --seed 7`: control among simulated
 * plants, by the controller or by a thin loop around its core. `--episode` replays the one that a
 * failure names.
 */
import { parseArgs } from 'node:util'
import { type EdgeName, edges, type Failure, playEpisode, simulate } from './episode.ts'

const { values } = parseArgs({
  options: {
    edge: { type: 'string', default: 'thin' },
    ticks: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    episode: { type: 'string' },
  },
})
if (!(values.edge in edges)) throw new Error(`--edge is one of ${Object.keys(edges).join(', ')}`)
const edge = values.edge as EdgeName

function tell({ seed, broken, trace }: Failure): void {
  process.stdout.write(`${trace.join('\n')}\n\nepisode ${seed} broke ${broken}\n`)
  process.stdout.write(`Replay: npm run simulate-control -- --edge ${edge} --episode ${seed}\n`)
  process.exitCode = 1
}

if (values.episode !== undefined) {
  const seed = Number(values.episode)
  const outcome = await playEpisode(seed, edge, true)
  if (outcome.broken === null)
    process.stdout.write(`episode ${seed}: ${outcome.ticks} ticks held\n`)
  else tell({ ...outcome, seed })
} else {
  const seed = Number(values.seed)
  const started_ms = performance.now()
  const { ticks, failure } = await simulate(seed, Number(values.ticks), edge)
  const took_s = ((performance.now() - started_ms) / 1000).toFixed(1)
  process.stdout.write(`seed ${seed}: ${ticks} ticks in ${took_s} s\n`)
  if (failure) tell(failure)
}
