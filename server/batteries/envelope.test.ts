import assert from 'node:assert/strict'
import test from 'node:test'
import { batteryStates } from '@heliograph/domain/battery'
import { defaultPollIntervals } from '@heliograph/domain/site'
import fc from 'fast-check'
import { type Envelope, envelopeOf } from './envelope.ts'
import { liveUnit, measured_at, now } from './fixtures/live-unit.ts'
import type { UnitRow } from './unit-store.ts'

const polled = { now, poll: { ...defaultPollIntervals } }
const ago = (s: number) => new Date(now.getTime() - 1000 * s)
const of = (...with_: Parameters<typeof liveUnit>) => envelopeOf(liveUnit(...with_), polled)

const powers = ({ max_charge_power_kw, max_discharge_power_kw }: Envelope) => [
  max_charge_power_kw,
  max_discharge_power_kw,
]
const limiters = ({ limited_by_charge, limited_by_discharge }: Envelope) => [
  limited_by_charge,
  limited_by_discharge,
]

test('the least of what management system, PCS and rating allow, and who that is', () => {
  const live = of()
  assert.deepEqual(powers(live), [180, 190])
  assert.deepEqual(limiters(live), ['bms', 'bms'])
  assert.deepEqual([live.pcs_charge_limit_kw, live.pcs_discharge_limit_kw], [200, 190])
  // 50 % of 392 kWh are above the reserve, but the device says that it has 198 only.
  assert.deepEqual(
    [live.available_discharge_energy_kwh, live.available_charge_energy_kwh],
    [196, 126],
  )
  // At the connection 180 and 190 kW: 93.8 % of it each way.
  assert.deepEqual(
    [live.max_charge_duration_min, live.max_discharge_duration_min, live.quality],
    [44.7721504, 58.0624098, 'good'],
  )
  const unknown = of({ row: { roundtrip_efficiency_pct: null } })
  assert.equal(unknown.max_charge_duration_min, 42)
  // By the datasheet 300 kWh lie between 5 and 95 %: 50 % are less than the 198 the device tells.
  const small = of({ row: { usable_energy_kwh: 300 } })
  assert.equal(small.available_discharge_energy_kwh, 163.333333)
  assert.equal(live.valid_until_at, '2026-06-21T10:00:28.500Z')
  const free = of({ row: { max_charge_power_kw: 500, max_discharge_power_kw: 500 } })
  assert.deepEqual(powers(free), [200, 190])
  assert.deepEqual(limiters(free), ['none', 'pcs'])
})

test('a PCS that is stale, off or in fault gives nothing', () => {
  for (const ill of [{ state: 'fault' }, { state: 'off' }, { measured_at: ago(31) }]) {
    const live = of({ pcs: [{}, ill] })
    assert.deepEqual(powers(live), [100, 95])
    assert.deepEqual(limiters(live), ['pcs', 'pcs'])
  }
  assert.deepEqual(powers(of({ pcs: [] })), [0, 0])
  // One that says nothing of its limits has its rating, and none has more than that.
  const silent = { max_charge_power_kw: null, max_discharge_power_kw: 400 }
  assert.equal(of({ pcs: [silent] }).pcs_charge_limit_kw, 100)
  assert.equal(of({ pcs: [silent] }).pcs_discharge_limit_kw, 100)
})

test('limits of current count at the present voltage where none of power are told', () => {
  const row = { max_charge_power_kw: null, max_discharge_power_kw: null }
  const live = of({ row })
  assert.deepEqual([live.bms_charge_limit_kw, live.bms_discharge_limit_kw], [180, 190.08])
  const dark = of({ row: { ...row, dc_voltage_v: null } })
  assert.deepEqual([dark.bms_charge_limit_kw, ...powers(dark)], [null, 200, 190])
})

test('at the ends of the window, and at the reserve, there is no power', () => {
  const full = of({ row: { soc_pct: 95 } })
  assert.deepEqual([powers(full)[0], limiters(full)[0]], [0, 'soc'])
  assert.deepEqual([full.available_charge_energy_kwh, full.max_charge_duration_min], [0, null])
  const reserved = of({ row: { soc_pct: 10 } })
  assert.deepEqual([powers(reserved)[1], limiters(reserved)[1]], [0, 'soc'])
  const { available_discharge_energy_kwh } = of({ row: { soc_pct: 10, soc_reserve_pct: null } })
  assert.equal(available_discharge_energy_kwh, 19.6)
  assert.deepEqual(powers(of({ row: { soc_pct: null } })), [0, 0])
})

test('stale data means no power, whatever it says; energies stay those of the last reading', () => {
  const live = of({ row: { measured_at: ago(31) } })
  assert.deepEqual([live.quality, ...powers(live)], ['stale', 0, 0])
  assert.deepEqual(limiters(live), ['communication', 'communication'])
  assert.deepEqual([live.valid_until_at, live.available_discharge_energy_kwh], [null, 196])
})

test('a unit in fault has no power', () => {
  const live = of({ row: { state: 'fault' } })
  assert.deepEqual(
    [powers(live), limiters(live)],
    [
      [0, 0],
      ['alarm', 'alarm'],
    ],
  )
})

test('where the limit of the connection holds, that is told and no figure', () => {
  const clamped = { clamp_reason: 'permit', clamped_from_at: ago(600) } as const
  const live = of({ row: clamped })
  assert.equal(live.site_limit_active, true)
  assert.deepEqual(
    [powers(live), limiters(live)],
    [
      [180, null],
      ['bms', 'site'],
    ],
  )
  assert.equal(live.max_discharge_duration_min, null)
  assert.equal(of({ row: { ...clamped, clamped_from_at: ago(3600) } }).site_limit_active, false)
  assert.equal(of({ row: { ...clamped, clamp_reason: 'ramp' } }).site_limit_active, false)
})

test('a limit is one of temperature while a cell is beyond the threshold of its pre-alarm', () => {
  const threshold = {
    level: 'pre_alarm',
    recover_value: null,
    unit: 'C',
    delay_ms: null,
    action: 'warn',
    source: 'bms',
  } as const
  const protection: UnitRow['protection'] = [
    { ...threshold, parameter: 'charge_over_temperature', trip_value: 27 },
    { ...threshold, parameter: 'cell_over_temperature', trip_value: 45 },
    { ...threshold, parameter: 'cell_under_temperature', trip_value: 5 },
    { ...threshold, parameter: 'cell_over_temperature', level: 'level_1', trip_value: 20 },
  ]
  const warm = of({ row: { protection } })
  assert.deepEqual([limiters(warm), warm.temperature_derating_pct], [['temperature', 'bms'], 10])
  const mild = of({ row: { protection, cell_temperature_max_c: 26 } })
  assert.deepEqual([limiters(mild), mild.temperature_derating_pct], [['bms', 'bms'], null])
  const cold = of({ row: { protection, cell_temperature_min_c: 5, cell_temperature_max_c: 6 } })
  assert.deepEqual(limiters(cold), ['temperature', 'temperature'])
})

test('no power is ever above any of the limits, nor negative', () => {
  const figure = fc.option(fc.double({ min: -1e4, max: 1e4, noNaN: true }))
  const limits = { max_charge_power_kw: figure, max_discharge_power_kw: figure }
  const row = fc.record({
    ...limits,
    soc_pct: fc.option(fc.double({ min: -5, max: 105, noNaN: true })),
    max_charge_current_a: figure,
    max_discharge_current_a: figure,
    dc_voltage_v: figure,
    available_energy_kwh: figure,
    state: fc.constantFrom(...batteryStates, null),
    measured_at: fc.constantFrom(measured_at, ago(31), null),
  })
  const pcs = fc.array(fc.record({ ...limits, measured_at: fc.constantFrom(measured_at, ago(99)) }))
  fc.assert(
    fc.property(row, pcs, (values, systems) => {
      const live = of({ row: values, pcs: systems })
      for (const towards of ['charge', 'discharge'] as const) {
        const power_kw = live[`max_${towards}_power_kw`]!
        const bms_kw = live[`bms_${towards}_limit_kw`] ?? Infinity
        assert.ok(power_kw >= 0)
        assert.ok(power_kw <= Math.min(200, bms_kw, live[`pcs_${towards}_limit_kw`]!) + 1e-6)
        if (live.quality === 'stale' || live.quality === 'missing') assert.equal(power_kw, 0)
        if (power_kw > 0) assert.ok(live[`available_${towards}_energy_kwh`]! > 0)
      }
    }),
  )
})
