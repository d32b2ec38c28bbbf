import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { BusError, exceptionError } from '../bus/bus-error.ts'
import { busWith, identity, inverter, measurements } from './fixtures/devices.ts'
import { chainOf } from './fixtures/memory-bus.ts'
import { sunspec } from './sunspec.ts'

const nameplate = (watts: number) =>
  encode(models[120], { values: { WRtg: watts, WRtg_SF: 1, VARtg: 0, VARtg_SF: 0 } })
const settings = encode(models[121], { values: { WMax: 90_500, WMax_SF: 2 } })
const capacity = encode(models[702], { values: { WMaxRtg: 125_000, WMax: 120_000, W_SF: 1 } })

const of = (rated_power_kw: number | null) => ({ rated_power_kw })
const cases = [
  ['120 and 121', [nameplate(110_000), settings], of(110)],
  ['120 alone', [nameplate(110_000)], of(110)],
  ['702', [capacity], of(125)],
  ['120 and 121 before 702', [capacity, nameplate(110_000), settings], of(110)],
  ['702 for what 120 leaves out', [encode(models[120], { values: {} }), capacity], of(125)],
  ['zero, which was never filled in', [nameplate(0)], of(null)],
  [
    'nothing implemented',
    [encode(models[120], { values: {} }), encode(models[121], { values: {} })],
    of(null),
  ],
  ['none of these models', [], null],
] as const

for (const [name, chain, expected] of cases) {
  test(`ratings of an inverter: ${name}`, async () => {
    const device = await sunspec.openInverter(busWith(identity(), measurements, ...chain), inverter)
    const { values, complaints } = await device.read()
    assert.deepEqual(values.ratings, expected)
    assert.deepEqual(complaints, [])
  })
}

test('ratings are read once, when the device is found', async () => {
  const bus = busWith(identity(), measurements, nameplate(110_000), settings)
  const device = await sunspec.openInverter(bus, inverter)
  bus.asked.length = 0
  for (let nth = 0; nth < 3; nth += 1) {
    assert.deepEqual((await device.read()).values.ratings, of(110))
  }
  assert.deepEqual(bus.asked, Array(3).fill([3, 40_070, 52]), 'the measurements alone')

  const silence = new BusError('timeout', 'no answer')
  bus.before = () => {
    throw silence
  }
  await assert.rejects(device.read(), silence)
  bus.before = () => {}
  const registers = chainOf(identity('SN-2'), measurements, nameplate(60_000))
  bus.units.set(3, { base: 40_000, registers })
  const { ratings } = (await device.read()).values
  assert.deepEqual(ratings, of(60), 'those of the device that is there now')
})

test('a device that refuses its ratings is read without them; an offline one is not', async () => {
  const bus = busWith(identity(), measurements, nameplate(110_000))
  const ratings_at = 40_122
  bus.before = (address, count) => {
    if (address <= ratings_at + 2 && address + count > ratings_at + 2) throw exceptionError(2)
    if (address > ratings_at + 2) throw exceptionError(2)
  }
  const { values } = await (await sunspec.openInverter(bus, inverter)).read()
  assert.deepEqual([values.ratings, values.inverter.ac_power_kw], [of(null), 61.2])

  bus.before = (address, count) => {
    if (address === ratings_at && count > 2) throw new BusError('timeout', 'no answer')
  }
  await assert.rejects(sunspec.openInverter(bus, inverter), { kind: 'timeout' })
})

test('an implausible rating is null, with a complaint at each reading', async () => {
  const image = nameplate(110_000)
  image[4] = 99 // WRtg_SF
  image[6] = 99 // VARtg_SF, of a point that nobody uses
  const device = await sunspec.openInverter(busWith(identity(), measurements, image), inverter)
  for (let nth = 0; nth < 2; nth += 1) {
    const { values, complaints } = await device.read()
    assert.deepEqual(values.ratings, of(null))
    assert.deepEqual(
      complaints.map(({ point }) => point),
      ['120.WRtg'],
    )
  }
})
