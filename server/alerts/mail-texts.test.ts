import assert from 'node:assert/strict'
import test from 'node:test'
import { storedAlert } from './fixtures/mail-day.ts'
import { mailText } from './mail-texts.ts'
import { rules } from './rules.ts'

const site = { site_id: 'north-field', name: 'North field', timezone: 'Europe/Berlin' }
const now = new Date('2026-06-01T12:00:00Z')
const action = rules.inverter_offline.recommended_action

test('a mail says where, what, since when, how much, and what to do', () => {
  const alert = storedAlert({ affected_power_kw: 50.04, lost_energy_kwh: 3.21 })
  const { subject, text } = mailText([{ alert, kind: 'raised' }], site, now)
  assert.equal(subject, 'North field: [critical] Inverter does not answer (inverter 7)')
  assert.equal(
    text,
    `North field (north-field)

Inverter does not answer
What:           Inverter 7 does not answer.
Concerns:       inverter 7
Since:          2026-06-01 12:00 Europe/Berlin, 2026-06-01 10:00 UTC
Affected power: 50.0 kW
Lost energy:    3.2 kWh
What to do:     ${action}
`,
  )
})

test('the end of an alert says when and by whom, and nothing that is left to do', () => {
  const ended_at = new Date('2026-10-25T01:30:00Z')
  const alert = storedAlert({
    status: 'resolved',
    resolution: 'manual',
    resolved_by: 'control room',
    resolution_note: 'fuse replaced',
    ended_at,
    resolved_at: ended_at,
    occurrence_count: 3,
    affected_power_kw: 50,
    source_type: 'site',
    source_id: 'north-field',
  })
  const { subject, text } = mailText([{ alert, kind: 'resolved' }], site, now)
  assert.equal(subject, 'North field: [over] Inverter does not answer')
  assert.match(text, /^Concerns: {7}the site$/m)
  assert.match(text, /^Occurrence: {5}3$/m)
  assert.match(text, /^Over since: {5}2026-10-25 02:30 Europe\/Berlin, 2026-10-25 01:30 UTC$/m)
  assert.match(text, /^Resolved by: {4}control room$/m)
  assert.match(text, /^Note: {11}fuse replaced$/m)
  assert.doesNotMatch(text, /What to do|Affected power/)
})

test('what was not acknowledged, or got worse, is told as such', () => {
  const subject = (kind: 'escalated' | 'worsened') =>
    mailText([{ alert: storedAlert(), kind }], site, now).subject
  assert.match(subject('escalated'), /: \[critical, not acknowledged\] Inverter/)
  assert.match(subject('worsened'), /: \[critical now\] Inverter/)
})

test('a digest counts, and lists the worst first', () => {
  const items = [
    { alert: storedAlert({ alert_id: 1, severity: 'warning', title: 'B' }), kind: 'raised' },
    { alert: storedAlert({ alert_id: 2, status: 'resolved', title: 'C' }), kind: 'resolved' },
    { alert: storedAlert({ alert_id: 3, title: 'A' }), kind: 'raised' },
  ] as const
  const resolved_at = new Date('2026-06-01T11:00:00Z')
  const all = items.map((item) => ({ ...item, alert: { ...item.alert, resolved_at } }))
  const { subject, text } = mailText(all, site, now)
  assert.equal(subject, 'North field: 3 alerts, 1 critical, 1 over')
  assert.match(text, /as of 2026-06-01 14:00 Europe\/Berlin, 2026-06-01 12:00 UTC$/m)
  assert.deepEqual(text.match(/^\d\. .*$/gm), ['1. [critical] A', '2. [warning] B', '3. [over] C'])
})

test('a storm is told up to a length that can be read', () => {
  const items = Array.from({ length: 250 }, (_, nth) => ({
    alert: storedAlert({ alert_id: nth, message: 'x'.repeat(5000) }),
    kind: 'raised' as const,
  }))
  const { text } = mailText(items, site, now)
  assert.match(text, /And 150 more\.\n$/)
  assert.ok(text.length < 200_000)
})

test('what others wrote makes no line of its own', () => {
  const evil = 'a\r\nBcc: all@example.com\n\u2028What to do:     pay\u202e'
  const alert = storedAlert({
    title: evil,
    message: evil,
    source_id: evil,
    status: 'resolved',
    resolution: 'manual',
    resolved_by: evil,
    resolution_note: evil,
    resolved_at: now,
  })
  const items = [{ alert, kind: 'resolved' as const }]
  for (const all of [items, [...items, ...items]]) {
    const { subject, text } = mailText(all, { ...site, name: evil }, now)
    assert.doesNotMatch(subject, /[\p{Cc}\u2028\u202e]/u)
    assert.doesNotMatch(text, /^ *(Bcc|What to do)|[\r\u2028\u202e]/m)
  }
})
