/** The settings files of the documents, as people copy them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { parseAlerting, settingsInForce } from './settings.ts'

function filesOf(document: string): string[] {
  const text = readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block)
  return blocks.filter((block) => /^(rules|mail):/m.test(block))
}

const loaded = (file: string) => {
  const parsed = parseAlerting(file)
  assert.ok('content' in parsed, 'faults' in parsed ? JSON.stringify(parsed.faults) : '')
  return settingsInForce(parsed.content)
}

test('the file of docs/alerts.md loads, and sets what it says', () => {
  const files = filesOf('alerts.md')
  assert.equal(files.length, 1)
  const { reopen_window_s, rules, mail } = loaded(files[0]!)
  assert.equal(reopen_window_s, 7200)
  const { string_underperformance: string, door_open, price_negative } = rules
  assert.deepEqual(string.thresholds, { shortfall_pct: 20, peer_hours: 3 })
  assert.deepEqual([string.raise_delay_s, string.clear_delay_s], [7200, 7200])
  assert.deepEqual([door_open.severity, door_open.raise_delay_s], ['critical', 0])
  assert.equal(rules.temperature_high.thresholds.oil_c, 90)
  assert.equal(rules.soc_low.thresholds.below_min_pct, 3)
  assert.equal(price_negative.enabled, false)
  assert.deepEqual(
    mail.recipients.map(({ min_severity, digest }) => [min_severity, digest]),
    [
      ['major', 'immediate'],
      ['warning', 'immediate'],
      ['info', 'daily'],
    ],
  )
  assert.equal(mail.escalation?.after_min, 30)
})

test('the mails of docs/operating.md load', () => {
  const files = filesOf('operating.md')
  assert.equal(files.length, 1)
  assert.equal(loaded(files[0]!).mail.recipients.length, 3)
})
