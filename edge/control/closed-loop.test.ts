import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { closeLoop, type Loop, type LoopDevice, type LoopPlant } from './closed-loop.ts'

const interval_ms = 10_000

/** Of 100 kW, read at `at_ms`. */
function device(inverter_id: number, bound_w: number, power_w: number, at_ms = 10_000): LoopDevice {
  return {
    inverter_id,
    rated_w: 100_000,
    max_w: 100_000,
    bound_w,
    measured: { power_w, at_ms },
    is_obeying: true,
    is_free: true,
  }
}

/** As its meter would measure it, 10 s after the row began. */
function plantOf(row_w: number, devices: LoopDevice[], more: Partial<LoopPlant> = {}): LoopPlant {
  const power_w = devices.reduce((sum, { measured }) => sum + measured!.power_w, 0)
  return {
    row_w,
    rated_w: devices.length * 100_000,
    metered: { power_w, at_ms: 10_000 },
    devices,
    now_ms: 10_000,
    interval_ms,
    ...more,
  }
}

const begun = (row_w: number): Loop => ({ row_w, limits_w: null, since_ms: 0 })
const shared = (plant: LoopPlant) => closeLoop(begun(plant.row_w), plant).limits_w

test('what a shaded and a failed device leave goes to those that are held', () => {
  const devices = [
    device(1, 40_000, 20_000),
    device(2, 40_000, 0),
    device(3, 40_000, 40_000),
    device(4, 40_000, 39_500),
  ]
  assert.deepEqual(
    [...shared(plantOf(160_000, devices))!],
    [
      [1, 22_000],
      [2, 2000],
      [3, 68_000],
      [4, 68_000],
    ],
  )
})

test('what those that are held cannot take stays with the others', () => {
  const devices = [{ ...device(1, 60_000, 60_000), max_w: 70_000 }, device(2, 60_000, 10_000)]
  assert.deepEqual(
    [...shared(plantOf(120_000, devices))!],
    [
      [1, 70_000],
      [2, 50_000],
    ],
  )
})

test('nothing is shared anew where nobody is held, or for less than a hundredth of the rating', () => {
  assert.equal(shared(plantOf(80_000, [device(1, 40_000, 30_000), device(2, 40_000, 9000)])), null)
  const nearly = [device(1, 40_000, 40_000), device(2, 40_000, 38_100)]
  assert.equal(shared(plantOf(80_000, nearly)), null)
})

test('a cloud that passes on is answered: who was short and is held now has its share again', () => {
  const dark = plantOf(80_000, [device(1, 40_000, 10_000), device(2, 40_000, 40_000)])
  const loop = closeLoop(begun(80_000), dark)
  assert.deepEqual(
    [...loop.limits_w!],
    [
      [1, 12_000],
      [2, 68_000],
    ],
  )
  const bright = [device(1, 12_000, 12_000, 20_000), device(2, 68_000, 50_000, 20_000)]
  const metered = { power_w: 62_000, at_ms: 20_000 }
  const later = closeLoop(loop, plantOf(80_000, bright, { now_ms: 20_000, metered }))
  assert.deepEqual(
    [...later.limits_w!],
    [
      [1, 40_000],
      [2, 40_000],
    ],
  )
})

const uneven = () => [device(1, 40_000, 10_000), device(2, 40_000, 40_000)]

test('it waits for an interval and for measurements of after the last change', () => {
  const now_ms = 9999
  assert.equal(shared(plantOf(80_000, uneven(), { now_ms })), null)
  assert.equal(shared(plantOf(80_000, [device(1, 40_000, 10_000, 4999), uneven()[1]!])), null)
  const metered = { power_w: 50_000, at_ms: 4999 }
  assert.equal(shared(plantOf(80_000, uneven(), { metered })), null)
  assert.equal(shared(plantOf(80_000, [{ ...uneven()[0]!, is_free: false }, uneven()[1]!])), null)
  assert.ok(shared(plantOf(80_000, uneven())))
})

const ends: [string, (plant: LoopPlant) => Partial<LoopPlant>][] = [
  ['no measurement of the meter', () => ({ metered: null })],
  ['the meter above the row', () => ({ metered: { power_w: 81_500, at_ms: 20_000 } })],
  ['another row', () => ({ row_w: 79_999 })],
  [
    'a device that does not obey',
    ({ devices }) => ({ devices: [{ ...devices[0]!, is_obeying: false }, devices[1]!] }),
  ],
  [
    'a device that nobody measures',
    ({ devices }) => ({ devices: [devices[0]!, { ...devices[1]!, measured: null }] }),
  ],
]
for (const [name, change] of ends) {
  test(`${name}: the static split is back at once`, () => {
    const plant = plantOf(80_000, uneven())
    const loop = closeLoop(begun(80_000), plant)
    assert.ok(loop.limits_w)
    const soon = { ...plant, now_ms: 10_001 }
    assert.equal(closeLoop(loop, soon), loop)
    const ended = closeLoop(loop, { ...soon, ...change(soon) })
    assert.equal(ended.limits_w, null)
  })
}

test('after it was broken off it rests', () => {
  const plant = plantOf(80_000, uneven())
  const broken = closeLoop(closeLoop(begun(80_000), plant), { ...plant, metered: null })
  const at = (now_ms: number) => {
    const devices = [device(1, 40_000, 10_000, now_ms), device(2, 40_000, 40_000, now_ms)]
    const metered = { power_w: 50_000, at_ms: now_ms }
    return closeLoop(broken, plantOf(80_000, devices, { now_ms, metered })).limits_w
  }
  assert.equal(at(310_000), null)
  assert.ok(at(320_000))
})

const anyDevice = fc
  .record({
    rated_w: fc.integer({ min: 1000, max: 400_000 }),
    max: fc.double({ min: 0.2, max: 1, noNaN: true }),
    bound: fc.double({ min: 0, max: 1, noNaN: true }),
    power: fc.double({ min: -0.01, max: 1.1, noNaN: true }),
  })
  .map(({ rated_w, max, bound, power }, nth = 0): LoopDevice => {
    const max_w = Math.floor(max * rated_w)
    const bound_w = Math.floor(bound * max_w)
    const measured = { power_w: power * bound_w, at_ms: 10_000 }
    return { inverter_id: nth, rated_w, max_w, bound_w, measured, is_obeying: true, is_free: true }
  })
const anyPlant = fc
  .tuple(fc.array(anyDevice, { minLength: 1, maxLength: 12 }), fc.double({ min: 0, max: 1 }))
  .map(([drawn, row]): LoopPlant => {
    const devices = drawn.map((one, nth) => ({ ...one, inverter_id: nth + 1 }))
    const rated_w = devices.reduce((sum, one) => sum + one.rated_w, 0)
    const power_w = devices.reduce((sum, { measured }) => sum + measured!.power_w, 0)
    const metered = { power_w, at_ms: 10_000 }
    const row_w = Math.floor((row || 0) * rated_w)
    return { row_w, rated_w, metered, devices, now_ms: 10_000, interval_ms }
  })

test('all limits together never exceed the row, and none is above its own most', () => {
  fc.assert(
    fc.property(anyPlant, (plant) => {
      const limits_w = shared(plant)
      fc.pre(limits_w !== null)
      const sum_w = [...limits_w.values()].reduce((sum, limit_w) => sum + limit_w, 0)
      assert.ok(sum_w <= plant.row_w)
      for (const { inverter_id, max_w } of plant.devices) {
        const limit_w: number = limits_w.get(inverter_id)!
        assert.ok(Number.isInteger(limit_w) && limit_w >= 0 && limit_w <= max_w)
      }
    }),
    { numRuns: 500 },
  )
})

test('a sharing is a gain: what the held may deliver more is worth the writes, and nobody pays', () => {
  fc.assert(
    fc.property(anyPlant, (plant) => {
      const limits_w = shared(plant)
      fc.pre(limits_w !== null)
      const after_w = plant.devices.reduce((sum, one) => {
        const is_held = one.measured!.power_w >= one.bound_w - 0.01 * one.rated_w
        const limit_w = limits_w.get(one.inverter_id)!
        return sum + (is_held ? limit_w : Math.min(limit_w, one.measured!.power_w))
      }, 0)
      const before_w = plant.devices.reduce((sum, one) => {
        return sum + Math.min(one.bound_w, one.measured!.power_w)
      }, 0)
      assert.ok(after_w >= before_w)
    }),
    { numRuns: 500 },
  )
})
