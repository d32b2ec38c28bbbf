import assert from 'node:assert/strict'
import test from 'node:test'
import { inverterPower } from './fixtures/mixed-polls.ts'
import { batteryOf, type FakePcs, hourOf, type MixedSite, start_at } from './fixtures/mixed-site.ts'
import { onePlant, permit } from './fixtures/one-plant.ts'

const setpoint = ({ batteries }: MixedSite) => batteries[0]!.pcs[0]!.setpoint_w
const sunOf = (site: MixedSite, w: number) => {
  for (const one of site.inverters) one.available_w = w / site.inverters.length
}

test('an approved hour is carried out by the ramp, and told as achieved', async () => {
  const site = await onePlant()
  await site.pass(10)
  assert.equal(setpoint(site), 0)
  site.hours(hourOf(60))
  await site.pass(2)
  assert.ok(setpoint(site)! > 0 && setpoint(site)! <= 40_000, String(setpoint(site)))
  await site.pass(20)
  assert.equal(setpoint(site), 60_000)
  assert.deepEqual(site.faults, [])
  const newest = site.reports.at(-1)!
  assert.equal(newest.status, 'achieved')
  assert.equal(newest.requested_power_kw, 60)
  assert.equal(newest.achieved_power_kw, 60)
})

test('the battery waits for what the plant leaves, and the plant does not give way to it', async () => {
  const site = await onePlant()
  sunOf(site, 70_000)
  await site.pass(60)
  site.hours(hourOf(60))
  await site.pass(60, () => {
    assert.equal(
      site.inverters.reduce((sum, one) => sum + inverterPower(one), 0),
      70_000,
    )
  })
  assert.ok(setpoint(site)! > 20_000 && setpoint(site)! <= 26_000, String(setpoint(site)))
  assert.equal(site.notes.at(-1)!.tier, 'permit')
  assert.equal(site.notes.at(-1)!.to_power_kw, setpoint(site)! / 1000)
  const newest = site.reports.at(-1)!
  assert.deepEqual([newest.status, newest.clamp_reason], ['clamped', 'permit'])
  assert.equal(newest.clamped_power_kw, setpoint(site)! / 1000)
  sunOf(site, 95_000)
  await site.pass(240)
  const more_w = site.inverters.reduce((sum, one) => sum + inverterPower(one), 0)
  assert.ok(more_w >= 94_000, String(more_w))
})

test('at night the plant is lowered for the battery, and has its limit back after', async () => {
  const site = await onePlant()
  await site.pass(30)
  site.hours(hourOf(80, { end_at: start_at + 300_000 }))
  await site.pass(60)
  assert.equal(setpoint(site), 80_000)
  const limits = () => site.inverters.reduce((sum, { limit_w }) => sum + limit_w!, 0)
  assert.ok(limits() <= 20_000)
  await site.pass(300)
  assert.equal(setpoint(site), 0)
  assert.equal(limits(), 100_000)
})

test('charging makes no room, and needs none', async () => {
  const site = await onePlant()
  sunOf(site, 100_000)
  site.hours(hourOf(-60))
  await site.pass(60)
  assert.equal(setpoint(site), -60_000)
  assert.equal(
    site.inverters.reduce((sum, { limit_w, rated_w }) => sum + (limit_w ?? rated_w), 0),
    100_000,
  )
})

test('without a permit of its connection it does not discharge, and charges', async () => {
  const site = await onePlant({ batteries: [batteryOf(1)] })
  site.hours(hourOf(60))
  await site.pass(30)
  assert.equal(setpoint(site), 0)
  assert.equal(site.notes.at(-1)!.tier, 'permit')
  site.hours(hourOf(-60, { schedule_id: 2 }))
  await site.pass(30)
  assert.equal(setpoint(site), -60_000)
})

test('where nobody asked for control nothing is written', async () => {
  const site = await onePlant({ permit: null })
  await site.pass(60)
  assert.equal(setpoint(site), null)
  assert.deepEqual(site.batteries[0]!.pcs[0]!.writes, [])
})

test('stale data of the battery means zero power, and a note of who decides', async () => {
  const site = await onePlant()
  site.hours(hourOf(60))
  await site.pass(30)
  site.batteries[0]!.silent_ms = site.clock.elapsedMs()
  await site.pass(12)
  assert.equal(setpoint(site), 0)
  const note = site.notes.at(-1)!
  assert.deepEqual(
    [note.tier, note.action, note.reason_code, note.overrode_tier],
    ['protection', 'watchdog', 'battery_stale', 'dispatch'],
  )
  site.batteries[0]!.silent_ms = null
  await site.pass(30)
  assert.equal(setpoint(site), 60_000)
  assert.deepEqual([site.notes.at(-1)!.action, site.notes.at(-1)!.tier], ['release', 'dispatch'])
})

test('a frozen heartbeat, an alarm and control on site mean zero power', async () => {
  const troubles: [string, (site: MixedSite) => void][] = [
    ['heartbeat_lost', (site) => (site.batteries[0]!.is_frozen = true)],
    ['heartbeat_lost', (site) => (site.batteries[0]!.pcs[0]!.is_frozen = true)],
    ['state_fault', (site) => (site.batteries[0]!.physics.is_alarmed = true)],
  ]
  for (const [code, begin] of troubles) {
    const site = await onePlant()
    site.hours(hourOf(60))
    await site.pass(30)
    begin(site)
    await site.pass(8)
    assert.equal(setpoint(site), 0, code)
    assert.equal(site.notes.at(-1)!.reason_code, code)
  }
})

test('a PCS that obeys another counts with all that it can', async () => {
  const site = await onePlant()
  sunOf(site, 100_000)
  await site.pass(30)
  site.batteries[0]!.pcs[0]!.is_local = true
  await site.pass(20)
  const limits_w = site.inverters.reduce((sum, { limit_w }) => sum + limit_w!, 0)
  assert.equal(limits_w, 0)
  assert.equal(site.notes.at(-1)!.reason_code, 'local_control')
})

test('a curtailment bounds what plant and battery deliver together, and is told as such', async () => {
  const site = await onePlant()
  site.hours(hourOf(60))
  await site.pass(30)
  const row = {
    group_id: '0193a1de-0000-7000-8000-000000000001',
    logger_id: 1,
    max_power_kw: 40,
    start_at,
    end_at: start_at + 600_000,
    released_at: null,
  }
  site.row(row)
  await site.pass(60)
  assert.ok(setpoint(site)! > 30_000 && setpoint(site)! < 40_000, String(setpoint(site)))
  const note = site.notes.at(-1)!
  assert.deepEqual([note.tier, note.reason_code], ['operator', 'curtailment'])
  assert.notEqual(site.rows.at(-1)!.applied_at, null)
})

test('a setpoint that is not taken is tried again, and told as failed', async () => {
  const site = await onePlant()
  await site.pass(10)
  site.batteries[0]!.pcs[0]!.refuses = true
  site.hours(hourOf(60))
  await site.pass(30)
  const newest = site.reports.at(-1)!
  assert.deepEqual([newest.status, newest.failure_code], ['failed', 'device_rejected'])
  assert.equal(site.events.at(-1)!.code, 'setpoint_not_taken')
  site.batteries[0]!.pcs[0]!.refuses = false
  await site.pass(40)
  assert.equal(setpoint(site), 60_000)
})

test('a restart goes on with what it held, and sets no plant anew', async () => {
  const site = await onePlant()
  site.hours(hourOf(50))
  await site.pass(150)
  const limits = site.inverters.map(({ limit_w }) => limit_w)
  const issued = site.reports.at(-1)!.issued_at
  await site.restart(3000)
  let least_w = Number.POSITIVE_INFINITY
  await site.pass(60, () => {
    least_w = Math.min(least_w, setpoint(site)!)
    assert.deepEqual(
      site.inverters.map(({ limit_w }) => limit_w),
      limits,
    )
  })
  assert.equal(least_w, 50_000)
  assert.equal(site.reports.at(-1)!.issued_at, issued)
})

test('a clock that jumped holds it at zero until it is trusted', async () => {
  const site = await onePlant()
  site.hours(hourOf(50))
  await site.pass(30)
  site.clock.step(120_000)
  await site.pass(5)
  assert.equal(setpoint(site), 0)
  assert.equal(site.notes.at(-1)!.reason_code, 'clock_in_doubt')
  await site.pass(80)
  assert.equal(setpoint(site), 50_000)
})

test('a newer schedule counts, an ended hour does not, and quarters are told one by one', async () => {
  const site = await onePlant()
  const quarter_power_kw = [10, 20, 30, 40]
  const older = hourOf(25, { quarter_power_kw })
  site.hours(older)
  await site.pass(1000)
  assert.equal(setpoint(site), 20_000)
  const quarters = new Set(site.reports.map(({ interval_start_at }) => interval_start_at))
  assert.deepEqual([...quarters], [start_at, start_at + 900_000])
  site.hours(hourOf(-30, { schedule_id: 2 }))
  await site.pass(30)
  assert.equal(setpoint(site), -30_000)
  site.hours({ ...older, ended_at: start_at }, hourOf(-30, { schedule_id: 2, ended_at: start_at }))
  await site.pass(10)
  assert.equal(setpoint(site), 0)
})

test('one PCS that is silent stops the others, and goes on with them when it is back', async () => {
  const at = { connection: 'a', unit_id: 1, driver: 'sunspec' } as const
  const pcs = [0, 1].map((pcs_idx) => ({ pcs_idx, rated_power_kw: 50, ...at }))
  const site = await onePlant({ batteries: [batteryOf(1, { logger_id: 1, pcs })] })
  site.hours(hourOf(40))
  await site.pass(40)
  const [first, second] = site.batteries[0]!.pcs as [FakePcs, FakePcs]
  first.silent_ms = site.clock.elapsedMs()
  await site.pass(10)
  assert.equal(second.setpoint_w, 0)
  assert.equal(site.notes.at(-1)!.reason_code, 'pcs_stale')
  first.silent_ms = null
  await site.pass(20)
  assert.deepEqual([first.setpoint_w, second.setpoint_w], [20_000, 20_000])
})

test('a row of a site that nobody asked to hold is about its plants alone', async () => {
  const site = await onePlant({ permit: null })
  await site.pass(20)
  const row = {
    group_id: '0193a1de-0000-7000-8000-000000000001',
    logger_id: 1,
    max_power_kw: 80,
    start_at,
    end_at: start_at + 600_000,
    released_at: null,
  }
  site.row(row)
  await site.pass(20)
  assert.deepEqual(
    site.inverters.map(({ limit_w }) => limit_w),
    [40_000, 40_000],
  )
  assert.notEqual(site.rows.at(-1)!.applied_at, null)
})

test('registers that cannot be understood stop neither the plants nor the other batteries', async () => {
  const batteries = [batteryOf(1, { logger_id: 1 }), batteryOf(2, { logger_id: 1 })]
  const site = await onePlant({ batteries })
  site.hours(hourOf(40), hourOf(40, { bess_id: 2 }))
  site.batteries[0]!.pcs[0]!.is_senseless = true
  await site.pass(40)
  const told = site.batteries.map(({ pcs }) => pcs[0]!.setpoint_w)
  assert.deepEqual(told, [0, 40_000])
  assert.ok(site.inverters.every(({ limit_w }) => limit_w !== null))
})

const eventsOf = ({ events }: MixedSite, code: string) =>
  events.filter((one) => one.code === code).map(({ edge, source_id }) => `${edge} ${source_id}`)

test('one that is silent holds the plant back, and is told with its battery and by how much', async () => {
  const site = await onePlant({
    batteries: [batteryOf(1, { logger_id: 1 })],
    permit: permit(130_000),
  })
  sunOf(site, 100_000)
  await site.pass(30)
  assert.deepEqual(eventsOf(site, 'pcs_counts_in_full'), [])
  const [one] = site.batteries
  one!.silent_ms = site.clock.elapsedMs()
  one!.pcs[0]!.silent_ms = site.clock.elapsedMs()
  await site.pass(30)
  const limits_w = site.inverters.reduce((sum, { limit_w }) => sum + limit_w!, 0)
  assert.ok(limits_w <= 30_000, String(limits_w))
  const told = site.events.find(({ code }) => code === 'pcs_counts_in_full')!
  assert.equal(told.source_kind, 'pcs')
  assert.match(told.message, /^PCS 1\.0 of battery 1 does not answer/)
  assert.match(told.message, / holds back 100 kW /)
  assert.match(told.message, /heliograph-edge limits forget pcs-1\.0$/)
  one!.pcs[0]!.silent_ms = null
  await site.pass(10)
  assert.deepEqual(eventsOf(site, 'pcs_counts_in_full'), ['rising 1.0', 'falling 1.0'])
})

test('a PCS whose heartbeat stands still counts with all that it can, whatever it shows', async () => {
  const site = await onePlant()
  sunOf(site, 100_000)
  site.hours(hourOf(-60))
  await site.pass(30)
  site.batteries[0]!.pcs[0]!.is_frozen = true
  await site.pass(20)
  assert.equal(setpoint(site), 0)
  const limits_w = site.inverters.reduce((sum, { limit_w }) => sum + limit_w!, 0)
  assert.equal(limits_w, 0)
  const told = site.events.find(({ code }) => code === 'pcs_counts_in_full')!
  assert.match(told.message, /its heartbeat stands still/)
  const found = site.entries.findLast(({ is }) => is === 'pcs')!
  assert.equal('obeys' in found && found.obeys, 'silent')
  site.batteries[0]!.pcs[0]!.is_frozen = false
  await site.pass(30)
  assert.equal(setpoint(site), -60_000)
})

test('one that does the opposite of what it is told stands still, with an event', async () => {
  const site = await onePlant()
  site.batteries[0]!.pcs[0]!.ratio = -1
  site.hours(hourOf(-60))
  await site.pass(30)
  assert.equal(setpoint(site), 0)
  assert.deepEqual(eventsOf(site, 'pcs_contrary'), ['rising 1.0'])
  assert.equal(site.notes.at(-1)!.alarm_code, 'pcs_contrary')
})

test('a battery has the whole room of a connection at which no inverter feeds in', async () => {
  const bare = { logger_id: 1, rated_w: [] }
  const cases = [
    { plants: [bare], batteries: [batteryOf(1, { logger_id: 1 })], permit: permit(60_000) },
    { plants: [bare], batteries: [batteryOf(1)], permit: permit(1e6, 60_000) },
  ]
  for (const one of cases) {
    const site = await onePlant(one)
    site.hours(hourOf(90))
    await site.pass(40)
    assert.equal(setpoint(site), 60_000)
    site.permit = { ...one.permit, plant_w: new Map([[1, 50_000]]), site_w: 50_000 }
    await site.pass(10)
    assert.equal(setpoint(site), 50_000)
    assert.deepEqual(site.faults, [])
  }
})

test('it has what a plant that is nearly at its most cannot come to use', async () => {
  const site = await onePlant({ permit: permit(160_000) })
  sunOf(site, 99_000)
  site.hours(hourOf(100))
  await site.pass(120)
  assert.ok(setpoint(site)! >= 58_000 && setpoint(site)! <= 60_000, String(setpoint(site)))
  sunOf(site, 100_000)
  await site.pass(60, () => {
    assert.ok(site.inverters.every((one) => inverterPower(one) === 50_000))
  })
})
