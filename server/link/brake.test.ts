import assert from 'node:assert/strict'
import test from 'node:test'
import { Registry } from 'prom-client'
import { createBrake } from './brake.ts'
import { linkMetrics } from './metrics.ts'

function socketOf() {
  return {
    isPaused: false,
    pause() {
      this.isPaused = true
    },
    resume() {
      this.isPaused = false
    },
  }
}

function brakeOf(each_bytes_max: number, all_bytes_max: number) {
  const sockets = Array.from({ length: 4 }, socketOf)
  const brake = createBrake({ each_bytes_max, all_bytes_max }, linkMetrics(new Registry()))
  const paused = () => sockets.flatMap(({ isPaused }, nth) => (isPaused ? [nth] : []))
  return { sockets, brake, paused }
}

test('a socket that exceeds its own bound is read again at half of it', () => {
  const { sockets, brake, paused } = brakeOf(100, 1000)
  brake.received(sockets[0]!, 101)
  brake.received(sockets[1]!, 100)
  assert.deepEqual(paused(), [0])
  brake.stored(sockets[0]!, 50)
  assert.deepEqual(paused(), [0])
  brake.stored(sockets[0]!, 1)
  assert.deepEqual(paused(), [])
})

test('the socket that sends most is paused first, and small ones are read on', () => {
  const { sockets, brake, paused } = brakeOf(1000, 100)
  for (const [nth, bytes] of [30, 50, 10, 5].entries()) brake.received(sockets[nth]!, bytes)
  assert.deepEqual(paused(), [])
  brake.received(sockets[3]!, 6)
  assert.deepEqual(paused(), [1])
  brake.received(sockets[2]!, 1)
  assert.deepEqual(paused(), [0, 1])
  brake.stored(sockets[1]!, 50)
  assert.deepEqual(paused(), [0, 1])
  brake.stored(sockets[0]!, 3)
  assert.deepEqual(paused(), [])
})

test('a closed socket holds nothing and leaves room for others', () => {
  const { sockets, brake, paused } = brakeOf(1000, 100)
  brake.received(sockets[0]!, 101)
  assert.deepEqual(paused(), [0])
  brake.forget(sockets[0]!)
  assert.deepEqual(paused(), [])
  brake.received(sockets[1]!, 100)
  assert.deepEqual(paused(), [])
})
