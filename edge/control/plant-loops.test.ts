import assert from 'node:assert/strict'
import test from 'node:test'
import type { Meter, SiteControl } from '@heliograph/domain/site'
import fc from 'fast-check'
import { type ControlledSite, controlledSite, powerOf, rowOf } from '../fixtures/controlled-site.ts'

const meter: Meter = {
  meter_id: 1,
  name: 'M',
  role: 'plant',
  connection: 'a',
  unit_id: 99,
  driver: 'sunspec',
}
const fair = [20_000, 20_000, 20_000]

interface Set {
  control?: SiteControl
  meter?: Partial<Meter>
  permit_w?: number
}

/** Three inverters under a row of 60 kW, of which the first has sun for 5 kW. */
async function shadedSite({ control = { closed_loop: true }, ...more }: Set = {}) {
  const site = await controlledSite({
    site: { control, meters: [{ ...meter, ...more.meter }] },
    permit_w: more.permit_w ?? 200_000,
    prepare: (inverter) => {
      if (inverter.inverter_id === 1) inverter.available_w = 5000
    },
  })
  await site.controller.hear([rowOf(60)])
  return site
}

const metered_w = ({ inverters }: ControlledSite) =>
  inverters.reduce((sum, inverter) => sum + powerOf(inverter), 0)

/** The meter is read every 5 s; the most that it showed. */
async function pass(site: ControlledSite, for_s: number): Promise<number> {
  let most_w = 0
  for (let at_s = 0; at_s < for_s; at_s += 1) {
    if (at_s % 5 === 0) site.controller.onMeter(1, metered_w(site))
    await site.clock.advance(1000)
    most_w = Math.max(most_w, metered_w(site))
  }
  return most_w
}

const sum_w = (site: ControlledSite) =>
  site.limits().reduce<number>((sum, limit_w) => sum + (limit_w ?? 0), 0)

test('what the shaded inverter leaves is delivered by the others, within the row', async () => {
  const site = await shadedSite()
  await pass(site, 30)
  assert.deepEqual(site.limits(), [7000, 26_500, 26_500])
  assert.equal(metered_w(site), 58_000)
  // The sun is back: the row is used up, so nothing is written. The shadow wanders on.
  site.inverters[0]!.available_w = 90_000
  assert.equal(await pass(site, 30), 60_000)
  assert.deepEqual(site.limits(), [7000, 26_500, 26_500])
  site.inverters[1]!.available_w = 5000
  assert.ok((await pass(site, 30)) <= 60_000)
  assert.deepEqual(site.limits(), [26_500, 7000, 26_500])
  assert.deepEqual([site.faults, site.events], [[], []])
})

test('what was lowered for it is read back before anything is raised', async () => {
  const site = await shadedSite()
  await pass(site, 5)
  let most_w = 0
  for (let ms = 0; ms < 30_000; ms += 10) {
    if (ms % 5000 === 0) site.controller.onMeter(1, metered_w(site))
    await site.clock.advance(10)
    most_w = Math.max(most_w, sum_w(site))
  }
  assert.deepEqual(site.limits(), [7000, 26_500, 26_500])
  assert.ok(most_w <= 60_000, `${most_w} W`)
})

const without: [string, Set][] = [
  ['as the site file is without it', { control: {} }],
  ['of a plant that has no meter', { meter: { role: 'auxiliary' } }],
  ['of a plant whose meter is another’s', { meter: { logger_id: 2 } }],
]
for (const [name, set] of without) {
  test(`the static split holds ${name}`, async () => {
    const site = await shadedSite(set)
    await pass(site, 60)
    assert.deepEqual(site.limits(), fair)
    assert.ok(site.inverters.every(({ writes }) => writes.length === 1))
  })
}

test('a site of one plant may be measured at its connection', async () => {
  const site = await shadedSite({ meter: { role: 'grid_connection' } })
  await pass(site, 30)
  assert.deepEqual(site.limits(), [7000, 26_500, 26_500])
})

test('without its meter, or with one that shows more than the row, it is over', async () => {
  const site = await shadedSite()
  await pass(site, 30)
  await site.clock.advance(18_000)
  assert.deepEqual(site.limits(), fair)
  await pass(site, 330)
  assert.deepEqual(site.limits(), [7000, 26_500, 26_500])
  site.controller.onMeter(1, 62_000)
  await site.clock.advance(1100)
  assert.deepEqual(site.limits(), fair)
})

test('with a silent device it is over, and what that may deliver counts', async () => {
  const site = await shadedSite()
  await pass(site, 30)
  site.inverters[0]!.is_silent = true
  await pass(site, 25)
  assert.deepEqual(site.limits(), [7000, 0, 0])
})

test('another master ends it for a while', async () => {
  const site = await shadedSite()
  await pass(site, 30)
  site.inverters[1]!.limit_w = 10_000
  await pass(site, 10)
  assert.deepEqual(
    site.events.map(({ code }) => code),
    ['control_contention'],
  )
  await pass(site, 60)
  assert.deepEqual(site.limits(), [25_000, 10_000, 25_000])
})

test('a permit is no curtailment: what it leaves unused stays unused', async () => {
  const site = await shadedSite({ permit_w: 45_000 })
  await pass(site, 60)
  assert.deepEqual(site.limits(), [15_000, 15_000, 15_000])
})

test('where the common connection holds the plant, the static split holds', async () => {
  const site = await shadedSite()
  await pass(site, 30)
  site.permit = { plant_w: new Map([[1, 200_000]]), site_w: 48_000 }
  await pass(site, 60)
  assert.deepEqual(site.limits(), [16_000, 16_000, 16_000])
})

interface Event {
  nth: number
  sun_w: number
  is_silent: boolean
  is_metered: boolean
  for_s: number
}

const event: fc.Arbitrary<Event> = fc.record({
  nth: fc.nat(2),
  sun_w: fc.constantFrom(0, 5000, 15_000, 30_000, 90_000),
  is_silent: fc.constantFrom(false, false, false, false, true),
  is_metered: fc.constantFrom(true, true, true, true, false),
  for_s: fc.integer({ min: 1, max: 25 }),
})

test('whatever the sun does and whoever is silent, the limits never exceed the row', async () => {
  let uneven = 0
  const play = async (events: readonly Event[]) => {
    const site = await shadedSite()
    await pass(site, 10)
    let at_s = 0
    for (const { nth, sun_w, is_silent, is_metered, for_s } of events) {
      Object.assign(site.inverters[nth]!, { available_w: sun_w, is_silent })
      for (const end_s = at_s + for_s; at_s < end_s; at_s += 1) {
        if (is_metered && at_s % 5 === 0) site.controller.onMeter(1, metered_w(site))
        for (let ms = 0; ms < 1000; ms += 50) {
          await site.clock.advance(50)
          assert.ok(sum_w(site) <= 60_000, `${site.limits()}`)
        }
      }
      const most_w = Math.max(...site.limits().map((limit_w) => limit_w ?? 0))
      if (most_w > 21_000) uneven += 1
    }
    assert.deepEqual(site.faults, [])
  }
  await fc.assert(fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 30 }), play), {
    numRuns: 10,
  })
  assert.ok(uneven > 10, `${uneven} looks with something given away`)
})
