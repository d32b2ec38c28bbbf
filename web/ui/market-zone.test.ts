import assert from 'node:assert/strict'
import test from 'node:test'
import { marketZone } from './market-zone.ts'

const [berlin, chicago] = [{ timezone: 'Europe/Berlin' }, { timezone: 'America/Chicago' }]

test('days of money are those of the market that most contracts sell into', () => {
  assert.equal(marketZone([chicago, berlin, berlin], 'America/Chicago'), 'Europe/Berlin')
  assert.equal(marketZone([berlin, chicago], 'UTC'), 'Europe/Berlin')
  assert.equal(marketZone([], 'America/Chicago'), 'America/Chicago')
})
