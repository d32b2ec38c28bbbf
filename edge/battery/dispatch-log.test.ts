import assert from 'node:assert/strict'
import test from 'node:test'
import type { DispatchReport } from '@heliograph/domain/dispatch'
import { DispatchLog, type Seen } from './dispatch-log.ts'
import { batteryOf, hourOf, type MixedSite, mixedSite, start_at } from './fixtures/mixed-site.ts'

const siteOf = (more: Partial<Parameters<typeof mixedSite>[0]> = {}): Promise<MixedSite> =>
  mixedSite({
    plants: [{ logger_id: 1, rated_w: [50_000, 50_000] }],
    batteries: [batteryOf(1, { logger_id: 1 })],
    permit: { plant_w: new Map([[1, 100_000]]), site_w: null },
    ...more,
  })

const setpoint_kw = ({ batteries }: MixedSite) => batteries[0]!.pcs[0]!.setpoint_w! / 1000

/** As the server has them: the newest of each. */
const entriesOf = ({ reports }: MixedSite): DispatchReport[] => [
  ...new Map(reports.map((one) => [one.issued_at, one])).values(),
]

const rowOf = (max_power_kw: number) => ({
  group_id: '0193a1de-0000-7000-8000-000000000001',
  logger_id: 1,
  max_power_kw,
  start_at,
  end_at: start_at + 600_000,
  released_at: null,
})

test('what a curtailment leaves is told as a setpoint of an operator, with what came of it', async () => {
  const site = await siteOf()
  site.hours(hourOf(60))
  await site.pass(30)
  site.row(rowOf(40))
  await site.pass(60)
  const [first, last, ...others] = entriesOf(site)
  assert.deepEqual(others, [])
  assert.deepEqual([first!.source, first!.status], ['schedule', 'achieved'])
  assert.deepEqual(
    [last!.source, last!.clamp_reason, last!.status, last!.requested_power_kw],
    ['operator', 'power_limit', 'clamped', 60],
  )
  assert.ok(setpoint_kw(site) > 30)
  assert.deepEqual(
    [last!.clamped_power_kw, last!.achieved_power_kw],
    [setpoint_kw(site), setpoint_kw(site)],
  )
  const { issued_at, sent_at, acknowledged_at, achieved_at } = last!
  assert.ok(issued_at <= sent_at! && sent_at! < acknowledged_at! && acknowledged_at! < achieved_at!)
  const note = site.notes.at(-1)!
  assert.deepEqual([note.tier, note.to_power_kw], ['operator', setpoint_kw(site)])
})

test('at the common connection rows that hold the plants tell what they leave', async () => {
  const batteries = [batteryOf(1)]
  const permit = { plant_w: new Map([[1, 100_000]]), site_w: 200_000 }
  const site = await siteOf({ batteries, permit })
  for (const one of site.inverters) one.available_w = 50_000
  site.hours(hourOf(60))
  await site.pass(30)
  site.row(rowOf(40))
  await site.pass(60)
  const last = entriesOf(site).at(-1)!
  assert.deepEqual([last.source, last.clamped_power_kw], ['operator', setpoint_kw(site)])
  assert.notEqual(last.acknowledged_at, null)
  assert.equal(site.notes.at(-1)!.to_power_kw, setpoint_kw(site))
})

test('what the permit leaves is told as it is', async () => {
  const permit = { plant_w: new Map([[1, 100_000]]), site_w: 100_000 }
  const site = await siteOf({ batteries: [batteryOf(1)], permit })
  for (const one of site.inverters) one.available_w = 30_000
  site.hours(hourOf(60))
  await site.pass(120)
  const last = entriesOf(site).at(-1)!
  assert.ok(setpoint_kw(site) < 60)
  assert.deepEqual([last.clamp_reason, last.clamped_power_kw], ['permit', setpoint_kw(site)])
  assert.equal(site.notes.at(-1)!.to_power_kw, setpoint_kw(site))
})

test('what its schedule asks for is told from the begin', async () => {
  const site = await siteOf({ plants: [{ logger_id: 1, rated_w: [] }] })
  await site.pass(10)
  site.hours(hourOf(80, { end_at: start_at + 60_000 }))
  await site.pass(60)
  const [stood, given, over] = site.notes.slice(-3)
  assert.deepEqual([stood!.to_power_kw, given!.to_power_kw, over!.to_power_kw], [0, 80, 0])
  assert.deepEqual([given!.from_power_kw, over!.from_power_kw], [0, 80])
  const reports = site.reports.filter(({ clamp_reason }) => clamp_reason === null)
  assert.deepEqual([...new Set(reports.map((one) => one.clamped_power_kw))], [80])
})

test('an outage within an hour leaves its trace beside what was before and after it', async () => {
  const site = await siteOf()
  site.hours(hourOf(60))
  await site.pass(30)
  const [before] = entriesOf(site)
  site.batteries[0]!.silent_ms = site.clock.elapsedMs()
  await site.pass(70)
  site.batteries[0]!.silent_ms = null
  await site.pass(40)
  const [first, failed, last, ...others] = entriesOf(site)
  assert.deepEqual(others, [])
  assert.deepEqual(first, before)
  assert.deepEqual([failed!.status, failed!.failure_code], ['failed', 'battery_stale'])
  assert.deepEqual([failed!.acknowledged_at, failed!.achieved_at], [null, null])
  assert.deepEqual([failed!.clamped_power_kw, failed!.achieved_power_kw], [0, null])
  assert.deepEqual(
    [last!.status, last!.failure_code, last!.achieved_power_kw],
    ['achieved', null, 60],
  )
})

test('times are those of its writes, and what stood there was not sent', async () => {
  const site = await siteOf()
  await site.pass(10)
  site.hours(hourOf(-60))
  await site.pass(20)
  const [first] = entriesOf(site)
  const { at_ms } = site.batteries[0]!.pcs[0]!.writes.find(({ power_w }) => power_w < 0)!
  const took_ms = first!.acknowledged_at! - first!.sent_at!
  assert.ok(took_ms > 0 && took_ms < 1000, `${took_ms} ms`)
  assert.equal(first!.acknowledged_at, start_at + at_ms)
  assert.ok(first!.sent_at! >= first!.issued_at)
  site.hours(hourOf(-60, { schedule_id: 2 }))
  await site.pass(20)
  const second = entriesOf(site).at(-1)!
  assert.deepEqual([second.schedule_id, second.sent_at, second.status], [2, null, 'achieved'])
  assert.equal(second.acknowledged_at, second.issued_at)
})

test('what a clamp leaves is told again where it moved', async () => {
  const site = await siteOf()
  const sun = (w: number) => {
    for (const one of site.inverters) one.available_w = w / 2
  }
  sun(30_000)
  site.hours(hourOf(60))
  site.row(rowOf(40))
  await site.pass(60)
  const first_kw = setpoint_kw(site)
  sun(0)
  await site.pass(90)
  assert.ok(setpoint_kw(site) > first_kw + 20, `${first_kw} ${setpoint_kw(site)}`)
  const last = entriesOf(site).at(-1)!
  assert.deepEqual(
    [last.source, last.clamped_power_kw, last.achieved_power_kw],
    ['operator', setpoint_kw(site), setpoint_kw(site)],
  )
  const [before, note] = site.notes.slice(-2)
  assert.deepEqual(
    [note!.from_power_kw, note!.to_power_kw],
    [before!.to_power_kw, setpoint_kw(site)],
  )
})

test('what it came to is not taken back while it is written again', () => {
  const reports: DispatchReport[] = []
  const log = new DispatchLog({
    bess_id: 1,
    report: null,
    onNote: () => {},
    onReport: (report) => reports.push(report),
  })
  const seen: Seen = {
    now: start_at,
    now_ms: 0,
    asked: { power_w: 60, schedule_id: 1, interval_start_at: start_at },
    decision: {
      aim_w: 60,
      setpoint_w: 60,
      tier: 'dispatch',
      code: 'schedule',
      overrode_tier: null,
      clamp_reason: null,
      alarm_code: null,
    },
    told_w: 60,
    is_proven: true,
    written: [],
    measured_w: 60,
    failure: null,
    soc_pct: 50,
    tolerance_w: 1,
  }
  log.look(seen)
  log.look({ ...seen, now_ms: 1000, now: start_at + 1000, is_proven: false })
  assert.deepEqual(
    reports.map(({ status }) => status),
    ['achieved'],
  )
  assert.equal(log.report?.status, 'achieved')
})

test('a setpoint that is written again and again stays achieved', async () => {
  const site = await siteOf()
  site.hours(hourOf(-60))
  await site.pass(30)
  const count = site.reports.length
  await site.pass(120)
  assert.equal(site.reports.length, count)
})
