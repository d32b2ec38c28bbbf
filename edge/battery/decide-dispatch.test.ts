import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { decideDispatch, type Stop, type UnitNow } from './decide-dispatch.ts'

const unit = (more: Partial<UnitNow> = {}): UnitNow => ({
  facts: {
    soc_min_pct: 10,
    soc_max_pct: 90,
    rated_charge_w: 100_000,
    rated_discharge_w: 100_000,
    discharge_ratio: 1,
    ramp_w_s: null,
  },
  asked_w: 50_000,
  battery: {
    soc_pct: 50,
    max_charge_w: 100_000,
    max_discharge_w: 100_000,
    cell_temperature_min_c: 20,
    cell_temperature_max_c: 25,
  },
  stops: [],
  pcs_charge_w: 100_000,
  pcs_discharge_w: 100_000,
  full_or_empty: null,
  room: { discharge_w: Number.POSITIVE_INFINITY, tier: 'permit' },
  granted_w: Number.POSITIVE_INFINITY,
  told_w: 0,
  passed_s: 1,
  ...more,
})

const withBattery = (battery: Partial<NonNullable<UnitNow['battery']>>, more = {}) =>
  unit({ battery: { ...unit().battery!, ...battery }, ...more })

const decided = (now: UnitNow) => {
  const { setpoint_w, tier, clamp_reason, code } = decideDispatch(now)
  return [setpoint_w, tier, clamp_reason, code]
}

test('a schedule decides where nothing else does', () => {
  assert.deepEqual(decided(unit()), [50_000, 'dispatch', null, 'schedule'])
  assert.deepEqual(decided(unit({ asked_w: -50_000 })), [-50_000, 'dispatch', null, 'schedule'])
  assert.deepEqual(decided(unit({ asked_w: null })), [0, 'dispatch', null, 'no_schedule'])
})

test('what holds it is told with the tier that decides', () => {
  const cases: [UnitNow, unknown[]][] = [
    [withBattery({ soc_pct: 10 }), [0, 'protection', 'soc_min', 'soc_min']],
    [withBattery({ soc_pct: 90 }, { asked_w: -1 }), [0, 'protection', 'soc_max', 'soc_max']],
    [withBattery({ max_discharge_w: 7 }), [7, 'protection', 'power_limit', 'bms_limit']],
    [
      withBattery({ max_discharge_w: 7, cell_temperature_max_c: 50 }),
      [7, 'protection', 'temperature', 'bms_limit'],
    ],
    [unit({ pcs_discharge_w: 8 }), [8, 'protection', 'power_limit', 'pcs_limit']],
    [
      withBattery({ max_discharge_w: null }, { asked_w: 2e5, pcs_discharge_w: 2e5 }),
      [100_000, 'protection', 'power_limit', 'rated_power'],
    ],
    [unit({ room: { discharge_w: 9, tier: 'permit' } }), [9, 'permit', 'permit', 'permit']],
    [
      unit({ room: { discharge_w: 9, tier: 'operator' } }),
      [9, 'operator', 'power_limit', 'curtailment'],
    ],
    [unit({ battery: null }), [0, 'protection', null, 'battery_stale']],
  ]
  for (const [now, expected] of cases) assert.deepEqual(decided(now), expected)
})

test('of two that allow as little the higher tier decides', () => {
  const now = withBattery({ max_discharge_w: 9 }, { room: { discharge_w: 9, tier: 'permit' } })
  assert.equal(decideDispatch(now).tier, 'protection')
})

test('charging needs no room, and cells are asked for what is lost on the way', () => {
  const none = { discharge_w: 0, tier: 'permit' } as const
  assert.equal(decideDispatch(unit({ asked_w: -5, room: none, granted_w: 0 })).setpoint_w, -5)
  const facts = { ...unit().facts, discharge_ratio: 0.9 }
  assert.equal(decideDispatch(withBattery({ max_discharge_w: 1000 }, { facts })).setpoint_w, 900)
})

test('it goes to zero at once, away from it by its ramp, and through it to the other side', () => {
  const facts = { ...unit().facts, ramp_w_s: 10_000 }
  const toldTo = (told_w: number, asked_w: number) =>
    decideDispatch(unit({ facts, told_w, asked_w })).setpoint_w
  assert.equal(toldTo(0, 50_000), 10_000)
  assert.equal(toldTo(10_000, 50_000), 20_000)
  assert.equal(toldTo(45_000, 50_000), 50_000)
  assert.equal(toldTo(50_000, 5000), 5000)
  assert.equal(toldTo(50_000, 0), 0)
  assert.equal(toldTo(50_000, -50_000), 0)
  assert.equal(toldTo(0, -50_000), -10_000)
})

const watts = (max: number) => fc.integer({ min: 0, max })
const stop: Stop = { code: 'heartbeat_lost', clamp_reason: null, alarm_code: null }
const anyUnit: fc.Arbitrary<UnitNow> = fc.record({
  facts: fc.record({
    soc_min_pct: fc.integer({ min: 0, max: 40 }),
    soc_max_pct: fc.integer({ min: 60, max: 100 }),
    rated_charge_w: watts(200_000),
    rated_discharge_w: watts(200_000),
    discharge_ratio: fc.double({ min: 0.8, max: 1, noNaN: true }),
    ramp_w_s: fc.option(fc.integer({ min: 1, max: 100_000 })),
  }),
  asked_w: fc.option(fc.integer({ min: -300_000, max: 300_000 })),
  battery: fc.option(
    fc.record({
      soc_pct: fc.double({ min: 0, max: 100, noNaN: true }),
      max_charge_w: fc.option(watts(200_000)),
      max_discharge_w: fc.option(watts(200_000)),
      cell_temperature_min_c: fc.option(fc.integer({ min: -30, max: 20 })),
      cell_temperature_max_c: fc.option(fc.integer({ min: 0, max: 70 })),
    }),
    { freq: 10 },
  ),
  stops: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, fc.constant([stop])),
  pcs_charge_w: watts(200_000),
  pcs_discharge_w: watts(200_000),
  full_or_empty: fc.constantFrom(null, null, null, 'full', 'empty'),
  room: fc.record({ discharge_w: watts(200_000), tier: fc.constantFrom('permit', 'operator') }),
  granted_w: watts(200_000),
  told_w: fc.integer({ min: -200_000, max: 200_000 }),
  passed_s: fc.double({ min: 0, max: 2, noNaN: true }),
})

test('no setpoint leaves the window, the limits, the room or the ramp', () => {
  fc.assert(
    fc.property(anyUnit, (now) => {
      const { setpoint_w: w, aim_w, tier, clamp_reason } = decideDispatch(now)
      const { facts, battery, asked_w, told_w } = now
      const { max_charge_w, max_discharge_w, soc_pct } = battery ?? {}
      assert.ok(Number.isInteger(w))
      if (!battery || now.stops.length > 0 || asked_w === null) return assert.equal(w, 0)
      assert.ok(w * asked_w >= 0 && Math.abs(w) <= Math.abs(asked_w))
      assert.ok(w * aim_w >= 0 && Math.abs(w) <= Math.abs(aim_w))
      if (w > 0) {
        assert.ok(soc_pct! > facts.soc_min_pct && now.full_or_empty !== 'empty')
        assert.ok(max_discharge_w == null || w <= max_discharge_w * facts.discharge_ratio)
        assert.ok(w <= facts.rated_discharge_w && w <= now.pcs_discharge_w)
        assert.ok(w <= now.room.discharge_w && w <= now.granted_w)
      }
      if (w < 0) {
        assert.ok(soc_pct! < facts.soc_max_pct && now.full_or_empty !== 'full')
        assert.ok(-w <= (max_charge_w ?? -w) && -w <= facts.rated_charge_w)
        assert.ok(-w <= now.pcs_charge_w)
      }
      assert.ok(w * told_w >= 0, 'through zero')
      if (facts.ramp_w_s !== null && Math.abs(w) > Math.abs(told_w)) {
        assert.ok(Math.abs(w) - Math.abs(told_w) <= facts.ramp_w_s * now.passed_s + 1e-6)
      }
      assert.equal(tier === 'dispatch', aim_w === asked_w)
      assert.equal(clamp_reason === 'permit', tier === 'permit')
    }),
    { numRuns: 5000 },
  )
})
