import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { batteryOf, hourOf, type MixedSite, mixedSite } from './fixtures/mixed-site.ts'
import { permit, plant } from './fixtures/one-plant.ts'
import { standingRoom } from './unit-rooms.ts'

const at = { connection: 'a', unit_id: 1, driver: 'sunspec' } as const
const pcs = [{ pcs_idx: 0, rated_power_kw: 40, ...at }]

/** One whose battery 1, of 40 kW, has no timer. */
async function siteOf(more: Partial<Parameters<typeof mixedSite>[0]> = {}): Promise<MixedSite> {
  const batteries = [batteryOf(1, { logger_id: 1, rated_discharge_power_kw: 40, pcs })]
  return mixedSite({
    plants: [plant],
    batteries,
    permit: permit(100_000),
    without_timer: [1],
    ...more,
  })
}

// Of 40 kW the cells have 38 for the grid.
const setpoint = ({ batteries }: MixedSite) => batteries[0]!.pcs[0]!.setpoint_w ?? 0
const falls = ({ inverters }: MixedSite) => inverters.map(({ falls_to_w }) => falls_to_w)
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)

test('inverters fall back to what leaves room for a setpoint that nothing ends', async () => {
  for (const connection of ['plant', 'common'] as const) {
    const batteries = [batteryOf(1, { rated_discharge_power_kw: 40, pcs })]
    const common = { batteries, permit: permit(1e6, 100_000) }
    const site = await siteOf(connection === 'plant' ? {} : common)
    site.hours(hourOf(40))
    await site.pass(60, () => {
      assert.ok(setpoint(site) === 0 || sum(falls(site)) + setpoint(site) <= 100_000, connection)
    })
    assert.deepEqual(falls(site), [30_000, 30_000], connection)
    assert.equal(setpoint(site), 38_000, connection)
    assert.deepEqual(site.faults, [])
  }
})

test('a battery with a timer leaves its plant the whole permit to fall back to', async () => {
  const site = await siteOf({ without_timer: [] })
  site.hours(hourOf(40))
  await site.pass(60)
  assert.deepEqual([falls(site), setpoint(site)], [[50_000, 50_000], 38_000])
})

test('before an inverter is armed anew it discharges only what that leaves', async () => {
  const site = await siteOf()
  await site.pass(30)
  const [first] = site.inverters
  first!.silent_ms = site.clock.elapsedMs()
  // It keeps its share of 100 kW, and the other has half of what is left of 65 kW.
  site.permit = permit(65_000)
  site.hours(hourOf(40))
  await site.pass(60)
  assert.deepEqual(falls(site), [30_000, 12_500])
  assert.ok(setpoint(site) > 0 && setpoint(site) <= 22_500, String(setpoint(site)))
  first!.silent_ms = null
  await site.pass(60)
  assert.deepEqual([falls(site), setpoint(site)], [[12_500, 12_500], 38_000])
})

test('an inverter that cannot be armed has room for all that it can, beside such a battery', async () => {
  const site = await siteOf()
  site.inverters[0]!.is_unarmable = true
  site.hours(hourOf(40))
  await site.pass(60, () => {
    assert.ok(setpoint(site) === 0 || sum(falls(site)) + setpoint(site) <= 100_000)
  })
  assert.deepEqual([falls(site), setpoint(site)], [[50_000, 30_000], 20_000])
  assert.deepEqual([site.notes.at(-1)!.tier, site.notes.at(-1)!.to_power_kw], ['permit', 20])
})

test('a restart knows of it before it is read, and arms nothing up', async () => {
  const site = await siteOf()
  site.hours(hourOf(40))
  await site.pass(100)
  for (const one of site.inverters) one.falls_to_w = 50_000
  site.batteries[0]!.pcs[0]!.silent_ms = site.clock.elapsedMs()
  await site.restart(3000)
  await site.pass(20)
  assert.deepEqual(falls(site), [30_000, 30_000])
})

test('what inverters fall back to and such setpoints are together no more than permitted', () => {
  const power = fc.integer({ min: 0, max: 200 })
  const anyUnit = fc.record({ logger_id: fc.constantFrom(1, 2, null), reserve_w: power })
  fc.assert(
    fc.property(fc.array(anyUnit), fc.tuple(power, power), power, (drawn, taken, site_w) => {
      const units = drawn.map((one, bess_id) => ({ bess_id, ...one }))
      const plant_w = new Map([
        [1, 100],
        [2, 100],
      ])
      const taken_w = (key: number | null) => (key === null ? sum(taken) : taken[key - 1]!)
      const room = standingRoom({ plant_w, site_w }, units, taken_w)
      for (const key of [1, 2, null]) {
        const within = units.filter(({ logger_id }) => key === null || logger_id === key)
        const told_w = sum(within.map(({ bess_id }) => room.get(bess_id)!))
        const most_w = key === null ? site_w : plant_w.get(key)!
        assert.ok(told_w === 0 || told_w + taken_w(key) <= most_w)
      }
    }),
  )
})
