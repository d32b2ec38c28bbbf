/** SunSpec devices that declare more registers than they serve. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { exceptionError } from '../bus/bus-error.ts'
import {
  busWith,
  controls,
  identity,
  inverter,
  measurements,
  meter,
  mppts,
  status,
} from './fixtures/devices.ts'
import { inverter123, inverter704 } from './fixtures/limited-inverter.ts'
import type { MemoryBus } from './fixtures/memory-bus.ts'
import { sunspec } from './sunspec.ts'

/** Refuses what covers one of these registers, as `code`. */
function without(bus: MemoryBus, isMissing: (address: number) => boolean, code = 2): MemoryBus {
  const check = (address: number, count: number) => {
    for (let at = address; at < address + count; at += 1) {
      if (isMissing(at)) throw exceptionError(code)
    }
  }
  bus.before = check
  bus.beforeWrite = (address, values) => check(address, values.length)
  return bus
}

const chain = [identity(), measurements, status, controls(1), mppts]
const layout = chain.map((model, nth) => ({
  address: 40_002 + chain.slice(0, nth).reduce((sum, { length }) => sum + length, 0),
  length: model.length,
}))

test('a model with a declared length beyond its registers is read as far as it goes', async () => {
  const whole = await (await sunspec.openInverter(busWith(...chain), inverter)).read()
  const [, { address, length } = { address: 0, length: 0 }] = layout
  for (const code of [2, 3, 4]) {
    for (let served = 2; served <= length; served += 1) {
      const end = address + length
      const bus = without(busWith(...chain), (at) => at >= address + served && at < end, code)
      const device = await sunspec.openInverter(bus, inverter)
      const { values, complaints, missing } = await device.read()
      assert.deepEqual(complaints, [])
      assert.equal(missing?.length, served === length ? 0 : 1)
      for (const [name, value] of Object.entries(values.inverter)) {
        const before = whole.values.inverter[name as keyof typeof values.inverter]
        assert.ok(`${value}` === `${before}` || value === null || name === 'dc_power_kw', name)
      }
      assert.deepEqual(values.inverter.mppt_current_a, [8.01, 0])
      bus.asked.length = 0
      await device.read()
      assert.ok(bus.asked.length <= 12, `${bus.asked.length} requests`)
    }
  }
})

test('any one register may be missing, and is named', async () => {
  const whole = (await (await sunspec.openInverter(busWith(...chain), inverter)).read()).values
  for (const { address, length } of layout) {
    for (let at = address + 2; at < address + length; at += 1) {
      const bus = without(busWith(...chain), (one) => one === at)
      const device = await sunspec.openInverter(bus, inverter)
      const { values, complaints, missing = [] } = await device.read()
      assert.deepEqual(complaints, [])
      assert.ok(missing.length <= 1, missing.join())
      assert.deepEqual(values.limit, whole.limit)
      const changed = Object.entries(values.inverter).filter(
        ([name, value]) => `${whole.inverter[name as 'state']}` !== `${value}`,
      )
      assert.ok(missing.length === 1 || changed.length === 0 || address === 40_002)
    }
  }
})

test('the scale factors of a model read in parts are read once more', async () => {
  const last = 40_122 + 40
  const bus = without(busWith(identity(), measurements, status), (at) => at === last)
  const device = await sunspec.openInverter(bus, inverter)
  assert.equal((await device.read()).values.inverter.available_power_kw, 70)
  const refuse = bus.before
  const [, scale_at] = models[122].points.find(([name]) => name === 'WAval_SF')!
  bus.before = (address, count) => {
    refuse(address, count)
    // Its range changes between the parts of model 122.
    if (address > last) bus.units.get(3)!.registers[122 + scale_at] = 0
  }
  const { values, complaints } = await device.read()
  assert.equal(values.inverter.available_power_kw, null)
  assert.match(complaints[0]?.reason ?? '', /scale factors changed/)
})

for (const [name, create, models_at] of [
  ['123', inverter123, 40_122],
  ['704', inverter704, 40_122],
] as const) {
  test(`${name}: without any one register the limit is valid or unknown`, async () => {
    const { length } = create().bus.units.get(3)!.registers
    for (let at = models_at; at < 40_000 + length - 2; at += 1) {
      const limited = create()
      const bus = without(limited.bus, (one) => one === at)
      const opened = await sunspec.openInverter(bus, inverter).catch(() => null)
      // Without a header the chain ends there.
      if (!opened) continue
      const { values } = await opened.read()
      assert.equal(values.inverter.ac_power_kw, 61.2)
      const { control } = opened
      assert.equal(control === null, values.limit === null)
      if (!control) continue
      const is_written = await control.writeLimit(control.settable(50_000)).then(
        () => true,
        () => false,
      )
      if (!is_written) continue
      const state = await control.readLimit()
      assert.ok(limited.allowed().now_w <= (state.limit_w ?? state.static_max_w), `register ${at}`)
    }
  })
}

test('a meter without its last registers is read', async () => {
  const image = encode(models[203], {
    values: { W: 5000, W_SF: 0, TotWhExp: 3_000_000, TotWhImp: 1_000_000, TotWh_SF: 0 },
  })
  const bus = without(busWith(identity(), image), (at) => at >= 40_070 + 40)
  const { values, missing } = await (await sunspec.openMeter(bus, meter)).read()
  assert.equal(values.active_power_kw, 5)
  assert.equal(values.energy_export_kwh, null, 'its scale factor is missing')
  assert.equal(missing?.length, 1)
})

test('a device with a short common block is identified by the rest', async () => {
  const bus = without(busWith(identity(), measurements), (at) => at >= 40_052 && at < 40_070)
  const device = await sunspec.openInverter(bus, inverter)
  assert.deepEqual(device.identity, {
    manufacturer: 'Acme',
    model: 'X100',
    serial_number: null,
    firmware_version: '1.2',
  })
  assert.equal((await device.read()).values.inverter.ac_power_kw, 61.2)
})
