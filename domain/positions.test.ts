import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Channel, Node } from './node.ts'
import { listedDevices, movedDevices } from './positions.ts'
import type { Instrument } from './site.ts'

const oil: Channel = { channel: 'oil', kind: 'temperature', label: 'Oil' }
const air: Channel = { channel: 'air', kind: 'humidity', label: 'Air' }
const fan: Channel = { channel: 'fan', kind: 'relay', label: 'Fan' }
const poa: Instrument = {
  sensor_id: 'poa',
  name: 'POA',
  type: 'pyranometer',
  quantity: 'poa_irradiance_w_m2',
  point: '302[0].POAI',
}

const nodeOf = (channels: Channel[], node_id = 'ts-1', node_number = 7) =>
  listedDevices({ stations: [], nodes: [{ node_id, node_number, channels }] })
const stationOf = (...instruments: Instrument[]) =>
  listedDevices({ stations: [{ station_id: 7, instruments }], nodes: [] })

test('moved, removed and changed channels are reported; additions at the end are not', () => {
  const moved = (now: Node['channels']) =>
    movedDevices(nodeOf([oil, air]), nodeOf(now)).flatMap(({ positions }) => positions)
  const wasOil = { position: 0, was: 'oil temperature' }
  const wasAir = { position: 1, was: 'air humidity' }
  assert.deepEqual(moved([oil, air, fan]), [])
  assert.deepEqual(moved([{ ...oil, label: 'Top oil', role: 'oil' }, air]), [])
  assert.deepEqual(moved([air, oil]), [
    { ...wasOil, now: 'air humidity' },
    { ...wasAir, now: 'oil temperature' },
  ])
  assert.deepEqual(moved([oil, fan, air]), [{ ...wasAir, now: 'fan relay' }])
  assert.deepEqual(moved([oil]), [{ ...wasAir, now: null }])
  assert.deepEqual(moved([{ ...oil, kind: 'humidity' }, air]), [{ ...wasOil, now: 'oil humidity' }])
})

test('an instrument is identified by id, type and quantity, not by serial number', () => {
  const moved = (change: Partial<Instrument>) =>
    movedDevices(stationOf(poa), stationOf({ ...poa, ...change })).length
  assert.equal(moved({ name: 'Plane', serial_number: '2', calibrated_date: '2026-01-01' }), 0)
  assert.equal(moved({ sensor_id: 'poa-2' }), 1)
  assert.equal(moved({ type: 'reference_cell' }), 1)
  assert.equal(moved({ quantity: 'ghi_w_m2' }), 1)
})

test('devices are identified by the number of their readings', () => {
  assert.deepEqual(movedDevices(nodeOf([oil]), nodeOf([air], 'ts-2')), [
    {
      kind: 'node',
      id: 'ts-2',
      positions: [{ position: 0, was: 'oil temperature', now: 'air humidity' }],
    },
  ])
  assert.deepEqual(movedDevices(nodeOf([oil]), nodeOf([air], 'ts-1', 8)), [])
  assert.deepEqual(movedDevices(stationOf(poa), nodeOf([air])), [])
})

test('nothing moved if and only if the former list is a prefix of the new one', () => {
  const lists = fc.uniqueArray(fc.constantFrom(oil, air, fan), { selector: (c) => c.channel })
  fc.assert(
    fc.property(lists, lists, (former, now) => {
      const begins = former.every((channel, position) => now[position] === channel)
      assert.equal(movedDevices(nodeOf(former), nodeOf(now)).length === 0, begins)
    }),
  )
})
