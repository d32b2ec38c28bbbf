import assert from 'node:assert/strict'
import test from 'node:test'
import { huaweiSun2000 as huaweiDevice } from '../../simulator/devices/huawei-sun2000.ts'
import { sma as smaDevice } from '../../simulator/devices/sma.ts'
import { driverOf } from './drivers.ts'
import { createRegisterBus } from './fixtures/register-bus.ts'
import { inverter, noon } from './fixtures/register-devices.ts'

/** Answers these words instead of its own, by address. */
type Words = ReadonlyMap<number, number>

const zero_pmax: Words = new Map([30075, 30076].map((address) => [address, 0]))
const zero_wmax: Words = new Map([30233, 30234].map((address) => [address, 0]))

async function opened(maker: 'huawei_sun2000' | 'sma', words: { now: Words }) {
  const bus =
    maker === 'sma'
      ? createRegisterBus(smaDevice(inverter), noon)
      : createRegisterBus(huaweiDevice(inverter), noon)
  for (const name of ['readHoldingRegisters', 'readInputRegisters'] as const) {
    const read = bus[name].bind(bus)
    bus[name] = async (unit_id, address, count) =>
      (await read(unit_id, address, count)).map((word, nth) => words.now.get(address + nth) ?? word)
  }
  const found = await driverOf(maker).openInverter!(bus, inverter)
  await found.read()
  return found
}

for (const [maker, zeros] of [
  ['huawei_sun2000', zero_pmax],
  ['sma', zero_wmax],
] as const) {
  test(`${maker}: a ceiling of 0 W is invalid, so that the limit is unknown`, async () => {
    const words: { now: Words } = { now: new Map() }
    const found = await opened(maker, words)
    const { control } = found
    assert.ok(control)
    await control.writeLimit(control.settable(20_000))
    words.now = zeros
    const { values } = await found.read()
    assert.equal(values.limit ?? null, null)
    await assert.rejects(control.readLimit(), /does not tell what limits it/)
    await assert.rejects(control.writeLimit(10_000), /does not tell what limits it/)
    words.now = new Map()
    assert.equal((await control.readLimit()).limit_w, control.settable(20_000))
  })
}

test('huawei_sun2000: the ramp follows the gradient of 42017, if set', async () => {
  const rampWith = async (gradient: number | null) => {
    const bus = createRegisterBus(huaweiDevice(inverter), noon)
    const read = bus.readHoldingRegisters.bind(bus)
    bus.readHoldingRegisters = async (unit_id, address, count) =>
      gradient !== null && address === 42_017 && count === 2
        ? Uint16Array.of(0, gradient)
        : await read(unit_id, address, count)
    const found = await driverOf('huawei_sun2000').openInverter!(bus, inverter)
    await found.read()
    return found.control?.traits.ramp_ms
  }
  assert.equal(await rampWith(660), 157_516)
  assert.equal(await rampWith(0), null)
  assert.equal(await rampWith(null), null)
})

test('huawei_sun2000: 35300 to 35303 that never change prove no limit, not even 0 kW', async () => {
  const bus = createRegisterBus(huaweiDevice(inverter), noon)
  const read = bus.readHoldingRegisters.bind(bus)
  bus.readHoldingRegisters = async (unit_id, address, count) => {
    const words = await read(unit_id, address, count)
    return words.map((word, nth) =>
      Math.trunc((address + nth - 35_300) / 4) === 0 && address + nth >= 35_300 ? 0 : word,
    )
  }
  const found = await driverOf('huawei_sun2000').openInverter!(bus, inverter)
  const before = await found.read()
  assert.equal(before.values.limit?.limit_w, null)
  assert.deepEqual(before.complaints, [])
  const control = found.control!
  await control.writeLimit(control.settable(20_000))
  assert.equal((await control.readLimit()).limit_w, 20_000)
  const after = await found.read()
  assert.equal(after.values.limit?.limit_w, 20_000)
  assert.deepEqual(
    after.complaints.map(({ point }) => point),
    ['limit'],
  )
  assert.match(after.complaints[0]!.reason, /never shows a limit/)
})

test('huawei_sun2000: a command is not repeated before the inverter had time to apply it', async () => {
  const found = await opened('huawei_sun2000', { now: new Map() })
  assert.equal(found.control!.traits.applies_within_ms, 6000)
})
