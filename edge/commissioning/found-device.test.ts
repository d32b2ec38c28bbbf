import assert from 'node:assert/strict'
import test from 'node:test'
import { busWith, identity, measurements, mppts } from '../drivers/fixtures/devices.ts'
import { capacity, measurement, storage } from '../drivers/fixtures/power-systems.ts'
import { findChain } from '../drivers/sunspec-chain.ts'
import { sunspecFacts } from './found-device.ts'

const unit_id = 3

async function kindsOf(...chain: Uint16Array[]) {
  const bus = busWith(identity(), ...chain)
  const { kinds } = await sunspecFacts(bus, unit_id, await findChain(bus, { unit_id }))
  return kinds
}

test('a SunSpec battery inverter is no inverter, and a hybrid inverter is one', async () => {
  assert.deepEqual(await kindsOf(measurement(), capacity()), ['pcs'])
  assert.deepEqual(await kindsOf(measurements, storage()), ['pcs'])
  assert.deepEqual(await kindsOf(measurements, mppts, storage()), ['inverter'])
  assert.deepEqual(await kindsOf(measurements), ['inverter'])
  const of_pv = capacity({ WChaRteMaxRtg: 0, WChaRteMax: 0 })
  assert.deepEqual(await kindsOf(measurement(), of_pv), ['inverter'])
  assert.deepEqual(await kindsOf(measurement(), capacity({ WChaRteMaxRtg: null })), ['inverter'])
})
