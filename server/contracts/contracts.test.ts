import assert from 'node:assert/strict'
import test from 'node:test'
import { parseContracts } from './contracts.ts'

const known = { logger_ids: new Set([1, 2]), market_codes: new Set(['BG', 'RS']) }

const faultsOf = (text: string) => {
  const parsed = parseContracts(text, known)
  return 'faults' in parsed
    ? parsed.faults.map(({ field, message }) => `${field}: ${message}`)
    : 'taken'
}

const spot = '{ logger_id: 1, market_code: BG, contract_type: spot, currency: EUR'

test('a file that is right', () => {
  const text = `
assignments:
  - ${spot}, valid_from: 2025-01-01, valid_to: 2025-12-31 }
  - ${spot}, valid_from: 2026-01-01, floor_price_per_mwh: 0.5, sold_market_code: RS }
  - { logger_id: 2, market_code: BG, contract_type: ppa, currency: BGN, valid_from: 2026-01-01 }
fees:
  - { code: aggregator, name: A, basis: per_mwh, value: 2.15, currency: EUR, valid_from: 2025-01-01 }
  - { code: aggregator, name: B, basis: percent, value: 1.5, valid_from: 2025-01-01 }
  - { code: tax, name: A, basis: per_month, value: 9, currency: EUR, valid_from: 2025-01-01,
      logger_id: 1 }
  - { code: tax, name: A, basis: per_month, value: 9, currency: EUR, valid_from: 2025-01-01,
      logger_id: 2 }`
  const parsed = parseContracts(text, known)
  assert.ok('content' in parsed)
  assert.equal(parsed.content.assignments.length, 3)
  assert.equal(parsed.content.fees?.length, 4)
  assert.equal(faultsOf('assignments: []'), 'taken')
})

test('every fault of the form is named at once', () => {
  const text = `
assignments:
  - { logger_id: one, market_code: BG, contract_type: spott, currency: eur, valid_from: 2026-02-30 }
fee: []`
  assert.deepEqual(faultsOf(text), [
    'fee: there is no such field here',
    "assignments[0].logger_id: must be a whole number, not 'one'",
    'assignments[0].contract_type: must be one of spot, fixed_price, ppa, feed_in_tariff, ' +
      "feed_in_premium, cfd, not 'spott'",
    "assignments[0].currency: must be three capital letters (ISO 4217), such as EUR, not 'eur'",
    "assignments[0].valid_from: must be a date such as 2024-05-31, not '2026-02-30'",
  ])
  assert.equal(faultsOf('a: [1').length, 1)
  assert.deepEqual(faultsOf(''), [': must be a set of fields, not nothing'])
})

test('so is what makes no sense, is not known, or overlaps', () => {
  const text = `
assignments:
  - ${spot}, valid_from: 2025-01-01, valid_to: 2025-12-31, fixed_price_per_mwh: 5 }
  - ${spot}, valid_from: 2026-06-01, valid_to: 2026-05-31 }
  - { logger_id: 3, market_code: XX, contract_type: cfd, currency: EUR, valid_from: 2026-01-01,
      floor_price_per_mwh: 1.0000001 }
fees:
  - { code: tax, name: A, basis: percent, value: 101, currency: EUR, valid_from: 2026-01-01 }
  - { code: tax, name: A, basis: per_mwh, value: 1, valid_from: 2027-01-01, logger_id: 1 }`
  assert.deepEqual(faultsOf(text), [
    'assignments[0].fixed_price_per_mwh: spot pays the market price and has none',
    'assignments[1].valid_to: is before valid_from, 2026-06-01; it is the last day',
    'assignments[2].fixed_price_per_mwh: is missing: cfd needs it',
    'assignments[2].floor_price_per_mwh: cfd has none',
    'assignments[2].floor_price_per_mwh: must have at most 6 decimals',
    'fees[0].value: must be at most 100 %',
    'fees[0].currency: a percentage has none',
    'fees[1].currency: is missing: per_mwh needs it',
    'assignments[2].logger_id: the site has no logger 3',
    "assignments[2].market_code: there is no market 'XX'",
    'fees[1].valid_from: overlaps with fees[0], 2026-01-01 to an open end',
  ])
  const twice = `
assignments:
  - ${spot}, valid_from: 2026-01-01, valid_to: 2026-06-30 }
  - ${spot}, valid_from: 2026-06-30 }`
  assert.deepEqual(faultsOf(twice), [
    'assignments[1].valid_from: overlaps with assignments[0], 2026-01-01 to 2026-06-30',
  ])
})

test('what deviates is charged once, whatever the fee is called', () => {
  const imbalance = 'code: balancing, basis: imbalance, value: 1, currency: EUR'
  const text = `
assignments: []
fees:
  - { ${imbalance}, name: A, logger_id: 1, valid_from: 2026-01-01, valid_to: 2026-06-30 }
  - { ${imbalance}, name: B, logger_id: 1, valid_from: 2026-07-01 }
  - { ${imbalance}, name: C, logger_id: 2, valid_from: 2026-01-01 }
  - { ${imbalance}, name: D, valid_from: 2026-06-30 }
  - { code: other, name: E, basis: per_mwh, value: 1, currency: EUR, valid_from: 2026-01-01 }`
  assert.deepEqual(faultsOf(text), [
    'fees[3].basis: imbalance overlaps with fees[0], 2026-01-01 to 2026-06-30: a deviation is ' +
      'charged once',
  ])
})

test('a blank that nobody sees makes no other fee', () => {
  const fee = 'code: tax, basis: per_mwh, value: 1, currency: EUR, valid_from: 2026-01-01'
  const text = `
assignments: []
fees:
  - { ${fee}, name: A }
  - { ${fee}, name: 'A ' }
  - { ${fee}, name: "\\u00a0A" }
  - { ${fee}, name: A tax }`
  assert.deepEqual(faultsOf(text), [
    'fees[1].name: must not begin or end with a blank',
    'fees[2].name: must not begin or end with a blank',
  ])
})
