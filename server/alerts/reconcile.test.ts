import assert from 'node:assert/strict'
import test from 'node:test'
import { activeSeconds } from './durations.ts'
import type { Finding } from './finding.ts'
import { alertTable, start_ms } from './fixtures/alert-table.ts'
import type { AlertChange } from './listener.ts'

const began = new Date(start_ms)

/** Fans raise after 120 s and clear after 300 s; the window is an hour. */
const fan = (changes: Partial<Finding> = {}): Finding => ({
  code: 'fan_failure',
  source_type: 'node',
  source_id: 'ts-1',
  since: began,
  message: 'Fan 1 draws 0 A.',
  ...changes,
})
const holds = { findings: [fan()] }
const kinds = (changes: AlertChange[]) => changes.map(({ kind }) => kind)

test('what holds for its raise delay is raised, as of when it began', () => {
  const table = alertTable()
  assert.deepEqual(kinds(table.round(60, holds)), [])
  assert.deepEqual(kinds(table.round(59, holds)), [])
  assert.deepEqual(kinds(table.round(1, holds)), ['raised'])
  const [alert] = table.alerts
  assert.equal(alert?.dedup_key, 'fan_failure:node:ts-1')
  assert.equal(alert?.status, 'active')
  assert.equal(alert?.severity, 'major')
  assert.deepEqual(alert?.started_at, began)
  assert.deepEqual(alert?.detected_at, table.now())
  assert.deepEqual(kinds(table.round(60, holds)), [], 'once')
})

test('parts of one source are alerts of their own; the same told twice is one', () => {
  const table = alertTable()
  const findings = [fan(), fan({ part: 'fan-2' }), fan({ message: 'Again.' })]
  assert.deepEqual(kinds(table.round(300, { findings })), ['raised', 'raised'])
  assert.deepEqual(
    table.alerts.map(({ dedup_key }) => dedup_key),
    ['fan_failure:node:ts-1', 'fan_failure:node:ts-1:fan-2'],
  )
  assert.equal(table.alerts[0]?.message, 'Fan 1 draws 0 A.')
})

test('what is gone for its clear delay is resolved, as of when it was gone', () => {
  const table = alertTable()
  table.round(120, holds)
  assert.deepEqual(kinds(table.round(60)), [])
  const gone_at = table.now()
  assert.deepEqual(kinds(table.round(299)), [])
  assert.equal(table.alerts[0]?.status, 'active')
  assert.deepEqual(kinds(table.round(1)), ['resolved'])
  const [alert] = table.alerts
  assert.deepEqual(alert?.ended_at, gone_at)
  assert.deepEqual(alert?.resolved_at, table.now())
  assert.equal(alert?.resolution, 'auto')
  assert.equal(alert?.resolved_by, 'system')
})

test('what flickers within its clear delay stays one occurrence, and acknowledged', () => {
  const table = alertTable()
  table.round(120, holds)
  table.acknowledge(1)
  for (let times = 0; times < 5; times += 1) {
    table.round(200)
    assert.deepEqual(kinds(table.round(60, holds)), [])
  }
  const [alert] = table.alerts
  assert.equal(alert?.status, 'acknowledged')
  assert.equal(alert?.occurrence_count, 1)
  assert.equal(alert?.ended_at, null)
})

test('what cannot be judged neither clears nor counts as seen', () => {
  const table = alertTable()
  table.round(120, holds)
  const seen_at = table.now()
  table.round(60)
  const blind = { isUnknown: ({ source_id }: { source_id: string }) => source_id === 'ts-1' }
  for (let hour = 0; hour < 10; hour += 1) assert.deepEqual(table.round(3600, blind), [])
  assert.deepEqual(table.alerts[0]?.last_seen_at, seen_at)
  assert.equal(table.alerts[0]?.ended_at, null)
  table.round(60)
  assert.deepEqual(kinds(table.round(299)), [], 'it has to be gone anew for all of its delay')
  assert.deepEqual(kinds(table.round(1)), ['resolved'])
})

test('what comes again within the reopen window is the same alert', () => {
  const table = alertTable()
  table.round(120, holds)
  table.acknowledge(1)
  table.round(0)
  table.round(300)
  assert.equal(table.alerts[0]?.status, 'resolved')
  const again = (since: Date) => ({ findings: [fan({ since })] })
  table.round(3478)
  const since = table.now()
  assert.deepEqual(kinds(table.round(119, again(since))), [], 'not before its raise delay')
  const changes = table.round(2, again(since))
  assert.deepEqual(kinds(changes), ['reopened'])
  const [alert] = table.alerts
  assert.equal(alert?.occurrence_count, 2)
  assert.equal(alert?.status, 'active')
  assert.deepEqual(alert?.started_at, began)
  assert.deepEqual(
    [alert?.resolved_at, alert?.acknowledged_by, alert?.ended_at],
    [null, 'anna', null],
  )
})

test('what comes again later is another alert', () => {
  const table = alertTable({ reopen_window_s: 600 })
  table.round(120, holds)
  table.round(0)
  table.round(300)
  const since = table.now()
  assert.deepEqual(kinds(table.round(600, { findings: [fan({ since })] })), ['raised'])
  assert.equal(table.alerts.length, 2)
  assert.equal(table.alerts[0]?.occurrence_count, 1)
})

test('what a person resolved comes back as a new occurrence once it was gone', () => {
  const table = alertTable()
  table.round(120, holds)
  table.resolve(1)
  for (let minute = 0; minute < 10; minute += 1) {
    assert.deepEqual(table.round(60, holds), [], 'it still holds, and someone knows')
  }
  table.round(60)
  assert.deepEqual(table.round(299, holds), [], 'it flickered')
  table.round(1)
  assert.equal(table.alerts[0]?.awaits_end, true)
  table.round(300)
  assert.equal(table.alerts[0]?.awaits_end, false)
  assert.equal(table.alerts[0]?.resolution, 'manual')
  assert.deepEqual(kinds(table.round(60, holds)), ['reopened'])
  assert.equal(table.alerts[0]?.occurrence_count, 2)
})

test('what a person resolved comes back after the reopen window, even where it never ended', () => {
  const table = alertTable({ reopen_window_s: 600 })
  table.round(120, holds)
  table.resolve(1)
  assert.deepEqual(table.round(599, holds), [])
  assert.deepEqual(kinds(table.round(1, holds)), ['raised'])
  assert.equal(table.alerts[0]?.status, 'resolved')
})

test('what begins after a person resolved it is a new occurrence at once', () => {
  const table = alertTable()
  table.round(120, holds)
  table.resolve(1)
  const since = new Date(table.now().getTime() + 30_000)
  assert.deepEqual(kinds(table.round(60, { findings: [fan({ since })] })), [], 'not yet ripe')
  assert.deepEqual(kinds(table.round(89, { findings: [fan({ since })] })), [])
  assert.deepEqual(kinds(table.round(1, { findings: [fan({ since })] })), ['reopened'])
  const [alert] = table.alerts
  assert.deepEqual([alert?.occurrence_count, alert?.reopened_at], [2, since])
})

test('what was looked back for only so far does not begin anew with each look', () => {
  const table = alertTable()
  table.round(120, holds)
  table.resolve(1)
  for (let minute = 0; minute < 59; minute += 1) {
    const since = new Date(table.now().getTime() - 540_000)
    assert.deepEqual(table.round(60, { findings: [fan({ since })] }), [], `minute ${minute}`)
  }
})

test('after a resolution the next occurrence never begins before it', () => {
  const table = alertTable({ reopen_window_s: 600 })
  table.round(120, holds)
  table.resolve(1)
  const resolved_at = table.now()
  assert.deepEqual(kinds(table.round(600, holds)), ['raised'])
  assert.deepEqual(table.alerts[1]?.started_at, resolved_at)
  assert.equal(activeSeconds(table.alerts[0]!, resolved_at), 120)

  const again = alertTable()
  again.round(120, holds)
  again.round(60)
  again.round(30)
  again.resolve(1)
  const by_hand_at = again.now()
  again.round(270)
  again.round(120, holds)
  assert.deepEqual(again.alerts[0]?.reopened_at, by_hand_at, 'not when it seemed gone')

  const by_itself = alertTable({ reopen_window_s: 600 })
  by_itself.round(120, holds)
  by_itself.round(60)
  const gone_at = by_itself.now()
  by_itself.round(300)
  assert.deepEqual(kinds(by_itself.round(900, holds)), ['raised'])
  assert.deepEqual(by_itself.alerts[1]?.started_at, gone_at)
})

test('since when an alert presses is known: critical, active, and nothing explains it', () => {
  const table = alertTable()
  const critical = { findings: [fan({ severity: 'critical' })] }
  const pressesSince = () => table.alerts[0]?.urgent_since
  table.round(120, holds)
  assert.equal(pressesSince(), null, 'major')
  table.round(60, critical)
  const worsened_at = table.now()
  table.round(60, critical)
  assert.deepEqual(pressesSince(), worsened_at)
  table.round(60, { ...critical, suppression: () => 'maintenance' })
  assert.equal(pressesSince(), null, 'explained')
  table.round(60, critical)
  assert.deepEqual(pressesSince(), table.now())
  table.acknowledge(1)
  table.round(60, critical)
  assert.equal(pressesSince(), null, 'acknowledged')
  table.round(60)
  table.round(300)
  table.round(120, { findings: [fan({ severity: 'critical', since: table.now() })] })
  assert.deepEqual([table.alerts[0]?.status, pressesSince()], ['active', table.now()])
})

test('people acknowledge once, and resolve what is not resolved', () => {
  const table = alertTable()
  table.round(120, holds)
  table.acknowledge(1, 'anna')
  const first_at = table.alerts[0]?.acknowledged_at
  table.round(60, holds)
  table.acknowledge(1, 'ben')
  assert.equal(table.alerts[0]?.acknowledged_by, 'anna')
  assert.deepEqual(table.alerts[0]?.acknowledged_at, first_at)
  table.resolve(1, 'ben')
  assert.equal(table.resolve(1), null)
  assert.equal(table.acknowledge(1), null)
  assert.equal(table.alerts[0]?.resolved_by, 'ben')
})

test('a site sets severity and delays, and switches rules off', () => {
  const quick = { severity: 'critical', raise_delay_s: 0, clear_delay_s: 0 } as const
  const table = alertTable({ rules: { fan_failure: quick } })
  table.round(0, { findings: [fan({ severity: 'info' })] })
  assert.equal(table.alerts[0]?.severity, 'critical')
  assert.deepEqual(kinds(table.round(0)), ['resolved'])
  const off = alertTable({ rules: { fan_failure: { enabled: false } } })
  assert.deepEqual(off.round(600, holds), [])
})

test('alerts of a disabled rule are resolved with a note', () => {
  const table = alertTable()
  table.round(120, holds)
  const off = alertTable({ rules: { fan_failure: { enabled: false } } })
  Object.assign(table.settings, off.settings)
  assert.deepEqual(kinds(table.round(60, { ...holds, isUnknown: () => true })), ['resolved'])
  assert.equal(table.alerts[0]?.resolution_note, 'the rule was disabled')
})

test('a finding that knows better has its own severity, and a worse one is told', () => {
  const table = alertTable()
  table.round(120, { findings: [fan({ severity: 'warning' })] })
  assert.equal(table.alerts[0]?.severity, 'warning')
  const worse = { findings: [fan({ severity: 'critical' })] }
  assert.deepEqual(kinds(table.round(60, worse)), ['worsened'])
  assert.deepEqual(kinds(table.round(60, worse)), [])
  assert.deepEqual(kinds(table.round(60, holds)), [], 'a milder one is not')
})

test('only what its rule lets explain an alert suppresses it; its end is told', () => {
  const table = alertTable()
  const planned = { ...holds, suppression: () => 'maintenance' as const }
  table.round(120, planned)
  assert.equal(table.alerts[0]?.suppressed_reason, 'maintenance')
  assert.deepEqual(kinds(table.round(60, holds)), ['unsuppressed'])
  assert.equal(table.alerts[0]?.suppressed_reason, null)
  table.round(60, { ...holds, suppression: () => 'night' as const })
  assert.equal(table.alerts[0]?.suppressed_reason, null, 'a fan has to run at night')
})

const failing: Finding = {
  code: 'inverter_fault',
  source_type: 'inverter',
  source_id: '7',
  inverter_id: 7,
  since: began,
  message: 'Inverter 7 is in fault.',
  affected_power_kw: 60,
}

test('lost energy grows with the time that was watched, and is worth what the market pays', () => {
  const table = alertTable()
  const at = (per_mwh: number) => ({
    findings: [failing],
    price: { per_mwh, currency: 'EUR' },
  })
  table.round(120, at(100))
  assert.equal(table.alerts[0]?.lost_energy_kwh, 0)
  for (let minute = 0; minute < 10; minute += 1) table.round(60, at(100))
  assert.equal(table.alerts[0]?.lost_energy_kwh, 10)
  assert.ok(Math.abs((table.alerts[0]?.lost_amount ?? 0) - 1) < 1e-9)
  table.round(60, at(-100))
  assert.ok(Math.abs((table.alerts[0]?.lost_amount ?? 0) - 0.9) < 1e-9)
  table.round(86_400, at(100))
  assert.equal(table.alerts[0]?.lost_energy_kwh, 16, 'five minutes of a day without a round')
  table.round(60, { findings: [failing] })
  assert.equal(table.alerts[0]?.lost_amount, null, 'some was lost at an unknown price')
  table.round(60, at(100))
  assert.equal(table.alerts[0]?.lost_amount, null)
  assert.equal(table.alerts[0]?.lost_energy_kwh, 18)
})

test('nothing counts as lost while the condition is gone', () => {
  const table = alertTable()
  table.round(120, { findings: [failing] })
  table.round(60)
  table.round(60, { findings: [failing] })
  assert.equal(table.alerts[0]?.lost_energy_kwh, 0)
})

test('alerts about the grid permit keep no figure, whatever a finding says', () => {
  const table = alertTable()
  const told: Finding = {
    code: 'permit_clamp',
    source_type: 'logger',
    source_id: '1',
    since: began,
    message: 'Plant 1 is held by its permit.',
    affected_power_kw: 12,
    value: 480,
    threshold: 480,
    unit: 'kW',
  }
  table.round(300, { findings: [told] })
  table.round(60, { findings: [told] })
  const { value, threshold, unit, affected_power_kw, lost_energy_kwh } = table.alerts[0]!
  assert.deepEqual(
    [value, threshold, unit, affected_power_kw, lost_energy_kwh],
    [null, null, null, null, null],
  )
})

test('how long an alert holds leaves out the time between its occurrences', () => {
  const table = alertTable({ reopen_window_s: 7200 })
  const { now } = table
  const lasting = () => {
    const alert = table.alerts[0]!
    return activeSeconds(alert, alert.ended_at ?? now())
  }
  const since = (seconds: number): Finding => ({
    ...failing,
    since: new Date(now().getTime() + 1000 * seconds),
  })
  const first = since(0)
  table.round(600, { findings: [first] })
  assert.equal(lasting(), 600)
  table.acknowledge(1)
  table.round(0)
  table.round(3000)
  assert.equal(table.alerts[0]?.status, 'resolved')
  assert.equal(lasting(), 600)
  const again = since(0)
  table.round(120, { findings: [again] })
  const alert = table.alerts[0]!
  assert.deepEqual([alert.occurrence_count, alert.started_at], [2, first.since])
  assert.equal(lasting(), 720)
  assert.deepEqual([alert.status, alert.acknowledged_by], ['active', 'anna'])
  table.acknowledge(1, 'ben')
  assert.equal(table.alerts[0]?.acknowledged_by, 'ben')
})

test('the durations of several occurrences add up to milliseconds, and no finer', () => {
  const at = (ms: number) => new Date(start_ms + ms)
  const lasting = { started_at: at(0), reopened_at: at(1000), held_before_s: 0.1 }
  assert.equal(activeSeconds(lasting, at(1200)), 0.3)
})
