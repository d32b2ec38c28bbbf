import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBus } from './bus.ts'
import { BusError } from './bus-error.ts'
import { createVirtualTimers } from './fixtures/virtual-timers.ts'
import type { Line } from './line.ts'
import { withUrgentReads } from './urgent-reads.ts'

/** A bus of units that answer at once, and the order in which they were asked. */
function createScene() {
  const timers = createVirtualTimers()
  const order: string[] = []
  const scene = { timers, order, lines: 0 }
  const answering = (what: string) => async (unit_id: number) => {
    order.push(`${unit_id} ${what}`)
    return Uint16Array.of(0, 0)
  }
  const line: Line = {
    numbered: true,
    read: answering('reads'),
    readInput: answering('reads inputs'),
    async write(unit_id, _address, values) {
      order.push(`${unit_id} writes ${values}`)
    },
  }
  const bus = createBus({
    timers,
    now_ms: () => timers.now_ms,
    random: () => 0.5,
    timeout_ms: 1000,
    async open() {
      scene.lines += 1
      return line
    },
  })
  const read = (unit_id: number) => bus.readHoldingRegisters(unit_id, 40_000, 2)
  const write = (unit_id: number, ...values: number[]) =>
    bus.writeRegisters(unit_id, 40_000, values)
  return { scene, bus, read, write }
}

const kindOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error) => (error instanceof BusError ? error.kind : String(error)),
  )

test('a write is confirmed when its turn comes; an overtaken one causes no pause', async () => {
  const { scene, bus, read, write } = createScene()
  const first = kindOf(read(1))
  let may = true
  const overtaken = kindOf(bus.writeRegisters(1, 40_000, [7], { mayStill: () => may }))
  const behind = kindOf(write(1, 8))
  may = false
  await scene.timers.pass(1000)
  assert.deepEqual(await Promise.all([first, overtaken, behind]), [
    'answered',
    'overtaken',
    'answered',
  ])
  assert.deepEqual(scene.order, ['1 reads', '1 writes 8'])
  assert.equal(await kindOf(read(1)), 'answered')
  assert.equal(scene.lines, 1)
})

test('a read of control goes before polls, in turn with writes', async () => {
  const { scene, bus, read, write } = createScene()
  const asked = [read(1), read(1), read(2), read(2)]
  const urgent = withUrgentReads(bus)
  asked.push(urgent.readHoldingRegisters(2, 40_000, 2), urgent.readInputRegisters(2, 0, 1))
  const written = write(2, 5)
  await scene.timers.pass(1000)
  await Promise.all([...asked, written])
  const expected = ['1 reads', '2 reads', '2 reads inputs', '2 writes 5']
  assert.deepEqual(scene.order.slice(0, 4), expected)
})
