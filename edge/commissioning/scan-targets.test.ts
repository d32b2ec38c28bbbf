import assert from 'node:assert/strict'
import test from 'node:test'
import { hostsOf, numbersOf } from './scan-targets.ts'

test('a network is its addresses without the first and the last', () => {
  const hosts = hostsOf('192.168.1.77/24')
  assert.deepEqual([hosts.length, hosts[0], hosts.at(-1)], [254, '192.168.1.1', '192.168.1.254'])
  assert.deepEqual(hostsOf('10.0.0.4/31'), ['10.0.0.4', '10.0.0.5'])
  assert.deepEqual(hostsOf('10.0.0.4/32'), ['10.0.0.4'])
  assert.deepEqual(hostsOf('inverter-7.plant.example'), ['inverter-7.plant.example'])
  for (const wrong of [
    '10.0.0.0/8',
    '10.0.0/24',
    '10.0.0.0/33',
    '10.0.0.0/24/1',
    'a b',
    'fe80::/64',
  ]) {
    assert.throws(() => hostsOf(wrong), Error, wrong)
  }
})

test('numbers are ranges and single ones, each once', () => {
  const units = { min: 0, max: 255 }
  assert.deepEqual(numbersOf('1-3,7, 2', units), [1, 2, 3, 7])
  for (const wrong of ['', '1-', '3-1', '256', '-1', '1,,2', 'x']) {
    assert.throws(() => numbersOf(wrong, units), Error, wrong)
  }
})
