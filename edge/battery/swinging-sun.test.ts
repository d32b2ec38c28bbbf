import assert from 'node:assert/strict'
import test from 'node:test'
import { chanceOf } from '../control/simulation/chance.ts'
import { inverterPower } from './fixtures/mixed-polls.ts'
import { batteryOf, hourOf, mixedSite } from './fixtures/mixed-site.ts'

const seconds = 1800

/** Half an hour of 60 kW beside a plant of 100 kW under such a sun; 100 kW are permitted. */
async function half(sunAt: (second: number) => number) {
  const site = await mixedSite({
    plants: [{ logger_id: 1, rated_w: [50_000, 50_000] }],
    batteries: [batteryOf(1, { logger_id: 1 })],
    permit: { plant_w: new Map([[1, 100_000]]), site_w: null },
  })
  for (const one of site.inverters) one.available_w = one.rated_w * 0.6
  await site.pass(60)
  site.hours(hourOf(60))
  const [pcs] = site.batteries[0]!.pcs
  const before = pcs!.writes.length
  const of = { available: 0, delivered: 0, discharged_kwh: 0 }
  for (let second = 0; second < seconds; second += 1) {
    const height = sunAt(second)
    for (const one of site.inverters) one.available_w = one.rated_w * height
    await site.pass(1)
    for (const one of site.inverters) {
      of.available += one.available_w
      of.delivered += inverterPower(one)
    }
    of.discharged_kwh += pcs!.power_w / 3.6e6
  }
  const told = pcs!.writes.slice(before).map(({ power_w }) => power_w)
  const raises = told.filter((w, nth) => nth > 0 && w > told[nth - 1]!).length
  const lost_pct = 100 * (1 - of.delivered / of.available)
  return { raises, lost_pct, discharged_kwh: of.discharged_kwh }
}

const swinging = (period_s: number) => (second: number) =>
  0.6 + 0.35 * Math.sin((2 * Math.PI * second) / period_s)

test('a sun that swings fast is not followed at the cost of the plant', async () => {
  const { raises, lost_pct, discharged_kwh } = await half(swinging(120))
  assert.ok(lost_pct < 4, `${lost_pct} % of its energy`)
  assert.ok(raises <= 60, `${raises} raises`)
  assert.ok(discharged_kwh > 3, `${discharged_kwh} kWh`)
})

test('a sun that swings slowly is followed, in steps that are worth a write', async () => {
  const { raises, lost_pct, discharged_kwh } = await half(swinging(600))
  assert.ok(lost_pct < 0.1, `${lost_pct} % of its energy`)
  assert.ok(raises <= 100, `${raises} raises`)
  assert.ok(discharged_kwh > 14, `${discharged_kwh} kWh`)
})

test('a sun that trembles takes nothing of the plant, and little of the battery', async () => {
  const chance = chanceOf(7)
  let height = 0.6
  const { raises, lost_pct, discharged_kwh } = await half(() => {
    height = Math.max(0.3, Math.min(0.95, height + chance.between(-100, 100) / 10_000))
    return height
  })
  assert.ok(lost_pct < 0.1, `${lost_pct} % of its energy`)
  assert.ok(raises <= 45, `${raises} raises`)
  assert.ok(discharged_kwh > 5.5, `${discharged_kwh} kWh`)
})
