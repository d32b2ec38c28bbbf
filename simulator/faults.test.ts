import assert from 'node:assert/strict'
import test from 'node:test'
import { misplacedFaults, parseFault } from './faults.ts'
import { smallSite } from './fixtures/site.ts'

test('faults are read as they are written', () => {
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
  assert.deepEqual(parseFault('silent_device:south/2'), {
    kind: 'silent_device',
    connection: 'south',
    unit_id: 2,
  })
})

test('what is no fault is refused with the forms', () => {
  const wrong = ['', 'dead_inverter', 'dead_inverter:x', 'open_string:1', 'slow_device:a/1=-5']
  for (const text of [...wrong, 'stuck_sensor:1/poa=', 'silent_device:a/1=3', 'broken:1']) {
    assert.throws(() => parseFault(text), /is no fault; write one of dead_inverter/, text)
  }
})

test('faults of what the site does not have are named', () => {
  const misplaced = (...texts: string[]) => misplacedFaults(smallSite, texts.map(parseFault))
  assert.deepEqual(misplaced('dead_inverter:1', 'open_string:1/3', 'silent_device:field/1'), [])
  assert.deepEqual(
    misplaced(
      'dead_inverter:99',
      'open_string:1/4',
      'stuck_sensor:1/nope=3',
      'slow_device:nowhere/1=900',
    ),
    [
      'dead_inverter: the site has no inverter 99',
      'open_string: the site has no string 1/4',
      'stuck_sensor: the site has no sensor 1/nope',
      'slow_device: the site has no device nowhere/1',
    ],
  )
})
