import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { severities } from '../link.ts'
import { alarm_words_max, alarmCategories } from './table.ts'
import { alarmTables, findAlarmTable } from './tables.ts'

interface Material {
  id: string
  word_bits?: number
  alarms: {
    word: number
    bit: number
    code: string | number
    name: string
    level: string
    reserved?: boolean
  }[]
}

const materialPath = new URL('../../../shared/data/alarms.json', import.meta.url)

/** How many rows of the material each table has, reserved bits left out. */
const rowCounts = {
  'sunspec-inverter': 16,
  'sunspec-701': 17,
  'huawei-sun2000': 48,
  'csi-ktl-ct': 63,
  'yaskawa-solectria-pvi-tl': 44,
}

test('every table is there under its own name', () => {
  assert.deepEqual(
    Object.fromEntries(alarmTables.map(({ table_id, rows }) => [table_id, rows.length])),
    rowCounts,
  )
  for (const table of alarmTables) assert.equal(findAlarmTable(table.table_id), table)
  assert.equal(findAlarmTable('none'), undefined)
})

for (const table of alarmTables) {
  test(`${table.table_id} agrees with the documents in word, bit, code and severity`, (t) => {
    if (!existsSync(materialPath)) {
      t.skip(`no reference data at ${materialPath.pathname}`)
      return
    }
    const { tables } = JSON.parse(readFileSync(materialPath, 'utf8')) as { tables: Material[] }
    const material = tables.find(({ id }) => id === table.table_id)
    assert.ok(material)
    assert.equal(table.word_bits, material.word_bits)
    // CSI gives its alarms labels where others give codes.
    const codeIs = table.table_id === 'csi-ktl-ct' ? 'name' : 'code'
    assert.deepEqual(
      table.rows.map(({ alarm_word, bit, code, severity }) => [alarm_word, bit, code, severity]),
      material.alarms
        .filter(({ reserved }) => !reserved)
        .map((alarm) => [alarm.word, alarm.bit, String(alarm[codeIs]), alarm.level]),
    )
  })

  test(`${table.table_id} has one alarm for a bit and a code, each complete`, () => {
    const { rows, word_bits } = table
    const places = rows.map(({ alarm_word, bit }) => `${alarm_word}.${bit}`)
    assert.equal(new Set(places).size, rows.length)
    assert.equal(new Set(rows.map(({ code }) => code)).size, rows.length)
    for (const row of rows) {
      assert.ok(row.alarm_word >= 1 && row.alarm_word <= alarm_words_max, row.code)
      assert.ok(row.bit >= 0 && row.bit < word_bits, row.code)
      assert.ok(severities.includes(row.severity), row.code)
      assert.ok(alarmCategories.includes(row.category), row.code)
      assert.ok(row.name.length > 3 && !row.name.endsWith('.'), row.code)
      assert.ok(row.description.endsWith('.'), row.code)
      assert.ok(row.cause === null || row.cause.endsWith('.'), row.code)
      assert.equal(row.table_id, table.table_id)
      assert.equal(row.manufacturer, table.manufacturer)
      assert.equal(row.table_version, table.table_version)
    }
  })
}

test('a SunSpec event named by a row is one of the standard', () => {
  const standard = new Set(findAlarmTable('sunspec-701')?.rows.map(({ code }) => code))
  for (const { rows } of alarmTables) {
    for (const { code, sunspec_event } of rows) {
      assert.ok(sunspec_event === null || standard.has(sunspec_event), code)
    }
  }
})
