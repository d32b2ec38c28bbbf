import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Hole } from './holes.ts'
import { type LivingGap, type Region, reconcile } from './reconcile.ts'

const whole: Region = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY }
const hole = (start_ms: number, end_ms: number | null): Hole => ({
  start_ms,
  end_ms,
  step_s: 1,
  expected_count: end_ms === null ? 1 : end_ms - start_ms,
})
const part = (_gap: LivingGap, { start_ms, end_ms }: { start_ms: number; end_ms: number }) =>
  hole(start_ms, end_ms)

/** A table of gaps in memory, to which changes are applied. */
function table() {
  let next_id = 1
  let living: LivingGap[] = []
  const backfilled: LivingGap[] = []
  return {
    living: () => [...living].sort((a, b) => a.start_ms - b.start_ms),
    backfilled,
    see(holes: Hole[], region = whole) {
      const { opened, moved, vanished, absorbed } = reconcile(living, holes, region, part)
      const gone = new Set([...vanished, ...absorbed].map(({ gap_id }) => gap_id))
      const by_id = new Map(moved.map((gap) => [gap.gap_id, gap]))
      living = living
        .filter(({ gap_id }) => !gone.has(gap_id))
        .map((gap) => by_id.get(gap.gap_id) ?? gap)
      backfilled.push(...vanished)
      for (const { root_gap_id, ...found } of opened) {
        const gap_id = next_id++
        living.push({
          ...found,
          gap_id,
          root_gap_id: root_gap_id ?? gap_id,
          widest_start_ms: found.start_ms,
          widest_end_ms: found.end_ms,
          widest_expected_count: found.expected_count,
        })
      }
      return this
    },
  }
}

const shown = (gaps: readonly LivingGap[]) =>
  gaps.map(({ gap_id, start_ms, end_ms }) => [gap_id, start_ms, end_ms])

test('a gap opens, ends and stays the same', () => {
  const gaps = table()
    .see([hole(10, null)])
    .see([hole(10, 50)])
    .see([hole(10, 50)])
  assert.deepEqual(shown(gaps.living()), [[1, 10, 50]])
})

test('a gap that is filled from one end, or from both, keeps its id', () => {
  const gaps = table()
    .see([hole(10, 50)])
    .see([hole(20, 50)])
    .see([hole(20, 30)])
  assert.deepEqual(shown(gaps.living()), [[1, 20, 30]])
  assert.deepEqual(gaps.living()[0]!.widest_end_ms, 50)
})

test('a gap that falls apart is one again once all of it is filled', () => {
  const gaps = table()
    .see([hole(10, 50)])
    .see([hole(10, 20), hole(22, 40), hole(42, 50)])
  assert.deepEqual(shown(gaps.living()), [
    [2, 10, 20],
    [1, 22, 40],
    [3, 42, 50],
  ])
  // The longest part is filled: the gap goes on with the longest that is left.
  gaps.see([hole(10, 20), hole(45, 50)])
  assert.deepEqual(shown(gaps.living()), [
    [1, 10, 20],
    [3, 45, 50],
  ])
  gaps.see([hole(45, 50)])
  assert.deepEqual(shown(gaps.living()), [[1, 45, 50]])
  gaps.see([])
  assert.deepEqual(gaps.living(), [])
  assert.deepEqual(
    gaps.backfilled.map((gap) => [gap.gap_id, gap.widest_start_ms, gap.widest_end_ms]),
    [[1, 10, 50]],
  )
  assert.equal(gaps.backfilled[0]!.widest_expected_count, 40)
})

test('what lies beyond the region stays as it was', () => {
  const gaps = table().see([hole(10, 50), hole(60, 70)])
  gaps.see([hole(30, 32)], { from_ms: 20, to_ms: 40 })
  assert.deepEqual(
    shown(gaps.living()).map(([, ...extent]) => extent),
    [
      [10, 20],
      [30, 32],
      [40, 50],
      [60, 70],
    ],
  )
})

test('an open gap in whose region readings follow has ended, or goes on behind them', () => {
  const ended = table()
    .see([hole(10, null)])
    .see([hole(10, 50)], { from_ms: 0, to_ms: 60 })
  assert.deepEqual(shown(ended.living()), [[1, 10, 50]])
  const goes_on = table()
    .see([hole(10, null)])
    .see([], { from_ms: 0, to_ms: 60 })
  assert.deepEqual(shown(goes_on.living()), [[1, 60, null]])
})

/** The holes longer than 3 between readings that came so far. */
const holesOf = (read: readonly number[]) =>
  read.slice(1).flatMap((time, nth) => (time - read[nth]! > 3 ? [hole(read[nth]!, time)] : []))

test('whatever the order of arrival, and wherever one looks first, the holes are the same', () => {
  const arrival = fc
    .uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 60 })
    .map((times) => times.map((time) => ({ time, reach: time % 7 })))
  fc.assert(
    fc.property(arrival, fc.integer({ min: 1, max: 10 }), (arrivals, batch) => {
      const gaps = table().see([hole(0, 100)])
      let read = [0, 100]
      for (let from = 0; from < arrivals.length; from += batch) {
        const some = arrivals.slice(from, from + batch)
        read = [...read, ...some.map(({ time }) => time)].sort((a, b) => a - b)
        // Each is looked at by itself, from some readings before it to some after.
        for (const { time, reach } of some) {
          const at = read.indexOf(time)
          const from_ms = read[Math.max(0, at - 1 - reach)]!
          const to_ms = read[Math.min(read.length - 1, at + 1 + reach)]!
          const within = holesOf(read.filter((each) => each >= from_ms && each <= to_ms))
          gaps.see(within, { from_ms, to_ms })
        }
        const extents = gaps.living().map(({ start_ms, end_ms }) => hole(start_ms, end_ms))
        assert.deepEqual(extents, holesOf(read))
        const ids = [...gaps.living(), ...gaps.backfilled].map(({ gap_id }) => gap_id)
        assert.equal(new Set(ids).size, ids.length)
      }
      // One hole, one record: it is among those left, or is the one that was filled.
      assert.ok(
        [...gaps.living(), ...gaps.backfilled].some(({ gap_id }) => gap_id === 1),
        'the first gap is gone',
      )
      const strangers = gaps.backfilled.filter(({ gap_id }) => gap_id !== 1)
      assert.deepEqual(strangers, [])
    }),
  )
})
