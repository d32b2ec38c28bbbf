/** Whatever stood in the registers before: no write of a limit ever lets a device deliver more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inverter } from './fixtures/devices.ts'
import { inverter123, inverter704, type LimitedInverter } from './fixtures/limited-inverter.ts'
import { sunspec } from './sunspec.ts'
import { stepsAt, wattsOf } from './sunspec-limit-registers.ts'

const flag = fc.constantFrom(0, 1)
const timer = fc.constantFrom(0, 0, 1, 300, 65_541)
const scaled = fc.record({
  base: fc.integer({ min: 1, max: 65_534 }),
  base_scale: fc.integer({ min: -1, max: 3 }),
  scale: fc.integer({ min: -2, max: 0 }),
  maker: fc.constantFrom('Acme', 'Fronius'),
  only_singly: fc.boolean(),
  limits_w: fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 4 }),
})
const percent = fc.double({ min: 0, max: 100, noNaN: true })
const maybe = <Of>(value: fc.Arbitrary<Of>) => fc.option(value, { freq: 5 })

const of123 = fc
  .record({ scaled, pct: percent, ena: flag, tms: maybe(timer), window: maybe(timer) })
  .map(({ scaled: { base, base_scale, scale, ...how }, pct, ena, tms, window }) => ({
    ...how,
    base_w: base * 10 ** base_scale,
    device: inverter123(
      {
        WMaxLimPct: pct,
        WMaxLimPct_SF: scale,
        WMaxLim_Ena: ena,
        WMaxLimPct_RvrtTms: tms === null ? null : tms % 65_535,
        WMaxLimPct_WinTms: window === null ? null : window % 65_535,
      },
      { settings: { WMax: base * 10 ** base_scale, WMax_SF: base_scale }, ...how },
    ),
  }))

const of704 = fc
  .record({ scaled, pct: percent, ena: flag, tms: timer, revert: maybe(percent), ena_revert: flag })
  .map(({ scaled: { base, base_scale, scale, ...how }, pct, ena, tms, revert, ena_revert }) => ({
    ...how,
    base_w: base * 10 ** base_scale,
    device: inverter704(
      {
        WMaxLimPct: pct,
        WMaxLimPct_SF: scale,
        WMaxLimPctEna: ena,
        WMaxLimPctRvrt: revert,
        WMaxLimPctEnaRvrt: revert === null ? null : ena_revert,
        WMaxLimPctRvrtTms: tms,
        // It does not run down here: one that is turned off would not end.
        WMaxLimPctRvrtRem: ena === 1 && revert !== null ? tms : 0,
      },
      { settings: { ...both(base * 10 ** base_scale), W_SF: base_scale }, ...how },
    ),
  }))

const both = (watts: number) => ({ WMax: watts, WMaxRtg: watts })

/** Of sums in binary fractions; no register resolves so little. */
const noise_w = 1e-6

async function holds({ device, base_w, limits_w }: Case): Promise<void> {
  const { control } = await sunspec.openInverter(device.bus, { ...inverter })
  assert.ok(control)
  for (const share of limits_w) {
    const limit_w = Math.floor(share * base_w)
    const settable_w = control.settable(limit_w)
    assert.ok(settable_w <= limit_w && control.settable(settable_w) === settable_w)
    const before = device.allowed()
    device.bus.afterWrite = () => {
      const { now_w, worst_w } = device.allowed()
      const writes = JSON.stringify(device.bus.written)
      assert.ok(now_w <= Math.max(before.now_w, limit_w) + noise_w, `${now_w} W, ${writes}`)
      assert.ok(worst_w <= Math.max(before.worst_w, limit_w) + noise_w, `${worst_w} W, ${writes}`)
    }
    await control.writeLimit(limit_w)
    assert.ok(device.allowed().worst_w <= limit_w + noise_w, 'also when a timer runs out')
    const { limit_w: read_w, revert } = await control.readLimit()
    assert.deepEqual([read_w, revert], [settable_w, null])
    device.writes()
    await control.writeLimit(settable_w)
    assert.deepEqual(device.writes(), [], 'change-only')
  }
}

interface Case {
  device: LimitedInverter
  base_w: number
  limits_w: number[]
}

for (const [name, cases] of [
  ['123', of123],
  ['704', of704],
] as const) {
  test(`model ${name}: no intermediate state allows more than before or than the limit`, async () => {
    await fc.assert(fc.asyncProperty(cases, holds), { numRuns: 200 })
  })
}

test('steps are floored and watts rounded up, to the watt, at every scale', () => {
  const scale = fc.record({
    base_w: fc.integer({ min: 1, max: 1e9 }),
    exponent: fc.integer({ min: -10, max: 2 }),
  })
  const steps = fc.integer({ min: 0, max: 65_534 })
  fc.assert(
    fc.property(scale, steps, fc.integer({ min: 0, max: 1e9 }), (of, some, limit_w) => {
      const exact = (nth: number) => BigInt(of.base_w) * BigInt(nth)
      const watt = 10n ** BigInt(2 - of.exponent)
      assert.equal(BigInt(wattsOf(some, of)), (exact(some) + watt - 1n) / watt)
      const most = stepsAt(limit_w, of)
      assert.ok(exact(most) <= BigInt(limit_w) * watt)
      const full = Math.min(65_534, Number(watt))
      assert.ok(most === full || exact(most + 1) > BigInt(limit_w) * watt)
    }),
    { numRuns: 2000 },
  )
})
