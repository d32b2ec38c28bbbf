/**
 * Tests that run as long as asked: `npm run soak -- --part fuzz --seed 7`. Each part prints the
 * seed that replays it, and ends with exit code 1 when it finds a fault.
 */
import { parseArgs } from 'node:util'
import { blockKills } from './soak/block-kills.ts'
import { fuzz } from './soak/fuzz.ts'
import { kills } from './soak/kills.ts'
import { neighbours } from './soak/neighbours.ts'

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'kills' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    minutes: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '30' },
    requests: { type: 'string', default: '200000' },
    from: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '12' },
    scene: { type: 'string', default: '' },
    'history-days': { type: 'string', default: '8' },
  },
})
const seed = Number(values.seed)
const history_days = Number(values['history-days'])

const parts: Record<string, () => Promise<number>> = {
  kills: () => kills({ seed, minutes: Number(values.minutes) }),
  blocks: () =>
    blockKills({ seed, rounds: Number(values.rounds), minutes: Number(values.minutes) }),
  fuzz: () =>
    fuzz({ seed, requests: Number(values.requests), from: Number(values.from), history_days }),
  neighbours: () =>
    neighbours({ seconds: Number(values.seconds), scene: values.scene, history_days }),
}

const part = parts[values.part]
if (!part) throw new Error(`--part is one of ${Object.keys(parts).join(', ')}`)
process.exitCode = (await part()) > 0 ? 1 : 0
