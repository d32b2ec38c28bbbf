import assert from 'node:assert/strict'
import test from 'node:test'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import { virtualClock } from '../fixtures/virtual-clock.ts'
import { ControlledPlants } from './controlled-plants.ts'
import { plainTraits } from './fixtures/plain-device.ts'
import { jointCeilings } from './joint-ceilings.ts'
import { SourceBook } from './source-book.ts'

/** Two inverters of 100 kW that were read once, of which site.yaml has only the first any more. */
async function removedPlants(): Promise<ControlledPlants> {
  const stopwatch = virtualClock('2026-06-21T22:00:00Z')
  const plants = new ControlledPlants({
    stopwatch,
    records: new Map(),
    book: new SourceBook(0),
    lowered: (_, most_w) => most_w,
    batteryPower: () => ({ measured_w: 0, unmeasured_w: 0 }),
    note() {},
    onChange() {},
    onForeign() {},
  })
  plants.apply(siteOf([inverterOf(1), inverterOf(2)]))
  const control = {
    traits: plainTraits,
    settable: (limit_w: number) => limit_w,
    readLimit: () => Promise.reject(new Error('it does not answer')),
    writeLimit: () => Promise.reject(new Error('it does not answer')),
    arm: () => Promise.resolve([]),
  }
  const limit = { limit_w: 40_000, static_max_w: 100_000, revert: null }
  for (const id of [1, 2]) plants.device(id)!.onRead({ control, limit, power_w: 0 })
  plants.apply(siteOf([inverterOf(1)]))
  await stopwatch.advance(600_000)
  return plants
}

test('one that left site.yaml counts at night, too: it may have a battery on its DC side', async () => {
  const plants = await removedPlants()
  const [plant] = plants.all
  const worstAt = (sun: 'day' | 'night') => {
    plants.sun = sun
    const ceiling = { ceiling_w: 1e6, held_by: 'none', may_raise: true } as const
    plants.decide({ now_ms: 600_000, site_w: null, batteries: undefined }, () => ceiling)
    return plants.worstOf(plant!, 600_000)
  }
  assert.deepEqual([worstAt('day'), worstAt('night')], [200_000, 100_000])
  const terms = { permit_w: 200_000, row_w: 200_000 }
  const [joint] = jointCeilings(plants, () => terms, 600_000)
  assert.deepEqual([joint!.power_w, joint!.most_w], [100_000, 100_000])
  // An alarm would come each evening, of one that is almost always PV.
  assert.equal(plants.sleepingWorst(plant!, 600_000), 100_000)
})
