import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { LimitTraits } from '../drivers/limit-control.ts'
import { commandReach } from './core/worst.ts'
import { type Controlled, decide, type PlantNow, type SiteNow } from './decide.ts'
import { type PlainDevice, plainDevices } from './fixtures/plain-device.ts'

const facts = { rated_w: 100, default_max_w: 100, fresh_ms: 15_000 }
/** Every device was read now, or has been waited for since 0 ms. */
const now_ms = 16_000

interface Drawn extends Partial<Pick<Controlled, 'has_control' | 'is_busy'>> {
  /** The limit that the edge has set; null: never read. */
  limit_w: number | null
  traits?: Partial<LimitTraits>
  settable?(limit_w: number): number
}

interface Plant extends Partial<Omit<PlantNow, 'devices'>> {
  devices: readonly (Drawn | number | null)[]
}

const drawnOf = (one: Drawn | number | null): Drawn =>
  one === null || typeof one === 'number' ? { limit_w: one } : one

/** Devices 11, 12 … are in plant 1, devices 21, 22 … in plant 2. */
function siteOf(plants: readonly Plant[], changes: Partial<SiteNow> = {}) {
  const keyed = plants.flatMap(({ devices }, nth) =>
    devices.map((one, mth) => ({
      logger_id: nth + 1,
      key: 10 * (nth + 1) + mth + 1,
      ...drawnOf(one),
    })),
  )
  const { book, devices } = plainDevices(keyed.map((one) => ({ ...one, facts })))
  const controlled = keyed.map(
    ({ key, limit_w, has_control = limit_w !== null, is_busy = false }, nth) => {
      const { limits, reads, takes } = devices[nth]!
      if (limit_w !== null) {
        reads(0, null)
        if (limit_w < 100) takes(1000, limit_w)
        reads(now_ms, limit_w)
      }
      return { inverter_id: key, limits, has_control, is_busy }
    },
  )
  const site: SiteNow = {
    plants: plants.map((plant, nth) => ({
      logger_id: nth + 1,
      rated_w: 100 * plant.devices.length,
      ceiling_w: 100 * plant.devices.length,
      held_by: 'permit',
      may_raise: true,
      is_known: true,
      ...plant,
      devices: controlled.filter((_, mth) => keyed[mth]!.logger_id === nth + 1),
    })),
    site_w: null,
    now_ms,
    rise_w: null,
    ...changes,
  }
  const device = (key: number): PlainDevice => devices.find((one) => one.key === key)!
  return { site, device, decide: (at_ms = now_ms) => decide(book, { ...site, now_ms: at_ms }) }
}

/** `11: 50` lowers, `11: +50` raises. */
const ordersOf = (plants: readonly Plant[], changes: Partial<SiteNow> = {}) =>
  textOf(siteOf(plants, changes).decide())

const textOf = ({ orders }: ReturnType<typeof decide>) =>
  orders.map(
    ({ inverter_id, limit_w, is_raise }) => `${inverter_id}: ${is_raise ? '+' : ''}${limit_w}`,
  )

test('lowers go first, raises when those were read back', () => {
  const { decide: decideAt, device } = siteOf([{ ceiling_w: 100, devices: [90, 10] }])
  assert.deepEqual(textOf(decideAt()), ['11: 50'])
  device(11).limits.begin(50, now_ms)
  assert.deepEqual(textOf(decideAt()), [])
  device(11).limits.done(50, now_ms)
  device(11).reads(now_ms, 50)
  assert.deepEqual(textOf(decideAt()), ['12: +50'])
})

test('what stands where it should is left alone', () => {
  assert.deepEqual(ordersOf([{ ceiling_w: 100, devices: [50, 50] }]), [])
})

test('a device that is stale counts with its ceiling, and the others come down', () => {
  assert.deepEqual(ordersOf([{ ceiling_w: 150, devices: [75, null] }]), ['11: 50'])
  assert.deepEqual(ordersOf([{ ceiling_w: 90, devices: [75, null] }]), ['11: 0'])
  const plants = [
    { ceiling_w: 100, devices: [100] },
    { ceiling_w: 100, devices: [null] },
  ]
  assert.deepEqual(ordersOf(plants, { site_w: 120 }), ['11: 20'])
})

test('nothing is raised without a permit, or before all is known', () => {
  assert.deepEqual(ordersOf([{ devices: [10] }]), ['11: +100'])
  assert.deepEqual(ordersOf([{ devices: [10], may_raise: false }]), [])
  assert.deepEqual(ordersOf([{ devices: [10], is_known: false }]), [])
})

test('nothing is raised at a common connection while another plant is not known', () => {
  const plants = [{ devices: [10] }, { devices: [], is_known: false }]
  assert.deepEqual(ordersOf(plants, { site_w: 100 }), [])
  assert.deepEqual(ordersOf(plants), ['11: +100'])
})

test('the devices of a plant share what its ramp allows, in whole steps', () => {
  const devices = [10, 90]
  assert.deepEqual(ordersOf([{ devices }], { rise_w: () => 95 }), ['11: +100', '12: +95'])
  assert.deepEqual(ordersOf([{ devices: [10] }], { rise_w: () => 5 }), ['11: +15'])
  assert.deepEqual(ordersOf([{ devices: [10] }], { rise_w: () => 0.5 }), [])
  const settable = (limit_w: number) => Math.floor(limit_w / 10) * 10
  assert.deepEqual(ordersOf([{ devices: [{ limit_w: 10, settable }] }], { rise_w: () => 9 }), [])
  assert.deepEqual(ordersOf([{ devices: [90], ceiling_w: 50 }], { rise_w: () => 0 }), ['11: 50'])
})

test('a device is held below the permit where less is wanted of it', () => {
  const most_w = new Map([[11, 30]])
  const decided = siteOf([{ ceiling_w: 200, devices: [50, 50], most_w }]).decide()
  assert.deepEqual(textOf(decided), ['11: 30', '12: +100'])
})

test('a device that is busy or cannot be written to gets no order', () => {
  const ceiling_w = 120
  assert.deepEqual(ordersOf([{ ceiling_w, devices: [100, 100] }]), ['11: 60', '12: 60'])
  const busy = { limit_w: 100, is_busy: true }
  assert.deepEqual(ordersOf([{ ceiling_w, devices: [busy, 100] }]), ['12: 60'])
  const unreachable = { limit_w: 100, has_control: false }
  assert.deepEqual(ordersOf([{ ceiling_w, devices: [unreachable, 100] }]), ['12: 20'])
})

test('a device whose limit cannot be computed is set to 0', () => {
  const wrong = [
    (limit_w: number) => limit_w + 10,
    () => Number.NaN,
    () => {
      throw new Error('no such step')
    },
  ]
  for (const settable of wrong) {
    const orders = ordersOf([{ ceiling_w: 100, devices: [{ limit_w: 90, settable }, 10] }])
    assert.deepEqual(orders, ['11: 0'])
  }
})

test('a permit that is not a number decides nothing', () => {
  assert.throws(() => ordersOf([{ devices: [50, 10] }], { site_w: Number.NaN }))
  assert.throws(() => ordersOf([{ devices: [50, 10], ceiling_w: Number.NaN }]))
})

test('a ramp that is not a number raises nothing', () => {
  assert.deepEqual(ordersOf([{ devices: [10] }], { rise_w: () => Number.NaN }), [])
})

test('a device that holds more than its command is told what another one does not yield', () => {
  const { decide: decideAt, device } = siteOf([{ ceiling_w: 80, devices: [50, 50] }])
  const lower = (key: number, at_ms: number) => {
    device(key).limits.begin(40, at_ms)
    device(key).limits.done(40, at_ms)
  }
  lower(11, now_ms)
  for (const key of [11, 12]) device(key).reads(now_ms + 6001, 50)
  assert.deepEqual(textOf(decideAt(now_ms + 6001)), ['11: 40', '12: 30'])
})

test('a device that another master raises again and again is told its share, and the others make room', () => {
  const { decide: decideAt, device } = siteOf([{ ceiling_w: 80, devices: [40, 40] }])
  for (const at_ms of [17_000, 18_000]) {
    device(11).reads(at_ms, 95)
    device(11).takes(at_ms + 500, 40)
  }
  assert.deepEqual(textOf(decideAt(18_500)), ['12: 0'])
  device(11).reads(19_000, 95)
  assert.deepEqual(textOf(decideAt(25_000)), ['11: 40', '12: 0'])
})

test('a plant is settled when each device stands, proven, at its target', () => {
  const { decide: decideAt, device } = siteOf([{ ceiling_w: 100, devices: [90, 10] }])
  const isSettled = () => decideAt().plants.get(1)!.is_settled
  assert.equal(isSettled(), false)
  device(11).takes(now_ms, 50)
  assert.equal(isSettled(), false)
  device(12).limits.begin(50, now_ms)
  assert.equal(isSettled(), false)
  device(12).reads(now_ms, 50)
  assert.equal(isSettled(), true)
})

test('fixed part and ceiling of each plant', () => {
  const plants = [
    { ceiling_w: 150, devices: [60, null] },
    { ceiling_w: 100, devices: [20] },
  ]
  const of_plants = (site_w: number | null) =>
    [...siteOf(plants, { site_w }).decide().plants.values()].map(({ fixed_w, ceiling_w }) => [
      fixed_w,
      ceiling_w,
    ])
  assert.deepEqual(of_plants(null), [
    [100, 150],
    [0, 100],
  ])
  assert.deepEqual(of_plants(180), [
    [100, 140],
    [0, 40],
  ])
})

test('a raise that only the pause of its device keeps back is announced', () => {
  const traits = { min_interval_ms: 20_000 }
  const { decide: decideAt } = siteOf([{ devices: [{ limit_w: 10, traits }] }])
  assert.deepEqual([textOf(decideAt()), decideAt().raise_in_ms], [[], 5000])
  assert.deepEqual(textOf(decideAt(21_000)), ['11: +100'])
  assert.equal(decideAt(21_000).raise_in_ms, Number.POSITIVE_INFINITY)
})

test('a rounding device that did not show a raise yet is told that again, and nothing lower', () => {
  const devices = [{ limit_w: 20, traits: { tolerance_w: 10 } }]
  const { decide: decideAt, device } = siteOf([{ ceiling_w: 60, devices }])
  assert.deepEqual(textOf(decideAt()), ['11: +50'])
  device(11).limits.begin(50, now_ms)
  device(11).limits.done(50, now_ms)
  device(11).reads(now_ms + 5999, 20)
  assert.deepEqual(textOf(decideAt(now_ms + 5999)), [])
  assert.deepEqual(textOf(decideAt(now_ms + 6000)), ['11: +50'])
})

test('whatever is known, what is ordered never adds up to more than may be', () => {
  const device = fc.record({
    limit_w: fc.option(fc.nat(100)),
    begun: fc.option(fc.record({ limit_w: fc.nat(100), ago_ms: fc.nat(10_000) })),
    power_w: fc.option(fc.nat(120)),
    tolerance_w: fc.constantFrom(0, 10),
  })
  const plants = fc.array(
    fc.record({ ceiling_w: fc.nat(600), drawn: fc.array(device, { minLength: 1, maxLength: 6 }) }),
    { minLength: 1, maxLength: 3 },
  )
  fc.assert(
    fc.property(plants, fc.option(fc.nat(900)), (drawn, site_w) => {
      const all = drawn.map(({ ceiling_w, drawn: devices }) => ({
        ceiling_w,
        devices: devices.map(({ limit_w, tolerance_w }) => ({ limit_w, traits: { tolerance_w } })),
      }))
      const { site, decide: decideAt } = siteOf(all, { site_w })
      const flat = site.plants.flatMap(({ devices }) => devices)
      for (const [nth, { limit_w, begun, power_w }] of drawn
        .flatMap((one) => one.drawn)
        .entries()) {
        const { limits } = flat[nth]!
        if (limit_w === null) continue
        if (begun) limits.begin(begun.limit_w, now_ms - begun.ago_ms)
        if (power_w !== null) limits.onPower(power_w, now_ms)
      }
      const { orders, fault } = decideAt()
      assert.equal(fault, null)
      const thenOf = (devices: readonly Controlled[]) =>
        devices.reduce((sum_w, { inverter_id, limits }) => {
          const order = orders.find((one) => one.inverter_id === inverter_id)
          if (order && !order.is_raise) assert.ok(order.limit_w <= limits.bound_w!)
          const then_w = order ? commandReach(limits.source, order.limit_w, 'export') : 0
          return sum_w + Math.max(limits.worst_w(now_ms), then_w)
        }, 0)
      const nowOf = (devices: readonly Controlled[]) =>
        devices.reduce((sum_w, { limits }) => sum_w + limits.worst_w(now_ms), 0)
      for (const { ceiling_w, devices } of site.plants) {
        assert.ok(thenOf(devices) <= Math.max(ceiling_w, nowOf(devices)))
      }
      if (site_w !== null) assert.ok(thenOf(flat) <= Math.max(site_w, nowOf(flat)))
    }),
  )
})
