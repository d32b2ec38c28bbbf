import assert from 'node:assert/strict'
import test from 'node:test'
import { rowKey } from '@heliograph/domain/curtailment'
import { BusError } from '../bus/bus-error.ts'
import {
  type ControlledSite,
  controlledSite,
  rowOf,
  start_at,
} from '../fixtures/controlled-site.ts'
import { inverterOf } from '../fixtures/sites.ts'

test('a lower limit that was there before stays', async () => {
  const site = await controlledSite({
    permit_w: 250_000,
    prepare(inverter) {
      if (inverter.inverter_id === 2) inverter.limit_w = 40_000
    },
  })
  const row = rowOf(60, { end_at: start_at + 20_000 })
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [100_000, 40_000, 100_000])
  assert.equal(site.controller.limitedBy(2), 'external')
  site.restart()
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [100_000, 40_000, 100_000])
  assert.equal(site.controller.limitedBy(2), 'external')
})

test('what another lowers stays, what another raises is lowered again, and both are told', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(10_000)
  const [first, second] = site.inverters
  first!.limit_w = 30_000
  await site.clock.advance(6000)
  assert.deepEqual(
    site.limits(),
    [30_000, 66_600, 66_600].map((w, nth) => (nth ? 85_000 : w)),
  )
  second!.limit_w = 95_000
  await site.clock.advance(6000)
  assert.deepEqual(site.limits(), [30_000, 85_000, 85_000])
  assert.deepEqual(
    site.events.map(({ code, source_id, edge }) => [code, source_id, edge]),
    [
      ['control_contention', '1', 'rising'],
      ['control_contention', '2', 'rising'],
    ],
  )
  await site.clock.advance(11 * 60_000)
  assert.deepEqual(
    site.events.slice(2).map(({ code, source_id, edge }) => [code, source_id, edge]),
    [
      ['control_contention', '1', 'falling'],
      ['control_contention', '2', 'falling'],
    ],
  )
})

test('a device that refuses is tried again after its latency, and the report says so', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  const refusing = site.inverters[0]!
  refusing.refusal = new Error('limit of 66666 W not allowed')
  const before = refusing.writes.length
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(20_000)
  const tried = refusing.writes.slice(before).map(({ at }) => at - start_at - 10_000)
  const gaps = tried.map((at, nth) => Math.floor((at - (tried[nth - 1] ?? 0)) / 1000))
  assert.deepEqual(gaps, [0, 7, 7])
  const report = site.newest.get(rowKey(row))!
  assert.equal(report.failure_code, 'driver_error')
  assert.equal(report.failure_message, 'inverter 1: its limit cannot be set')
  assert.ok(report.retry_count >= 1)
  refusing.refusal = null
  // A new order is not kept waiting.
  await site.controller.hear([rowOf(30, { group_id: '0193a1de-0000-7000-8000-000000000002' })])
  await site.clock.advance(200)
  assert.equal(refusing.limit_w, 10_000)
  await site.clock.advance(15_000)
  assert.deepEqual(site.limits(), [10_000, 10_000, 10_000])
  assert.equal(site.newest.get(rowKey(row))?.failure_code, null)
})

test('a device that delivers more than its limit counts with all that it can', async () => {
  const site = await controlledSite()
  site.inverters[0]!.obeys = false
  await site.clock.advance(70_000)
  assert.deepEqual(
    site.events.map(({ code, source_id, edge }) => [code, source_id, edge]),
    [['curtailment_not_effective', '1', 'rising']],
  )
  assert.deepEqual(site.limits().slice(1), [50_000, 50_000])
})

test('what is wrong at a device before its limit can be trusted is an event', async () => {
  const site = await controlledSite({
    prepare: ({ inverter_id, complaints }) => {
      if (inverter_id === 3) complaints.push('remote control is not allowed')
    },
  })
  await site.clock.advance(10_000)
  assert.deepEqual(
    site.events.map(({ code, source_id, message }) => [code, source_id, message]),
    [
      [
        'limit_not_armed',
        '3',
        'the limit of inverter 3 is not fail-safe: remote control is not allowed',
      ],
    ],
  )
})

test('a device that falls silent while it is armed is not reported as not fail-safe', async () => {
  const site = await controlledSite({
    prepare: (inverter) => {
      if (inverter.inverter_id === 3) inverter.arms_within_ms = 20_000
    },
  })
  await site.clock.advance(6000)
  site.inverters[2]!.is_silent = true
  await site.clock.advance(120_000)
  assert.deepEqual(site.inverters[2]!.armed, [])
  assert.deepEqual(
    site.events.filter(({ code }) => code === 'limit_not_armed'),
    [],
  )
})

test('while nothing can be written down, limits are lowered and not raised', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  const { store } = site
  const works = store.saveDevices
  store.saveDevices = () => Promise.reject(new Error('disk full'))
  const row = rowOf(60, { end_at: start_at + 20_000 })
  await site.controller.hear([row])
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.clock.advance(15_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.equal(site.newest.get(rowKey(row))?.failure_code, 'raise_refused')
  assert.match(site.faults[0]?.message ?? '', /disk full/)
  assert.deepEqual(
    site.events.map(({ code }) => code),
    ['control_fault'],
  )
  store.saveDevices = works
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})

test('what a read-back proved is on disk at once', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  await site.controller.hear([rowOf(60)])
  await site.clock.advance(1000)
  const saved = () => {
    const { before_w, intents } = site.store.devices.get(1)!
    return { before_w, intents: [...intents] }
  }
  assert.deepEqual(saved(), { before_w: null, intents: [] })
})

test('a row is reported only when it is durable', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  const { store } = site
  const works = store.saveRows
  store.saveRows = () => Promise.reject(new Error('disk full'))
  const row = rowOf(60)
  await assert.rejects(site.controller.hear([row]), /disk full/)
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.deepEqual(site.reports, [])
  store.saveRows = works
  await site.clock.advance(3000)
  assert.ok(site.newest.get(rowKey(row))?.applied_at)
})

test('a new contact is armed again, and what it lost meanwhile is no other master', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  const [inverter] = site.inverters
  inverter!.control = { ...inverter!.control }
  inverter!.limit_w = null
  await site.clock.advance(10_000)
  assert.deepEqual(inverter!.armed, [66_666, 66_666])
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  site.controller.onGone(2)
  site.inverters[1]!.limit_w = null
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.deepEqual(site.events, [])
})

test('a lower does not wait until a device that could not be armed is asked again', async () => {
  const site = await controlledSite({ count: 1, permit_w: null })
  const [inverter] = site.inverters
  const { control } = inverter!
  control.arm = () => Promise.reject(new BusError('timeout', 'no answer'))
  await site.clock.advance(10_000)
  site.permit = { plant_w: new Map([[1, 60_000]]), site_w: null }
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [60_000])
})

test('what arming sets is read back at once, and need not be set again', async () => {
  const site = await controlledSite({
    permit_w: 199_800,
    prepare: (inverter) => {
      inverter.arms_at_w = 66_600
    },
  })
  await site.clock.advance(10_000)
  assert.deepEqual(
    site.inverters.map(({ static_max_w, limit_w, writes }) => [static_max_w, limit_w, writes]),
    [1, 2, 3].map(() => [66_600, null, []]),
  )
})

test('an inverter that was never read counts with the most that the site file gives it', async () => {
  const inverters = [1, 2, 3].map((id) => inverterOf(id, { max_ac_power_kw: 110 }))
  const site = await controlledSite({
    site: { loggers: [{ logger_id: 1, name: 'L', rated_power_kw: 300, inverters }] },
    prepare: (inverter) => {
      inverter.is_silent = inverter.inverter_id === 1
    },
  })
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [null, 45_000, 45_000])
})

test('a device of which the registers cannot be understood holds up no other', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  const { control } = site.inverters[0]!
  control.settable = () => {
    throw new Error('its limit cannot be read')
  }
  await site.controller.hear([rowOf(120)])
  await site.clock.advance(1000)
  assert.deepEqual(site.limits(), [66_600, 26_700, 26_700])
  assert.deepEqual(site.faults, [])
})

/** From now on it takes so long until what is known of devices is written down. */
function delaySaves({ store, clock }: ControlledSite, ms: number): void {
  const { saveDevices } = store
  store.saveDevices = async (devices) => {
    await new Promise<void>((resolve) => clock.after(ms, resolve))
    await saveDevices(devices)
  }
}

test('a permit that is lowered while a raise is written down keeps it back', async () => {
  const site = await controlledSite()
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  const { clock } = site
  delaySaves(site, 500)
  await site.controller.hear([{ ...row, released_at: start_at + 10_000 }])
  await clock.advance(200)
  site.permit = { plant_w: new Map([[1, 90_000]]), site_w: null }
  site.peak_w = 0
  await clock.advance(20_000)
  assert.deepEqual(site.limits(), [30_000, 30_000, 30_000])
  assert.equal(site.peak_w, 90_000)
})

test('a write that failed and is not wanted any more leaves no device in doubt', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  const [inverter] = site.inverters
  inverter!.forgets = true
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(12_000)
  inverter!.forgets = false
  await site.controller.hear([{ ...row, released_at: start_at + 22_000 }])
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.ok(site.newest.get(rowKey(row))?.restored_at)
})

test('what limits a device is unknown where its limit was not read, or is not as set', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  const { control } = site.inverters[0]!
  site.controller.onRead(1, { control, limit: null, power_w: 50_000 })
  assert.equal(site.controller.limitedBy(1), 'unknown')
  site.inverters[1]!.forgets = true
  await site.controller.hear([rowOf(60)])
  await site.clock.advance(16_000)
  assert.equal(site.inverters[1]!.limit_w, 66_600)
  assert.equal(site.controller.limitedBy(2), 'unknown')
})

test('a release that comes while a tick writes is not taken for restored', async () => {
  const site = await controlledSite()
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  const { clock } = site
  delaySaves(site, 50)
  // Something to be written down, and nothing to be ordered.
  site.inverters[0]!.static_max_w = 100_100
  site.restart()
  await clock.advance(125)
  await site.controller.hear([{ ...row, released_at: clock.now().getTime() }])
  while (site.newest.get(rowKey(row))?.restored_at == null) await clock.advance(10)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})
