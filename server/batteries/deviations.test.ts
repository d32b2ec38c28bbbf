import assert from 'node:assert/strict'
import test from 'node:test'
import type { ControlTier } from '@heliograph/domain/dispatch'
import { hour_ms } from '@heliograph/domain/durations'
import type { Severity } from '@heliograph/domain/link'
import fc from 'fast-check'
import { type CauseSpan, causeIn, causeSpans, causes, type EdgeReports } from './causes.ts'
import { deviationsOf } from './deviations.ts'
import { type ApprovedPlan, plannedCharge, plannedPower, type UnitDay } from './unit-day.ts'
import { quartersOf } from './unit-energy.ts'

const start_ms = Date.parse('2026-06-21T00:00:00Z')
const at = (time: string) => new Date(`2026-06-21T${time}Z`)

/** Without losses: 25 kWh are a tenth of it. */
const battery = {
  capacity_kwh: 250,
  charge_efficiency: 1,
  discharge_efficiency: 1,
} as ApprovedPlan['battery']

const plan = (
  hours: [hour: number, power_kw: number, quarter_power_kw?: number[]][],
  over: Partial<ApprovedPlan> = {},
): ApprovedPlan => ({
  schedule_id: 1,
  approved_at: new Date(start_ms - hour_ms),
  superseded_at: null,
  battery,
  hours: hours.map(([hour, power_kw, quarter_power_kw = null]) => ({
    hour,
    power_kw,
    quarter_power_kw,
    soc_start_pct: 40,
    soc_end_pct: 50 + hour,
  })),
  ...over,
})

/** Quarters of the first hours, of the power given for each; null: nothing was read. */
const measured = (powers_kw: readonly (number | null)[]): UnitDay['quarters'] =>
  quartersOf({ start_ms, end_ms: start_ms + (powers_kw.length * hour_ms) / 4 }).map((span, nth) => {
    const power_kw = powers_kw[nth] ?? null
    return {
      ...span,
      charged_kwh: power_kw === null ? null : Math.max(0, -power_kw) / 4,
      discharged_kwh: power_kw === null ? null : Math.max(0, power_kw) / 4,
      soc_start_pct: null,
      soc_end_pct: power_kw === null ? null : 40,
      heard_spans: power_kw === null ? 0 : 5,
      spans: 5,
    }
  })

const hourOf = (power_kw: number | null) => [power_kw, power_kw, power_kw, power_kw]

const day = (over: Partial<UnitDay>): UnitDay => ({
  unit: {
    site_id: 'demo',
    bess_id: 1,
    logger_id: null,
    market_code: null,
    rated_charge_power_kw: 100,
    rated_discharge_power_kw: 200,
  },
  start_ms,
  now_ms: start_ms + 24 * hour_ms,
  quarters: [],
  plans: [],
  prices: null,
  causes: [],
  ...over,
})

const prices = {
  currency: 'EUR',
  periods: [0, 1, 2, 3].map((nth) => ({
    start_ms: start_ms + (nth * hour_ms) / 4,
    end_ms: start_ms + ((nth + 1) * hour_ms) / 4,
    price_micro: (nth + 1) * 10_000_000,
  })),
}

test('what keeps to its plan within the tolerance has no reason', () => {
  const [hour, ...others] = deviationsOf(
    day({ plans: [plan([[0, 100]])], quarters: measured(hourOf(96)), prices }),
  )
  assert.deepEqual(others, [])
  assert.deepEqual(hour, {
    hour: 0,
    start_at: '2026-06-21T00:00:00.000Z',
    end_at: '2026-06-21T01:00:00.000Z',
    planned_power_kw: 100,
    actual_avg_power_kw: 96,
    deviation_kw: -4,
    planned_energy_kwh: 100,
    actual_energy_kwh: 96,
    deviation_kwh: -4,
    deviation_pct: -4,
    planned_soc_end_pct: 50,
    actual_soc_end_pct: 40,
    // The larger of 2 % of 200 kW and 5 % of 100 kW.
    within_tolerance: true,
    tolerance_kw: 5,
    reason: 'none',
    // 1 kWh too little in each quarter, of 10, 20, 30 and 40 EUR/MWh.
    cost_amount: 0.1,
    currency: 'EUR',
    completeness_pct: 100,
  })
})

test('charging too little deviates upwards, and saves what it would have cost', () => {
  const [hour] = deviationsOf(
    day({ plans: [plan([[0, -100]])], quarters: measured(hourOf(-50)), prices }),
  )
  assert.deepEqual(
    [hour!.deviation_kw, hour!.deviation_pct, hour!.within_tolerance, hour!.reason],
    [50, 50, false, 'unknown'],
  )
  assert.equal(hour!.cost_amount, -1.25)
})

test('hours that are not over are not told, nor those without plan and reading', () => {
  const hours = deviationsOf(
    day({
      plans: [
        plan([
          [1, 10],
          [2, 10],
        ]),
      ],
      quarters: measured([...hourOf(null), ...hourOf(10), 10]),
      now_ms: start_ms + 2.25 * hour_ms,
    }),
  )
  assert.deepEqual(
    hours.map(({ hour }) => hour),
    [1],
  )
})

test('what was not measured is null, and nothing of it is judged', () => {
  const [lost, part] = deviationsOf(
    day({
      plans: [
        plan([
          [0, 50],
          [1, 50],
        ]),
      ],
      quarters: measured([...hourOf(null), 50, 50, null, 50]),
      prices,
    }),
  )
  assert.deepEqual(
    [lost!.actual_energy_kwh, lost!.deviation_pct, lost!.cost_amount, lost!.currency],
    [null, null, null, null],
  )
  assert.deepEqual(
    [lost!.reason, lost!.within_tolerance, lost!.completeness_pct],
    ['comm_loss', false, 0],
  )
  assert.deepEqual(
    [part!.actual_avg_power_kw, part!.reason, part!.completeness_pct],
    [null, 'unknown', 75],
  )
})

test('power without an approved schedule was not planned', () => {
  const [busy, idle] = deviationsOf(day({ quarters: measured([...hourOf(30), ...hourOf(0)]) }))
  assert.deepEqual(
    [busy!.planned_power_kw, busy!.deviation_kw, busy!.deviation_pct, busy!.reason],
    [0, 30, null, 'unplanned'],
  )
  assert.deepEqual([idle!.reason, idle!.within_tolerance], ['none', true])
})

test('a plan counts from its approval until another takes its place', () => {
  const first = plan([[0, 100]], { superseded_at: at('00:20:00') })
  const second = plan([[0, -40, [-10, -20, -30, -40]]], { approved_at: at('00:20:00') })
  const powers = quartersOf({ start_ms, end_ms: start_ms + hour_ms }).map((quarter) =>
    plannedPower([first, second], quarter),
  )
  assert.deepEqual(powers, [100, (100 * 5 - 20 * 10) / 15, -30, -40])
  const late = plan([[0, 60]], { approved_at: at('00:40:00') })
  const [, , half] = quartersOf({ start_ms, end_ms: start_ms + hour_ms })
  assert.equal(plannedPower([late], half!), 20)
  assert.equal(plannedPower([late], { start_ms, end_ms: start_ms + hour_ms / 4 }), null)
  const end_ms = start_ms + hour_ms
  assert.equal(plannedCharge([first, second], end_ms), 50)
  // Of 25 kWh ten are left for the last quarter.
  assert.equal(plannedCharge([first, second], end_ms - hour_ms / 4), 46)
  assert.equal(plannedCharge([plan([[0, -25]])], end_ms - hour_ms / 4), 47.5)
  assert.equal(plannedCharge([first], end_ms), null)
})

const told = (over: Partial<EdgeReports>): EdgeReports => ({
  setpoints: [],
  notes: [],
  conditions: [],
  ...over,
})
const hour = { start_ms, end_ms: start_ms + hour_ms }
const reasonIn = (over: Partial<EdgeReports>) => causeIn(causeSpans(told(over), hour.end_ms), hour)

const setpoint = (time: string, over: object) => ({
  at: at(time),
  source: 'schedule' as const,
  status: 'achieved' as const,
  clamp_reason: null,
  failure_code: null,
  ...over,
})

test('what held the setpoint down the longest is the reason', () => {
  const setpoints = [
    setpoint('00:00:00', { clamp_reason: 'ramp', status: 'clamped' }),
    setpoint('00:00:04', {}),
    setpoint('00:10:00', { clamp_reason: 'temperature', status: 'clamped' }),
    setpoint('00:30:00', { clamp_reason: 'soc_min', status: 'clamped' }),
  ]
  assert.equal(reasonIn({ setpoints }), 'soc_limit')
  assert.equal(reasonIn({ setpoints: setpoints.slice(0, 3) }), 'temperature_derating')
  // A ramp takes seconds.
  assert.equal(reasonIn({ setpoints: setpoints.slice(0, 2) }), null)
})

test('notes of tiers and failures tell the reason, each in its words', () => {
  const note = (tier: ControlTier, reason_code: string, alarm_code: string | null = null) =>
    reasonIn({ notes: [{ at: at('00:00:00'), tier, reason_code, alarm_code }] })
  assert.equal(note('permit', 'permit'), 'permit')
  assert.equal(note('operator', 'handover'), 'operator')
  assert.equal(note('operator', 'curtailment'), 'grid_limit')
  assert.equal(note('protection', 'battery_stale'), 'comm_loss')
  assert.equal(note('protection', 'heartbeat_lost'), 'comm_loss')
  assert.equal(note('protection', 'soc_max'), 'soc_limit')
  assert.equal(note('protection', 'pcs_alarm', 'OVER_TEMP'), 'pcs_fault')
  assert.equal(note('protection', 'alarm', 'OVER_TEMP_ALARM'), 'alarm')
  assert.equal(note('protection', 'state_fault'), 'alarm')
  assert.equal(note('protection', 'pcs_stale'), 'comm_loss')
  assert.equal(note('protection', 'clock_in_doubt'), null)
  assert.equal(note('protection', 'contactor_open', 'CONTACTOR_ERROR'), 'alarm')
  assert.equal(note('protection', 'bms_limit'), 'power_limit')
  assert.equal(note('protection', 'local_control'), 'operator')
  assert.equal(note('dispatch', 'schedule'), null)
  // A limit of the connection clamps power, and the note of it comes a second later.
  const clamped = setpoint('00:00:00', { clamp_reason: 'power_limit', status: 'clamped' })
  const noted = { at: at('00:00:01'), tier: 'operator' as const, reason_code: 'curtailment' }
  const notes = [{ ...noted, alarm_code: null }]
  assert.equal(reasonIn({ setpoints: [clamped], notes }), 'grid_limit')
  const curtailed = setpoint('00:00:00', {
    source: 'operator',
    clamp_reason: 'power_limit',
    status: 'clamped',
  })
  assert.equal(reasonIn({ setpoints: [curtailed] }), 'operator')
  const failed = setpoint('00:00:00', { status: 'failed', failure_code: 'pcs_fault' })
  assert.equal(reasonIn({ setpoints: [failed] }), 'pcs_fault')
})

test('alarms and silence count where nothing held the setpoint down', () => {
  type Kind = 'bess' | 'pcs'
  const condition = (source_kind: Kind, code: string, severity: Severity, edge: string) => ({
    at: at(edge === 'rising' ? '00:05:00' : '00:20:00'),
    source_id: '1',
    source_kind,
    code,
    severity,
    edge: edge as 'rising' | 'falling',
  })
  const both = (kind: Kind, code: string, severity: Severity) => [
    condition(kind, code, severity, 'rising'),
    condition(kind, code, severity, 'falling'),
  ]
  assert.equal(reasonIn({ conditions: both('bess', 'device_offline', 'major') }), 'comm_loss')
  assert.equal(reasonIn({ conditions: both('pcs', 'alarm:x:1:1', 'critical') }), 'pcs_fault')
  assert.equal(reasonIn({ conditions: both('bess', 'alarm:x:1:1', 'major') }), 'alarm')
  assert.equal(reasonIn({ conditions: both('bess', 'alarm:x:1:1', 'warning') }), null)
  const permit = setpoint('00:50:00', { clamp_reason: 'permit', status: 'clamped' })
  const conditions = both('bess', 'device_offline', 'major')
  assert.equal(reasonIn({ setpoints: [permit], conditions }), 'permit')
})

test('a reason is one of the spans that lie within the hour', () => {
  const Span = fc.record({
    cause: fc.constantFrom(...causes),
    is_direct: fc.boolean(),
    start_ms: fc.integer({ min: start_ms - hour_ms, max: start_ms + 2 * hour_ms }),
    length_ms: fc.integer({ min: 0, max: hour_ms }),
  })
  fc.assert(
    fc.property(fc.array(Span), (drawn) => {
      const spans = drawn.map(
        ({ length_ms, ...span }): CauseSpan => ({ ...span, end_ms: span.start_ms + length_ms }),
      )
      const cause = causeIn(spans, hour)
      const within = spans.filter((span) => span.start_ms < hour.end_ms && span.end_ms > start_ms)
      assert.ok(cause === null || within.some((span) => span.cause === cause))
    }),
  )
})
