import assert from 'node:assert/strict'
import test from 'node:test'
import { misplacedFaults, parseFault } from './faults.ts'
import { smallSite } from './fixtures/site.ts'

test('every form of a fault is parsed', () => {
  assert.deepEqual(parseFault('dead_inverter:3'), { kind: 'dead_inverter', inverter_id: 3 })
  assert.deepEqual(parseFault(' open_string:3/7 '), {
    kind: 'open_string',
    inverter_id: 3,
    string_index: 7,
  })
  assert.deepEqual(parseFault('stuck_sensor:1/poa-1=700'), {
    kind: 'stuck_sensor',
    station_id: 1,
    sensor_id: 'poa-1',
    value: 700,
  })
  assert.deepEqual(parseFault('slow_device:south/2=900'), {
    kind: 'slow_device',
    connection: 'south',
    unit_id: 2,
    delay_ms: 900,
  })
  const string = { inverter_id: 3, string_index: 7 }
  assert.deepEqual(parseFault('shaded_string:3/7'), { kind: 'shaded_string', ...string })
  for (const [text, kind, value] of [
    ['soiled_string:3/7=0.12', 'soiled_string', 0.12],
    ['bypassed_substring:3/7=2', 'bypassed_substring', 2],
    ['resistive_string:3/7=1.5', 'resistive_string', 1.5],
    ['degraded_string:3/7=40', 'degraded_string', 40],
  ] as const) {
    assert.deepEqual(parseFault(text), { kind, ...string, value })
  }
  assert.deepEqual(parseFault('limit:3=60'), { kind: 'limit', inverter_id: 3, limit_pct: 60 })
  assert.deepEqual(parseFault('ignores_limit:3'), { kind: 'ignores_limit', inverter_id: 3 })
  assert.deepEqual(parseFault('forgets_limit:3=900'), {
    kind: 'forgets_limit',
    inverter_id: 3,
    every_s: 900,
  })
  assert.deepEqual(parseFault('second_master:3=80'), {
    kind: 'second_master',
    inverter_id: 3,
    limit_pct: 80,
  })
  assert.deepEqual(parseFault('open_string:3/7@2026-05-01'), {
    kind: 'open_string',
    ...string,
    since_ms: Date.UTC(2026, 4, 1),
  })
  assert.deepEqual(parseFault('silent_device:south/2'), {
    kind: 'silent_device',
    connection: 'south',
    unit_id: 2,
  })
})

test('an invalid fault is refused with the valid forms', () => {
  const wrong = ['', 'dead_inverter', 'dead_inverter:x', 'open_string:1', 'slow_device:a/1=-5']
  const ranges = [
    'limit:1=101',
    'limit:1',
    'soiled_string:1/1=1',
    'soiled_string:1/1',
    'limit:1=-1',
    'ignores_limit:1=2',
    'forgets_limit:1',
    'forgets_limit:1=0',
    'second_master:1=101',
  ]
  const figures = ['bypassed_substring:1/1=1.5', 'bypassed_substring:1/1=0', 'open_string:1/1=2']
  const days = [
    'open_string:1/1@2026-13-01',
    'open_string:1/1@yesterday',
    'open_string:1/1@2026-02-31',
  ]
  for (const text of [
    ...wrong,
    ...ranges,
    ...figures,
    ...days,
    'stuck_sensor:1/poa=',
    'silent_device:a/1=3',
    'broken:1',
  ]) {
    assert.throws(() => parseFault(text), /is no fault; write one of dead_inverter/, text)
  }
})

test('faults of missing devices are named', () => {
  const misplaced = (...texts: string[]) => misplacedFaults(smallSite, texts.map(parseFault))
  assert.deepEqual(misplaced('dead_inverter:1', 'open_string:1/3', 'silent_device:field/1'), [])
  assert.deepEqual(
    misplaced(
      'dead_inverter:99',
      'open_string:1/4',
      'stuck_sensor:1/nope=3',
      'slow_device:nowhere/1=900',
      'limit:99=50',
      'second_master:99=50',
      'bypassed_substring:1/3=72',
    ),
    [
      'dead_inverter: the site has no inverter 99',
      'open_string: the site has no string 1/4',
      'stuck_sensor: the site has no sensor 1/nope',
      'slow_device: the site has no device nowhere/1',
      'limit: the site has no inverter 99',
      'second_master: the site has no inverter 99',
      'bypassed_substring: the site has no string 1/3 of more than 72 substrings',
    ],
  )
})
