import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { OpenAlert } from '../finding.ts'
import { before, inverterNow, noon, plantNow, silentInverter } from '../fixtures/plant-at-noon.ts'
import { judgeCommunication } from './communication.ts'
import { awakeSince, type DeviceNow } from './plant-now.ts'

type Plant = Parameters<typeof plantNow>[0]
const found = (changes: Plant) =>
  judgeCommunication(plantNow(changes)).findings.map(
    ({ code, source_id, part, since }) =>
      `${code} ${source_id}${part ? ` ${part}` : ''} since ${since.toISOString().slice(11, 16)}`,
  )

const open = (of: Partial<OpenAlert>): OpenAlert => ({
  alert_id: 1,
  code: 'inverter_offline',
  source_type: 'inverter',
  source_id: '1',
  part: null,
  logger_id: 1,
  inverter_id: 1,
  string_index: null,
  bess_id: null,
  node_id: null,
  location_id: null,
  ...of,
})

const device = (changes: Partial<DeviceNow>): DeviceNow => ({
  kind: 'meter',
  id: '5',
  name: 'Grid',
  logger_id: null,
  inverter_id: null,
  comm_state: 'disconnected',
  since_at: before(30),
  error: 'not asked again yet: no answer within 2000 ms',
  ...changes,
})
const combiner = device({ kind: 'combiner', id: 'GAK-1', logger_id: 1, inverter_id: 2 })
const silent = [1, 2, 3].map((id) => silentInverter(id, 20))

const cases: [what: string, plant: Plant, expected: string[]][] = [
  ['all is well', {}, []],
  [
    'an inverter is silent',
    { inverters: [silentInverter(1, 20), inverterNow(2), inverterNow(3)] },
    ['inverter_offline 1 since 10:40'],
  ],
  [
    'the night before counts from when it should have been awake',
    { inverters: [silentInverter(1, 900), inverterNow(2)], awake_since_at: before(240) },
    ['inverter_offline 1 since 07:00'],
  ],
  ['it may sleep', { inverters: [silentInverter(1, 20)], awake_since_at: null }, []],
  [
    'it is dark by day',
    { inverters: [silentInverter(1, 20), inverterNow(2)], logger: { poa_irradiance_w_m2: 5 } },
    [],
  ],
  [
    'all inverters of a plant: one cause',
    { inverters: silent, logger: { data_at: before(0) } },
    ['logger_offline 1 since 10:40'],
  ],
  [
    'nothing of a plant',
    { inverters: silent, logger: { data_at: before(20) }, devices: [combiner] },
    ['logger_offline 1 since 10:40'],
  ],
  [
    'nothing was ever measured of it',
    { inverters: [], logger: { data_at: null, created_at: before(60) } },
    ['logger_offline 1 since 10:00'],
  ],
  [
    'the edge is silent, and with it all behind it',
    { edge: { last_seen_at: before(10) }, inverters: silent, logger: { data_at: before(20) } },
    ['edge_offline 0123456789ab since 10:50'],
  ],
  [
    'the edge is just back',
    { edge: { connected_at: before(1) }, inverters: silent, logger: { data_at: before(20) } },
    [],
  ],
  [
    'the first inverter of a plant is just back',
    { inverters: [inverterNow(1, { edge_since_at: before(1) }), ...silent.slice(1)] },
    [],
  ],
  [
    'all of a plant is just back, and its met station not yet',
    {
      inverters: [inverterNow(1, { edge_since_at: before(1) }), ...silent.slice(1)],
      devices: [device({ kind: 'station', logger_id: 1 })],
    },
    [],
  ],
  [
    'the met station is back two minutes after the first inverter, or never',
    {
      inverters: [inverterNow(1, { edge_since_at: before(2) })],
      devices: [device({ kind: 'station', logger_id: 1 })],
    },
    ['device_offline 5 since 10:30'],
  ],
  [
    'a meter of the site when all of it is just back',
    { inverters: [inverterNow(1, { edge_since_at: before(1) })], devices: [device({})] },
    [],
  ],
  [
    'a met station behind another that is just back',
    {
      devices: [
        device({ kind: 'station', logger_id: 1 }),
        device({ kind: 'station', logger_id: 1, id: '6', comm_state: 'connected' }),
      ],
    },
    ['device_offline 5 since 10:30'],
  ],
  ['an edge that never came', { edge: { last_seen_at: null }, inverters: silent }, []],
  ['a meter', { devices: [device({})] }, ['device_offline 5 since 10:30']],
  ['a combiner', { devices: [combiner] }, ['device_offline 2 GAK-1 since 10:30']],
  ['a combiner at night', { devices: [combiner], awake_since_at: null }, []],
  [
    'a met station at night',
    { devices: [device({ kind: 'station', logger_id: 1 })], awake_since_at: null },
    ['device_offline 5 since 10:30'],
  ],
]
for (const [what, plant, expected] of cases) {
  test(`who does not answer: ${what}`, () => assert.deepEqual(found(plant), expected))
}

test('what cannot be judged does not clear', () => {
  const tells = (plant: Plant, of: Partial<OpenAlert> = {}) =>
    !judgeCommunication(plantNow(plant)).isUnknown(open(of))
  const logger = { code: 'logger_offline', source_type: 'logger', source_id: '1' } as const
  const asleep = [inverterNow(1, { comm_state: 'asleep', measured_at: before(600) })]
  assert.equal(tells({}), true)
  assert.equal(tells({ edge: { last_seen_at: before(10) } }), false)
  assert.equal(tells({ inverters: silent, logger: { data_at: before(20) } }), false)
  assert.equal(tells({ inverters: asleep, awake_since_at: null }), false)
  assert.equal(tells({ inverters: asleep, awake_since_at: null }, logger), false)
  assert.equal(tells({}, logger), true)
  assert.equal(tells({ inverters: [inverterNow(2)] }), true, 'it was taken out')
  const gak = { code: 'device_offline', source_id: '2', part: 'GAK-1' } as const
  const station = device({ kind: 'station', logger_id: 1 })
  const met = { code: 'device_offline', source_type: 'station', source_id: '5' } as const
  const back = [inverterNow(1, { edge_since_at: before(1) })]
  assert.equal(tells({ devices: [station], inverters: back }, met), false, 'it may settle')
  assert.equal(tells({ devices: [combiner], awake_since_at: null }, gak), false)
  assert.equal(tells({ devices: [{ ...combiner, comm_state: 'connected' }] }, gak), true)
})

test('a message names who, and since when', () => {
  const { findings } = judgeCommunication(
    plantNow({ inverters: [silentInverter(1, 20), inverterNow(2)], devices: [device({})] }),
  )
  assert.deepEqual(
    findings.map(({ message }) => message),
    [
      "Inverter 'INV-01' of plant 'South' has not answered since 2026-06-21 10:40 UTC.",
      "Meter 'Grid' has not answered since 2026-06-21 10:30 UTC; last error: no answer within 2000 ms.",
    ],
  )
})

test('behind who is silent nobody is told, whoever is silent since when', () => {
  const minutes = fc.oneof(fc.constant(0), fc.integer({ min: 5, max: 2000 }))
  const plant = fc.record({
    edge: minutes,
    logger: minutes,
    inverters: fc.array(minutes, { minLength: 1, maxLength: 5 }),
    is_night: fc.boolean(),
  })
  fc.assert(
    fc.property(plant, ({ edge, logger, inverters, is_night }) => {
      const scan = judgeCommunication(
        plantNow({
          edge: { last_seen_at: before(edge) },
          logger: { data_at: before(Math.min(logger, ...inverters)) },
          inverters: inverters.map((age, nth) =>
            age === 0 ? inverterNow(nth) : silentInverter(nth, age),
          ),
          ...(is_night && { awake_since_at: null }),
        }),
      )
      const codes = new Set(scan.findings.map(({ code }) => code))
      assert.ok(scan.findings.every(({ since }) => since <= noon))
      assert.ok(codes.size <= 1, [...codes].join())
      assert.equal(codes.has('edge_offline'), edge > 0)
      if (is_night) assert.ok(!codes.has('inverter_offline'))
    }),
  )
})

test('inverters must be awake from a quarter of an hour after the sun is up', () => {
  const place = { latitude: 48.6, longitude: 12.2, elevation_m: 400 }
  assert.equal(awakeSince(place, new Date('2026-06-21T01:00:00Z')), null)
  const morning = awakeSince(place, noon)!
  assert.ok(
    morning > new Date('2026-06-21T03:40:00Z') && morning < new Date('2026-06-21T04:00:00Z'),
  )
  assert.equal(awakeSince(place, new Date(morning.getTime() - 360_000)), null)
  assert.deepEqual(awakeSince(null, noon), before(24 * 60))
})
