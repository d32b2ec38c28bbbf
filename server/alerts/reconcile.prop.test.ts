/** Alerts under random conditions, blindness, pauses and people, against rules of their own. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Finding } from './finding.ts'
import { alertTable, start_ms } from './fixtures/alert-table.ts'
import { accrual_ms_max } from './reconcile.ts'
import type { StoredAlert } from './record.ts'

const sources = ['1', '2'] as const
type State = 'holds' | 'gone' | 'unknown'

interface Step {
  after_s: number
  states: State[]
  power_kw: number
  person: 'acknowledge' | 'resolve' | null
  /** Which alert the person takes. */
  which: number
}

const stateOf = fc.constantFrom<State>('holds', 'holds', 'gone', 'unknown')
const step: fc.Arbitrary<Step> = fc.record({
  // Minutes mostly; now and then a pause.
  after_s: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(0, 60, 61, 120) }, fc.nat(20_000)),
  states: fc.tuple(stateOf, stateOf),
  power_kw: fc.constantFrom(0, 10, 600),
  person: fc.constantFrom(null, null, null, null, 'acknowledge', 'resolve'),
  which: fc.nat(5),
})
const settings = fc.record({
  raise_delay_s: fc.constantFrom(0, 60, 200),
  clear_delay_s: fc.constantFrom(0, 60, 300),
  reopen_window_s: fc.constantFrom(0, 300, 3600),
})

/** What the judge knows of a source: nothing that it took from the alerts. */
interface Truth {
  /** Since when it holds without being known to be gone. */
  since: Date | null
  /** Of rounds in a row in which it was known to be gone, the first. */
  gone_since_ms: number | null
  /** When it was known to hold last. */
  held_ms: number
  /** Resolved by a person, not known to be gone for its clear delay since, and not begun anew. */
  silenced_until_ms: number | null
  resolved_ms: number
}

const unknown: Truth = {
  since: null,
  gone_since_ms: null,
  silenced_until_ms: null,
  held_ms: 0,
  resolved_ms: 0,
}

function check(
  { raise_delay_s, clear_delay_s, reopen_window_s }: Record<string, number>,
  steps: readonly Step[],
) {
  const rule = { raise_delay_s: raise_delay_s!, clear_delay_s: clear_delay_s! }
  const table = alertTable({ reopen_window_s: reopen_window_s!, rules: { inverter_fault: rule } })
  const truths = new Map<string, Truth>(sources.map((id) => [id, { ...unknown }]))
  let now_ms = start_ms
  for (const { after_s, states, power_kw, person, which } of steps) {
    now_ms += 1000 * after_s
    for (const [nth, id] of sources.entries()) learn(truths.get(id)!, states[nth]!, now_ms, rule)
    const findings = sources.flatMap((id): Finding[] => {
      const { since } = truths.get(id)!
      const holds = states[sources.indexOf(id)] === 'holds'
      return holds && since ? [findingOf(id, since, power_kw)] : []
    })
    const before = table.alerts.map((alert) => ({ ...alert }))
    const blind = sources.filter((_, nth) => states[nth] === 'unknown')
    table.round(after_s, {
      findings,
      isUnknown: ({ source_id }) => blind.some((id) => id === source_id),
    })
    const stateOf = (id: string) => states[sources.indexOf(id as '1')]!
    judge(
      { before, after: table.alerts, truths, stateOf, now_ms, power_kw },
      {
        ...rule,
        reopen_window_s: reopen_window_s!,
      },
    )
    const taken = table.alerts[which % Math.max(1, table.alerts.length)]
    if (person && taken) {
      const { source_id } = taken
      const decided = table[person](taken.alert_id)
      assert.equal(decided === null, taken.status === 'resolved')
      if (person === 'resolve' && decided) {
        const silenced_until_ms = now_ms + 1000 * reopen_window_s!
        Object.assign(truths.get(source_id)!, { silenced_until_ms, resolved_ms: now_ms })
      }
    }
  }
}

const findingOf = (source_id: string, since: Date, affected_power_kw: number): Finding => ({
  code: 'inverter_fault',
  source_type: 'inverter',
  source_id,
  since,
  message: 'It is in fault.',
  affected_power_kw,
})

function learn(truth: Truth, state: State, now_ms: number, rule: { clear_delay_s: number }): void {
  if (state === 'holds') {
    const is_new = truth.since === null && now_ms > Math.max(truth.held_ms, truth.resolved_ms)
    if (is_new) truth.silenced_until_ms = null
    truth.since ??= new Date(now_ms)
    truth.held_ms = now_ms
  }
  if (state === 'gone') truth.since = null
  truth.gone_since_ms = state === 'gone' ? (truth.gone_since_ms ?? now_ms) : null
  const { gone_since_ms } = truth
  if (gone_since_ms !== null && now_ms - gone_since_ms >= 1000 * rule.clear_delay_s) {
    truth.silenced_until_ms = null
  }
}

interface Seen {
  before: readonly StoredAlert[]
  after: readonly StoredAlert[]
  truths: ReadonlyMap<string, Truth>
  stateOf(source_id: string): State
  now_ms: number
  power_kw: number
}

const isOpen = ({ status }: StoredAlert) => status !== 'resolved'

function judge(
  { before, after, truths, stateOf, now_ms, power_kw }: Seen,
  rule: { raise_delay_s: number; clear_delay_s: number; reopen_window_s: number },
): void {
  const open_keys = after.filter(isOpen).map(({ dedup_key }) => dedup_key)
  assert.equal(new Set(open_keys).size, open_keys.length, 'one open alert of a key')
  for (const [nth, alert] of after.entries()) {
    const was = before[nth]
    const { since, gone_since_ms, silenced_until_ms } = truths.get(alert.source_id)!
    const begins = isOpen(alert) && !(was && isOpen(was))
    if (begins) {
      assert.equal(stateOf(alert.source_id), 'holds')
      assert.ok(now_ms - since!.getTime() >= 1000 * rule.raise_delay_s, 'raised when ripe')
      assert.ok(!(silenced_until_ms !== null && now_ms < silenced_until_ms), 'a person silenced it')
      assert.equal(alert.status, 'active')
      assert.equal(alert.occurrence_count, was ? was.occurrence_count + 1 : 1)
      const earlier = before.findLast(({ source_id }) => source_id === alert.source_id)
      const begun_at = alert.reopened_at ?? alert.started_at
      if (earlier?.resolution === 'manual') assert.ok(begun_at >= earlier.resolved_at!, 'after it')
    }
    if (begins && was) {
      const passed_ms = now_ms - was.resolved_at!.getTime()
      assert.ok(passed_ms < 1000 * rule.reopen_window_s, 'reopened within the window')
    }
    if (was && isOpen(was) && !isOpen(alert)) {
      assert.equal(alert.resolution, 'auto')
      assert.ok(now_ms - gone_since_ms! >= 1000 * rule.clear_delay_s, 'gone for its clear delay')
    }
    if (was && !begins) assert.equal(alert.occurrence_count, was.occurrence_count)
    if (was && isOpen(was) && stateOf(alert.source_id) === 'unknown') {
      assert.equal(alert.status, was.status)
      assert.deepEqual(alert.last_seen_at, was.last_seen_at)
    }
    judgeLoss(was, alert, power_kw)
  }
  for (const [source_id, { since, silenced_until_ms }] of truths) {
    if (stateOf(source_id) !== 'holds' || silenced_until_ms !== null) continue
    if (now_ms - since!.getTime() < 1000 * rule.raise_delay_s) continue
    const is_told = after.some((alert) => alert.source_id === source_id && isOpen(alert))
    assert.ok(is_told, 'what holds long enough is open')
  }
}

function judgeLoss(was: StoredAlert | undefined, alert: StoredAlert, power_kw: number): void {
  const before_kwh = was?.lost_energy_kwh ?? 0
  const gained_kwh = (alert.lost_energy_kwh ?? 0) - before_kwh
  assert.ok(gained_kwh >= 0, 'lost energy never falls')
  assert.ok(gained_kwh <= (power_kw * accrual_ms_max) / 3_600_000 + 1e-6, 'a bounded step')
}

test('whatever happens, alerts are raised, kept and resolved by their rules', () => {
  const property = fc.property(settings, fc.array(step, { maxLength: 60 }), check)
  fc.assert(property, { numRuns: 1500 })
})
