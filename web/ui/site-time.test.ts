import assert from 'node:assert/strict'
import test from 'node:test'
import { inSiteTime } from './format.ts'

test('instants of a text are told in the time of the site, and nothing else is changed', () => {
  const text = "The edge agent 'A' was heard of last at 2026-11-23 18:10 UTC."
  assert.equal(
    inSiteTime(text, 'Europe/Berlin'),
    "The edge agent 'A' was heard of last at 23 Nov 2026, 19:10.",
  )
  assert.equal(
    inSiteTime('since 2026-11-23T23:30:05Z', 'Europe/Berlin'),
    'since 24 Nov 2026, 00:30',
  )
  assert.equal(inSiteTime('Installed 2024-05-01', 'Europe/Berlin'), 'Installed 2024-05-01')
})
