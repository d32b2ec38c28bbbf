import assert from 'node:assert/strict'
import test from 'node:test'
import { controlledSite } from '../fixtures/controlled-site.ts'
import { inverterOf } from '../fixtures/sites.ts'

const plant = (logger_id: number, ...ids: number[]) => {
  const inverters = ids.map((id) => inverterOf(id))
  return { logger_id, name: `L${logger_id}`, rated_power_kw: 100 * ids.length, inverters }
}

/** What each device was armed with last. */
async function armed(permit: { plant_w: Map<number, number>; site_w: number | null }) {
  const site = await controlledSite({
    count: 4,
    permit_w: null,
    site: { loggers: [plant(1, 1), plant(2, 2, 3, 4)] },
  })
  site.permit = permit
  await site.clock.advance(10_000)
  return site.inverters.map((inverter) => inverter.armed.at(-1) ?? null)
}

test('all devices together are armed with no more than the common connection may carry', async () => {
  const plant_w = new Map([
    [1, 90_000],
    [2, 210_000],
  ])
  assert.deepEqual(await armed({ plant_w, site_w: 240_000 }), [60_000, 60_000, 60_000, 60_000])
  assert.deepEqual(await armed({ plant_w, site_w: null }), [90_000, 70_000, 70_000, 70_000])
})

test('where the permit of a plant is not known its devices are left as they are', async () => {
  const plant_w = new Map([[2, 150_000]])
  assert.deepEqual(await armed({ plant_w, site_w: 400_000 }), [null, 50_000, 50_000, 50_000])
})
