import assert from 'node:assert/strict'
import test from 'node:test'
import { parseProfile } from './profile-file.ts'
import { describeProblems } from './yaml-file.ts'

const meter = `identity: { manufacturer: Acme, family: Meter }
meter:
  readings:
    active_power_kw: { address: 10, name: P, type: i32, unit: W }
    frequency_hz: { address: 12, name: f, type: u16, unit: Hz, scale: 0.01 }
`
const inverter = `identity: { manufacturer: Acme, family: X }
inverter:
  readings:
    ac_power_kw: { address: 10, name: P, type: i32, unit: W }
  state:
    register: { address: 20, name: State, type: u16 }
    codes: { mppt: [1] }
  limit:
    setpoint:
      register: { address: 30, name: Limit, type: u16, unit: '%' }
      base: &pn { address: 31, name: Pn, type: u16, unit: W }
    in_force:
      sources: [{ register: { address: 32, name: Limit now, type: u16, unit: W } }]
    ceilings: [{ register: *pn }]
    survives_power_loss: false
    min_interval_ms: 1000
    applies_within_ms: 0
`

function problems(text: string): string[] {
  const read = parseProfile(text)
  return 'problems' in read ? describeProblems('my.yaml', read.problems) : []
}

test('identity and one capability are enough', () => {
  assert.deepEqual([problems(meter), problems(inverter)], [[], []])
  const nothing = 'identity: { manufacturer: Acme, family: Meter }\n'
  assert.match(problems(nothing).join(), /^my.yaml:1:1: must describe one of inverter, /)
  const nobody = meter.split('\n').slice(1).join('\n')
  assert.match(problems(nobody).join(), /identity: is missing/)
})

/** Each fault is reported once, at its line and field. */
const faults: [of: string, from: string, to: string, problem: string][] = [
  [
    meter,
    'Meter }',
    'Meter, recognised_by: [{ register: { address: 1, name: Type, type: u16 } }] }',
    'my.yaml:1: identity.recognised_by[0]: needs values or ranges: what is recognised?',
  ],
  [
    meter,
    'Meter }',
    'Meter, recognised_by: [{ register: { address: 1, name: Type, type: u16 }, ranges: [[2, 1]] }] }',
    'my.yaml:1: identity.recognised_by[0].ranges[0]: ends before it begins',
  ],
  [
    meter,
    'Meter }',
    'Meter, recognised_by: [{ register: { address: 1, name: T, type: text, words: 2 }, values: [1] }] }',
    'my.yaml:1: identity.recognised_by[0]: needs begins_with: what is recognised?',
  ],
  [
    meter,
    'type: i32',
    'type: i33',
    'my.yaml:4: meter.readings.active_power_kw.type: must be one of u16, i16, u32, i32, u64, ' +
      "i64, f32, f64, bcd16, bcd32, not 'i33'",
  ],
  [
    meter,
    'address: 12',
    'address: 11',
    'my.yaml:5: meter.readings.frequency_hz.address: overlaps P (10, i32)',
  ],
  [
    meter,
    'scale: 0.01',
    'scale: 0',
    'my.yaml:5: meter.readings.frequency_hz.scale: a scale of zero makes every value zero',
  ],
  [meter, 'unit: Hz', 'unit: V', 'my.yaml:5: meter.readings.frequency_hz: is no quantity in V'],
  [meter, ', unit: W', '', 'my.yaml:4: meter.readings.active_power_kw: needs a unit'],
  [
    meter,
    'frequency_hz',
    'frequency_khz',
    'my.yaml:5: meter.readings.frequency_khz: there is no such field here',
  ],
  [
    inverter,
    '    register: { address: 20, name: State, type: u16 }\n',
    '',
    'my.yaml:5: inverter.state.register: is missing',
  ],
  [inverter, '    codes: { mppt: [1] }\n', '', 'my.yaml:5: inverter.state: needs codes or flags'],
  [
    inverter,
    "unit: '%'",
    'unit: V',
    'my.yaml:10: inverter.limit.setpoint.register: has a base, and is no percentage of it',
  ],
  [
    inverter,
    '      base: &pn { address: 31, name: Pn, type: u16, unit: W }\n',
    '      # &pn\n',
    'my.yaml:14: inverter.limit.ceilings[0].register: *pn repeats what is not there',
  ],
  [
    inverter,
    'Limit now, type: u16',
    'Limit now, type: u16, unconfirmed: true',
    'my.yaml:13: inverter.limit.in_force.sources[0].register.unconfirmed: ' +
      'an unconfirmed register is never used to limit',
  ],
  [
    inverter,
    'address: 30, name: Limit',
    'address: 30, table: input, name: Limit',
    'my.yaml:10: inverter.limit.setpoint.register.table: an input register cannot be written',
  ],
  [
    inverter,
    'sources: [{ register',
    'sources: [{ when: 1, register',
    'my.yaml:13: inverter.limit.in_force.sources[0]: ' +
      'needs a selector, and the value of it with which this source applies',
  ],
]

test('a wrong profile is refused, with the line and the field', () => {
  for (const [of, from, to, problem] of faults) {
    assert.ok(of.includes(from), from)
    const found = problems(of.replace(from, to)).map((one) =>
      one.replace(/^(my.yaml:\d+):\d+/, '$1'),
    )
    assert.deepEqual(found, [problem])
  }
})

test('a request that cannot hold a value is refused', () => {
  const small = `${meter}requests: { registers_max: 1 }\n`
  const [problem, ...more] = problems(small)
  assert.match(problem!, /active_power_kw.type: has 2 registers, and a request at most 1$/)
  assert.deepEqual(more, [])
})
