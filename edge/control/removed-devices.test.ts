import assert from 'node:assert/strict'
import test from 'node:test'
import type { Logger } from '@heliograph/domain/site'
import {
  type ControlledSite,
  controlledSite,
  rowOf,
  start_at,
} from '../fixtures/controlled-site.ts'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import { Places } from './places.ts'

function plantOf(logger_id: number, ids: readonly number[], rated_kw = 100): Logger {
  const inverters = ids.map((id) => inverterOf(id, { rated_ac_power_kw: rated_kw }))
  return { logger_id, name: `L${logger_id}`, rated_power_kw: 300, inverters }
}

const siteWith = (...loggers: Logger[]) => siteOf([], { loggers })
const all = siteWith(plantOf(1, [1, 2, 3]))
const fewer = siteWith(plantOf(1, [1, 2]))

const sumOf = (site: ControlledSite) =>
  site.limits().reduce((sum: number, limit_w) => sum + (limit_w ?? 100_000), 0)
const told = ({ events }: ControlledSite) =>
  events
    .filter(({ code }) => code.startsWith('removed_device_counts'))
    .map(({ code, edge }) => `${code} ${edge}`)
const requestOf = (inverter_id: number, nth = 0) => ({
  request_id: `0193a1de-0000-7000-8000-00000000000${nth}`,
  inverter_id,
  asked_at: start_at,
  asked_by: 'operator',
  is_disconnected: true as const,
})
const outcomes = ({ entries }: ControlledSite) =>
  entries.flatMap((entry) => (entry.is === 'disconnected' ? [entry.refusal] : []))

async function removedSite(): Promise<ControlledSite> {
  const site = await controlledSite({ permit_w: 200_000, site: all })
  await site.clock.advance(15_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  site.apply(fewer)
  await site.clock.advance(30_000)
  return site
}

test('one that left site.yaml counts on with all that it can, and is told of', async () => {
  const site = await removedSite()
  assert.deepEqual(site.limits(), [50_000, 50_000, 66_600])
  assert.deepEqual(told(site), ['removed_device_counts:3 rising'])
  const event = site.events.find(({ code }) => code === 'removed_device_counts:3')!
  assert.match(event.message, /^inverter 3 is not in plant 1 .*: heliograph-edge limits forget 3$/)
  assert.equal(event.severity, 'warning')
  assert.doesNotMatch(event.message, /kW|000/)
  // As long as nobody says otherwise, also when it loses its limit.
  site.inverters[2]!.limit_w = null
  await site.clock.advance(600_000)
  assert.equal(sumOf(site), 200_000)
  assert.equal(site.faults.length, 0)
})

test('it counts over restarts, also where it left while the agent was stopped', async () => {
  const site = await removedSite()
  site.restart()
  let most_w = 0
  for (let nth = 0; nth < 120; nth += 1) {
    await site.clock.advance(500)
    most_w = Math.max(most_w, sumOf(site))
  }
  assert.deepEqual(site.limits(), [50_000, 50_000, 66_600])
  assert.equal(most_w, 166_600)
  assert.deepEqual(told(site), ['removed_device_counts:3 rising'])

  const stopped = await controlledSite({ permit_w: 200_000, site: all })
  await stopped.clock.advance(15_000)
  stopped.apply(fewer, { is_restart: true })
  await stopped.clock.advance(60_000)
  assert.deepEqual(stopped.limits(), [50_000, 50_000, 66_600])
  assert.deepEqual(told(stopped), ['removed_device_counts:3 rising'])
})

test('once an operator says that it is disconnected the others have its share, for good', async () => {
  const site = await removedSite()
  assert.equal(await site.controller.operator.take(requestOf(3)), true)
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 66_600])
  assert.deepEqual(told(site).slice(1), ['removed_device_counts:3 falling'])
  const { entries } = site
  const said = entries.findIndex(({ is }) => is === 'disconnected')
  const raise = entries.findLastIndex((entry) => entry.is === 'order' && !entry.is_raise)
  assert.ok(raise < said, 'nothing is raised before it is in the log')
  site.restart()
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 66_600])
  // Asked again, as where the program ended before it took the file away.
  assert.equal(await site.controller.operator.take(requestOf(3)), true)
  assert.deepEqual(outcomes(site), [null])
  // What is back, and leaves again, is not what was said to be disconnected.
  site.apply(all)
  await site.clock.advance(30_000)
  site.apply(fewer)
  await site.clock.advance(30_000)
  assert.equal(await site.controller.operator.take(requestOf(3)), true)
  await site.clock.advance(30_000)
  assert.ok(sumOf(site) <= 200_000)
  assert.deepEqual(outcomes(site), [null])
  assert.deepEqual(told(site).slice(2), ['removed_device_counts:3 rising'])
})

test('what is in site.yaml, or was never heard of, is not said to be disconnected', async () => {
  const site = await controlledSite({ permit_w: 200_000, site: all })
  await site.clock.advance(15_000)
  await site.controller.operator.take(requestOf(1))
  await site.controller.operator.take(requestOf(9, 1))
  assert.deepEqual(outcomes(site), ['site.yaml has this device', 'it does not count'])
  site.restart()
  await site.clock.advance(15_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})

test('nothing is raised before it is written down that it is disconnected', async () => {
  const site = await removedSite()
  const { saveDevices } = site.store
  site.store.saveDevices = () => Promise.reject(new Error('full'))
  await assert.rejects(site.controller.operator.take(requestOf(3)), /full/)
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 66_600])
  site.store.saveDevices = saveDevices
  assert.equal(await site.controller.operator.take(requestOf(3)), true)
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 66_600])
  assert.deepEqual(outcomes(site), [null])
})

test('one that comes back is the same device again', async () => {
  const site = await removedSite()
  site.apply(all)
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.deepEqual(told(site).slice(1), ['removed_device_counts:3 falling'])
  assert.deepEqual(
    site.events.filter(({ code }) => code === 'control_contention'),
    [],
  )
})

test('a plant that left counts at the common connection', async () => {
  const both = siteWith(plantOf(1, [1, 2]), plantOf(2, [3]))
  const site = await controlledSite({ site: both })
  const plant_w = new Map([
    [1, 200_000],
    [2, 100_000],
  ])
  site.permit = { plant_w, site_w: 180_000 }
  await site.clock.advance(15_000)
  const before = site.limits()
  assert.ok(sumOf(site) <= 180_000)
  site.apply(fewer)
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [40_000, 40_000, before[2]])
  assert.deepEqual(told(site), ['removed_device_counts:3 rising'])
  site.restart()
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [40_000, 40_000, before[2]])
  await site.controller.operator.take(requestOf(3))
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [90_000, 90_000, before[2]])
  // Without a permit of the common connection it keeps nothing from anybody.
  const apart = await controlledSite({ site: both })
  apart.permit = { plant_w, site_w: null }
  await apart.clock.advance(15_000)
  apart.apply(fewer)
  await apart.clock.advance(30_000)
  assert.deepEqual(told(apart), [])
})

test('one that moved to another plant counts in that which it left, too', async () => {
  const site = await controlledSite({ site: siteWith(plantOf(1, [1, 2]), plantOf(2, [3])) })
  const plant_w = new Map([
    [1, 100_000],
    [2, 100_000],
  ])
  site.permit = { plant_w, site_w: null }
  await site.clock.advance(15_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, null])
  site.apply(siteWith(plantOf(1, [1]), plantOf(2, [2, 3])))
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  assert.deepEqual(told(site), ['removed_device_counts:2 rising'])
  await site.controller.operator.take(requestOf(2))
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [100_000, 50_000, 50_000])
  site.restart()
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [100_000, 50_000, 50_000])
})

test('what was never heard of counts nowhere, and without a permit or a row nothing is told', async () => {
  const prepare = (inverter: { inverter_id: number; is_silent: boolean }) => {
    inverter.is_silent = inverter.inverter_id === 3
  }
  const site = await controlledSite({ permit_w: 150_000, site: all, prepare })
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits().slice(0, 2), [25_000, 25_000])
  site.apply(fewer)
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits().slice(0, 2), [75_000, 75_000])
  assert.deepEqual(told(site), [])

  const free = await controlledSite({ permit_w: null, site: all })
  await free.clock.advance(15_000)
  free.apply(fewer)
  await free.clock.advance(30_000)
  assert.deepEqual(free.limits(), [null, null, null])
  assert.deepEqual(told(free), [])
  await free.controller.hear([rowOf(160)])
  await free.clock.advance(10_000)
  assert.deepEqual(free.limits(), [30_000, 30_000, null])
  assert.deepEqual(told(free), ['removed_device_counts:3 rising'])
})

test('a row waits for it to be applied, and not to be restored', async () => {
  const site = await removedSite()
  await site.controller.hear([rowOf(60)])
  await site.clock.advance(60_000)
  const [report] = site.newest.values()
  assert.equal(report!.applied_at, null)
  assert.deepEqual(site.limits().slice(0, 2), [0, 0])
  const released_at = site.clock.now().getTime()
  await site.controller.hear([rowOf(60, { released_at })])
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 66_600])
})

test('a rating that was lowered in site.yaml does not lower what a device counts with', async () => {
  const site = await controlledSite({ permit_w: 200_000, site: all })
  await site.clock.advance(15_000)
  site.inverters[2]!.is_silent = true
  const lowered = siteWith({
    ...plantOf(1, []),
    inverters: [inverterOf(1), inverterOf(2), inverterOf(3, { rated_ac_power_kw: 10 })],
  })
  site.apply(lowered)
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 66_600])
  site.apply(fewer)
  site.restart()
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 66_600])
})

test('rows are restored, and what is measured is judged, beside one that is not there', async () => {
  const site = await controlledSite({ permit_w: 350_000, site: all })
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(15_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  site.apply(fewer)
  await site.clock.advance(30_000)
  const released_at = site.clock.now().getTime()
  await site.controller.hear([{ ...row, released_at }])
  await site.clock.advance(30_000)
  const [report] = site.newest.values()
  assert.ok(report!.restored_at, 'nobody can raise it, and nothing waits for it')

  // All that the other two do is below the row, and what it does nobody knows.
  await site.controller.hear([rowOf(90, { group_id: '0193a1de-0000-7000-8000-000000000002' })])
  await site.clock.advance(60_000)
  const newest = [...site.newest.values()].at(-1)!
  assert.deepEqual([newest.applied_at, newest.verified_at], [null, null])
})

test('the others are armed with what is left beside its share, and the log has it', async () => {
  const site = await removedSite()
  const [one] = site.inverters
  assert.deepEqual(one!.armed, [66_666], 'its share of the permit is what it was')
  const plantsOf = () => site.entries.findLast((entry) => entry.is === 'site')!
  const idsIn = (entry: ReturnType<typeof plantsOf>) =>
    entry.is === 'site' && entry.plants[0]!.inverters.map(({ inverter_id }) => inverter_id)
  assert.deepEqual(idsIn(plantsOf()), [1, 2, 3])
  assert.ok(site.entries.some((entry) => entry.is === 'gone' && entry.inverter_id === 3))
  await site.controller.operator.take(requestOf(3))
  await site.clock.advance(10_000)
  assert.deepEqual(idsIn(plantsOf()), [1, 2])
  assert.deepEqual(one!.armed, [66_666, 100_000])
})

test('a restart beside one that counts raises nothing before all were asked', async () => {
  const prepare = (inverter: { inverter_id: number; first_poll_ms: number }) => {
    if (inverter.inverter_id === 2) inverter.first_poll_ms = 4000
  }
  const site = await controlledSite({ permit_w: 200_000, site: all, prepare })
  await site.clock.advance(15_000)
  site.apply(fewer)
  await site.clock.advance(30_000)
  const writes = () => site.inverters.flatMap((inverter) => inverter.writes).length
  const before = writes()
  site.restart()
  await site.clock.advance(60_000)
  assert.equal(writes(), before, 'nothing is set anew')
  assert.deepEqual(site.limits(), [50_000, 50_000, 66_600])
})

test('a device that left two plants counts in both, and a mended file ends what was told', async () => {
  const three = siteWith(plantOf(1, [1, 2]), plantOf(2, [3]))
  const site = await controlledSite({ site: three })
  const plant_w = new Map([
    [1, 100_000],
    [2, 100_000],
  ])
  site.permit = { plant_w, site_w: 150_000 }
  await site.clock.advance(15_000)
  site.apply(siteWith(plantOf(1, [1]), plantOf(2, [2, 3])))
  await site.clock.advance(30_000)
  site.apply(siteWith(plantOf(1, [1]), plantOf(2, [3])))
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits().toSpliced(1, 1), [0, 0])
  assert.deepEqual(told(site), ['removed_device_counts:2 rising'])
  const { events } = site
  assert.ok(events.some(({ code }) => code === 'permit_unenforceable'))
  // The agent is stopped, and the file is as it was when it starts.
  site.apply(three, { is_restart: true })
  await site.clock.advance(30_000)
  assert.deepEqual(site.store.devices.get(2)?.left, [2])
  await site.controller.operator.take(requestOf(2))
  await site.clock.advance(30_000)
  assert.deepEqual(told(site).slice(1), ['removed_device_counts:2 falling'])
  assert.ok(sumOf(site) <= 150_000 && sumOf(site) > 149_000)
})

test('a controller counts no more where all that it limited are limited there themselves', () => {
  const place = { logger_id: 1, rated_w: 300_000, max_w: 300_000, inverters: [1, 2, 3] }
  const of = (here: [number, number][]) => {
    const records = new Map<number, { place?: typeof place | null }>([[-1, { place }]])
    const removed = new Places(records, (key, changes) => records.set(key, changes))
    removed.apply(new Map(here))
    return [...removed.counting()]
  }
  const each: [number, number][] = [
    [1, 1],
    [2, 1],
  ]
  assert.deepEqual(of([...each, [3, 1]]), [])
  assert.deepEqual(of([[-1, 1], ...each]), [])
  assert.deepEqual(of(each), [[1, [-1]]])
  assert.deepEqual(of([...each, [3, 2]]), [[1, [-1]]])
})

test('what was told is over where that came about while the agent was stopped', async () => {
  const site = await removedSite()
  site.apply(all, { is_restart: true })
  await site.clock.advance(30_000)
  assert.deepEqual(told(site).slice(1), ['removed_device_counts:3 falling'])
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})
