import assert from 'node:assert/strict'
import test from 'node:test'
import { controlledSite, rowOf } from '../fixtures/controlled-site.ts'
import { memoryControlStore } from './fixtures/memory-stores.ts'
import { plainDevice } from './fixtures/plain-device.ts'

const no_permit = { plant_w: new Map<number, number>(), site_w: null }

test('a limit of the permit is not named after a row, also when the permit is lost', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(10_000)
  for (const permit of [null, no_permit]) {
    site.permit = permit
    site.restart()
    await site.clock.advance(10_000)
    await site.controller.hear([rowOf(250)])
    await site.clock.advance(20_000)
    assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
    assert.equal(site.controller.limitedBy(1), 'permit')
  }
  const lower = rowOf(60, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  await site.controller.hear([lower])
  await site.clock.advance(20_000)
  assert.equal(site.controller.limitedBy(1), 'curtailment')
  site.restart()
  await site.clock.advance(10_000)
  assert.equal(site.controller.limitedBy(1), 'curtailment')
})

test("another's limit is named so, also after a restart and without a record", async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(10_000)
  site.inverters[0]!.limit_w = 30_000
  for (const _ of ['now', 'after a restart']) {
    await site.clock.advance(10_000)
    assert.equal(site.controller.limitedBy(1), 'external')
    assert.equal(site.controller.limitedBy(2), 'permit')
    site.restart()
  }
  site.store = memoryControlStore()
  site.restart()
  await site.clock.advance(10_000)
  assert.deepEqual(
    [1, 2].map((id) => site.controller.limitedBy(id)),
    ['external', 'external'],
  )
})

test('a record is another object only when something in it changed', () => {
  const { limits, reads } = plainDevice()
  const isSame = (change: () => unknown) => {
    const { record } = limits
    change()
    return limits.record === record
  }
  reads(0, null)
  assert.equal(
    isSame(() => reads(1000, null)),
    true,
  )
  assert.equal(
    isSame(() => reads(2000, null, { static_max_w: 90_000 })),
    false,
  )
  const finds = (limit_w: number, now_ms: number) => () =>
    reads(now_ms, limit_w, { static_max_w: 90_000 })
  assert.equal(
    isSame(() => limits.begin(50_000, 3000, 'curtailment')),
    false,
  )
  assert.equal(
    isSame(() => limits.done(50_000, 3000)),
    true,
  )
  assert.equal(isSame(finds(50_000, 4000)), false, 'the command is proven')
  finds(50_000, 10_000)()
  assert.equal(isSame(finds(50_000, 11_000)), true)
  assert.equal(isSame(finds(50_000, 60_000)), true)
  assert.equal(isSame(finds(30_000, 61_000)), false, 'another master lowers it')
})

test('what is found in place of a command is of nobody in particular', () => {
  const { limits, reads } = plainDevice()
  reads(0, null)
  limits.begin(10_000, 0, 'permit')
  reads(5000, 40_000)
  assert.equal(limits.limiterOf(40_000), null)
  limits.done(10_000, 5000)
  reads(6000, 10_000)
  assert.equal(limits.limiterOf(10_000), 'permit')
  reads(11_000, 5000)
  assert.equal(limits.limiterOf(5000), 'external')
})
