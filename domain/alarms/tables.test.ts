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
    level?: string | null
    suggested_level?: string | null
    register?: number | string
    reserved?: boolean
  }[]
}

const materialPath = new URL('../../../shared/data/alarms.json', import.meta.url)

/** How many rows of the material each table has, reserved bits left out. */
const rowCounts = {
  'sunspec-inverter': 16,
  'sunspec-701': 17,
  'huawei-sun2000': 48,
  'huawei-smartlogger': 43,
  'csi-ktl-ct': 63,
  'yaskawa-solectria-pvi-tl': 44,
  'sunspec-battery-802': 29,
  'sunspec-string-804': 28,
  'sinexcel-pws': 63,
  'solis-hybrid': 31,
  'sofar-g3': 125,
}

/** Where another name, and registers as words of ours: the word, and the bit that they begin at. */
const laidOut: Readonly<
  Record<string, { id: string; words: Readonly<Record<number, readonly [number, number]>> }>
> = {
  'sinexcel-pws': {
    id: 'sinexcel-pcs',
    words: {
      36: [1, 0],
      37: [2, 0],
      38: [3, 0],
      39: [4, 0],
      44: [4, 16],
      45: [5, 0],
      47: [5, 16],
    },
  },
  'sofar-g3': {
    id: 'sofar-g3',
    words: Object.fromEntries(
      Array.from({ length: 10 }, (_, nth) => [1029 + nth, [(nth >> 1) + 1, 16 * (nth % 2)]]),
    ),
  },
}

test('every table is listed under its own id', () => {
  assert.deepEqual(
    Object.fromEntries(alarmTables.map(({ table_id, rows }) => [table_id, rows.length])),
    rowCounts,
  )
  for (const table of alarmTables) assert.equal(findAlarmTable(table.table_id), table)
  assert.equal(findAlarmTable('none'), undefined)
})

const smartLoggerPath = new URL(
  '../../../shared/data/registers/huawei-smartlogger-alarms.csv',
  import.meta.url,
)

test('huawei-smartlogger has the registers, bits, codes and levels of the maker', (t) => {
  if (!existsSync(smartLoggerPath)) {
    t.skip(`no reference data at ${smartLoggerPath.pathname}`)
    return
  }
  const [, ...lines] = readFileSync(smartLoggerPath, 'utf8').trim().split('\n')
  const places = lines.map((line) => {
    const [register, bit, code, level] = line.split(',')
    const nth = Number(register) - 50_000
    const place = [Math.floor(nth / 2) + 1, Number(bit) + 16 * (nth % 2)]
    return [...place, code, level === 'adaptable' ? 'warning' : level]
  })
  const { rows } = findAlarmTable('huawei-smartlogger')!
  assert.deepEqual(
    rows.map((row) => [row.alarm_word, row.bit, row.code.split('-')[0], row.severity]),
    places,
  )
})

/** They are not in the material, or in a form of their own. */
const elsewhere = ['huawei-smartlogger', 'solis-hybrid']

for (const table of alarmTables.filter(({ table_id }) => !elsewhere.includes(table_id))) {
  test(`${table.table_id} agrees with the documents in word, bit, code and severity`, (t) => {
    if (!existsSync(materialPath)) {
      t.skip(`no reference data at ${materialPath.pathname}`)
      return
    }
    const { tables } = JSON.parse(readFileSync(materialPath, 'utf8')) as { tables: Material[] }
    const laid_out = laidOut[table.table_id]
    const material = tables.find(({ id }) => id === (laid_out?.id ?? table.table_id))
    assert.ok(material)
    if (!laid_out) assert.equal(table.word_bits, material.word_bits)
    const placeOf = ({ register, word, bit }: Material['alarms'][number]) => {
      if (!laid_out) return [word, bit]
      const [own_word, from] = laid_out.words[Number(register)] ?? []
      return own_word === undefined || from === undefined ? [] : [own_word, from + bit]
    }
    const levelOf = (alarm: Material['alarms'][number]) => alarm.level ?? alarm.suggested_level
    // CSI gives its alarms labels where others give codes.
    const codeIs = table.table_id === 'csi-ktl-ct' ? 'name' : 'code'
    assert.deepEqual(
      table.rows.map(({ alarm_word, bit, code, severity }) => [alarm_word, bit, code, severity]),
      material.alarms
        .filter((alarm) => !alarm.reserved && levelOf(alarm) && placeOf(alarm).length > 0)
        .map((alarm) => [...placeOf(alarm), String(alarm[codeIs]), levelOf(alarm)]),
    )
  })
}

for (const table of alarmTables) {
  test(`${table.table_id} has one complete alarm for each bit and code`, () => {
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

test('warnings of batteries are pre-alarms without effect on power, alarms reduce it', () => {
  const tables = alarmTables.filter(
    ({ alarm_source }) => alarm_source && alarm_source !== 'controller',
  )
  assert.equal(tables.length, 3)
  for (const { code, affects_power, severity } of tables.flatMap(({ rows }) => rows)) {
    assert.equal(typeof affects_power, 'boolean', code)
    assert.ok(severity !== 'critical' || affects_power, code)
  }
  const standard = tables.filter(({ manufacturer }) => manufacturer.startsWith('SunSpec'))
  for (const { code, protection_level, affects_power } of standard.flatMap(({ rows }) => rows)) {
    if (code.endsWith('_WARNING')) assert.deepEqual([protection_level, affects_power], [1, false])
    if (code.endsWith('_ALARM')) assert.deepEqual([protection_level, affects_power], [2, true])
  }
})

test('a SunSpec event named by a row exists in the standard', () => {
  const standard = new Set(findAlarmTable('sunspec-701')?.rows.map(({ code }) => code))
  for (const { rows } of alarmTables) {
    for (const { code, sunspec_event } of rows) {
      assert.ok(sunspec_event === null || standard.has(sunspec_event), code)
    }
  }
})
