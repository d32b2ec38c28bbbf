import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { parseSiteFile } from './site-file.ts'
import { stationPointNames } from './sunspec/station-points.ts'
import { describeProblems, type FileProblem } from './yaml-file.ts'

const demo = readFileSync(new URL('../simulator/demo/site.yaml', import.meta.url), 'utf8')

function problems(text: string): FileProblem[] {
  const read = parseSiteFile(text)
  return 'problems' in read ? read.problems : []
}

/** The demo site with one line written otherwise, and the number of that line. */
function changed(from: string, to: string, nth = 0): { text: string; line: number } {
  let at = -1
  for (let n = 0; n <= nth; n += 1) at = demo.indexOf(from, at + 1)
  assert.notEqual(at, -1, from)
  const text = demo.slice(0, at) + to + demo.slice(at + from.length)
  return { text, line: demo.slice(0, at).split('\n').length }
}

/** Changes a line and expects one problem there. */
function expectOne(from: string, to: string, nth: number, field: string, message: string) {
  const { text, line } = changed(from, to, nth)
  const found = problems(text)
  assert.deepEqual(
    found.map((problem) => [problem.line, problem.field, problem.message]),
    [[line, field, message]],
  )
}

test('the demo site is valid', () => {
  const read = parseSiteFile(demo)
  assert.ok('site' in read, JSON.stringify(read))
  assert.equal(read.site.loggers.length, 3)
})

test('each problem is reported at its line and field, in plain words', () => {
  expectOne(
    'unit_id: 3\n',
    'unit_id: 300\n',
    0,
    'loggers[0].inverters[2].unit_id',
    'must be at most 255, not 300',
  )
  expectOne('latitude: 48.62', 'latitude: north', 0, 'latitude', "must be a number, not 'north'")
  expectOne(
    'country_code: DE',
    'countrycode: DE\ncountry_code: DE',
    0,
    'countrycode',
    'there is no such field here',
  )
  expectOne(
    'timezone: Europe/Berlin',
    'timezone: Berlin',
    0,
    'timezone',
    "'Berlin' is no time zone of the IANA database, such as Europe/Berlin",
  )
  expectOne(
    'protocol: modbus_tcp',
    'protocol: modbus_tpc',
    1,
    'connections[1].protocol',
    "must be one of modbus_tcp, rtu_over_tcp, modbus_rtu, not 'modbus_tpc'",
  )
  expectOne(
    'port: 15021',
    'port: 70000',
    0,
    'connections[0].port',
    'must be at most 65535, not 70000',
  )
  expectOne(
    'connection: south',
    'connection: sout',
    1,
    'loggers[0].inverters[1].connection',
    'there is no connection sout in this file',
  )
  expectOne(
    'commissioned_date: 2024-05-01',
    'commissioned_date: 2024-02-30',
    0,
    'commissioned_date',
    "must be a date such as 2024-05-31, not '2024-02-30'",
  )
  expectOne(
    "point: '302[0].POAI'",
    'point: POAI',
    0,
    'loggers[0].stations[0].instruments[0].point',
    `'POAI' is no point of a met station: models and points are ${stationPointNames()}`,
  )
})

test('a missing field is reported at its object', () => {
  const { text, line } = changed('        rated_ac_power_kw: 100\n', '')
  const [problem, ...more] = problems(text)
  assert.deepEqual(more, [])
  assert.equal(problem?.field, 'loggers[0].inverters[0].rated_ac_power_kw')
  assert.equal(problem?.message, 'is missing')
  assert.equal(problem?.line, line - 2)
})

test('a duplicate key is reported by name', () => {
  const { text, line } = changed('    plant_code: E', '    plant_code: E\n    plant_code: F')
  assert.deepEqual(
    problems(text).map((p) => [p.line, p.field, p.message]),
    [[line + 1, 'loggers[1].plant_code', 'this field is given twice']],
  )
})

test('invalid YAML is reported at its first error', () => {
  const { text, line } = changed('timezone: Europe/Berlin', 'timezone: "Europe/Berlin')
  const [problem] = problems(text)
  assert.match(problem?.message ?? '', /^not YAML: /)
  assert.ok((problem?.line ?? 0) >= line)
  assert.equal(problems('').length, 1)
  assert.equal(problems('[]')[0]?.message, 'must be a set of fields, not a list')
})

test('a file that is not UTF-8 is reported as such', () => {
  const utf16 = 'the file is UTF-16, or no text: save it as UTF-8'
  const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16()
  const little = Buffer.from(demo, 'utf16le')
  const mark = Buffer.from([0xff, 0xfe])
  for (const bytes of [
    Buffer.concat([mark, little]),
    swapped(Buffer.concat([mark, little])),
    little,
    swapped(little),
  ]) {
    assert.deepEqual(
      problems(bytes.toString('utf8')).map((p) => [p.line, p.field, p.message]),
      [[1, '', utf16]],
    )
  }
  const latin = changed('timezone: Europe/Berlin', 'address: Südstraße 1\ntimezone: Europe/Berlin')
  assert.deepEqual(problems(latin.text), [])
  assert.deepEqual(
    problems(Buffer.from(latin.text, 'latin1').toString('utf8')).map((p) => [p.line, p.message]),
    [[latin.line, 'a character here is not UTF-8: save the file as UTF-8']],
  )
  assert.deepEqual(problems(`\ufeff${demo}`), [], 'with a byte order mark of UTF-8')
})

test('unknown and recursive aliases are reported at their place', () => {
  const nothing = changed('string_groups: *east_strings', 'string_groups: *north_strings')
  const field = 'loggers[1].inverters[1].string_groups'
  assert.deepEqual(
    problems(nothing.text).map((p) => [p.line, p.field, p.message]),
    [[nothing.line, field, '*north_strings repeats what is not there']],
  )
  assert.deepEqual(
    problems('site_id: a\nloggers: &all\n  - *all\n').map((p) => [p.line, p.field, p.message]),
    [[3, 'loggers[0]', '*all stands within what it repeats']],
  )
})

test('a second document is reported at its start', () => {
  const [problem] = problems('site_id: a\n---\nsite_id: b\n')
  assert.equal(problem?.message, 'a second document begins here: a file holds one')
  assert.equal(problem?.line, 2)
})

test('all problems of the schema and of the whole site are reported by line', () => {
  const text = demo
    .replace('currency: EUR', 'currency: euro')
    .replace('unit_id: 4\n', 'unit_id: 3\n')
    .replace('inverter_id: 5', 'inverter_id: 4')
    .replace('accuracy_class: a', 'accuracy_class: A')
  const fields = problems(text).map(({ field }) => field)
  assert.deepEqual(fields, [
    'currency',
    'loggers[0].inverters[3].unit_id',
    'loggers[0].stations[0].instruments[0].accuracy_class',
    'loggers[1].inverters[0].inverter_id',
  ])
})

test('no wrong type makes the check itself fail', () => {
  const whole = parseSiteFile(demo)
  assert.ok('site' in whole)
  const wrong = [null, [], 5, {}, 'x', [null]]
  let places = 0
  const visit = (value: unknown, replace: (by: unknown) => unknown): void => {
    places += 1
    // Every other one at every place, the others at the next.
    for (const by of wrong.filter((_, nth) => nth % 2 === places % 2)) {
      const read = parseSiteFile(JSON.stringify(replace(by)))
      assert.ok('site' in read || read.problems.every(({ message }) => message.length > 0))
    }
    if (typeof value !== 'object' || value === null) return
    const [key] = Object.keys(value).slice(-1)
    for (const name of Array.isArray(value) ? [key] : Object.keys(value)) {
      if (name === undefined) continue
      const copy = (by: unknown) =>
        Array.isArray(value) ? value.with(Number(name), by) : { ...value, [name]: by }
      visit((value as Record<string, unknown>)[name], (by) => replace(copy(by)))
    }
  }
  const { loggers, ...rest } = whole.site
  const one = { ...loggers[0]!, inverters: loggers[0]!.inverters.slice(0, 1) }
  const small = { ...rest, panel_models: rest.panel_models.slice(0, 1), loggers: [one] }
  visit(small, (by) => by)
})

test('equal inverters may share an alias any number of times', () => {
  const inverters = Array.from(
    { length: 240 },
    (_, i) => `      - { inverter_id: ${i + 100}, name: X, rated_ac_power_kw: 1, connection: west,
          unit_id: ${i + 10 > 99 ? i + 11 : i + 10}, driver: sunspec, string_groups: *east_strings }\n`,
  ).join('')
  const { text } = changed('      - inverter_id: 9\n', `${inverters}      - inverter_id: 9\n`)
  assert.deepEqual(describeProblems('site.yaml', problems(text)), [])
})

test('problems are written in the form of compilers', () => {
  const problem = { line: 3, column: 5, field: 'poll.inverter_s', message: 'must be a number' }
  assert.deepEqual(describeProblems('site.yaml', [problem]), [
    'site.yaml:3:5: poll.inverter_s: must be a number',
  ])
})
