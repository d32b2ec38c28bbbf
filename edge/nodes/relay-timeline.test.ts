import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { RelayTimeline, type Switching } from './relay-timeline.ts'
import type { RelaySeen } from './state-message.ts'

const relay = (on: boolean, changed_at: number | null = null): RelaySeen => ({
  channel: 'fans',
  on,
  cause: 'automation',
  reason: null,
  changed_at,
})

const told = (switchings: readonly Switching[]) =>
  switchings
    .map(({ at, from, relay: { on } }) => [at, from, on])
    .sort(([a], [b]) => Number(a) - Number(b))

/** How a relay stood at distinct instants. */
const sightings = fc.uniqueArray(fc.record({ at: fc.nat(99), on: fc.boolean() }), {
  selector: ({ at }) => at,
  minLength: 1,
  maxLength: 12,
})

test('every switching is reported once, in any order of messages', () => {
  fc.assert(
    fc.property(sightings, (messages) => {
      const timeline = new RelayTimeline(null)
      const switchings = messages.flatMap(({ at, on }) => timeline.see(at, relay(on)))
      const inOrder = messages.toSorted((a, b) => a.at - b.at)
      const changes = inOrder.filter(({ on }, nth) => nth > 0 && inOrder[nth - 1]!.on !== on)
      const all = told(switchings)
      assert.deepEqual(
        all.map(([, from, on]) => [from, on]),
        changes.map(({ on }) => [!on, on]),
      )
      for (const [nth, { at }] of changes.entries()) {
        assert.ok(Number(all[nth]![0]) >= at, 'not before it was seen')
        assert.ok(Number(all[nth]![0]) < (changes[nth + 1]?.at ?? 100), 'nor after the next')
      }
    }),
  )
})

test('switchings have the time reported by the node, also between two messages', () => {
  const instants = fc.uniqueArray(fc.nat(99), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(instants, instants, (switched, sent) => {
      const changes = switched.toSorted((a, b) => a - b)
      const timeline = new RelayTimeline(null)
      const seen = new Set<number>()
      const switchings = [...sent, ...sent].flatMap((at) => {
        const count = changes.filter((change) => change <= at).length
        const changed_at = changes[count - 1] ?? null
        if (changed_at !== null) seen.add(changed_at)
        return timeline.see(at, relay(count % 2 === 1, changed_at))
      })
      assert.deepEqual(
        told(switchings).map(([at, , on]) => [at, on]),
        [...seen].sort((a, b) => a - b).map((at) => [at, changes.indexOf(at) % 2 === 0]),
      )
    }),
  )
})

test('late messages reveal switchings in between', () => {
  const timeline = new RelayTimeline(null)
  assert.deepEqual(timeline.see(100, relay(false)), [])
  const late = timeline.see(80, relay(true, 78))
  assert.deepEqual(told(late), [
    [78, null, true],
    [100, true, false],
  ])
  assert.deepEqual(timeline.see(85, relay(false)), [], 'that is the switching told as of 100')
  assert.deepEqual(told(timeline.see(90, relay(true))), [
    [85, true, false],
    [90, false, true],
  ])
  assert.deepEqual(timeline.newest(), { on: false, at: 100 })
})

test('two switchings of one instant, by a clock of whole seconds, are distinct', () => {
  const timeline = new RelayTimeline(null)
  const switchings = [
    ...timeline.see(5000, relay(false, 5000)),
    ...timeline.see(5001, relay(true, 5000)),
    ...timeline.see(6000, relay(true, 5000)),
  ]
  assert.deepEqual(told(switchings), [
    [5000, null, false],
    [5001, false, true],
  ])
})

test('switchings reported by an earlier run are not reported again', () => {
  const timeline = new RelayTimeline({ on: true, at: 50 })
  assert.deepEqual(timeline.see(40, relay(false)), [])
  assert.deepEqual(timeline.see(60, relay(true, 50)), [])
  assert.deepEqual(told(timeline.see(70, relay(true, 65))), [[65, false, true]])
})

test('memory is bounded', () => {
  const timeline = new RelayTimeline(null)
  for (let at = 0; at < 2000; at += 1) {
    const switched = at % 400 === 0
    const { length } = timeline.see(at, relay(Math.floor(at / 400) % 2 === 0))
    assert.equal(length, switched && at > 0 ? 1 : 0, String(at))
  }
  assert.deepEqual(timeline.see(1000, relay(true)), [], 'long over')
})
