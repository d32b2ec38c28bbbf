import assert from 'node:assert/strict'
import test from 'node:test'
import { playRoom } from './fixtures/room-episode.ts'

const episodes = 25
const seconds = 400
const drawn = Math.floor(Math.random() * 1e9)

test(`plants and batteries together keep to what is permitted, seed ${drawn}`, async () => {
  const seen = { discharging: 0, most_ratio: 0 }
  for (let nth = 0; nth < episodes; nth += 1) {
    const seed = nth < episodes / 2 ? nth : drawn + nth
    try {
      const { judge } = await playRoom(seed, seconds)
      seen.discharging += judge.seen.discharging
      seen.most_ratio = Math.max(seen.most_ratio, judge.seen.most_ratio)
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
    }
  }
  // They are not kept to it by doing nothing.
  assert.ok(seen.discharging > 1000, String(seen.discharging))
  assert.ok(seen.most_ratio > 0.9, String(seen.most_ratio))
})
