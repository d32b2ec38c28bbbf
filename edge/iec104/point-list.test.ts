import assert from 'node:assert/strict'
import test from 'node:test'
import { siteOfTest, small_list } from './fixtures/lists.ts'
import { checkOwners, parsePointList } from './point-list.ts'

const header = 'address,type,meaning,of,scale,dead_band,minimum,maximum,group,select,name'
const faultsOf = (...lines: string[]) =>
  parsePointList([header, ...lines].join('\n')).faults.map(
    ({ line, column, message }) => `${line} ${column}: ${message}`,
  )

test('a list is read with its defaults', () => {
  const { points, faults } = parsePointList(small_list)
  assert.deepEqual(faults, [])
  assert.equal(points.length, 9)
  const { type, bare_type, ...mirror } = points[1]!
  assert.equal(type.name, 'M_ME_TD_1')
  assert.equal(bare_type.name, 'M_ME_NA_1')
  assert.deepEqual(mirror, {
    line: 3,
    address: 101,
    meaning: 'setpoint_mirror_pct',
    of: { kind: 'site', id: 0, node_id: '', channel: '' },
    scale: 100,
    dead_band: 0,
    minimum: null,
    maximum: null,
    group: 2,
    has_select: false,
    name: 'Mirror, in percent',
  })
  assert.deepEqual(checkOwners(points, siteOfTest()), [])
})

test('a list of a spreadsheet is read: semicolons, CRLF, a byte order mark, other columns left out', () => {
  const text = '\ufefftype;address;meaning\r\nM_SP_NA_1;1;is_reduced\r\n\r\n'
  const { points, faults } = parsePointList(text)
  assert.deepEqual(faults, [])
  assert.equal(points[0]!.of.kind, 'site')
})

test('each fault is named with its line and column', () => {
  assert.deepEqual(faultsOf('1,M_ME_NC_1,active_power_kw,plant 1,1,5,,,,,'), [])
  const found = faultsOf(
    '0,M_ME_NC_1,active_power_kw,,,,,,,,',
    '2,M_ME_NX_1,active_power_kw,,,,,,,,',
    '3,M_ME_NC_1,permit_kw,,,,,,,,',
    '4,M_ME_NC_1,active_power_kw,plant,,,,,,,',
    '5,M_ME_NC_1,soc_pct,meter 1,,,,,,,',
    '6,M_SP_NA_1,active_power_kw,,,,,,,,',
    '7,M_ME_NC_1,active_power_kw,,0,-1,9,3,17,yes,',
    '8,M_ME_NC_1,active_power_kw,,1x,,,,,perhaps,',
    '9,M_ME_NC_1',
  )
  const starts = [
    '2 address: 0 is below 1',
    "3 type: 'M_ME_NX_1' is no type of a point",
    "4 meaning: 'permit_kw' is none of active_power_kw",
    "5 of: 'plant' is of none of the forms",
    "6 of: 'meter 1' has no soc_pct: that is of battery",
    '7 type: M_SP_NA_1 cannot carry active_power_kw',
    '8 dead_band: -1 is below 0',
    '8 scale: is 0',
    '8 maximum: 3 is not above the minimum, 9',
    '8 group: 17 is above 16',
    '8 select: is for commands alone',
    "9 scale: '1x' is no number",
    "9 select: 'perhaps' is neither yes nor no",
    '10 address: 2 columns instead of 11',
  ]
  assert.equal(found.length, starts.length, found.join('\n'))
  for (const [nth, start] of starts.entries())
    assert.equal(found[nth]!.slice(0, start.length), start)
})

test('an address stands once, a column too, and no column is unknown', () => {
  const twice = faultsOf('5,M_SP_NA_1,is_reduced,,,,,,,,', '5,M_SP_NA_1,is_reduced,,,,,,,,')
  assert.deepEqual(twice, ['3 address: 5 is already that of line 2'])
  const { faults } = parsePointList('address,address,meaning,colour\n1,1,is_reduced,red')
  assert.deepEqual(
    faults.map(({ column, message }) => `${column} ${message.slice(0, 12)}`),
    ['type is missing', 'colour is no column', 'address stands there'],
  )
  assert.equal(parsePointList('address,type,meaning\n').faults[0]!.message, 'no point follows')
})

test('a point of a device that the site does not have is a fault', () => {
  const text = [
    header,
    '1,M_ME_NC_1,active_power_kw,plant 2,,,,,,,',
    '2,M_ME_NC_1,frequency_hz,meter 9,,,,,,,',
    '3,M_SP_NA_1,contact_on,node ts-1 door,,,,,,,',
  ].join('\n')
  const faults = checkOwners(parsePointList(text).points, siteOfTest())
  assert.deepEqual(
    faults.map(({ line, column, message }) => `${line} ${column}: ${message}`),
    [
      '2 of: the site has no plant 2',
      '3 of: the site has no meter 9',
      '4 of: the site has no node ts-1 with a channel door',
    ],
  )
})

test('no point is the grid permit', () => {
  const { faults } = parsePointList('address,type,meaning\n1,M_ME_NC_1,permit_kw')
  assert.doesNotMatch(faults[0]!.message.split('is none of')[1]!, /permit/)
})
