import assert from 'node:assert/strict'
import test from 'node:test'
import { BusError } from '../bus/bus-error.ts'
import { controlledSite, rowOf, start_at } from '../fixtures/controlled-site.ts'

const permitOf = (permit_w: number) => ({ plant_w: new Map([[1, permit_w]]), site_w: null })

/** A plant of one inverter whose raise to 100 kW has waited 2 s for its bus, of 8. */
async function raising() {
  const site = await controlledSite({ permit_w: 100_000, count: 1 })
  await site.clock.advance(10_000)
  await site.controller.hear([rowOf(20, { end_at: start_at + 20_000 })])
  await site.clock.advance(8000)
  const inverter = site.inverters[0]!
  assert.equal(inverter.limit_w, 20_000)
  inverter.waits_ms = 8000
  await site.clock.advance(4000)
  inverter.waits_ms = 0
  assert.deepEqual(site.entries.findLast((entry) => entry.is === 'order')?.limit_w, 100_000)
  return { site, inverter }
}

const another = { group_id: '0193a1de-0000-7000-8000-000000000009', start_at: start_at + 20_000 }

for (const what of ['permit', 'row'] as const) {
  test(`a raise that waits for its bus is overtaken by a lower ${what}`, async () => {
    const { site, inverter } = await raising()
    const writes = inverter.writes.length
    if (what === 'permit') site.permit = permitOf(30_000)
    else await site.controller.hear([rowOf(30, another)])
    for (let at_ms = 0; at_ms < 20_000; at_ms += 100) {
      await site.clock.advance(100)
      assert.ok(inverter.limit_w! <= 30_000, `${inverter.limit_w} after ${at_ms} ms`)
    }
    assert.deepEqual(
      inverter.writes.slice(writes).map(({ limit_w }) => limit_w),
      [30_000],
    )
    assert.equal(site.limits()[0], 30_000)
    // It was not sent: that is no failure, and nothing that may come through yet.
    const { written_w, intents } = site.store.devices.get(1)!
    assert.deepEqual([written_w, intents], [30_000, []])
    assert.deepEqual(site.faults, [])
    for (const { failure_code, retry_count } of site.newest.values()) {
      assert.deepEqual([failure_code, retry_count], [null, 0])
    }
  })
}

test('what was not sent leaves the record as it was, also over a restart', async () => {
  const { site, inverter } = await raising()
  site.permit = permitOf(20_000)
  await site.clock.advance(10_000)
  assert.equal(inverter.limit_w, 20_000)
  const { written_w, intents, external_w } = site.store.devices.get(1)!
  assert.deepEqual([written_w, intents, external_w], [20_000, [], null])
  site.restart()
  await site.clock.advance(20_000)
  site.permit = permitOf(100_000)
  await site.clock.advance(10_000)
  assert.equal(inverter.limit_w, 100_000)
})

test('a raise that nothing overtakes goes, however long it waited', async () => {
  const { site, inverter } = await raising()
  await site.clock.advance(7000)
  assert.equal(inverter.limit_w, 100_000)
})

test('a lower permit does not wait until devices are armed with it', async () => {
  const site = await controlledSite({ permit_w: 300_000 })
  await site.clock.advance(20_000)
  for (const inverter of site.inverters) inverter.arms_within_ms = 5000
  site.permit = permitOf(150_000)
  await site.clock.advance(1500)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  await site.clock.advance(20_000)
  assert.deepEqual(
    site.inverters.map(({ armed }) => armed.at(-1)),
    [50_000, 50_000, 50_000],
  )
})

test('at a new contact a device is armed before its first limit', async () => {
  const order: string[] = []
  await controlledSite({
    count: 1,
    permit_w: 50_000,
    prepare({ control }) {
      const { arm, writeLimit } = control
      control.arm = (share_w) => {
        order.push('arm')
        return arm(share_w)
      }
      control.writeLimit = (limit_w, mayStill) => {
        order.push('limit')
        return writeLimit(limit_w, mayStill)
      }
    },
  }).then(({ clock }) => clock.advance(5000))
  assert.deepEqual(order, ['arm', 'limit'])
})

test('a lower permit does not wait for a device that is left alone after a failure', async () => {
  const site = await controlledSite({ permit_w: 300_000 })
  await site.clock.advance(10_000)
  const inverter = site.inverters[0]!
  inverter.refusal = new BusError('timeout', 'no answer')
  site.permit = permitOf(240_000)
  await site.clock.advance(30_000)
  inverter.refusal = null
  site.permit = permitOf(90_000)
  await site.clock.advance(1200)
  assert.equal(inverter.limit_w, 30_000)
})
