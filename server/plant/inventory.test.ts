import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import type { Site } from '@heliograph/domain/site'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { edge_id, foundSite, inventoryFrame, noon, park, site_id } from '../link/fixtures/plant.ts'
import { type Ingest, ingestInto } from '../link/ingest.ts'
import { inventoryFrame as frameInForce } from '../link/presence.ts'

let database: TestDatabase
let ingest: Ingest

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
  ingest = ingestInto(database.db)
})
after(() => database.drop())

interface Arrival {
  at?: number
  epoch?: string
  lane?: 'live' | 'backlog' | 'backfill'
}

const announce = (
  seq: number,
  site: Site,
  { at = noon, epoch = 'a', lane = 'live' }: Arrival = {},
) =>
  ingest.ingest({
    site_id,
    edge_id,
    epoch,
    lane,
    frames: [inventoryFrame(seq, site)],
    received_at: at,
  })

const rows = (sql: string) => database.db.query(sql)

test('an announced site is in the tables, with the capacity of its modules', async () => {
  await announce(1, park())
  assert.deepEqual(await rows('select name, inventory, inventory_at, inventory_seq from sites'), [
    { name: 'Park', inventory: park(), inventory_at: new Date(noon), inventory_seq: 1 },
  ])
  assert.deepEqual(
    await rows(
      `select logger_id, name, dc_capacity_kwp, commissioned_date, created_at, retired_at
       from loggers order by logger_id`,
    ),
    [[1, 'South', 54, '2024-05-01'] as const, [2, 'East', 18, null] as const].map(
      ([logger_id, name, dc_capacity_kwp, commissioned_date]) => ({
        logger_id,
        name,
        dc_capacity_kwp,
        commissioned_date,
        created_at: new Date(noon),
        retired_at: null,
      }),
    ),
  )
  assert.deepEqual(
    await rows(
      `select logger_id, phase_count, mppt_count, string_count, dc_capacity_kwp, modbus_unit_id
       from inverters order by inverter_id`,
    ),
    [[1, 3, 3, 5, 36, 1] as const, [1, 3, 2, 2, 18, 2] as const, [2, 3, 1, 2, 18, 3] as const].map(
      ([logger_id, phase_count, mppt_count, string_count, dc_capacity_kwp, modbus_unit_id]) => ({
        logger_id,
        phase_count,
        mppt_count,
        string_count,
        dc_capacity_kwp,
        modbus_unit_id,
      }),
    ),
  )
  assert.deepEqual(
    await rows(
      `select string_index, mppt_index, combiner_id, combiner_input, connected, dc_capacity_kwp
       from strings where inverter_id = 1 order by string_index`,
    ),
    [
      [0, 0, null, null, true, 9] as const,
      [1, 0, null, null, true, 9] as const,
      [2, 1, 'C1', 1, true, 9] as const,
      [3, 1, 'C1', 2, true, 9] as const,
      [4, 2, null, null, false, 0] as const,
    ].map(
      ([string_index, mppt_index, combiner_id, combiner_input, connected, dc_capacity_kwp]) => ({
        string_index,
        mppt_index,
        combiner_id,
        combiner_input,
        connected,
        dc_capacity_kwp,
      }),
    ),
  )
  assert.deepEqual(await rows(`select instruments ->> 0 is not null as is_there from stations`), [
    { is_there: true },
  ])
  assert.deepEqual(await rows('select role, logger_id from meters'), [
    { role: 'grid_connection', logger_id: null },
  ])
  assert.deepEqual(await rows('select power_stc_w from panel_models'), [{ power_stc_w: 450 }])
})

test('what is missing is retired, what comes back is revived, the rest is left alone', async () => {
  const inverters = () =>
    rows('select inverter_id, updated_at, retired_at from inverters order by inverter_id')
  const [first, second, third] = await inverters()
  const smaller = park()
  smaller.loggers[0]!.inverters.pop()
  smaller.loggers[0]!.inverters[0]!.string_groups.pop()
  delete smaller.meters
  const later = new Date(noon + 1)
  await announce(2, smaller, { at: noon + 1 })
  assert.deepEqual(await inverters(), [
    { ...first, updated_at: later },
    { inverter_id: 2, updated_at: later, retired_at: later },
    third,
  ])
  const strings = `select inverter_id, string_index from strings
    where retired_at is not null order by inverter_id, string_index`
  assert.deepEqual(await rows(strings), [
    { inverter_id: 1, string_index: 4 },
    { inverter_id: 2, string_index: 0 },
    { inverter_id: 2, string_index: 1 },
  ])
  assert.deepEqual(await rows('select retired_at from meters'), [{ retired_at: later }])

  const latest = new Date(noon + 2)
  await announce(3, park(), { at: noon + 2 })
  assert.deepEqual(await inverters(), [
    { ...first, updated_at: latest },
    { ...second, updated_at: latest },
    third,
  ])
  assert.deepEqual(await rows(strings), [])
})

test('an older announcement of the same journal changes nothing, a new journal does', async () => {
  const renamed = (name: string) => ({ ...park(), name })
  const name = async () => (await rows('select name from sites'))[0]!['name']
  await announce(11, renamed('eleven'))
  await announce(10, renamed('ten'), { lane: 'backlog' })
  assert.equal(await name(), 'eleven')
  await announce(1, renamed('anew'), { epoch: 'b' })
  assert.equal(await name(), 'anew')
})

test('an inventory that is not right is refused whole', async () => {
  const [before] = await rows('select inventory_sha256 from sites')
  const doubled = park()
  doubled.loggers[1]!.inverters[0]!.inverter_id = 1
  const faulty: [Site, RegExp, Arrival?][] = [
    [{ ...park(), site_id: 'other' }, /inventory of site other on the link of site park/],
    [doubled, /inverter_id/],
    [{ ...park(), name: 'NUL \0' }, /NUL/],
    [{ ...park(), latitude: 91 }, /latitude/],
    [park(), /back-filled/, { lane: 'backfill' }],
  ]
  for (const [nth, [site, reason, arrival]] of faulty.entries()) {
    const done = await announce(20 + nth, site, { ...arrival, epoch: 'b' })
    assert.equal(done.refused_frames, 1)
    const [rejected] = await rows(`select reason from rejected_frames where seq = ${20 + nth}`)
    assert.match(String(rejected!['reason']), reason)
  }
  assert.deepEqual(await rows('select inventory_sha256 from sites'), [before])
})

test('what only a newer edge knows of its devices keeps no inventory out', async () => {
  const newer = park()
  const [first] = newer.loggers[0]!.inverters
  Object.assign(first!, { driver: 'maker_x', cooling: { fans: 4 } })
  Object.assign(newer.connections[0]!, { protocol: 'modbus_security', ca_file: 'ca.pem' })
  newer.loggers[0]!.stations![0]!.instruments[0]!.point = '399[0].NEW'
  const done = await announce(40, newer, { epoch: 'c' })
  assert.deepEqual(done.refused, [])
  assert.deepEqual(await rows('select driver from inverters where inverter_id = 1'), [
    { driver: 'maker_x' },
  ])
  const [site] = await rows('select inventory from sites')
  assert.deepEqual(site!['inventory'], newer)
  for (const driver of ['', 'x'.repeat(81), 7]) {
    Object.assign(first!, { driver })
    const { refused } = await announce(50, newer, { epoch: `${driver}`.slice(0, 5) || 'none' })
    assert.match(refused[0]!.reason, /driver/)
  }
})

test('a value that only a newer edge knows costs its field or its device alone', async () => {
  await rows('delete from events')
  const newer = park()
  newer.locations.push({ location_id: 90, type: 'lake' as never, name: 'Lake' })
  const [logger] = newer.loggers
  const [station] = logger!.stations!
  Object.assign(station!.instruments[0]!, { type: 'albedometer', accuracy_class: 'd' })
  const other_station = structuredClone(station!)
  Object.assign(other_station, { station_id: 90, unit_id: 90 })
  Object.assign(other_station.instruments[0]!, { quantity: 'albedo' })
  logger!.stations!.push(other_station)
  Object.assign(newer.meters![0]!, { role: 'storage' })
  const node = (node_id: string, node_number: number, kind: string) => ({
    node_id,
    node_number,
    name: node_id,
    type: 'tracker' as never,
    channels: [{ channel: 'c', kind: kind as never, label: 'C' }],
  })
  newer.nodes = [node('known', 1, 'door'), node('newer', 2, 'vibration')]
  const announced = structuredClone(newer)
  assert.deepEqual((await announce(1, newer, { epoch: 'e' })).refused, [])
  assert.deepEqual(newer, announced)

  const [site] = await rows('select inventory from sites')
  const expected = park()
  expected.locations.push({ location_id: 90, type: 'other', name: 'Lake' })
  const [instrument] = expected.loggers[0]!.stations![0]!.instruments
  instrument!.type = 'other'
  delete instrument!.accuracy_class
  expected.meters![0]!.role = 'other'
  expected.nodes = [{ ...node('known', 1, 'door'), type: 'other' }]
  assert.deepEqual(site!['inventory'], expected)
  assert.deepEqual(
    await rows('select station_id from stations where retired_at is null'),
    logger!.stations!.slice(0, 1).map(({ station_id }) => ({ station_id })),
  )

  const events = () =>
    rows(`select source_id, edge, severity, message, details from events
      where code = 'inventory_values_unknown' order by event_id`)
  const [risen] = await events()
  assert.deepEqual(
    [risen!['source_id'], risen!['edge'], risen!['severity'], risen!['details']],
    [
      edge_id,
      'rising',
      'warning',
      {
        unknown: [
          `locations[${announced.locations.length - 1}].type 'lake' (taken for other)`,
          "loggers[0].stations[0].instruments[0].type 'albedometer' (taken for other)",
          "loggers[0].stations[0].instruments[0].accuracy_class 'd' (left out)",
          "loggers[0].stations[1].instruments[0].type 'albedometer' (taken for other)",
          "loggers[0].stations[1].instruments[0].quantity 'albedo' (left out)",
          "meters[0].role 'storage' (taken for other)",
          "nodes[0].type 'tracker' (taken for other)",
          "nodes[1].type 'tracker' (taken for other)",
          "nodes[1].channels[0].kind 'vibration' (left out)",
        ],
      },
    ],
  )
  assert.match(String(risen!['message']), /'lake'.*; and 4 more$/)
  assert.equal(await frameInForce(database.db, { site_id, edge_id }), null)

  await announce(2, newer, { epoch: 'e' })
  assert.equal((await events()).length, 1, 'nothing has changed')
  await announce(3, park(), { epoch: 'e' })
  await announce(4, { ...park(), name: 'Again' }, { epoch: 'e' })
  assert.deepEqual(
    (await events()).map(({ edge }) => edge),
    ['rising', 'falling'],
  )
  assert.deepEqual(await frameInForce(database.db, { site_id, edge_id }), { epoch: 'e', seq: 4 })
})

test('what is no word of any version refuses the inventory', async () => {
  for (const [nth, type] of ['', 7, 'Not a word', null].entries()) {
    const wrong = park()
    wrong.locations.push({ location_id: 90, type: type as never, name: 'Lake' })
    const { refused } = await announce(10 + nth, wrong, { epoch: 'f' })
    assert.match(refused[0]!.reason, /locations.*type/)
  }
})

test('a refused inventory holds as an event until one is accepted', async () => {
  await rows('delete from events')
  await announce(60, { ...park(), latitude: 91 }, { epoch: 'd' })
  const events = () =>
    rows(`select source_kind, source_id, edge, severity, message from events
      where code = 'inventory_rejected' order by event_id`)
  const [risen] = await events()
  assert.deepEqual(
    [risen!['source_kind'], risen!['source_id'], risen!['edge'], risen!['severity']],
    ['edge', edge_id, 'rising', 'major'],
  )
  assert.match(String(risen!['message']), /inventory.*refused.*latitude/)
  await announce(61, park(), { epoch: 'd' })
  await announce(62, { ...park(), name: 'Again' }, { epoch: 'd' })
  assert.deepEqual(
    (await events()).map(({ edge }) => edge),
    ['rising', 'falling'],
  )
})
