import assert from 'node:assert/strict'
import test from 'node:test'
import { Proof } from '../control/proof.ts'
import type { MixedSite } from './fixtures/mixed-site.ts'
import { playRoom } from './fixtures/room-episode.ts'

/** To play others: `ROOM_EPISODES=1000 CONTROL_SEED=7 npx node --test` with this file. */
const episodes = Number(process.env['ROOM_EPISODES'] ?? 12)
const seconds = 400
const start_s = 20
const seed_from = Number(process.env['CONTROL_SEED'] ?? 0)
/**
 * What ended the doubt about a write without an answer was not in the log; a PCS that was still
 * measured at what it held before was raised, as if that were room.
 */
const found_before = [478_019_458, 922_515_082]

test(`plants and batteries together keep to what is permitted, seeds from ${seed_from}`, async () => {
  const seen = { discharging: 0, most_ratio: 0, standing: 0, trials: 0 }
  for (let nth = 0; nth < episodes; nth += 1) {
    const seed = found_before[nth] ?? seed_from + nth
    try {
      const { site, judge, trials } = await playRoom(seed, seconds)
      lookForWrites(site)
      seen.discharging += judge.seen.discharging
      seen.standing += judge.seen.standing
      seen.trials += trials.begun
      seen.most_ratio = Math.max(seen.most_ratio, judge.seen.most_ratio)
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
    }
  }
  // They are not kept to it by doing nothing.
  assert.ok(seen.discharging > 1000, String(seen.discharging))
  assert.ok(seen.standing > 100, String(seen.standing))
  assert.ok(seen.most_ratio > 0.9, String(seen.most_ratio))
  assert.ok(seen.trials > 10, String(seen.trials))
})

/** By the control log alone: whatever befell, no write of this edge exceeded the permit. */
function lookForWrites({ entries, clock }: MixedSite): void {
  const to_at = clock.now().getTime()
  const from_at = to_at - (seconds - start_s) * 1000
  const proof = new Proof({ from_at, to_at }, to_at)
  for (const entry of entries) proof.take(entry)
  const { oversteps, orders } = proof.end()
  assert.deepEqual(
    oversteps.filter(({ cause }) => cause === 'write'),
    [],
  )
  assert.ok(orders > 0)
}
