import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import fc from 'fast-check'
import { BusError, exceptionError } from '../bus/bus-error.ts'
import {
  busWith,
  combiner,
  controls,
  identity,
  inverter,
  measurements,
  meter,
  mppts,
  status,
} from './fixtures/devices.ts'
import { chainOf, createMemoryBus } from './fixtures/memory-bus.ts'
import { sunspec } from './sunspec.ts'

test('the map is found at the addresses of the standard, and at a configured one', async () => {
  for (const base of [40_000, 0, 50_000]) {
    const bus = createMemoryBus({ 3: { base, registers: chainOf(identity(), measurements) } })
    const device = await sunspec.openInverter(bus, inverter)
    assert.equal((await device.read()).values.inverter.ac_power_kw, 61.2)
  }
  const bus = createMemoryBus({ 3: { base: 1234, registers: chainOf(identity(), measurements) } })
  const opening = sunspec.openInverter(bus, inverter)
  await assert.rejects(opening, /unit 3: no SunSpec marker at 40000, 0/)
  await sunspec.openInverter(bus, { ...inverter, base_address: 1234 })
})

test('another device than the configured one is refused, with its identity', async () => {
  const bus = busWith(identity('SN-2'), measurements)
  await assert.rejects(
    sunspec.openInverter(bus, { ...inverter, serial_number: 'SN-1' }),
    /unit 3 \(Acme X100\): expected serial number SN-1, found SN-2/,
  )
  await assert.rejects(
    sunspec.openMeter(bus, meter),
    /unit 3 \(Acme X100\) is no meter: it has models 1, 103/,
  )
})

test('a broken chain ends in an error or at its last model', async () => {
  const endless = Uint16Array.from([
    0x5375,
    0x6e53,
    ...identity(),
    103,
    0xfff0,
    ...Array(60).fill(0),
  ])
  const bus = createMemoryBus({ 3: { base: 40_000, registers: endless } })
  await assert.rejects(sunspec.openInverter(bus, inverter), /model 103 at 40070 has length 65520/)

  const unended = chainOf(identity(), measurements).slice(0, -2)
  const open = createMemoryBus({ 3: { base: 40_000, registers: unended } })
  const device = await sunspec.openInverter(open, inverter)
  assert.equal((await device.read()).values.inverter.ac_power_kw, 61.2)

  const empties = Array.from({ length: 5000 }, () => [64_001, 0]).flat()
  const long = chainOf(identity(), Uint16Array.from(empties))
  const bounded = createMemoryBus({ 3: { base: 40_000, registers: long } })
  await assert.rejects(sunspec.openInverter(bounded, inverter), /is no inverter/)
  assert.ok(bounded.asked.length < 300)

  const headless = createMemoryBus({ 3: { base: 40_000, registers: chainOf(measurements) } })
  await assert.rejects(sunspec.openInverter(headless, inverter), /does not begin with model 1/)
})

test('any registers after the marker give an error or a device, within bounds', async () => {
  const register = fc.oneof(fc.nat(0xffff), fc.constantFrom(1, 2, 50, 66, 101, 103, 160, 0xffff))
  await fc.assert(
    fc.asyncProperty(fc.array(register, { maxLength: 200 }), async (random) => {
      const registers = Uint16Array.from([0x5375, 0x6e53, ...identity(), ...random])
      const bus = createMemoryBus({ 3: { base: 40_000, registers } })
      await sunspec
        .openInverter(bus, inverter)
        .then((device) => device.read())
        .catch((error) => assert.ok(error instanceof Error && !(error instanceof TypeError)))
      assert.ok(bus.asked.length < 1000)
    }),
    // A model of 998 registers, each of which the device refuses.
    { numRuns: 200, examples: [[[103, 0, 160, 998]]] },
  )
})

test('neighbouring models are read in one request, with their scale factors', async () => {
  const bus = busWith(identity(), measurements, status, controls(1), mppts)
  const device = await sunspec.openInverter(bus, inverter)
  bus.asked.length = 0
  await device.read()
  assert.deepEqual(bus.asked, [
    [3, 40_070, 124],
    [3, 40_194, 50],
  ])
})

test('a device that refuses requests across models is read model by model', async () => {
  const bus = busWith(identity(), measurements, status)
  const device = await sunspec.openInverter(bus, inverter)
  bus.before = (_, count) => {
    if (count > 52) throw exceptionError(2)
  }
  assert.equal((await device.read()).values.inverter.insulation_resistance_kohm, 2)
  bus.asked.length = 0
  await device.read()
  assert.deepEqual(bus.asked, [
    [3, 40_070, 52],
    [3, 40_122, 46],
  ])
})

test('a long model is split between its groups, and void when its scale factors change', async () => {
  const groups = Array.from({ length: 24 }, (_, index) => ({ InDCA: index / 10, InDCV: 800 }))
  const image = encode(models[404], { values: { InDCA_SF: -1, InDCV_SF: 0 }, groups })
  const bus = busWith(identity(), image)
  const device = await sunspec.openCombiner(bus, { ...combiner, string_count: 24 })
  bus.asked.length = 0
  const { values } = await device.read()
  assert.deepEqual(
    values.current_a,
    groups.map(({ InDCA }) => InDCA),
  )
  assert.deepEqual(
    bus.asked.map(([, , count]) => count),
    [27 + 7 * 14, 8 * 14, 8 * 14, 14, 27],
  )
  let requests = 0
  bus.before = () => {
    requests += 1
    // The device changes its range between the second request and the third.
    if (requests === 3) bus.units.get(3)!.registers[70 + 22] = 0
  }
  const changed = await device.read()
  assert.deepEqual(new Set(changed.values.current_a), new Set([null]))
  assert.ok(changed.complaints.some(({ reason }) => reason.includes('scale factors changed')))
})

test('after communication loss the device is recognised by its serial number', async () => {
  const bus = busWith(identity('SN-1'), measurements)
  const device = await sunspec.openInverter(bus, inverter)
  const named = await sunspec.openInverter(bus, { ...inverter, serial_number: 'SN-1' })
  const silent = () => {
    throw new BusError('timeout', 'no answer')
  }
  bus.before = silent
  await assert.rejects(device.read(), { kind: 'timeout' })
  await assert.rejects(named.read(), { kind: 'timeout' })
  bus.before = () => {}
  bus.asked.length = 0
  await device.read()
  assert.equal(bus.asked.length, 2, 'its identity once more, then the measurements')
  await device.read()
  assert.equal(bus.asked.length, 3)

  bus.before = silent
  await assert.rejects(device.read(), { kind: 'timeout' })
  bus.before = () => {}
  const replaced = chainOf(identity('SN-2'), status, measurements)
  bus.units.set(3, { base: 40_000, registers: replaced })
  assert.equal((await device.read()).values.inverter.ac_power_kw, 61.2)
  assert.equal(device.identity.serial_number, 'SN-2')
  await assert.rejects(named.read(), /expected serial number SN-1, found SN-2/)
})

test('a moved chain gives no values, and is found again', async () => {
  const bus = busWith(identity(), measurements)
  const device = await sunspec.openInverter(bus, inverter)
  bus.units.set(3, { base: 40_000, registers: chainOf(identity(), status, measurements) })
  await assert.rejects(device.read(), /model 103 is no longer at 40070/)
  assert.equal((await device.read()).values.inverter.ac_power_kw, 61.2)
})
