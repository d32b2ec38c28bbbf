import assert from 'node:assert/strict'
import test from 'node:test'
import { allProfiles } from '../drivers/drivers.ts'
import { busOf } from '../drivers/fixtures/profiled-device.ts'
import { recognise } from './recognise.ts'

const profiles = allProfiles()
/** They show their type only where its register is read alone: the simulator does not. */
const not_simulated = ['carlo_gavazzi_em', 'carlo_gavazzi_em24']
const recognised = [...profiles].filter(([, { identity }]) => identity.recognised_by)

test('most profiles say how their devices are recognised', () => {
  assert.ok(recognised.length >= 20, `${recognised.length}`)
})

for (const [name, profile] of profiles) {
  if (not_simulated.includes(name)) continue
  test(`${name}: is taken for no other device`, async () => {
    const { chain, profiles: found } = await recognise(busOf(profile), 1, profiles)
    assert.equal(chain, null)
    assert.deepEqual(found, profile.identity.recognised_by ? [name] : [])
  })
}

test('Carlo Gavazzi meters differ by the type that they show alone', async () => {
  const types: [type: number, name: string | null][] = [
    [71, 'carlo_gavazzi_em24'],
    [341, 'carlo_gavazzi_em'],
    [1651, 'carlo_gavazzi_em'],
    [1744, 'carlo_gavazzi_em'],
    [104, null],
  ]
  for (const [type, name] of types) {
    const bus = busOf(profiles.get('carlo_gavazzi_em')!)
    const { readInputRegisters } = bus
    bus.readInputRegisters = async (unit_id, address, count) =>
      address === 11 && count === 1
        ? Uint16Array.of(type)
        : readInputRegisters(unit_id, address, count)
    const { profiles: found } = await recognise(bus, 1, profiles)
    assert.deepEqual(found, name === null ? [] : [name])
  }
})

test('a device that refuses every register, or is silent, is recognised as none', async () => {
  const bus = busOf(profiles.get('janitza_umg')!)
  bus.refused = { has: () => true } as unknown as Set<number>
  assert.deepEqual(await recognise(bus, 1, profiles), { chain: null, profiles: [] })
  bus.is_silent = true
  assert.deepEqual(await recognise(bus, 1, profiles), { chain: null, profiles: [] })
})
