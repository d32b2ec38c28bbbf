import assert from 'node:assert/strict'
import { test } from 'node:test'
import { huaweiSun2000 } from '@heliograph/domain/alarms/huawei-sun2000'
import { sunspecInverter } from '@heliograph/domain/alarms/sunspec-inverter'
import { inverterNow, plantNow } from '../fixtures/plant-at-noon.ts'
import { conditionsOf, setAlarms } from './inverter-alarms.ts'
import type { InverterNow } from './plant-now.ts'

const rowOf = (code: string) => sunspecInverter.rows.find((row) => row.code === code)!
const over_temp = 2 ** rowOf('OVER_TEMP').bit
const words = (...given: (number | null)[]) => ({ alarm_words: given })

const found = (changes: Partial<InverterNow>) =>
  conditionsOf(plantNow({ inverters: [inverterNow(7, changes)] })).map(
    ({ code, source_id, part, alarms }) =>
      `${code} ${source_id} ${part ?? ''}: ${alarms.map((alarm) => alarm.code).join(' ')}`,
  )

const cases: [what: string, inverter: Partial<InverterNow>, expected: string[]][] = [
  ['none is set', words(0, 0), []],
  ['one is set', words(over_temp), ['inverter_alarm 7 OVER_TEMP: OVER_TEMP']],
  [
    'one that no table explains',
    words(0, 0, 0, 0, 2 ** 3),
    ['inverter_alarm 7 alarm_5_bit_3: alarm_5_bit_3'],
  ],
  ['a fault', { state: 'fault' }, ['inverter_fault 7 : ']],
  [
    'a fault with alarms: one cause',
    { state: 'fault', ...words(over_temp, 0, 0, 0, 8) },
    ['inverter_fault 7 : OVER_TEMP alarm_5_bit_3'],
  ],
  ['it was in fault when it fell silent', { state: 'fault', comm_state: 'disconnected' }, []],
  ['it is asleep', { ...words(over_temp), comm_state: 'asleep' }, []],
  ['words that were not read', words(null, null, null, null, null), []],
]
for (const [what, inverter, expected] of cases) {
  test(`alarms of an inverter: ${what}`, () => assert.deepEqual(found(inverter), expected))
}

test('an alarm has the severity of its table, in four degrees', () => {
  const tables = { sunspec: sunspecInverter, huawei_sun2000: huaweiSun2000 }
  const seen = new Set<string>()
  for (const [driver, { rows }] of Object.entries(tables)) {
    for (const { alarm_word, bit, code, severity } of rows) {
      const alarm_words = [0, 0, 0, 0, 0]
      alarm_words[alarm_word - 1] = 2 ** bit
      const [alarm] = setAlarms({ driver, alarm_words })
      // The highest bit of a SunSpec word says that the word is not available.
      if (alarm === undefined) continue
      seen.add(severity)
      assert.equal(alarm.code, code)
      assert.equal(alarm.severity, severity === 'minor' ? 'warning' : severity)
    }
  }
  assert.ok(seen.has('minor') && seen.has('major'))
})
