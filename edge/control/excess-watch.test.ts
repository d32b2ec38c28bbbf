import assert from 'node:assert/strict'
import test from 'node:test'
import { controlledSite } from '../fixtures/controlled-site.ts'
import { type Allowed, ExcessWatch } from './excess-watch.ts'

const plant_meter = { meter_id: 1, name: 'M', role: 'plant', logger_id: 1 } as const
const grid_meter = { meter_id: 2, name: 'G', role: 'grid_connection' } as const
const place = { connection: 'main', unit_id: 9, driver: 'sunspec' } as const

/** A watch of a permit of 200 kW that is past its first half minute, asked every 5 s. */
function settled() {
  const watch = new ExcessWatch()
  let at_ms = 0
  const polls = (count: number, measured_w: number, allowed: Partial<Allowed> = {}) => {
    const { most_w = 200_000 } = allowed
    const { worst_w = most_w ?? 0 } = allowed
    for (let nth = 0; nth < count; nth += 1) {
      at_ms += 5000
      const power = { measured_w, unmeasured_w: 0, from_ms: at_ms, to_ms: at_ms }
      watch.look({ most_w, worst_w }, power, at_ms)
    }
    return [watch.excess !== null, watch.cut_w]
  }
  polls(7, 190_000)
  return { watch, polls }
}

test('three measurements above the permit and one percent are told, and three within it', () => {
  const { polls } = settled()
  assert.deepEqual(polls(20, 202_000), [false, 0])
  assert.deepEqual(polls(2, 205_000), [false, 0])
  assert.deepEqual(polls(1, 200_500), [false, 0])
  assert.deepEqual(polls(2, 205_500), [false, 0])
  assert.deepEqual(polls(1, 205_500), [true, 0])
  assert.deepEqual(polls(2, 201_000), [true, 0])
  assert.deepEqual(polls(1, 201_000), [false, 0])
})

test('one measurement counts once', () => {
  const { watch, polls } = settled()
  polls(1, 260_000)
  const power = { measured_w: 260_000, unmeasured_w: 0, from_ms: 40_000, to_ms: 40_000 }
  for (let nth = 0; nth < 5; nth += 1) {
    watch.look({ most_w: 200_000, worst_w: 0 }, power, 41_000 + nth)
  }
  assert.equal(watch.excess, null)
})

test('what nothing explains for a minute comes off, again and again, down to nothing', () => {
  const { polls } = settled()
  assert.deepEqual(polls(12, 260_000), [true, 0])
  assert.deepEqual(polls(1, 260_000), [true, 60_000])
  assert.deepEqual(polls(12, 260_000), [true, 60_000])
  assert.deepEqual(polls(1, 260_000), [true, 120_000])
  assert.deepEqual(polls(60, 260_000), [true, 200_000])
})

test('what a device explains that does not obey is told, and the others make room by it', () => {
  const { polls } = settled()
  assert.deepEqual(polls(60, 260_000, { worst_w: 270_000 }), [true, 0])
})

test('it comes back slowly, only into room that was measured, and never further', () => {
  const { polls } = settled()
  polls(13, 220_000)
  assert.deepEqual(polls(3, 200_000), [false, 20_000])
  assert.deepEqual(polls(100, 198_500), [false, 20_000])
  // 4 kW a minute.
  assert.deepEqual(polls(12, 100_000)[1], 16_000)
  assert.deepEqual(polls(12, 197_000)[1], 15_000)
  assert.deepEqual(polls(200, 100_000), [false, 0])
})

test('a permit that was just lowered, and one that is not known, is not exceeded', () => {
  const { watch, polls } = settled()
  const most_w = 150_000
  assert.deepEqual(polls(5, 190_000, { most_w }), [false, 0])
  assert.deepEqual(polls(4, 190_000, { most_w }), [true, 0])
  watch.look({ most_w: null, worst_w: 0 }, null, 1e6)
  assert.equal(watch.excess, null)
})

test('what a meter measures above a permit is told with the excess, and taken off', async () => {
  for (const [meter, source_kind] of [
    [plant_meter, 'logger'],
    [grid_meter, 'edge'],
  ] as const) {
    const site = await controlledSite({ site: { meters: [{ ...meter, ...place }] } })
    site.permit =
      meter === plant_meter
        ? { plant_w: new Map([[1, 200_000]]), site_w: null }
        : { plant_w: new Map([[1, 300_000]]), site_w: 200_000 }
    const polls = async (count: number, power_w: number) => {
      for (let nth = 0; nth < count; nth += 1) {
        await site.clock.advance(5000)
        site.controller.onMeter(meter.meter_id, power_w)
      }
    }
    await polls(12, 199_000)
    assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
    assert.equal(site.events.length, 0)
    await polls(15, 230_000)
    assert.deepEqual(site.limits(), [56_600, 56_600, 56_600])
    await polls(3, 170_000)
    await site.clock.advance(1000)
    assert.deepEqual(
      site.events.map((event) => [event.code, event.edge, event.source_kind]),
      [
        ['permit_exceeded', 'rising', source_kind],
        ['permit_exceeded', 'falling', source_kind],
      ],
    )
    assert.deepEqual(site.events[0]!.details, { measured_kw: 230, excess_kw: 30 })
    await polls(36, 150_000)
    await site.clock.advance(10_000)
    assert.ok(site.limits().every((limit_w) => limit_w! > 56_600 && limit_w! < 62_000))
  }
})

test('devices that each deliver a little above their limits are held lower together', async () => {
  const site = await controlledSite()
  const onRead = site.controller.onRead.bind(site.controller)
  site.controller.onRead = (id, read) =>
    onRead(id, { ...read, power_w: (read.limit?.limit_w ?? 100_000) + 1900 })
  await site.clock.advance(120_000)
  const sum_w = site.limits().reduce((sum: number, limit_w) => sum + (limit_w ?? 0) + 1900, 0)
  assert.ok(sum_w <= 200_500, `${sum_w}`)
  assert.deepEqual(
    site.events.map(({ code, edge }) => [code, edge]),
    [
      ['permit_exceeded', 'rising'],
      ['permit_exceeded', 'falling'],
    ],
  )
})
