import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { DispatchHours } from './dispatch-hours.ts'
import { hourOf, start_at } from './fixtures/mixed-site.ts'

const agreed = (at: number) => ({ now: at, earliest: at, latest: at })

test('hours in any order, and however often, ask for the same', () => {
  const anyHour = fc.record({
    schedule_id: fc.integer({ min: 1, max: 4 }),
    hour: fc.integer({ min: 0, max: 2 }),
    is_ended: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(anyHour), fc.array(fc.nat()), (drawn, order) => {
      const hours = drawn.map(({ schedule_id, hour, is_ended }) => {
        const from = start_at + hour * 3_600_000
        const when = { start_at: from, end_at: from + 3_600_000 }
        return hourOf(10 * schedule_id + hour, {
          schedule_id,
          ...when,
          ended_at: is_ended ? from : null,
        })
      })
      const known = new DispatchHours([])
      known.hear(hours, start_at)
      const again = new DispatchHours(hours.slice(0, 1))
      for (const nth of order)
        if (hours.length > 0) again.hear([hours[nth % hours.length]!], start_at)
      again.hear(hours.toReversed(), start_at)
      for (const hour of [0, 1, 2, 3]) {
        const now = start_at + hour * 3_600_000 + 1
        assert.deepEqual(again.askedOf(1, agreed(now)), known.askedOf(1, agreed(now)))
        const ended = new Set(hours.filter((h) => h.ended_at !== null).map((h) => h.power_kw))
        const open = hours.filter(
          (h) => h.start_at < now && now < h.end_at && !ended.has(h.power_kw),
        )
        const newest = Math.max(...open.map(({ schedule_id }) => schedule_id))
        assert.equal(known.askedOf(1, agreed(now))?.schedule_id ?? Number.NEGATIVE_INFINITY, newest)
      }
    }),
  )
})

test('an hour of 1.005 kW asks for each of its watts, either way', () => {
  for (const power_w of [1005, -1005]) {
    const hours = new DispatchHours([hourOf(power_w / 1000)])
    assert.equal(hours.askedOf(1, agreed(start_at))?.power_w, power_w)
  }
})

test('a quarter asks for its own power, from its own begin', () => {
  const hours = new DispatchHours([hourOf(0, { quarter_power_kw: [1, 2, 3, 4] })])
  const asked = [0, 899_999, 900_000, 3_599_999].map((ms) =>
    hours.askedOf(1, agreed(start_at + ms)),
  )
  assert.deepEqual(
    asked.map((one) => [one?.power_w, (one!.interval_start_at - start_at) / 900_000]),
    [
      [1000, 0],
      [1000, 0],
      [2000, 1],
      [4000, 3],
    ],
  )
  assert.equal(hours.askedOf(1, agreed(start_at + 3_600_000)), null)
})

test('where clocks disagree, no more is asked for than by each of them', () => {
  const hours = new DispatchHours([hourOf(0, { quarter_power_kw: [1, 2, -4, -3] })])
  const quarter = (nth: number) => start_at + nth * 900_000
  const asked = [
    [0, 0, 1],
    [1, 0, 1],
    [1, 1, 2],
    [2, 2, 3],
    [3, 2, 3],
    [0, -1, 0],
    [3, 3, 4],
  ].map((nths) => {
    const [now, earliest, latest] = nths.map(quarter) as [number, number, number]
    return hours.askedOf(1, { now, earliest, latest })?.power_w
  })
  assert.deepEqual(asked, [1000, 1000, 0, -3000, -3000, 0, 0])
  const [now, earliest] = [quarter(4), quarter(3)]
  assert.equal(hours.askedOf(1, { now, earliest, latest: now }), null)
})

test('what is over is forgotten after a day, and not heard of again', () => {
  const hours = new DispatchHours([hourOf(1)])
  const later = start_at + 2 * 86_400_000
  hours.forget(later)
  assert.deepEqual(hours.all, [])
  assert.equal(hours.hear([hourOf(1)], later), false)
})

test('each battery is asked for its own hours, and of all of them none is lost', () => {
  const heard = [1, 2, 3].map((bess_id) => hourOf(10 * bess_id, { bess_id }))
  const hours = new DispatchHours(heard.slice(0, 1))
  assert.equal(hours.hear(heard, start_at), true)
  const asked = [1, 2, 3, 4].map(
    (bess_id) => hours.askedOf(bess_id, agreed(start_at))?.power_w ?? null,
  )
  assert.deepEqual(asked, [10_000, 20_000, 30_000, null])
  assert.deepEqual(hours.all, heard)
  hours.forget(start_at + 2 * 86_400_000)
  assert.equal(hours.is_empty, true)
})
