/** Whatever stood in the registers before: no write of a setpoint leads beyond old or new. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pcs } from './fixtures/batteries.ts'
import {
  capacity,
  immediate,
  measurement,
  type PowerSystem,
  powerSystem,
  setpoint,
  storage,
} from './fixtures/power-systems.ts'
import { sunspec } from './sunspec.ts'

const flag = fc.constantFrom(0, 1)
const shares = fc.array(fc.double({ min: -1.2, max: 1.2, noNaN: true }), {
  minLength: 1,
  maxLength: 4,
})

interface Case {
  system: PowerSystem
  base_w: number
  shares: number[]
}

const of704 = fc
  .record({
    wmax: fc.integer({ min: 1, max: 65_534 }),
    wmax_scale: fc.integer({ min: -1, max: 3 }),
    scale: fc.integer({ min: -2, max: 3 }),
    ena: flag,
    steps: fc.integer({ min: -30_000, max: 30_000 }),
    revert: fc.integer({ min: -30_000, max: 30_000 }),
    ena_revert: flag,
    tms: fc.constantFrom(0, 0, 5, 300),
    shares,
  })
  .map(({ wmax, wmax_scale, scale, steps, revert, ...one }): Case => {
    const base_w = wmax * 10 ** wmax_scale
    const both = { WMax: base_w, WMaxRtg: base_w, W_SF: wmax_scale }
    const none = { WChaRteMax: null, WDisChaRteMax: null }
    const ratings = { WChaRteMaxRtg: null, WDisChaRteMaxRtg: null }
    const controls = setpoint({
      WSetEna: one.ena,
      WSet: steps * 10 ** scale,
      WSetRvrt: revert * 10 ** scale,
      WSetEnaRvrt: one.ena_revert,
      WSetRvrtTms: one.tms,
      WSet_SF: scale,
    })
    const parts = [measurement(), capacity({ ...both, ...none, ...ratings }), controls]
    return { system: powerSystem(parts), base_w, shares: one.shares }
  })

const of124 = fc
  .record({
    base_w: fc.integer({ min: 1, max: 65_534 }),
    scale: fc.integer({ min: -2, max: 0 }),
    mod: fc.constantFrom(0, 3),
    pct: fc.integer({ min: -100, max: 100 }),
    tms: fc.constantFrom(0, 300),
    only_singly: fc.boolean(),
    shares,
  })
  .map(({ base_w, scale, mod, pct, tms, only_singly, shares: of }): Case => {
    const rates = { OutWRte: pct, InWRte: 0 - pct, InOutWRte_SF: scale }
    const values = { WChaMax: base_w, StorCtl_Mod: mod, InOutWRte_RvrtTms: tms, ...rates }
    const system = powerSystem([measurement(), storage(values)], { only_singly })
    return { system, base_w, shares: of }
  })

const of123 = fc
  .record({
    wmax: fc.integer({ min: 1, max: 65_534 }),
    scale: fc.integer({ min: -2, max: 0 }),
    ena: flag,
    pct: fc.integer({ min: 0, max: 100 }),
    tms: fc.constantFrom(0, 300),
    only_singly: fc.boolean(),
    shares,
  })
  .map(({ wmax, scale, ena, pct, tms, only_singly, shares: of }): Case => {
    const base_w = wmax * 10
    const values = { WMaxLimPct: pct, WMaxLimPct_SF: scale, WMaxLim_Ena: ena }
    const parts = immediate({ ...values, WMaxLimPct_RvrtTms: tms }, base_w)
    const system = powerSystem([measurement(), ...parts], { only_singly })
    return { system, base_w, shares: of }
  })

/** Whole watts, away from zero but for the noise of a product; NaN stays, which nothing equals. */
function inWatts(power_w: number | null): number | null {
  return power_w === null ? null : Math.sign(power_w) * Math.ceil(Math.abs(power_w) - 1e-6) + 0
}

async function holds({ system, base_w, shares: asked }: Case): Promise<void> {
  const { control } = await sunspec.openPcs!(system.bus, { ...pcs, wmaxlimpct_is_setpoint: true })
  assert.ok(control)
  for (const share of asked) {
    const asked_w = Math.trunc(share * base_w)
    const power_w = control.settable(asked_w)
    assert.ok(Math.abs(power_w) <= Math.abs(asked_w), `${power_w} of ${asked_w} W`)
    assert.ok(power_w === 0 || Math.sign(power_w) === Math.sign(asked_w))
    assert.equal(control.settable(power_w), power_w)
    const before_w = inWatts(system.told_w())
    const [low_w, high_w] = [
      Math.min(before_w ?? power_w, power_w),
      Math.max(before_w ?? power_w, power_w),
    ]
    system.bus.afterWrite = () => {
      const told_w = inWatts(system.told_w())
      const writes = JSON.stringify(system.bus.written)
      if (before_w !== null) assert.notEqual(told_w, null, `a setpoint was given up: ${writes}`)
      if (told_w === null) return
      assert.ok(told_w >= low_w && told_w <= high_w, `${told_w} W, ${writes}`)
    }
    await control.writePower(power_w)
    assert.equal(inWatts(system.told_w()), power_w)
    assert.ok([null, 0].includes(system.reverts_w()), 'when a timer runs out, it stays or stops')
    assert.equal((await control.readPower()).setpoint_w, power_w)
  }
}

for (const [name, cases] of [
  ['704', of704],
  ['124', of124],
  ['123', of123],
] as const) {
  test(`model ${name}: no intermediate state exceeds the old and the new setpoint`, async () => {
    await fc.assert(fc.asyncProperty(cases, holds), { numRuns: 150 })
  })
}
