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

test('a raise is overtaken by a row also before the next decision, which waits for the disk', async () => {
  const site = await controlledSite({
    permit_w: 200_000,
    count: 2,
    prepare: (inverter) => {
      if (inverter.inverter_id === 2) inverter.first_poll_ms = 2600
    },
  })
  const { clock, store } = site
  await clock.advance(10_000)
  await site.controller.hear([rowOf(40, { end_at: start_at + 20_000 })])
  await clock.advance(8000)
  const [inverter, other] = site.inverters
  inverter!.waits_ms = 8000
  await clock.advance(9500)
  assert.deepEqual(site.limits(), [20_000, 100_000])
  const { saveDevices } = store
  store.saveDevices = async (devices) => {
    await new Promise<void>((resolve) => clock.after(900, resolve))
    await saveDevices(devices)
  }
  // Its poll at 27.6 s is something to be written down.
  other!.static_max_w = 100_100
  await clock.advance(200)
  await site.controller.hear([rowOf(60, another)])
  for (let at_ms = 27_700; at_ms < 35_000; at_ms += 100) {
    await clock.advance(100)
    assert.ok(inverter!.limit_w! <= 30_000, `${inverter!.limit_w} at ${at_ms} ms`)
  }
})

test('a raise of which a part was sent before it was overtaken may come through yet', async () => {
  const site = await controlledSite({ permit_w: 100_000, count: 1 })
  const { clock } = site
  const inverter = site.inverters[0]!
  const { control } = inverter
  const { writeLimit } = control
  control.writeLimit = async (limit_w, mayStill) => {
    if (limit_w < 100_000) return await writeLimit(limit_w, mayStill)
    assert.ok(mayStill!(), 'the first of its registers')
    await new Promise<void>((resolve) => clock.after(8000, resolve))
    assert.ok(!mayStill!(), 'the next')
    clock.after(4000, () => {
      inverter.limit_w = 100_000
    })
    throw new BusError('overtaken', 'not sent')
  }
  await clock.advance(10_000)
  await site.controller.hear([rowOf(20, { end_at: start_at + 20_000 })])
  await clock.advance(14_000)
  site.permit = permitOf(30_000)
  await clock.advance(6000)
  assert.ok(site.store.devices.get(1)!.intents.includes(100_000))
  await clock.advance(2500)
  assert.equal(inverter.limit_w, 100_000)
  await clock.advance(30_000)
  assert.equal(inverter.limit_w, 30_000)
  assert.deepEqual(site.events, [], 'it was no other master')
  for (const { retry_count } of site.newest.values()) assert.equal(retry_count, 0, 'nor a failure')
})

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

test('a lower that waits for its bus goes, also where another is decided on meanwhile', async () => {
  const site = await controlledSite({ permit_w: 100_000, count: 1 })
  await site.clock.advance(10_000)
  const inverter = site.inverters[0]!
  inverter.waits_ms = 3000
  site.permit = permitOf(50_000)
  await site.clock.advance(2000)
  inverter.waits_ms = 0
  site.permit = permitOf(30_000)
  await site.clock.advance(3000)
  assert.deepEqual(
    inverter.writes.map(({ limit_w }) => limit_w),
    [50_000, 30_000],
  )
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
