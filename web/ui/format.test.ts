import assert from 'node:assert/strict'
import test from 'node:test'
import * as format from './format.ts'
import { formatDuration } from './format.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

test('what is not known is a dash, and never 0', () => {
  for (const value of [null, undefined, Number.NaN, Infinity]) {
    assert.equal(format.formatNumber(value), '–')
    assert.equal(format.formatPower(value), '–')
    assert.equal(format.formatEnergy(value), '–')
    assert.equal(format.formatMoney(value, 'EUR'), '–')
    assert.equal(format.formatAge(value), '–')
    assert.equal(formatDuration(value), '–')
  }
  assert.equal(format.formatMoney(1, null), '–')
  assert.equal(format.formatTime(null, 'UTC', 'time'), '–')
})

test('numbers have their digits, and nothing is minus zero', () => {
  assert.equal(format.formatNumber(1234.56), '1,234.6')
  assert.equal(format.formatNumber(-0.02), '0.0')
  assert.equal(format.formatNumber(-3, 0), '-3')
  assert.equal(format.formatMoney(-0.001, 'EUR'), '€0.00')
  assert.equal(format.formatMoney(-12.5, 'EUR'), '-€12.50')
})

test('the unit is the larger one from ten of it on, in both directions', () => {
  assert.equal(plain(format.formatPower(9999)), '9,999.0 kW')
  assert.equal(plain(format.formatPower(-10_000)), '-10.00 MW')
  assert.equal(plain(format.formatEnergy(12_345)), '12.35 MWh')
  assert.equal(plain(format.formatQuantity(0, '%', 0)), '0 %')
})

test('times are those of the site', () => {
  const at = '2026-12-31T23:30:00Z'
  assert.equal(format.formatTime(at, 'Europe/Berlin', 'time'), '00:30')
  assert.equal(format.formatTime(at, 'Europe/Berlin', 'date'), '1 Jan 2027')
  assert.equal(format.formatTime(at, 'America/New_York', 'full'), '31 Dec 2026, 18:30')
})

test('an age is told in the unit that suits it, also where clocks differ', () => {
  const ages = [-3, 59.4, 59.6, 3599, 86_400, 172_800]
  assert.deepEqual(ages.map(format.formatAge), [
    '0 s ago',
    '59 s ago',
    '1 min ago',
    '1 h ago',
    '24 h ago',
    '2 days ago',
  ])
})

test('a duration has its two largest parts', () => {
  assert.deepEqual([-1, 59.4, 59.6, 3599, 7500, 187_200].map(formatDuration), [
    '0 s',
    '59 s',
    '1 min',
    '59 min',
    '2 h 05 min',
    '2 days 4 h',
  ])
})
