import assert from 'node:assert/strict'
import test from 'node:test'
import { alertCodes, ruleOf, rules } from './rules.ts'
import { parseAlerting, reopen_window_s_default, settingsInForce } from './settings.ts'

test('a site that says nothing has the rules as they are', () => {
  const parsed = parseAlerting('')
  assert.deepEqual(parsed, { content: {} })
  const { reopen_window_s, rules: in_force, mail } = settingsInForce({})
  assert.equal(reopen_window_s, reopen_window_s_default)
  assert.deepEqual(Object.keys(in_force), alertCodes)
  for (const code of alertCodes) {
    const { enabled, severity, raise_delay_s, clear_delay_s } = in_force[code]
    assert.deepEqual([enabled, severity], [true, null])
    assert.equal(raise_delay_s, rules[code].raise_delay_s)
    assert.equal(clear_delay_s, rules[code].clear_delay_s)
  }
  assert.equal(in_force.temperature_high.thresholds.oil_c, 95)
  assert.deepEqual(mail.recipients, [])
})

test('what a site says is in force, and nothing else changes', () => {
  const parsed = parseAlerting(`
    reopen_window_s: 600
    rules:
      string_underperformance:
        thresholds: { shortfall_pct: 25 }
        clear_delay_s: 0
      price_negative: { enabled: false }
      door_open: { severity: critical }
    mail:
      recipients: [{ address: ops@example.com }]
  `)
  assert.ok('content' in parsed)
  const settings = settingsInForce(parsed.content)
  assert.equal(settings.reopen_window_s, 600)
  const { string_underperformance: rule } = settings.rules
  assert.deepEqual(rule.thresholds, { shortfall_pct: 25, peer_hours: 3 })
  assert.deepEqual([rule.clear_delay_s, rule.raise_delay_s], [0, 3600])
  assert.equal(settings.rules.price_negative.enabled, false)
  assert.equal(settings.rules.door_open.severity, 'critical')
  assert.equal(settings.mail.recipients[0]?.address, 'ops@example.com')
})

const faultsOf = (text: string) => {
  const parsed = parseAlerting(text)
  return 'faults' in parsed ? parsed.faults.map(({ field, message }) => `${field}: ${message}`) : []
}

test('every fault is named at once, by its field', () => {
  const faults = faultsOf(`
    reopen: 5
    rules:
      string_zero_curent: { enabled: true }
      fan_failure:
        raise_delay_s: -1
        severity: fatal
        thresholds: { speed: 3 }
      soc_low:
        enabled: maybe
        thresholds: { below_min_pct: 21 }
      temperature_high: { thresholds: { oil_c: hot } }
  `)
  assert.deepEqual(faults.sort(), [
    'reopen: there is no such field here',
    'rules.fan_failure.raise_delay_s: must be at least 0, not -1',
    "rules.fan_failure.severity: must be one of info, warning, major, critical, not 'fatal'",
    'rules.fan_failure.thresholds.speed: there is no such field here',
    "rules.soc_low.enabled: must be true or false, not 'maybe'",
    'rules.soc_low.thresholds.below_min_pct: must be at most 20, not 21',
    'rules.string_zero_curent: there is no such field here',
    "rules.temperature_high.thresholds.oil_c: must be a number, not 'hot'",
  ])
})

test('what is no file of settings is refused with a reason', () => {
  assert.equal(faultsOf('- a\n- b').length, 1)
  assert.match(faultsOf('rules: [')[0] ?? '', /^: /)
  assert.match(faultsOf('rules: {a: 1, a: 2}')[0] ?? '', /unique/)
  assert.match(faultsOf('a: &a [x]\nb: &b [*a, *a]\nc: *nowhere')[0] ?? '', /nowhere/)
  assert.match(
    faultsOf('mail: { recipients: [{ address: "a@b.c, d@e.f" }] }')[0] ?? '',
    /^mail\.recipients\[0\]\.address: /,
  )
  assert.match(faultsOf('rules: { fan_failure: { raise_delay_s: .nan } }')[0] ?? '', /raise_delay/)
})

const noMappings: [text: string, fault: RegExp][] = [
  ['rules: { soc_low: !!set {a} }', /^rules\.soc_low: .*set/],
  ['rules: !!set { soc_low }', /^rules: .*set/],
  ['!!set { rules }', /^: .*set/],
  ['rules: !!omap [ { soc_low: {} } ]', /^rules: .*omap/],
  ['mail: { recipients: [ !!set { address } ] }', /^mail\.recipients\[0\]: .*set/],
  ['rules: { soc_low: { thresholds: !!set { nonsense } } }', /^rules\.soc_low\.thresholds: /],
  ['rules: { soc_low: &one !!set {a}, door_open: *one }', /^rules\.soc_low: .*set/],
]
for (const [text, fault] of noMappings) {
  test(`what is no plain mapping is refused: ${text}`, () => {
    assert.match(faultsOf(text)[0] ?? 'none', fault)
  })
}

test('every rule says enough for people, and its thresholds are within their own bounds', () => {
  for (const code of alertCodes) {
    const { title, recommended_action, thresholds } = ruleOf(code)
    assert.match(title, /^[A-Z].{3,60}[^.]$/, code)
    assert.match(recommended_action, /\.$/, code)
    for (const [name, { value, min, max, meaning }] of Object.entries(thresholds)) {
      assert.ok(min <= value && value <= max, `${code} ${name}`)
      assert.match(meaning, /^[A-Z].*\.$/)
    }
  }
})

test('nothing explains away an alert of control, and no figure of the permit is kept', () => {
  for (const code of alertCodes) {
    const { suppressed_by, without_values } = ruleOf(code)
    if (code.startsWith('permit_')) assert.equal(without_values, true, code)
    if (/^(permit|curtailment|control)_/.test(code)) assert.deepEqual(suppressed_by, [], code)
  }
})
