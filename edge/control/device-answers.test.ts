import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type ControlledSite,
  controlledSite,
  type FakeInverter,
  rowOf,
  start_at,
} from '../fixtures/controlled-site.ts'

/** What the device makes of a limit that it takes. */
function makes(inverter: FakeInverter, make: (limit_w: number) => number): void {
  const { control } = inverter
  const { writeLimit } = control
  control.writeLimit = async (limit_w, ...more) => {
    await writeLimit(limit_w, ...more)
    inverter.limit_w = make(limit_w)
  }
}

/** It comes to its limit by so much each half second, and shows where it stands. */
function ramps(site: ControlledSite, inverter: FakeInverter, step_w: number): void {
  const { control } = inverter
  const { writeLimit } = control
  let target_w = inverter.static_max_w
  inverter.limit_w = target_w
  control.writeLimit = async (limit_w, ...more) => {
    const stood_w = inverter.limit_w
    await writeLimit(limit_w, ...more)
    inverter.limit_w = stood_w
    target_w = limit_w
  }
  const step = () => {
    site.clock.after(500, step)
    const left_w = target_w - inverter.limit_w!
    inverter.limit_w! += Math.sign(left_w) * Math.min(step_w, Math.abs(left_w))
  }
  step()
}

const row_id = (nth: number) => `0193a1de-0000-7000-8000-0000000001${String(nth).padStart(2, '0')}`

test("a lower limit of another that could be the device's own rounding stays", async () => {
  const site = await controlledSite({ permit_w: 300_000, count: 1 })
  const [inverter] = site.inverters
  let is_first = true
  makes(inverter!, (limit_w) => {
    const found_w = is_first ? limit_w - 400 : limit_w
    is_first = false
    return found_w
  })
  await site.clock.advance(10_000)
  await site.controller.hear([rowOf(30, { end_at: start_at + 60_000 })])
  await site.clock.advance(120_000)
  assert.deepEqual(site.limits(), [29_600])
  assert.ok(site.peak_w <= 100_000)
  assert.ok(inverter!.writes.every(({ limit_w }, nth) => nth === 0 || limit_w <= 29_600))
  assert.deepEqual(
    site.events.map(({ code }) => code),
    ['control_contention', 'limit_not_as_set'],
  )
})

test('one that shows where it is on its way to its limit stays there, and an event tells', async () => {
  const site = await controlledSite({
    permit_w: 300_000,
    count: 1,
    traits: { applies_within_ms: 6000 },
  })
  const [inverter] = site.inverters
  ramps(site, inverter!, 10_000)
  await site.clock.advance(10_000)
  const row = rowOf(30, { start_at: start_at + 10_000, end_at: start_at + 60_000 })
  await site.controller.hear([row])
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [30_000])
  await site.clock.advance(60_000)
  // What was found last counts as another's: nothing more is told above that.
  assert.deepEqual(site.limits(), [40_000])
  assert.deepEqual(
    site.events.map(({ code }) => code),
    ['control_contention', 'limit_not_as_set'],
  )
})

test('a limit in percent goes along with a ceiling that is changed, and is none of another', async () => {
  for (const [ceiling_w, found_w] of [
    [110_000, 55_000],
    [80_000, 40_000],
  ] as const) {
    const site = await controlledSite({ permit_w: 300_000, count: 1 })
    const [inverter] = site.inverters
    await site.clock.advance(10_000)
    await site.controller.hear([rowOf(50, { end_at: start_at + 60_000 })])
    await site.clock.advance(10_000)
    inverter!.static_max_w = ceiling_w
    inverter!.limit_w = found_w
    await site.clock.advance(10_000)
    assert.deepEqual(site.limits(), [50_000])
    inverter!.static_max_w = 100_000
    inverter!.limit_w = (50_000 * 100_000) / ceiling_w
    await site.clock.advance(60_000)
    assert.deepEqual(site.limits(), [100_000])
    assert.deepEqual(site.events, [])
  }
})

test('one that delivers more than its own ceiling counts with all that it could', async () => {
  const site = await controlledSite({
    permit_w: 150_000,
    prepare: (inverter) => {
      inverter.static_max_w = 50_000
      inverter.obeys = inverter.inverter_id !== 1
    },
  })
  await site.clock.advance(120_000)
  assert.deepEqual(site.limits(), [49_900, 25_000, 25_000])
  // Also while it delivers less, and after a restart, until it says another ceiling.
  site.inverters[0]!.available_w = 20_000
  site.restart()
  await site.clock.advance(120_000)
  assert.deepEqual(site.limits(), [49_900, 25_000, 25_000])
  site.inverters[0]!.static_max_w = 100_000
  await site.clock.advance(60_000)
  assert.equal(
    site.limits().reduce<number>((sum, limit_w) => sum + (limit_w ?? 0), 0),
    150_000,
  )
})

test('registers that make no sense say nothing: the device counts as silent', async () => {
  const nonsense = [
    { limit_w: null, static_max_w: 0 },
    { limit_w: 0, static_max_w: 0 },
    { limit_w: -5000, static_max_w: 100_000 },
    { limit_w: 66_600, static_max_w: Number.NaN },
  ]
  // Also by night, when nothing that is measured says otherwise.
  const cases = nonsense.flatMap((found) => [90_000, 0].map((power_w) => [found, power_w] as const))
  for (const [found, power_w] of cases) {
    const site = await controlledSite({ permit_w: 200_000 })
    site.inverters[0]!.available_w = power_w
    await site.clock.advance(20_000)
    const { control } = site.inverters[0]!
    const { readLimit } = control
    control.readLimit = async () => ({ ...(await readLimit()), ...found })
    await site.clock.advance(30_000)
    assert.deepEqual(site.limits(), [66_600, 50_000, 50_000])
  }
})

test('a read-back that makes no sense is none', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(10_000)
  const { control } = site.inverters[0]!
  const { readLimit, writeLimit } = control
  let is_written = false
  control.writeLimit = async (...order) => {
    await writeLimit(...order)
    is_written = true
  }
  control.readLimit = async () => {
    const state = await readLimit()
    if (!is_written) return state
    is_written = false
    return { limit_w: null, static_max_w: 0, revert: null }
  }
  await site.controller.hear([rowOf(60)])
  for (let at_ms = 0; at_ms < 10_000; at_ms += 100) {
    await site.clock.advance(100)
    assert.ok(
      site
        .limits()
        .slice(1)
        .every((limit_w) => [66_600, 20_000].includes(limit_w!)),
    )
  }
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
})

test('one that is silent is known to be, however often the program is restarted', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(20_000)
  Object.assign(site.inverters[0]!, { is_silent: true, limit_w: null })
  for (let nth = 0; nth < 5; nth += 1) {
    await site.clock.advance(8000)
    site.restart()
  }
  await site.clock.advance(1000)
  assert.deepEqual(site.limits(), [null, 50_000, 50_000])
  site.inverters[0]!.is_silent = false
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})

test('what is set to no effect is set ever more seldom, and anything new at once', async () => {
  const site = await controlledSite({ permit_w: 300_000, count: 2 })
  const [inverter] = site.inverters
  await site.clock.advance(10_000)
  inverter!.forgets = true
  await site.controller.hear([rowOf(5, { end_at: start_at + 7_200_000 })])
  await site.clock.advance(3_600_000)
  assert.ok(inverter!.writes.length <= 30, `${inverter!.writes.length} writes`)
  const written = inverter!.writes.length
  await site.controller.hear([rowOf(5, { group_id: row_id(2), end_at: start_at + 7_200_000 })])
  await site.clock.advance(100)
  assert.equal(inverter!.writes.length, written + 1, 'for a new row, though its limit is the same')
  inverter!.forgets = false
  await site.controller.hear([rowOf(4, { group_id: row_id(1), end_at: start_at + 7_200_000 })])
  await site.clock.advance(1000)
  assert.equal(inverter!.limit_w, 2000)
})
