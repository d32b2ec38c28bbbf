import assert from 'node:assert/strict'
import test from 'node:test'
import type { Node } from '@heliograph/domain/node'
import type { Instrument, Site } from '@heliograph/domain/site'
import { testDatabase } from '../../test/postgres.ts'
import {
  edge_id,
  foundSite,
  inventoryFrame,
  noon,
  park,
  readingsFrame,
  site_id,
} from '../link/fixtures/plant.ts'
import { ingestInto } from '../link/ingest.ts'

const channels = {
  oil: { channel: 'oil', kind: 'temperature', label: 'Oil' },
  air: { channel: 'air', kind: 'humidity', label: 'Air' },
  fan: { channel: 'fan', kind: 'relay', label: 'Fan' },
  door: { channel: 'door', kind: 'door', label: 'Door' },
} as const satisfies Record<string, Node['channels'][number]>

const poa = park().loggers[0]!.stations![0]!.instruments[0]!
const ghi: Instrument = { ...poa, sensor_id: 'ghi', quantity: 'ghi_w_m2', point: '302[0].GHI' }
const poa2: Instrument = { ...poa, sensor_id: 'poa-2', point: '302[1].POAI' }

const poaPlace = 'poa pyranometer poa_irradiance_w_m2'
const ghiPlace = 'ghi pyranometer ghi_w_m2'

interface Order {
  names?: readonly (keyof typeof channels)[]
  instruments?: Instrument[]
  node_id?: string
}

/** A node with these channels, none without names, and the met station with these instruments. */
function siteOf({ names, instruments = [poa], node_id = 'ts-1' }: Order): Site {
  const site = park()
  site.loggers[0]!.stations![0]!.instruments = instruments
  if (!names) return site
  site.mqtt = { url: 'mqtt://10.0.0.5:1883' }
  const listed = names.map((name) => channels[name])
  const named = { node_id, node_number: 7, name: 'Station', type: 'cabinet' } as const
  site.nodes = [{ ...named, channels: listed }]
  return site
}

test('moved channels and instruments', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  const { ingest } = ingestInto(db)
  let seq = 0
  let told = 0
  const send = (frames: Parameters<typeof ingest>[0]['frames']) =>
    ingest({ site_id, edge_id, epoch: 'a', lane: 'live', frames, received_at: noon + seq })
  /** What is told of an announcement, by device. */
  const announced = async (order: Order) => {
    seq += 1
    const { refused_frames } = await send([inventoryFrame(seq, siteOf(order))])
    assert.equal(refused_frames, 0)
    const rows = await db.query<{ device: string; details: { positions: object[] } }>(
      `select source_kind || ' ' || source_id as device, details from events
       where code = 'channels_renumbered' order by event_id offset $1`,
      [told],
    )
    told += rows.length
    return rows.map(({ device, details }) => [device, ...details.positions])
  }

  await t.test('a list that is new, the same or longer is nothing to tell', async () => {
    assert.deepEqual(await announced({ names: ['oil', 'air'] }), [])
    assert.deepEqual(await announced({ names: ['oil', 'air'] }), [])
    assert.deepEqual(await announced({ names: ['oil', 'air', 'fan'], instruments: [poa, ghi] }), [])
  })

  await t.test('a swap is told once, by position; all else of the site file counts', async () => {
    seq += 1
    const measured = { node_number: 7, measured_at: noon, channel_values: [50, 40, 1] }
    await send([readingsFrame(seq, 'node', [measured])])
    const order: Order = { names: ['air', 'oil', 'fan'], instruments: [ghi, poa] }
    assert.deepEqual(await announced(order), [
      [
        'station 1',
        { position: 0, was: poaPlace, now: ghiPlace },
        { position: 1, was: ghiPlace, now: poaPlace },
      ],
      [
        'node ts-1',
        { position: 0, was: 'oil temperature', now: 'air humidity' },
        { position: 1, was: 'air humidity', now: 'oil temperature' },
      ],
    ])
    const [event] = await db.query(
      `select at, edge, severity, message from events
       where code = 'channels_renumbered' and source_kind = 'node'`,
    )
    assert.deepEqual(event, {
      at: new Date(noon + seq),
      edge: 'once',
      severity: 'warning',
      message:
        'the site file moves channels of node ts-1: past readings at positions ' +
        '0, 1 have another name or none now',
    })
    assert.deepEqual(await announced(order), [])
    const [node] = await db.query('select channels from nodes')
    assert.deepEqual(node, { channels: [channels.air, channels.oil, channels.fan] })
    assert.deepEqual(await db.query('select measured_at, channel_values from node_readings'), [
      { measured_at: new Date(noon), channel_values: [50, 40, 1] },
    ])
  })

  await t.test('one that is taken out moves all behind it; the end has no other then', async () => {
    assert.deepEqual(await announced({ names: ['oil', 'fan'], instruments: [ghi] }), [
      ['station 1', { position: 1, was: poaPlace, now: null }],
      [
        'node ts-1',
        { position: 0, was: 'air humidity', now: 'oil temperature' },
        { position: 1, was: 'oil temperature', now: 'fan relay' },
        { position: 2, was: 'fan relay', now: null },
      ],
    ])
  })

  await t.test('what comes to where a list was cut is told, unless it was there', async () => {
    const withNames = (...names: (keyof typeof channels)[]) =>
      announced({ names, instruments: [ghi, poa] })
    assert.deepEqual(await withNames('oil', 'fan', 'door'), [
      ['node ts-1', { position: 2, was: 'fan relay', now: 'door door' }],
    ])
    assert.deepEqual(await withNames('oil', 'fan', 'door'), [])
    assert.deepEqual(await withNames('oil'), [
      [
        'node ts-1',
        { position: 1, was: 'fan relay', now: null },
        { position: 2, was: 'door door', now: null },
      ],
    ])
    assert.deepEqual(await withNames('oil', 'fan'), [])
    assert.deepEqual(await withNames('oil', 'fan', 'door'), [])
  })

  await t.test('a retired node comes back with the list that it had, or is told', async () => {
    assert.deepEqual(await announced({ instruments: [ghi, poa] }), [])
    assert.deepEqual(await announced({ instruments: [ghi, poa], names: ['fan', 'oil', 'door'] }), [
      [
        'node ts-1',
        { position: 0, was: 'oil temperature', now: 'fan relay' },
        { position: 1, was: 'fan relay', now: 'oil temperature' },
      ],
    ])
  })

  await t.test('a node of another id that takes its number takes its readings', async () => {
    const order: Order = { instruments: [ghi, poa], names: ['air'], node_id: 'ts-2' }
    assert.deepEqual(await announced(order), [
      [
        'node ts-2',
        { position: 0, was: 'fan relay', now: 'air humidity' },
        { position: 1, was: 'oil temperature', now: null },
        { position: 2, was: 'door door', now: null },
      ],
    ])
    assert.deepEqual(await announced({ ...order, instruments: [ghi, poa, poa2] }), [])
  })
})
