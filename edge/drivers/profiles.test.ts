/** Every profile, true or made up, held to the same rules with a simulated device of its own. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { lowestLimitPct } from '@heliograph/domain/lowest-limit'
import { limitRegisters, type Profile } from '@heliograph/domain/profile'
import type { Inverter } from '@heliograph/domain/site'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { parse } from 'yaml'
import { huaweiSun2000 as huaweiDevice } from '../../simulator/devices/huawei-sun2000.ts'
import type { InverterNow, RegisterDevice } from '../../simulator/devices/register-device.ts'
import { sma as smaDevice } from '../../simulator/devices/sma.ts'
import { sungrowSg as sungrowDevice } from '../../simulator/devices/sungrow-sg.ts'
import { profileDriver } from './drivers.ts'
import { acmeX } from './fixtures/blueprint-device.ts'
import { profileNames, profileOf } from './fixtures/profiles.ts'
import { createRegisterBus } from './fixtures/register-bus.ts'
import { inverter, noon } from './fixtures/register-devices.ts'
import { inverterRegisters } from './register-inverter.ts'
import { planRequests } from './register-reader.ts'

const folder = join(import.meta.dirname, '../profiles')

interface Case {
  name: string
  device: (of: Inverter) => RegisterDevice<unknown, InverterNow>
}

const cases: Case[] = [
  { name: 'example/acme_x', device: acmeX as Case['device'] },
  { name: 'huawei_sun2000', device: huaweiDevice as Case['device'] },
  { name: 'sungrow_sg', device: sungrowDevice as Case['device'] },
  { name: 'sma', device: smaDevice as Case['device'] },
]

const rated_w = inverter.rated_ac_power_kw * 1000
const month_ms = 30 * 86_400_000

const open = (profile: Profile) => profileDriver(profile).openInverter!

async function opened({ name, device }: Case) {
  const bus = createRegisterBus(device(inverter), noon)
  const found = await open(profileOf(name))(bus, inverter)
  const { control } = found
  assert.ok(control, `${name} has no control`)
  return { bus, found, control }
}

test('every profile is valid, and names its sources and what is not known', () => {
  for (const name of profileNames) {
    const { sources, unknown } = profileOf(name)
    assert.ok(sources?.length && unknown?.length, name)
  }
})

test('editors accept every profile by the published schema', () => {
  const schema = JSON.parse(readFileSync(join(folder, 'profile.schema.json'), 'utf8'))
  const validate = new Ajv({ strict: false }).compile(schema)
  for (const name of ['example/acme_x', ...profileNames]) {
    const text = readFileSync(join(folder, `${name}.yaml`), 'utf8')
    validate(parse(text, { merge: true }))
    assert.deepEqual(validate.errors ?? [], [], name)
  }
  validate({ identity: { manufacturer: 'Acme', family: 'X' }, metre: {} })
  assert.equal(validate.errors?.[0]?.keyword, 'additionalProperties')
})

test('the server knows the lowest limit of each profile', () => {
  for (const [name, pct] of Object.entries(lowestLimitPct)) {
    const { setpoint, raw_min } = profileOf(name).inverter!.limit!
    assert.equal(raw_min! * setpoint.register.scale!, pct)
  }
})

for (const one of cases) {
  const { name } = one
  const profile = profileOf(name)
  const part = profile.inverter!
  const limit = part.limit!

  test(`${name}: readings equal the measurements of the device`, async () => {
    const { found } = await opened(one)
    const { values, complaints } = await found.read()
    const { inverter: reading } = values
    assert.deepEqual(complaints, [])
    assert.equal(found.identity.manufacturer, profile.identity.manufacturer)
    assert.match(found.identity.serial_number ?? '', /7$/)
    assert.equal(reading.ac_power_kw, noon.measured.ac_power_kw)
    assert.equal(reading.energy_total_kwh, noon.energy_kwh)
    assert.equal(reading.state, 'throttled')
    assert.equal(reading.frequency_hz, 50.1)
    if (part.readings.cabinet_temperature_c) assert.equal(reading.cabinet_temperature_c, -4.5)
    if (part.mppts ?? part.strings) {
      assert.deepEqual(values.strings?.current_a, [17.4, 17.1])
      assert.deepEqual(values.strings?.voltage_v, [641.2, 639.9])
    }
    assert.equal(values.ratings?.rated_power_kw, 33.3)
  })

  test(`${name}: a limit is rounded down, read back, and never exceeded`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: rated_w * 1.3 }), async (wanted_w) => {
        const { bus, control } = await opened(one)
        const limit_w = control.settable(wanted_w)
        assert.ok(Number.isInteger(limit_w) && limit_w >= 0 && limit_w <= wanted_w)
        assert.equal(control.settable(limit_w), limit_w)
        await control.writeLimit(limit_w)
        const { limit_w: found_w, revert } = await control.readLimit()
        assert.deepEqual([found_w, revert], [limit_w, null])
        assert.ok(bus.limit_w()! <= limit_w)
        bus.now_ms += month_ms
        assert.ok(bus.limit_w()! <= limit_w, 'it ended by itself')
      }),
      { numRuns: 60 },
    )
  })

  test(`${name}: a limit between two steps gives away less than one step`, async () => {
    const { control } = await opened(one)
    const steps = Array.from({ length: 300 }, (_, w) => control.settable(10_000 + w))
    const step_w = limit.setpoint.register.unit === '%' ? 40 : 1
    assert.ok(steps.every((limit_w, w) => 10_000 + w - limit_w < step_w))
  })

  test(`${name}: an overtaken write is not sent`, async () => {
    const { bus, control } = await opened(one)
    const writing = control.writeLimit(control.settable(20_000), () => false)
    await assert.rejects(writing, { kind: 'overtaken' })
    assert.deepEqual(bus.written, [])
  })

  test(`${name}: writes touch only limit registers, and only changes`, async () => {
    const { bus, control } = await opened(one)
    await control.writeLimit(control.settable(20_000))
    const { setpoint, enable = [], timer, fail_safe } = limit
    const allowed = [setpoint, ...enable, ...(timer ? [timer] : [])].map((a) => a.register.address)
    assert.ok(bus.written.every(({ address }) => allowed.includes(address)))
    assert.equal(bus.written.at(-1)?.address, setpoint.register.address)
    bus.written.length = 0
    await control.writeLimit(control.settable(15_000))
    const again = enable.filter((one) => one.write_only).length
    assert.equal(bus.written.length, 1 + again)
    bus.written.length = 0
    await control.arm(rated_w)
    const armed = (fail_safe?.limits ?? []).map(({ register }) => register.address)
    assert.ok(bus.written.every(({ address }) => [...allowed, ...armed].includes(address)))
  })

  test(`${name}: an armed and safe device has no complaint`, async () => {
    const { control } = await opened(one)
    assert.deepEqual(await control.arm(rated_w), [])
  })

  test(`${name}: a poll takes few requests`, () => {
    const requests = planRequests(inverterRegisters(part))
    assert.ok(requests.length <= 8, `${requests.length} requests`)
    assert.ok(requests.every(({ count }) => count <= 125))
  })

  test(`${name}: without any one register the others are read, and control is safe`, async () => {
    const whole = (await (await opened(one)).found.read()).values.inverter
    const limits = limitRegisters(limit)
    const all = inverterRegisters(part)
    for (const register of all) {
      const bus = createRegisterBus(one.device(inverter), noon)
      bus.refused.add(register.address)
      const found = await open(profile)(bus, inverter)
      const { values, complaints, missing } = await found.read()
      // Two tables may have one address.
      const lacking = all.filter((at) => at.address === register.address && !at.optional)
      const names = new Set(lacking.map(({ name, address }) => `${name} (${address})`))
      assert.deepEqual(new Set(missing), names)
      const is_limit = lacking.length > 0 && limits.some((at) => at.address === register.address)
      assert.equal(found.control === null, is_limit, `${register.name}: control`)
      assert.equal(values.limit === null, is_limit, `${register.name}: limit`)
      assert.equal(
        complaints.length,
        is_limit ? 1 : 0,
        complaints.map(({ reason }) => reason).join(),
      )
      const now = Object.entries(values.inverter)
      const changed = now.filter(
        ([name, value]) => `${whole[name as keyof typeof whole]}` !== `${value}`,
      )
      assert.ok(changed.every(([, value]) => [value].flat().includes(null)))
      assert.ok(changed.length <= 2, changed.join())
      bus.requests = 0
      await found.read()
      const requests = bus.requests
      await found.read()
      assert.equal(bus.requests, 2 * requests)
    }
  })

  test(`${name}: another serial number is another device, also after communication loss`, async () => {
    const { found, bus } = await opened(one)
    const { serial_number } = found.identity
    assert.ok(serial_number)
    const named = { ...inverter, serial_number }
    const device = await open(profile)(bus, named)
    const before = device.control
    bus.is_silent = true
    await assert.rejects(device.read(), /no answer/)
    bus.is_silent = false
    await device.read()
    assert.notEqual(device.control, before, 'what it was armed with may be gone')

    const other = createRegisterBus(one.device({ ...inverter, inverter_id: 8 }), noon)
    await assert.rejects(open(profile)(other, named), /expected serial/)
    bus.is_silent = true
    await assert.rejects(device.read(), /no answer/)
    assert.ok(device.control, 'a silent device may be told all the same')
    Object.assign(bus, other)
    await assert.rejects(device.read(), /expected serial/)
    assert.equal(device.control, null)
  })
}
