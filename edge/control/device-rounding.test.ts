import assert from 'node:assert/strict'
import test from 'node:test'
import { rowKey } from '@heliograph/domain/curtailment'
import type { LimitResponse } from '@heliograph/domain/site'
import type { LimitTraits } from '../drivers/limit-control.ts'
import {
  type ControlledSite,
  controlledSite,
  type FakeInverter,
  rowOf,
  start_at,
} from '../fixtures/controlled-site.ts'
import { inverterOf, siteOf } from '../fixtures/sites.ts'

type Makes = FakeInverter['makes']
const tenths = (round: (steps: number) => number) => (limit_w: number) =>
  round(limit_w / 10_000) * 10_000

const tenth = { tolerance_pct: 10 }
const cases: [why: string, makes: Makes, limit: LimitResponse][] = [
  ['rounds up to 10 %', tenths(Math.ceil), tenth],
  ['rounds to the nearest 10 %', tenths(Math.round), tenth],
  ['rounds down to 10 %', tenths(Math.floor), tenth],
  ['has steps of 10 % and is told whole ones', tenths(Math.ceil), { step_pct: 10 }],
  ['goes no lower than 10 %', (limit_w) => Math.max(10_000, limit_w), { least_pct: 10 }],
  ['is off by one step', (limit_w) => Math.min(100_000, limit_w + 1000), { tolerance_pct: 1 }],
]

/** Three inverters of 100 kW, of which the first makes something of its limits. */
async function siteWith(
  makes: Makes,
  limit: LimitResponse | undefined,
  traits: Partial<LimitTraits> = {},
): Promise<ControlledSite> {
  const inverters = [1, 2, 3].map((id) => inverterOf(id, id === 1 && limit ? { limit } : {}))
  const loggers = [{ logger_id: 1, name: 'L', rated_power_kw: 300, inverters }]
  const site = await controlledSite({
    permit_w: 300_000,
    site: { loggers },
    traits,
    prepare: (inverter) => {
      const applies_after_ms = traits.applies_within_ms ?? 0
      if (inverter.inverter_id === 1) Object.assign(inverter, { makes, applies_after_ms })
    },
  })
  await site.clock.advance(10_000)
  return site
}

const sumOf = (site: ControlledSite) =>
  site.inverters.reduce((sum, { limit_w, static_max_w }) => sum + (limit_w ?? static_max_w), 0)

for (const [why, makes, limit] of cases) {
  test(`a device that ${why} keeps within every row and comes back`, async () => {
    const site = await siteWith(makes, limit)
    for (const [nth, kw] of [200, 129, 47, 12].entries()) {
      const group_id = `0193a1de-0000-7000-8000-00000000001${nth}`
      const row = rowOf(kw, { group_id })
      await site.controller.hear([row])
      await site.clock.advance(20_000)
      assert.ok(sumOf(site) <= kw * 1000, `${sumOf(site)} W of ${kw} kW`)
      assert.ok(site.newest.get(rowKey(row))?.applied_at, `${kw} kW is applied`)
      const writes = site.inverters[0]!.writes.length
      await site.clock.advance(60_000)
      assert.equal(site.inverters[0]!.writes.length, writes, 'it is not told again and again')
      const released_at = site.clock.now().getTime()
      await site.controller.hear([{ ...row, released_at }])
      await site.clock.advance(20_000)
      assert.equal(sumOf(site), 300_000, `back after ${kw} kW`)
      assert.ok(site.newest.get(rowKey(row))?.restored_at)
    }
    assert.deepEqual(site.events, [])
    assert.deepEqual(site.faults, [])
  })
}

test('one that rounds down, as nobody declared, is named and its row stays releasing', async () => {
  const site = await siteWith((limit_w) => Math.floor(limit_w / 20_000) * 20_000, undefined)
  const row = rowOf(129)
  await site.controller.hear([row])
  await site.clock.advance(60_000)
  await site.controller.hear([{ ...row, released_at: site.clock.now().getTime() }])
  await site.clock.advance(30_000)
  const report = site.newest.get(rowKey(row))!
  assert.equal(report.restored_at, null)
  assert.equal(report.failure_code, 'device_below_limit')
  assert.equal(
    report.failure_message,
    'inverter 1 was set to 43 kW and holds 40 kW: another controller set that, or the device ' +
      'rounds by more than is declared. In that case declare limit.tolerance_pct in site.yaml, ' +
      'then run heliograph-edge limits forget 1',
  )
  const named = site.events.filter(({ code }) => code === 'limit_not_as_set')
  assert.deepEqual(
    named.map(({ source_id, edge }) => [source_id, edge]),
    [['1', 'rising']],
  )
  assert.equal(named[0]!.message, report.failure_message)
  // Somebody at the device sets it free.
  site.inverters[0]!.limit_w = null
  await site.clock.advance(30_000)
  const after = site.newest.get(rowKey(row))!
  assert.ok(after.restored_at && after.restored_at > start_at)
  assert.equal(after.failure_code, null)
  assert.equal(site.events.filter(({ code }) => code === 'limit_not_as_set').length, 2)
})

const undeclared: [why: string, makes: Makes, limit: LimitResponse, holds_kw: number][] = [
  ['rounds up to 10 %', tenths(Math.ceil), tenth, 50],
  ['goes no lower than 60 %', (limit_w) => Math.max(60_000, limit_w), { least_pct: 60 }, 60],
]
for (const [why, makes, limit, holds_kw] of undeclared) {
  test(`one that ${why}, as nobody declared, stays so until that is declared and said`, async () => {
    const site = await siteWith(makes, undefined)
    const row = rowOf(129)
    await site.controller.hear([row])
    await site.clock.advance(300_000)
    assert.ok(sumOf(site) <= 129_000, `${sumOf(site)} W`)
    const { message } = site.events.find(({ code }) => code === 'limit_not_as_set')!
    assert.match(message, new RegExp(`set to [0-9.]+ kW and holds ${holds_kw} kW`))
    await site.controller.hear([{ ...row, released_at: site.clock.now().getTime() }])
    await site.clock.advance(60_000)
    assert.equal(sumOf(site), 200_000 + holds_kw * 1000)
    assert.equal(site.newest.get(rowKey(row))!.restored_at, null)
    const inverters = [1, 2, 3].map((id) => inverterOf(id, id === 1 ? { limit } : {}))
    const loggers = [{ logger_id: 1, name: 'L', rated_power_kw: 300, inverters }]
    site.apply(siteOf(inverters, { loggers }))
    await site.clock.advance(30_000)
    assert.ok(sumOf(site) <= 200_000 + holds_kw * 1000, 'only an operator lifts it')
    await site.controller.operator.take({
      request_id: '0193a1de-0000-7000-8000-000000000099',
      inverter_id: 1,
      external_w: holds_kw * 1000,
      asked_at: site.clock.now().getTime(),
      asked_by: 'operator',
    })
    await site.clock.advance(30_000)
    assert.equal(sumOf(site), 300_000)
    assert.ok(site.newest.get(rowKey(row))!.restored_at)
    const second = rowOf(129, { group_id: '0193a1de-0000-7000-8000-000000000002' })
    await site.controller.hear([second])
    await site.clock.advance(60_000)
    await site.controller.hear([{ ...second, released_at: site.clock.now().getTime() }])
    await site.clock.advance(30_000)
    assert.equal(sumOf(site), 300_000)
  })
}

test('a row below the lowest limit reports what is really set: 0 kW, and then all of the row again', async () => {
  const site = await controlledSite({ traits: { min_limit_w: 30_000 } })
  const observed = () => [...site.newest.values()].map((report) => report.observed_limit_kw)
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(70_000)
  assert.deepEqual(site.limits(), [0, 0, 0], '20 kW each are below 30 kW')
  assert.deepEqual(observed(), [0])
  assert.ok(site.newest.get(rowKey(row))?.verified_at)
  const second = rowOf(90, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  await site.controller.hear([{ ...row, released_at: site.clock.now().getTime() }, second])
  await site.clock.advance(70_000)
  assert.equal(site.newest.get(rowKey(second))?.observed_limit_kw, 90)
})

for (const silent_after_ms of [2000, 6000]) {
  test(`a device at a former limit within the tolerance of its new one is not held down after ${silent_after_ms} ms`, async () => {
    const site = await siteWith(tenths(Math.floor), tenth, { applies_within_ms: 4500 })
    const inverter = site.inverters[0]!
    const lower = rowOf(105)
    const row = rowOf(120, { group_id: '0193a1de-0000-7000-8000-000000000002' })
    await site.controller.hear([lower, row])
    await site.clock.advance(30_000)
    assert.equal(inverter.limit_w, 20_000)
    await site.controller.hear([{ ...lower, released_at: site.clock.now().getTime() }])
    await site.clock.advance(silent_after_ms)
    inverter.is_silent = true
    await site.clock.advance(60_000)
    assert.deepEqual([inverter.limit_w, inverter.writes.at(-1)!.limit_w], [30_000, 30_000])
    inverter.is_silent = false
    await site.clock.advance(20_000)
    await site.controller.hear([{ ...row, released_at: site.clock.now().getTime() }])
    await site.clock.advance(30_000)
    assert.equal(sumOf(site), 300_000)
    assert.deepEqual(site.events, [])
  })
}

test('another that sets a limit close below a refused command is never raised above', async () => {
  const site = await siteWith((limit_w) => limit_w, undefined)
  const inverter = site.inverters[0]!
  const row = rowOf(129)
  await site.controller.hear([row])
  await site.clock.advance(20_000)
  assert.equal(inverter.limit_w, 43_000)
  inverter.refusal = new Error('refused')
  await site.controller.hear([{ ...row, released_at: site.clock.now().getTime() }])
  await site.clock.advance(5000)
  inverter.limit_w = 98_500
  await site.clock.advance(20_000)
  inverter.refusal = null
  await site.clock.advance(120_000)
  assert.equal(inverter.limit_w, 98_500)
  assert.equal(site.store.devices.get(1)!.external_w, 98_500)
})

const walking: [why: string, makes: Makes, tolerance_w: number][] = [
  ['rounds down to 20 kW', (limit_w) => Math.floor(limit_w / 20_000) * 20_000, 0],
  [
    'rounds down to 20 kW, beyond its tolerance',
    (limit_w) => Math.floor(limit_w / 20_000) * 20_000,
    1000,
  ],
  [
    'rounds down to 7 kW, beyond its tolerance',
    (limit_w) => Math.floor(limit_w / 7000) * 7000,
    1000,
  ],
  ['makes 3 kW less of each limit', (limit_w) => Math.max(0, limit_w - 3000), 0],
  [
    'makes 3 kW less of each limit, beyond its tolerance',
    (limit_w) => Math.max(0, limit_w - 3000),
    1000,
  ],
]
for (const [why, makes, tolerance_w] of walking) {
  test(`a device that ${why} is not walked down step by step`, async () => {
    const site = await siteWith(makes, undefined, { tolerance_w })
    const inverter = site.inverters[0]!
    await site.controller.hear([rowOf(129)])
    await site.clock.advance(20_000)
    const limit_w = inverter.limit_w!
    assert.ok(limit_w >= 35_000, `${limit_w} W`)
    const writes = inverter.writes.length
    await site.clock.advance(600_000)
    site.restart()
    await site.clock.advance(600_000)
    assert.equal(inverter.limit_w, limit_w)
    assert.equal(inverter.writes.length, writes)
    assert.equal(site.newest.get(rowKey(rowOf(129)))?.failure_code, null)
    // One that is to come down further does.
    await site.controller.hear([rowOf(60, { group_id: '0193a1de-0000-7000-8000-000000000002' })])
    await site.clock.advance(60_000)
    assert.ok(inverter.limit_w! <= 20_000)
  })
}

test('the limit of another master is left as it is, also where the device rounds', async () => {
  const site = await siteWith((limit_w) => limit_w, undefined, { tolerance_w: 1000 })
  const inverter = site.inverters[0]!
  inverter.limit_w = 60_000
  await site.clock.advance(120_000)
  assert.equal(inverter.limit_w, 60_000)
  assert.deepEqual(inverter.writes, [])
  site.permit = { plant_w: new Map([[1, 150_000]]), site_w: null }
  await site.clock.advance(30_000)
  assert.equal(inverter.limit_w, 49_000)
})

const ramped = [
  [0.4, 0],
  [1, 0],
  [1.9, 0],
  [1, -1000],
  [1, 1000],
] as const
for (const [ramp_up_pct_per_min, off_w] of ramped) {
  test(`a ramp of ${ramp_up_pct_per_min} % per minute raises a device of whole percents that is off by ${off_w} W`, async () => {
    const inverters = [inverterOf(1)]
    const loggers = [{ logger_id: 1, name: 'L', rated_power_kw: 100, inverters }]
    const site = await controlledSite({
      count: 1,
      permit_w: 100_000,
      site: { loggers, control: { ramp_up_pct_per_min } },
      traits: { tolerance_w: 1000 },
      prepare: (inverter) => {
        inverter.control.settable = (limit_w) => Math.floor(limit_w / 1000) * 1000
        inverter.makes = (limit_w) => (limit_w < 100_000 ? limit_w + off_w : limit_w)
      },
    })
    await site.clock.advance(10_000)
    const row = rowOf(50)
    await site.controller.hear([row])
    await site.clock.advance(20_000)
    const inverter = site.inverters[0]!
    assert.equal(inverter.limit_w, 49_000 + off_w)
    const released_at = site.clock.now().getTime()
    await site.controller.hear([{ ...row, released_at }])
    const minutes = 20 / ramp_up_pct_per_min
    await site.clock.advance(minutes * 60_000)
    const raised_w = inverter.limit_w! - 49_000 - off_w
    assert.ok(raised_w >= 17_000 && raised_w <= 20_000, `${raised_w} W in ${minutes} minutes`)
    await site.clock.advance((36 / ramp_up_pct_per_min) * 60_000)
    assert.equal(inverter.limit_w, 100_000)
    assert.ok(site.newest.get(rowKey(row))?.restored_at)
  })
}

test('a refused raise to full power within one step is not done', async () => {
  const oneStepUp = (limit_w: number) => Math.min(100_000, limit_w + 1000)
  const site = await siteWith(oneStepUp, undefined, { tolerance_w: 1000 })
  const inverter = site.inverters[0]!
  inverter.control.settable = (limit_w) => Math.floor(limit_w / 1000) * 1000
  const row = rowOf(299)
  await site.controller.hear([row])
  await site.clock.advance(20_000)
  assert.equal(inverter.limit_w, 99_000)
  inverter.refusal = new Error('refused')
  await site.controller.hear([{ ...row, released_at: site.clock.now().getTime() }])
  await site.clock.advance(60_000)
  assert.equal(inverter.limit_w, 99_000)
  assert.equal(site.newest.get(rowKey(row))!.restored_at, null)
  inverter.refusal = null
  await site.clock.advance(60_000)
  assert.equal(inverter.limit_w, 100_000)
  assert.ok(site.newest.get(rowKey(row))!.restored_at)
})
