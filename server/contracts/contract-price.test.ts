import assert from 'node:assert/strict'
import test from 'node:test'
import { contractPrice, type PriceTerms } from './contract-price.ts'
import type { ContractType } from './contracts.ts'

const terms = (contract_type: ContractType, more: Partial<PriceTerms> = {}): PriceTerms => ({
  contract_type,
  fixed_price: contract_type === 'spot' ? null : 60,
  floor_price: null,
  pays_at_negative_price: true,
  ...more,
})

/** At market prices of 80, 10 and -20, and at none. */
const paid = (of: PriceTerms) => [80, 10, -20, null].map((price) => contractPrice(of, price))

test('what each kind of contract pays', () => {
  assert.deepEqual(paid(terms('spot')), [80, 10, -20, null])
  assert.deepEqual(paid(terms('fixed_price')), [60, 60, 60, 60])
  assert.deepEqual(paid(terms('feed_in_tariff')), [60, 60, 60, 60])
  assert.deepEqual(paid(terms('ppa')), [60, 60, 60, 60])
  assert.deepEqual(paid(terms('ppa', { fixed_price: null })), [80, 10, -20, null])
  assert.deepEqual(paid(terms('feed_in_premium')), [140, 70, 40, null])
  assert.deepEqual(paid(terms('cfd')), [60, 60, 60, 60])
})

test('no less than the floor, and nothing at negative prices where the contract says so', () => {
  assert.deepEqual(paid(terms('spot', { floor_price: 30 })), [80, 30, 30, null])
  const without = { pays_at_negative_price: false }
  assert.deepEqual(paid(terms('spot', { ...without, floor_price: 30 })), [80, 30, 0, null])
  assert.deepEqual(paid(terms('fixed_price', without)), [60, 60, 0, null])
  assert.deepEqual(paid(terms('feed_in_tariff', without)), [60, 60, 0, null])
  assert.deepEqual(paid(terms('feed_in_premium', without)), [140, 70, -20, null])
  assert.deepEqual(paid(terms('cfd', without)), [60, 60, -20, null])
})
