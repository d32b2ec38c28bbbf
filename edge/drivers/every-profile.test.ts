/** Every profile of edge/profiles, served by the simulator from the file alone. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fractionOf, type NumberRegister, type Profile, units } from '@heliograph/domain/profile'
import fc from 'fast-check'
import { parse } from 'yaml'
import {
  type Recording,
  recordingOf,
  recordingText,
  replayBus,
} from '../commissioning/recording.ts'
import { busOf, openProfiled, profiledNow } from './fixtures/profiled-device.ts'
import { profileNames, profileOf } from './fixtures/profiles.ts'

const rated_w = 33_300

function readingsOf({ inverter, meter, pcs, weather }: Profile): [string, NumberRegister][] {
  const readings = (inverter ?? meter ?? pcs)?.readings ?? weather?.points ?? {}
  return Object.entries(readings).flatMap(([name, register]) =>
    register ? [[name, register] as [string, NumberRegister]] : [],
  )
}

/** Half a step of the register, in the unit of the column. */
function roundingOf(register: NumberRegister, value: number): number {
  const { times, per } = fractionOf(register)
  const { multiply, divide } = units[register.unit!]
  const step = Math.abs((times * multiply) / (per * divide))
  return register.type.startsWith('f') ? Math.abs(value) * 1e-6 : step / 2 + 1e-9
}

const recordings = join(import.meta.dirname, '../profiles/recordings')

/** Its words give its values, and it has every quantity of the profile. */
async function prove(profile: Profile, recording: Recording): Promise<void> {
  const { values } = await (await openProfiled(profile, replayBus(recording))).read()
  const near = (value: unknown, expected: unknown) =>
    typeof value === 'number' && typeof expected === 'number'
      ? Math.abs(value - expected) <= 1e-7 * Math.max(1, Math.abs(expected))
      : value === expected
  for (const [name, expected] of Object.entries(recording.values)) {
    const value = values[name]
    const is_right = Array.isArray(expected)
      ? expected.every((one, nth) => near((value as unknown[])[nth], one))
      : near(value, expected)
    assert.ok(is_right, `${name}: ${value} in place of ${expected}`)
  }
  // Nothing is read that the recording has not.
  const covered = readingsOf(profile).filter(([name]) => !(name in recording.values))
  assert.deepEqual(covered, [])
}

for (const file of readdirSync(recordings)) {
  test(`${file}: the recorded words are the values of the documents`, async () => {
    const recording: Recording = parse(readFileSync(join(recordings, file), 'utf8'))
    await prove(profileOf(file.replace('.yaml', '')), recording)
  })
}

test('a Lufft station is never asked for register 49, which is cleared by reading', async () => {
  const bus = busOf(profileOf('lufft_ws'))
  const { readInputRegisters } = bus
  bus.readInputRegisters = (unit_id, address, count) => {
    assert.ok(address > 49 || address + count <= 49)
    return readInputRegisters(unit_id, address, count)
  }
  await (await openProfiled(profileOf('lufft_ws'), bus)).read()
})

for (const name of ['example/acme_x', ...profileNames]) {
  const profile = profileOf(name)
  const readings = readingsOf(profile)
  const limit = profile.inverter?.limit ?? profile.controller?.limit

  test(`${name}: every reading is what the device measures`, async () => {
    const now = profiledNow(profile)
    const { values, complaints, missing } = await (
      await openProfiled(profile, busOf(profile))
    ).read()
    assert.deepEqual([complaints, missing], [[], []])
    for (const [column, register] of readings) {
      const [value, expected] = [values[column], now.columns[column]!]
      const is_near =
        typeof value === 'number' && Math.abs(value - expected) <= roundingOf(register, expected)
      assert.ok(is_near, `${column}: ${value} in place of ${expected}`)
    }
    if (now.state !== null) assert.equal(values['state'], now.state)
  })

  test(`${name}: a recording of the device proves its values, and has no serial number`, async () => {
    const { recording } = await recordingOf(busOf(profile), 3, profile)
    const text = recordingText(recording)
    await prove(profile, parse(text))
    const now = profiledNow(profile)
    for (const [column, register] of readings) {
      const difference = Math.abs(Number(recording.values[column]) - now.columns[column]!)
      assert.ok(difference <= roundingOf(register, now.columns[column]!), column)
    }
    const { serial_number } = profile.identity
    if (!serial_number) return
    const words = recording[serial_number.table ?? 'holding']![serial_number.address]!
    assert.ok(words.every((word) => word === 0))
  })

  test(`${name}: garbage gives no impossible value`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(0xffff)), async (words) => {
        const bus = busOf(profile)
        const found = await openProfiled(profile, bus)
        const garbage = async (_unit_id: number, _address: number, count: number) =>
          Uint16Array.from({ length: count }, () => words.next().value!)
        bus.readHoldingRegisters = garbage
        bus.readInputRegisters = garbage
        const { values } = await found.read()
        for (const [column] of readings) {
          const value = values[column]
          assert.ok(value === null || Number.isFinite(value), `${column}: ${value}`)
        }
      }),
      { numRuns: 20 },
    )
  })

  test(`${name}: without one register the others are read`, async () => {
    const whole = (await (await openProfiled(profile, busOf(profile))).read()).values
    for (const [column, { address, table = 'holding' }] of readings) {
      const bus = busOf(profile)
      const found = await openProfiled(profile, bus)
      bus.refused.add(address)
      const { values } = await (await openProfiled(profile, bus)).read()
      assert.equal(values[column], null, column)
      const others = readings.filter(
        ([other, one]) =>
          other !== column && (one.address !== address || (one.table ?? 'holding') !== table),
      )
      for (const [other, one] of others) {
        if (one.address === address || one.scale_register?.address === address) continue
        assert.equal(values[other], whole[other], `${other} without ${column}`)
      }
      await found.read()
    }
  })

  test(`${name}: a silent device is read again as soon as it answers`, async () => {
    const bus = busOf(profile)
    const found = await openProfiled(profile, bus)
    const before = await found.read()
    bus.is_silent = true
    await assert.rejects(found.read(), /no answer/)
    bus.is_silent = false
    assert.deepEqual((await found.read()).values, before.values)
    for (const read of ['readHoldingRegisters', 'readInputRegisters'] as const) {
      const answer = bus[read]
      bus[read] = async (...request) => {
        await new Promise(setImmediate)
        return await answer(...request)
      }
    }
    assert.deepEqual((await found.read()).values, before.values, 'slow')
  })

  if (!limit) continue

  test(`${name}: a limit is rounded down, read back, kept, and lost at a restart`, async () => {
    const { raw_min = 0 } = limit
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: rated_w * 1.3 }), async (wanted_w) => {
        const bus = busOf(profile)
        const { control } = await openProfiled(profile, bus)
        assert.ok(control)
        const limit_w = control.settable(wanted_w)
        assert.ok(Number.isInteger(limit_w) && limit_w >= 0 && limit_w <= wanted_w)
        assert.equal(control.settable(limit_w), limit_w)
        await control.writeLimit(limit_w)
        const read = await control.readLimit()
        assert.deepEqual([read.limit_w, read.revert], [limit_w, null])
        assert.ok(bus.limit_w()! <= limit_w)
        bus.now_ms += 30 * 86_400_000
        assert.ok(bus.limit_w()! <= limit_w, 'the limit ended by itself')
        assert.deepEqual(await control.arm(rated_w), [])

        bus.state = busOf(profile).state
        const after = (await control.readLimit()).limit_w
        assert.ok(after === null || after >= rated_w || raw_min > 0)
      }),
      { numRuns: 30 },
    )
  })

  test(`${name}: without a register of its limit it is read, and not controlled`, async () => {
    const { in_force } = limit
    const { address } = in_force.sources[0]!.register
    const bus = busOf(profile)
    bus.refused.add(address)
    const found = await openProfiled(profile, bus)
    await found.read()
    assert.equal(found.control, null)
  })
}
