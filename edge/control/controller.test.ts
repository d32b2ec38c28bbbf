import assert from 'node:assert/strict'
import test from 'node:test'
import { rowKey } from '@heliograph/domain/curtailment'
import { controlledSite, rowOf, start_at } from '../fixtures/controlled-site.ts'
import { inverterOf } from '../fixtures/sites.ts'
import { controllerKey } from './device-name.ts'

test('a plant is lowered to its permit as soon as it was read, and armed with its shares', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(400)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.deepEqual(
    site.inverters.map(({ armed }) => armed),
    [[66_666], [66_666], [66_666]],
  )
  await site.clock.advance(60_000)
  assert.ok(site.inverters.every(({ writes }) => writes.length === 1))
  assert.ok(site.inverters.every(({ at_once }) => at_once === 1))
  assert.equal(site.entries.filter((entry) => entry.is === 'permit').length, 1)
  assert.deepEqual(site.events, [])
  assert.deepEqual(site.faults, [])
})

test('a row lowers all within a tick and its end restores what was before', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(10_000)
  const row = rowOf(60, { start_at: start_at + 10_000, end_at: start_at + 40_000 })
  await site.controller.hear([row])
  await site.clock.advance(100)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.clock.advance(1000)
  const applied = site.newest.get(rowKey(row))
  assert.equal(applied?.acknowledged_at, start_at + 10_000)
  assert.equal(applied.applied_at, start_at + 10_040)
  await site.clock.advance(9000)
  const verified = site.newest.get(rowKey(row))
  assert.ok(verified?.verified_at && verified.verified_at > start_at + 10_040)
  assert.equal(verified.observed_limit_kw, 60)
  assert.equal(verified.observed_power_kw, 60)
  await site.clock.advance(21_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  const restored = site.newest.get(rowKey(row))
  assert.equal(restored?.restore_started_at, start_at + 40_000)
  assert.equal(restored.restored_at, start_at + 40_040)
  assert.equal(restored.failure_code, null)
})

test('a release restores, and the report says so', async () => {
  const site = await controlledSite()
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.controller.hear([{ ...row, released_at: start_at + 10_000 }])
  await site.clock.advance(100)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  await site.clock.advance(1000)
  const { restored_at, row: reported } = site.newest.get(rowKey(row))!
  assert.equal(restored_at, start_at + 10_040)
  assert.equal(reported.released_at, start_at + 10_000)
  // A server that is older than it was takes nothing back.
  const told = site.reports.length
  await site.controller.hear([row])
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.equal(site.reports.length, told + 1)
})

test('a raise that waits for the interval of its device is made when that is over', async () => {
  const site = await controlledSite({ traits: { min_interval_ms: 1000 } })
  await site.clock.advance(10_050)
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(300)
  await site.controller.hear([{ ...row, released_at: start_at + 10_350 }])
  await site.clock.advance(690)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.clock.advance(60)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  const [first, second] = site.inverters[0]!.writes.slice(-2)
  assert.ok(second!.at - first!.at >= 1000)
})

test('of two rows the lower holds until it ends', async () => {
  const site = await controlledSite()
  const low = rowOf(30, { end_at: start_at + 20_000 })
  const high = rowOf(150, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  await site.controller.hear([low, high])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [10_000, 10_000, 10_000])
  await site.clock.advance(11_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  assert.ok(site.newest.get(rowKey(low))?.restored_at)
  await site.clock.advance(60_000)
  assert.equal(site.newest.get(rowKey(high))?.observed_limit_kw, 150)
})

test('a silent device counts with all that it can deliver, and the others make room', async () => {
  const site = await controlledSite({ permit_w: 220_000 })
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [73_300, 73_300, 73_300])
  site.inverters[0]!.is_silent = true
  await site.clock.advance(21_000)
  assert.deepEqual(site.limits(), [73_300, 60_000, 60_000])
  site.inverters[0]!.is_silent = false
  await site.clock.advance(31_000)
  assert.deepEqual(site.limits(), [73_300, 73_300, 73_300])
  // Lowered before any was raised: at no time could they deliver more.
  assert.equal(site.peak_w, 300_000 - 100_000 + 73_300)
})

test('a silent device keeps a row from being applied, and the report says why', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  site.inverters[0]!.is_silent = true
  await site.clock.advance(21_000)
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [66_600, 0, 0])
  const { applied_at, failure_code, failure_message, observed_limit_kw } = site.newest.get(
    rowKey(row),
  )!
  assert.equal(applied_at, null)
  assert.equal(failure_code, 'timeout')
  assert.equal(failure_message, 'inverter 1 does not answer')
  assert.equal(observed_limit_kw, 200, 'as of the report, before the others came down')
  site.inverters[0]!.is_silent = false
  await site.clock.advance(35_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.ok(site.newest.get(rowKey(row))?.applied_at)
  assert.equal(site.newest.get(rowKey(row))?.failure_code, null)
})

test('a row is not restored while a device that it had lowered is silent', async () => {
  const site = await controlledSite()
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  for (const inverter of site.inverters) inverter.is_silent = true
  await site.clock.advance(18_000)
  await site.controller.hear([{ ...row, released_at: start_at + 28_000 }])
  await site.clock.advance(10_000)
  assert.equal(site.newest.get(rowKey(row))?.restored_at, null)
  for (const inverter of site.inverters.slice(1)) inverter.is_silent = false
  await site.clock.advance(35_000)
  assert.equal(site.newest.get(rowKey(row))?.restored_at, null)
  site.inverters[0]!.is_silent = false
  await site.clock.advance(35_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.ok(site.newest.get(rowKey(row))?.restored_at)
})

test('a device that was silent since before the row does not keep it from being restored', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  site.inverters[0]!.is_silent = true
  await site.clock.advance(21_000)
  const row = rowOf(120)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [66_600, 10_000, 10_000])
  await site.controller.hear([{ ...row, released_at: start_at + 41_000 }])
  await site.clock.advance(3000)
  assert.deepEqual(site.limits(), [66_600, 50_000, 50_000])
  assert.ok(site.newest.get(rowKey(row))?.restored_at)
})

test('a row that is heard of only when it was released is reported as heard', async () => {
  const site = await controlledSite()
  await site.clock.advance(10_000)
  const now = rowOf(60, { released_at: start_at + 9000 })
  const group_id = '0193a1de-0000-7000-8000-000000000002'
  const later = rowOf(60, { group_id, start_at: start_at + 60_000, released_at: start_at + 9000 })
  await site.controller.hear([now, later])
  await site.clock.advance(3000)
  const chainOf = (row: typeof now) => {
    const report = site.newest.get(rowKey(row))!
    return [report.row.released_at, report.acknowledged_at, report.applied_at, report.restored_at]
  }
  const heard = [start_at + 9000, start_at + 10_000]
  assert.deepEqual(chainOf(now), [...heard, null, start_at + 10_000])
  assert.deepEqual(chainOf(later), [...heard, null, null])
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})

test('where what cannot be limited exceeds the permit, that is an event', async () => {
  const site = await controlledSite({ permit_w: 80_000 })
  await site.clock.advance(10_000)
  site.inverters[0]!.is_silent = true
  await site.clock.advance(21_000)
  assert.deepEqual(site.limits(), [26_600, 0, 0])
  assert.deepEqual(
    site.events.map(({ code, edge }) => [code, edge]),
    [['permit_unenforceable', 'rising']],
  )
  site.inverters[0]!.is_silent = false
  await site.clock.advance(35_000)
  assert.deepEqual(site.limits(), [26_600, 26_600, 26_600])
  assert.equal(site.events.at(-1)?.edge, 'falling')
})

test('without a permit nothing is raised, and nothing is touched without a row', async () => {
  const inverters = [1, 2, 3].map((id) => inverterOf(id))
  const site = await controlledSite({
    permit_w: null,
    site: { loggers: [{ logger_id: 1, name: 'L', rated_power_kw: 250, inverters }] },
    prepare: (inverter) => {
      inverter.static_max_w = 100_050
    },
  })
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [null, null, null])
  const told = () => site.events.map(({ code, edge }) => `${code} ${edge}`)
  assert.deepEqual(told(), ['no_permit_entry rising'], 'known before the first order')
  const row = rowOf(60, { end_at: start_at + 40_000 })
  await site.controller.hear([row])
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  const { restored_at, failure_code, failure_message } = site.newest.get(rowKey(row))!
  assert.deepEqual([restored_at, failure_code], [null, 'raise_refused'])
  assert.equal(
    failure_message,
    'no grid permit of this plant is known: it needs an entry in the permit file',
  )
  assert.equal(told()[1], 'permit_missing rising')
  site.permit = { plant_w: new Map([[1, 200_000]]), site_w: null }
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.ok(site.newest.get(rowKey(row))?.restored_at)
  assert.equal(site.newest.get(rowKey(row))?.failure_code, null)
  assert.deepEqual(told().slice(-2), ['no_permit_entry falling', 'permit_missing falling'])
})

test('the common connection holds the plants together', async () => {
  const site = await controlledSite()
  site.permit = { plant_w: new Map([[1, 300_000]]), site_w: 120_000 }
  await site.controller.hear([rowOf(60, { end_at: start_at + 20_000 })])
  await site.clock.advance(18_000)
  assert.equal(site.controller.limitedBy(1), 'curtailment')
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [40_000, 40_000, 40_000])
  assert.equal(site.controller.limitedBy(1), 'permit')
})

test('power that nobody measures counts with what the device may deliver', async () => {
  const site = await controlledSite()
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  site.inverters[0]!.is_silent = true
  await site.clock.advance(120_000)
  const { samples, compliant_samples, violation_s, observed_power_kw } = site.newest.get(
    rowKey(row),
  )!
  assert.ok(compliant_samples > 0 && compliant_samples < samples)
  assert.ok(violation_s > 30)
  assert.equal(observed_power_kw, 0)
})

test('rows begin and end by themselves at their instants', async () => {
  const site = await controlledSite()
  const row = rowOf(60, { start_at: start_at + 20_300, end_at: start_at + 30_700 })
  await site.controller.hear([row])
  await site.clock.advance(20_290)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  await site.clock.advance(100)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.clock.advance(10_300)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  await site.clock.advance(100)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})

test('a plant comes up again as slowly as its ramp says', async () => {
  const site = await controlledSite({ site: { control: { ramp_up_pct_per_min: 10 } } })
  await site.controller.hear([rowOf(30, { end_at: start_at + 60_000 })])
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [10_000, 10_000, 10_000])
  const sum = () => site.limits().reduce<number>((all, limit_w) => all + (limit_w ?? 0), 0)
  await site.clock.advance(60_000)
  assert.ok(sum() >= 58_000 && sum() <= 60_500, String(sum()))
  await site.clock.advance(7 * 60_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})

test('a reading says what limits it, and nothing of what was read before a write', async () => {
  const site = await controlledSite()
  await site.clock.advance(6000)
  assert.equal(site.controller.limitedBy(1), 'permit')
  await site.controller.hear([rowOf(60, { end_at: start_at + 30_000 })])
  await site.clock.advance(200)
  assert.equal(site.controller.limitedBy(1), 'permit')
  // A poll that had begun before the write tells of the limit before it.
  const { control } = site.inverters[0]!
  const limit = { limit_w: 66_600, static_max_w: 100_000, revert: null }
  const poll = { round_at: start_at, took_ms: 1000 }
  site.controller.onRead(1, { control, limit, power_w: 60_000, poll })
  assert.equal(site.controller.limitedBy(1), 'unknown')
  await site.clock.advance(10_000)
  assert.equal(site.controller.limitedBy(1), 'curtailment')
  assert.deepEqual(site.events, [])
  await site.clock.advance(30_000)
  assert.equal(site.controller.limitedBy(1), 'permit')
})

test('one device at a time is ordered one thing at a time, and all at the same time', async () => {
  const site = await controlledSite({ count: 50, permit_w: 2_000_000 })
  await site.clock.advance(10_000)
  await site.controller.hear([rowOf(500)])
  await site.clock.advance(60)
  assert.ok(site.limits().every((limit_w) => limit_w === 10_000))
})

test('where one device limits the whole plant, it is ordered in place of its inverters', async () => {
  const controller = { connection: 'a', unit_id: 0, driver: 'huawei_smartlogger' } as const
  const inverters = [1, 2, 3].map((id) => inverterOf(id))
  const site = await controlledSite({
    count: 1,
    site: { loggers: [{ logger_id: 1, name: 'L', rated_power_kw: 300, controller, inverters }] },
    prepare(limiter) {
      limiter.inverter_id = controllerKey(1)
      limiter.static_max_w = 300_000
      limiter.available_w = 250_000
    },
  })
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [200_000])
  assert.equal(site.controller.limitedBy(2), 'permit')
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [60_000])
  assert.equal(site.controller.limitedBy(2), 'curtailment')
  assert.ok(site.newest.get(rowKey(row))?.verified_at)
  site.inverters[0]!.limit_w = 100_000
  await site.clock.advance(10_000)
  assert.deepEqual(
    site.events.map(({ code, source_kind, source_id, message }) => [
      code,
      source_kind,
      source_id,
      message,
    ]),
    [
      [
        'control_contention',
        'logger',
        '1',
        'the limit of the controller of plant 1 was changed by another: raised; it is lowered again',
      ],
    ],
  )
})
