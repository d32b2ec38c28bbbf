import assert from 'node:assert/strict'
import test from 'node:test'
import { batteryOf, hourOf, type MixedSite } from './fixtures/mixed-site.ts'
import { onePlant, permit } from './fixtures/one-plant.ts'

const setpoint = ({ batteries }: MixedSite, nth = 0) => batteries[nth]!.pcs[0]!.setpoint_w

test('one that refuses to be lowered has the room of the others', async () => {
  const batteries = [batteryOf(1, { logger_id: 1 }), batteryOf(2, { logger_id: 1 })]
  const site = await onePlant({ batteries })
  site.hours(hourOf(40), hourOf(40, { bess_id: 2 }))
  await site.pass(40)
  site.batteries[0]!.pcs[0]!.refuses = true
  site.permit = permit(50_000)
  await site.pass(12)
  const [first, second] = site.batteries.map(({ pcs }) => pcs[0]!.setpoint_w!)
  assert.equal(first, 40_000)
  assert.ok(second! <= 10_000, String(second))
})

test('a PCS that delivers more than it is told counts with that', async () => {
  const site = await onePlant()
  site.hours(hourOf(60))
  await site.pass(40)
  site.batteries[0]!.pcs[0]!.ratio = 1.3
  await site.pass(10)
  const limits_w = site.inverters.reduce((sum, { limit_w }) => sum + limit_w!, 0)
  assert.ok(limits_w <= 22_000, String(limits_w))
})

test('a PCS that goes on to deliver more than it is told is told 0 W for a while', async () => {
  const batteries = [batteryOf(1, { logger_id: 1, ramp_rate_kw_s: 2 })]
  const small = { logger_id: 1, rated_w: [1000] }
  const site = await onePlant({ plants: [small], batteries, permit: permit(60_000) })
  site.batteries[0]!.pcs[0]!.ratio = 1.5
  site.hours(hourOf(60))
  await site.pass(30)
  assert.ok(setpoint(site)! > 35_000 && setpoint(site)! <= 46_000, String(setpoint(site)))
  await site.pass(20)
  assert.equal(setpoint(site), 0)
  const delivered: number[] = []
  await site.pass(600, () => delivered.push(site.batteries[0]!.pcs[0]!.power_w))
  assert.ok(Math.max(...delivered) <= 66_000, String(Math.max(...delivered)))
  const above = delivered.filter((w) => w > 60_000).length
  assert.ok(above < 0.4 * delivered.length, String(above))
})

test('at a connection without plants, one that fell silent has the room of the others', async () => {
  const at = { connection: 'a', unit_id: 1, driver: 'sunspec' } as const
  const batteries = [
    batteryOf(1, { pcs: [{ pcs_idx: 0, rated_power_kw: 40, ...at }] }),
    batteryOf(2),
  ]
  const bare = { logger_id: 1, rated_w: [] }
  const site = await onePlant({ plants: [bare], batteries, permit: permit(1e6, 100_000) })
  site.hours(hourOf(10), hourOf(90, { bess_id: 2 }))
  await site.pass(40)
  assert.deepEqual([setpoint(site), setpoint(site, 1)], [10_000, 90_000])
  site.batteries[0]!.pcs[0]!.silent_ms = site.clock.elapsedMs()
  await site.pass(12)
  assert.ok(setpoint(site, 1)! <= 60_000, String(setpoint(site, 1)))
})
