import assert from 'node:assert/strict'
import test from 'node:test'
import { rowKey } from '@heliograph/domain/curtailment'
import { controlledSite, rowOf, start_at } from '../fixtures/controlled-site.ts'
import { inverterOf } from '../fixtures/sites.ts'

test('a restart in the middle of a raise takes up where it was', async () => {
  const site = await controlledSite()
  await site.controller.hear([rowOf(60, { end_at: start_at + 20_000 })])
  await site.clock.advance(20_010)
  // The raise is written down, and never gets to the devices.
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.equal(site.store.devices.get(1)?.written_w, 66_600)
  for (const inverter of site.inverters) inverter.forgets = true
  site.restart()
  await site.clock.advance(50)
  for (const inverter of site.inverters) inverter.forgets = false
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.deepEqual(site.events, [])
})

test('a restart takes rows, limits and permit up again, and raises nothing before all is known', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  const row = rowOf(60, { end_at: start_at + 30_000 })
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  site.inverters[0]!.is_silent = true
  site.restart()
  await site.clock.advance(1000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  const writes = () => site.inverters.flatMap(({ writes }) => writes)
  const before = writes().length
  site.clock.step(25_000)
  await site.clock.advance(8000)
  assert.equal(writes().length, before)
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [20_000, 50_000, 50_000])
  assert.equal(site.newest.get(rowKey(row))?.acknowledged_at, start_at)
})

test('a restart adds nothing to what a row failed to keep', async () => {
  const site = await controlledSite({
    prepare: (inverter) => {
      inverter.first_poll_ms = inverter.inverter_id * 1500
    },
  })
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(30_000)
  const before = site.newest.get(rowKey(row))!
  assert.equal(before.violation_s, 0)
  const told = site.reports.length
  site.restart()
  await site.clock.advance(4400)
  await site.controller.hear([{ ...row, released_at: start_at + 34_400 }])
  await site.clock.advance(20_000)
  const reports = site.reports.slice(told)
  assert.ok(reports.length > 1)
  for (const { violation_s, samples, compliant_samples, failure_code } of reports) {
    assert.deepEqual([violation_s, failure_code, samples - compliant_samples], [0, null, 0])
  }
})

test('a row that ended meanwhile is restored only when the devices were read', async () => {
  const site = await controlledSite()
  const row = rowOf(60, { end_at: start_at + 20_000 })
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  site.clock.step(30_000)
  site.restart()
  await site.clock.advance(50)
  assert.equal(site.newest.get(rowKey(row))?.restore_started_at, start_at + 40_000)
  assert.equal(site.newest.get(rowKey(row))?.restored_at, null)
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.ok(site.newest.get(rowKey(row))?.restored_at)
})

test('a clock that jumps raises nothing for a minute', async () => {
  const site = await controlledSite()
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  site.clock.step(7_200_000)
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.equal(site.newest.get(rowKey(row))?.restore_started_at, null, 'it may not be over')
  await site.controller.hear([{ ...row, released_at: start_at + 40_000 }])
  await site.clock.advance(29_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.equal(site.newest.get(rowKey(row))?.failure_code, 'raise_refused')
  await site.clock.advance(5000)
  assert.equal(site.newest.get(rowKey(row))?.failure_code, null)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})

test('after a start each device that answers has its own part, before the others did', async () => {
  const site = await controlledSite({
    permit_w: 90_000,
    prepare: (inverter) => {
      inverter.first_poll_ms = inverter.inverter_id * 1000
    },
  })
  await site.clock.advance(1500)
  assert.deepEqual(site.limits(), [30_000, null, null])
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [30_000, 30_000, 30_000])
})

test('a restart sets nothing anew where shares are uneven, whoever answers first', async () => {
  const inverters = [1, 2, 3].map((id) => inverterOf(id))
  const site = await controlledSite({
    site: {
      loggers: [
        { logger_id: 1, name: 'A', rated_power_kw: 200, inverters: inverters.slice(0, 2) },
        { logger_id: 2, name: 'B', rated_power_kw: 100, inverters: inverters.slice(2) },
      ],
    },
    prepare(inverter) {
      inverter.first_poll_ms = inverter.inverter_id * 1500
      if (inverter.inverter_id === 1) inverter.limit_w = 10_000
    },
  })
  const plant_w = new Map([1, 2].map((logger_id) => [logger_id, 90_000 * (3 - logger_id)]))
  site.permit = { plant_w, site_w: 140_000 }
  await site.clock.advance(20_000)
  // One stands at another's limit: the others share what it leaves.
  const before = site.limits()
  assert.deepEqual(before, [10_000, 65_000, 65_000])
  const writes = () => site.inverters.map((inverter) => inverter.writes.length)
  for (const order of [
    [1, 2, 3],
    [3, 2, 1],
    [2, 3, 1],
  ]) {
    const written = writes()
    for (const inverter of site.inverters) {
      inverter.first_poll_ms = 1500 * (1 + order.indexOf(inverter.inverter_id))
    }
    site.restart()
    await site.clock.advance(40_000)
    assert.deepEqual(site.limits(), before)
    assert.deepEqual(writes(), written, `polled in the order ${order}`)
  }
})

test('a row that was never applied is, where the clock is older after a restart', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  for (const inverter of site.inverters) inverter.forgets = true
  await site.controller.hear([rowOf(60)])
  await site.clock.advance(10_000)
  site.clock.step(-7_200_000)
  site.restart()
  for (const inverter of site.inverters) inverter.forgets = false
  await site.clock.advance(30_000)
  assert.ok(site.limits().every((limit_w) => limit_w !== null && limit_w <= 20_000))
})

test('a clock that is older after a restart raises nothing for a minute', async () => {
  const site = await controlledSite()
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  site.clock.step(-7_200_000)
  site.restart()
  await site.clock.advance(59_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  site.clock.step(7_200_000)
  await site.clock.advance(120_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
})
