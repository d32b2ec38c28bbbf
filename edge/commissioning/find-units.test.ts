import assert from 'node:assert/strict'
import test from 'node:test'
import { BusError } from '../bus/bus-error.ts'
import { findUnits } from './find-units.ts'
import type { ReadOnlyBus } from './read-only-bus.ts'

const ends_at_ms = 180_000
const all = Array.from({ length: 247 }, (_, nth) => nth + 1)

/** A gateway that is silent for every other unit id, on a clock of its own. */
function gatewayOf(units: ReadonlySet<number>, answer_ms: number) {
  const clock = { now_ms: 0 }
  const bus: ReadOnlyBus = {
    timeout_ms: 0,
    onLate: () => {},
    answered_ms: () => ({ min: answer_ms, max: answer_ms }),
    async readHoldingRegisters(unit_id) {
      const is_there = units.has(unit_id)
      clock.now_ms += 20 + (is_there ? answer_ms : bus.timeout_ms)
      if (!is_there) throw new BusError('timeout', 'silent')
      return Uint16Array.of(0, 0)
    },
    readInputRegisters: () => assert.fail('not asked'),
    writeRegisters: () => assert.fail('nothing is written'),
    async close() {},
  }
  return { bus, clock }
}

test('the search leaves time to describe what it found', async () => {
  for (const [count, answer_ms] of [
    [10, 30],
    [20, 30],
    [40, 30],
    [10, 120],
  ] as const) {
    const units = new Set(Array.from({ length: count }, (_, nth) => 2 + 5 * nth))
    const { bus, clock } = gatewayOf(units, answer_ms)
    const { unit_ids } = await findUnits(bus, {
      unit_ids: all,
      now_ms: () => clock.now_ms,
      ends_at_ms,
      async wait(ms) {
        clock.now_ms += ms
      },
    })
    assert.deepEqual(unit_ids, [...units], `${count} units`)
    const left_ms = ends_at_ms - clock.now_ms
    // A request for each profile, and some for the facts.
    assert.ok(left_ms >= count * 45 * (20 + answer_ms), `${count} units: ${left_ms} ms`)
  }
})
