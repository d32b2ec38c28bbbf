/** Devices that take a limit at once and apply it seconds later, as a SmartLogger does. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { rowKey } from '@heliograph/domain/curtailment'
import {
  type ControlledSite,
  controlledSite,
  type FakeInverter,
  rowOf,
  start_at,
} from '../fixtures/controlled-site.ts'
import { inverterOf } from '../fixtures/sites.ts'

const lateSite = (applies_after_ms = 4500) =>
  controlledSite({
    traits: { applies_within_ms: 6000 },
    prepare: (inverter) => Object.assign(inverter, { applies_after_ms }),
  })

const written = ({ writes }: FakeInverter) => writes.map(({ limit_w }) => limit_w)
const failuresOf = ({ entries, reports }: ControlledSite) => [
  ...entries.filter((entry) => entry.is === 'answer' && entry.error !== null),
  ...reports.filter(({ retry_count, failure_code }) => retry_count > 0 || failure_code !== null),
]

test('each command is written once, and is no failure while it is not in force yet', async () => {
  const site = await lateSite()
  await site.clock.advance(30_000)
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  const applied = site.newest.get(rowKey(row))
  // In force after 4.5 s, and found at the next look.
  assert.equal(applied?.applied_at, start_at + 35_020)
  await site.controller.hear([{ ...row, released_at: start_at + 40_000 }])
  await site.clock.advance(10_000)
  assert.equal(site.newest.get(rowKey(row))?.restored_at, start_at + 45_020)
  for (const inverter of site.inverters) {
    assert.deepEqual(written(inverter), [66_600, 20_000, 66_600])
  }
  assert.deepEqual(failuresOf(site), [])
  assert.deepEqual(site.events, [])
})

test('until it is in force a lower limit counts as its old value', async () => {
  const site = await lateSite()
  await site.clock.advance(30_000)
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(4400)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.equal(site.newest.get(rowKey(row))?.applied_at, null)
})

test('a lower limit does not wait for one that was taken, and is in force in time', async () => {
  const site = await lateSite()
  await site.clock.advance(30_000)
  await site.controller.hear([rowOf(60)])
  await site.clock.advance(2000)
  const low = rowOf(30, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  await site.controller.hear([low])
  await site.clock.advance(100)
  for (const inverter of site.inverters) {
    assert.deepEqual(written(inverter), [66_600, 20_000, 10_000])
  }
  await site.clock.advance(9900)
  assert.ok(site.newest.get(rowKey(low))!.applied_at! <= start_at + 41_000)
  assert.deepEqual(failuresOf(site), [])
})

test('a raise that was taken counts as done, and gives way to a lower at once', async () => {
  const site = await lateSite()
  const low = rowOf(30)
  await site.controller.hear([low])
  await site.clock.advance(30_000)
  await site.controller.hear([{ ...low, released_at: start_at + 30_000 }])
  await site.clock.advance(2000)
  const next = rowOf(60, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  await site.controller.hear([next])
  await site.clock.advance(100)
  for (const inverter of site.inverters) {
    assert.deepEqual(written(inverter), [10_000, 66_600, 10_000])
  }
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.deepEqual(failuresOf(site), [])
})

test('what is not in force after its time has failed and is written again', async () => {
  const site = await lateSite()
  await site.clock.advance(30_000)
  for (const inverter of site.inverters) inverter.forgets = true
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(21_000)
  const [inverter] = site.inverters
  const times = inverter!.writes.slice(1).map(({ at }) => at - start_at)
  // So long as it may take, and then at the next tick.
  assert.deepEqual(times.slice(0, 3), [30_020, 39_020, 48_020])
  const { retry_count, failure_code } = site.newest.get(rowKey(row))!
  assert.equal(failure_code, 'readback_mismatch')
  assert.ok(retry_count >= 3)
  for (const one of site.inverters) one.forgets = false
  await site.clock.advance(12_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
})

/** Four devices that apply a limit after 5 s, and begin that time anew with each write. */
function anewSite() {
  const inverters = [1, 2, 3, 4].map((id) => inverterOf(id, { limit: { latency_s: 6 } }))
  const loggers = [{ logger_id: 1, name: 'L', rated_power_kw: 400, inverters }]
  return controlledSite({
    count: 4,
    permit_w: 400_000,
    site: { loggers },
    prepare: (inverter) => {
      inverter.applies_after_ms = 5000
      inverter.begins_anew = true
    },
  })
}

test('a device that begins its delay anew with each command is told once, and is not told 0', async () => {
  const site = await anewSite()
  await site.clock.advance(10_000)
  await site.controller.hear([rowOf(200)])
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000, 50_000])
  for (const { writes } of site.inverters) assert.equal(writes.length, 1)
  assert.deepEqual(site.events, [])
})

test('ever lower limits in quick succession do not keep such a device from coming down', async () => {
  const site = await anewSite()
  await site.clock.advance(10_000)
  for (let nth = 0; nth < 10; nth += 1) {
    const group_id = `0193a1de-0000-7000-8000-0000000000${10 + nth}`
    await site.controller.hear([rowOf(200 - 4 * nth, { group_id })])
    await site.clock.advance(3000)
    const seconds = 3 * (nth + 1)
    if (seconds >= 9) assert.ok(site.limits().every((limit_w) => (limit_w ?? 1e9) <= 50_000))
  }
  await site.clock.advance(12_000)
  assert.deepEqual(site.limits(), [41_000, 41_000, 41_000, 41_000])
  assert.deepEqual(failuresOf(site), [])
})

test('others come down at once for one that falls silent, though they were just lowered', async () => {
  const inverters = [1, 2, 3].map((id) => inverterOf(id, { limit: { latency_s: 120 } }))
  const site = await controlledSite({
    site: { loggers: [{ logger_id: 1, name: 'L', rated_power_kw: 300, inverters }] },
    prepare: (inverter) => Object.assign(inverter, { applies_after_ms: 3000 }),
  })
  await site.clock.advance(400_000)
  await site.controller.hear([rowOf(198)])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [66_000, 66_000, 66_000])
  site.inverters[2]!.is_silent = true
  await site.clock.advance(25_000)
  assert.deepEqual(site.limits(), [49_000, 49_000, 66_000])
})

test('a limit of at most half of the one on its way does not wait for that', async () => {
  const site = await anewSite()
  await site.clock.advance(10_000)
  await site.controller.hear([rowOf(200)])
  await site.clock.advance(2000)
  const group_id = '0193a1de-0000-7000-8000-000000000002'
  await site.controller.hear([rowOf(100, { group_id })])
  await site.clock.advance(100)
  for (const inverter of site.inverters) assert.deepEqual(written(inverter), [50_000, 25_000])
  await site.clock.advance(5100)
  assert.deepEqual(site.limits(), [25_000, 25_000, 25_000, 25_000])
})

test('a late command that lands above an external limit does not end that limit', async () => {
  const site = await controlledSite({ count: 1, permit_w: 100_000 })
  const { clock, controller } = site
  const [inverter] = site.inverters
  const { control } = inverter!
  await clock.advance(30_000)
  inverter!.forgets = true
  await controller.hear([rowOf(60, { end_at: start_at + 40_000 })])
  await clock.advance(1000)
  assert.deepEqual(inverter!.writes.at(-1)?.limit_w, 60_000)
  // Another master is faster than the command of the edge, which lands after a poll began.
  inverter!.limit_w = 50_000
  await clock.advance(3000)
  const old = { limit_w: 50_000, static_max_w: 100_000, revert: null }
  inverter!.is_silent = true
  await clock.advance(3500)
  controller.onRead(1, {
    control,
    limit: old,
    power_w: 50_000,
    poll: { round_at: start_at, took_ms: 3000 },
  })
  Object.assign(inverter!, { is_silent: false, forgets: false, limit_w: 60_000 })
  await clock.advance(60_000)
  assert.equal(inverter!.limit_w, 50_000)
})
