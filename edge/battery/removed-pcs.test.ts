import assert from 'node:assert/strict'
import test from 'node:test'
import { batteryOf, hourOf, type MixedSite, mixedSite, start_at } from './fixtures/mixed-site.ts'
import { permit, plant } from './fixtures/one-plant.ts'

const battery = batteryOf(1, { logger_id: 1 })

async function siteOf(more: Partial<Parameters<typeof mixedSite>[0]> = {}): Promise<MixedSite> {
  const needs = { plants: [plant], batteries: [battery], permit: permit(150_000), ...more }
  return mixedSite(needs)
}

const limitsOf = ({ inverters }: Pick<MixedSite, 'inverters'>) =>
  inverters.reduce((sum, { limit_w, rated_w }) => sum + (limit_w ?? rated_w), 0)
const fallsTo = ({ inverters }: MixedSite) => inverters.map(({ falls_to_w }) => falls_to_w)
const setpoint = ({ batteries }: MixedSite, nth = 0) => batteries[nth]!.pcs[0]!.setpoint_w
const told = ({ events }: MixedSite) =>
  events
    .filter(({ code }) => code.startsWith('removed_device_counts'))
    .map(({ code, edge }) => `${code} ${edge}`)
const requestOf = (pcs_idx = 0, nth = 0) => ({
  request_id: `0193a1de-0000-7000-8000-00000000000${nth}`,
  bess_id: 1,
  pcs_idx,
  asked_at: start_at,
  asked_by: 'operator',
  is_disconnected: true as const,
})
const outcomes = ({ entries }: MixedSite) =>
  entries.flatMap((entry) => (entry.is === 'pcs_disconnected' ? [entry.refusal] : []))

test('one that left site.yaml is told zero, counts with all that it can, and is told of', async () => {
  const site = await siteOf()
  site.hours(hourOf(60))
  await site.pass(30)
  assert.equal(setpoint(site), 60_000)
  await site.apply([])
  await site.pass(60)
  assert.equal(setpoint(site), 0)
  assert.equal(limitsOf(site), 50_000)
  assert.deepEqual(fallsTo(site), [25_000, 25_000])
  assert.deepEqual(told(site), ['removed_device_counts:pcs-1.0 rising'])
  const event = site.events.find(({ code }) => code === 'removed_device_counts:pcs-1.0')!
  assert.match(
    event.message,
    /^PCS 0 of battery 1 is not in plant 1 .*: heliograph-edge limits forget pcs-1\.0$/,
  )
  assert.doesNotMatch(event.message, /kW|000/)
  assert.deepEqual(site.faults, [])
})

test('it counts over restarts, also where it left while the agent was stopped', async () => {
  const site = await siteOf()
  await site.pass(30)
  await site.apply([])
  await site.pass(30)
  let most_w = 0
  await site.restart(3000)
  await site.pass(60, () => {
    most_w = Math.max(most_w, limitsOf(site))
  })
  assert.equal(most_w, 50_000)

  const stopped = await siteOf()
  await stopped.pass(30)
  await stopped.apply([], { is_restart: true })
  await stopped.pass(60)
  assert.equal(limitsOf(stopped), 50_000)
  assert.deepEqual(told(stopped), ['removed_device_counts:pcs-1.0 rising'])
})

test('once an operator says that it is disconnected the others have its share, for good', async () => {
  const site = await siteOf()
  await site.pass(30)
  await site.apply([])
  await site.pass(30)
  await site.controller.operator.take(requestOf())
  await site.pass(30)
  assert.equal(limitsOf(site), 100_000)
  assert.deepEqual(told(site).slice(1), ['removed_device_counts:pcs-1.0 falling'])
  assert.deepEqual(outcomes(site), [null])
  const said = site.entries.findIndex(({ is }) => is === 'pcs_disconnected')
  const raised = site.entries.findLastIndex((entry) => entry.is === 'order' && entry.is_raise)
  assert.ok(said > 0 && said < raised)
  await site.restart()
  await site.pass(30)
  assert.equal(limitsOf(site), 100_000)
  // Asked again, as where the program ended before it took the file away.
  await site.controller.operator.take(requestOf())
  // What is back, and leaves again, is not what was said to be disconnected.
  await site.apply([battery])
  await site.pass(30)
  await site.apply([])
  await site.pass(30)
  await site.controller.operator.take(requestOf())
  await site.pass(30)
  assert.equal(limitsOf(site), 50_000)
  assert.deepEqual(outcomes(site), [null])
})

test('in site.yaml again it is commanded as before, and nobody need say anything', async () => {
  const site = await siteOf()
  await site.pass(30)
  await site.apply([])
  await site.pass(30)
  await site.apply([battery])
  site.hours(hourOf(40))
  await site.pass(60)
  assert.equal(setpoint(site), 40_000)
  assert.deepEqual(told(site).slice(1), ['removed_device_counts:pcs-1.0 falling'])
  await site.controller.operator.take(requestOf())
  await site.controller.operator.take(requestOf(7, 1))
  assert.deepEqual(outcomes(site), ['site.yaml has this device', 'it does not count'])
})

test('one that was never heard counts nowhere, nor does any where nobody asked for control', async () => {
  const silent = await siteOf()
  silent.batteries[0]!.pcs[0]!.silent_ms = 0
  await silent.pass(30)
  await silent.apply([])
  await silent.pass(60)
  assert.equal(limitsOf(silent), 100_000)
  const watched = await siteOf({ permit: null })
  await watched.pass(30)
  await watched.apply([])
  await watched.pass(30)
  assert.deepEqual([told(watched), watched.batteries[0]!.pcs[0]!.writes], [[], []])
  // It was heard all the same.
  watched.permit = permit(150_000)
  await watched.restart()
  await watched.pass(60)
  assert.equal(limitsOf(watched), 50_000)
})

test('what moved to another plant counts once in each, until it is said to be disconnected', async () => {
  const most_w = 150_000
  const plants = [plant, { logger_id: 2, rated_w: [100_000] }]
  const plant_w = new Map(plants.map(({ logger_id }) => [logger_id, most_w]))
  const site = await siteOf({ plants, permit: { plant_w, site_w: null } })
  const pcs = site.batteries[0]!.pcs[0]!
  const limits = () =>
    plants.map(({ logger_id }) =>
      limitsOf({ inverters: site.inverters.filter((one) => one.logger_id === logger_id) }),
    )
  const isWithin = () => {
    for (const w of limits()) assert.ok(w + (setpoint(site) ?? 0) <= most_w, `${w}`)
  }
  await site.pass(30)
  await site.apply([{ ...battery, logger_id: 2 }])
  site.hours(hourOf(80))
  await site.pass(90, isWithin)
  assert.equal(setpoint(site), 80_000)
  // 2 kW are kept for it beside its setpoint.
  assert.deepEqual(limits(), [68_000, 68_000])
  pcs.silent_ms = site.clock.elapsedMs()
  await site.pass(60, isWithin)
  assert.deepEqual(limits(), [50_000, 50_000])
  await site.restart()
  await site.pass(60, isWithin)
  assert.deepEqual(limits(), [50_000, 50_000])
  await site.controller.operator.take(requestOf())
  await site.pass(30)
  assert.deepEqual(limits(), [100_000, 50_000])
  pcs.silent_ms = null
  await site.pass(60)
  assert.equal(setpoint(site), 80_000)
  assert.deepEqual(limits(), [100_000, 68_000])
  assert.deepEqual(site.faults, [])
})

test('setpoints of one that moved do not arm the inverters of the plant left anew', async () => {
  for (const without_timer of [[], [1]]) {
    const plants = [plant, { logger_id: 2, rated_w: [100_000] }]
    const plant_w = new Map(plants.map(({ logger_id }) => [logger_id, 150_000]))
    const site = await siteOf({ plants, permit: { plant_w, site_w: null }, without_timer })
    const armed = () => site.entries.filter(({ is }) => is === 'armed').length
    await site.pass(30)
    await site.apply([{ ...battery, logger_id: 2 }])
    await site.pass(30)
    const before = armed()
    for (const [nth, kw] of [80, 20, 60].entries()) {
      site.hours(hourOf(kw, { schedule_id: nth + 1 }))
      await site.pass(60)
      assert.equal(setpoint(site), kw * 1000)
    }
    assert.equal(armed(), before)
    const share_w = without_timer.length === 0 ? 50_000 : 25_000
    assert.deepEqual(fallsTo(site), [share_w, share_w, 2 * share_w])
  }
})

test('the other batteries make room for it, also at the common connection', async () => {
  for (const logger_id of [1, undefined]) {
    const { logger_id: _, ...free } = battery
    const held = logger_id === undefined ? permit(1e6, 130_000) : permit(130_000)
    const of = (bess_id: number) => ({
      ...free,
      bess_id,
      ...(logger_id === undefined ? {} : { logger_id }),
    })
    const site = await siteOf({ batteries: [of(1), of(2)], permit: held })
    await site.pass(30)
    await site.apply([of(2)])
    site.hours(hourOf(100, { bess_id: 2 }))
    await site.pass(60)
    assert.ok(setpoint(site, 1)! > 20_000, String(setpoint(site, 1)))
    assert.ok(setpoint(site, 1)! + limitsOf(site) <= 30_000, String(logger_id))
    assert.deepEqual(site.faults, [])
  }
})

test('beside one that is silent since before a restart nothing is raised', async () => {
  const batteries = [battery, batteryOf(2, { logger_id: 1 })]
  const site = await siteOf({ batteries, permit: permit(100_000) })
  await site.pass(30)
  site.batteries[0]!.pcs[0]!.silent_ms = site.clock.elapsedMs()
  await site.pass(30)
  site.hours(hourOf(50, { bess_id: 2 }))
  await site.pass(10)
  await site.restart()
  await site.pass(60, () => {
    assert.equal(setpoint(site, 1), 0)
  })
  site.batteries[0]!.pcs[0]!.silent_ms = null
  await site.pass(60)
  assert.equal(setpoint(site, 1), 50_000)
})
