import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import type { DeviceKind } from '@heliograph/domain/link'
import { pino } from 'pino'
import { Conditions } from './conditions.ts'
import { virtualClock } from './fixtures/virtual-clock.ts'
import { PlantClock } from './plant-clock.ts'
import { type Poll, PolledDevice } from './polled-device.ts'

const identity = { manufacturer: null, model: null, serial_number: null, firmware_version: null }

type Needs = ConstructorParameters<typeof PolledDevice<null>>[0]

/** An inverter that is polled every 5 s, unless the test says otherwise. */
const deviceOf = async (
  clock: ReturnType<typeof virtualClock>,
  own: Pick<Needs, 'open'> & Partial<Needs>,
) =>
  new PolledDevice<null>({
    kind: 'inverter',
    id: '1',
    interval_ms: 5000,
    onRead: () => [],
    onEvent: () => {},
    onCommState: () => {},
    onPoll: () => {},
    conditions: await Conditions.open('/nonexistent/conditions.json'),
    stamps: new PlantClock({ clock, stopwatch: clock }),
    stopwatch: clock,
    log: pino({ level: 'silent' }),
    ...own,
  })

/** How far apart one is looked for that has long been offline, ms. */
async function searchesOf(kind: DeviceKind, interval_ms: number): Promise<number[]> {
  const clock = virtualClock('2026-06-01T10:00:00Z')
  const asked_ms: number[] = []
  const device = await deviceOf(clock, {
    kind,
    interval_ms,
    async open() {
      asked_ms.push(clock.elapsedMs())
      throw new Error('no answer')
    },
  })
  for (let elapsed_ms = 0; elapsed_ms < hour_ms; elapsed_ms += interval_ms) {
    device.poll(elapsed_ms)
    await clock.advance(interval_ms)
  }
  const late = asked_ms.filter((at_ms) => at_ms > hour_ms / 2)
  return [...new Set(late.slice(1).map((at_ms, nth) => at_ms - late[nth]!))]
}

test('what a device refuses is logged once for each contact', async () => {
  const clock = virtualClock('2026-06-01T10:00:00Z')
  const lines: { missing: string[] }[] = []
  let missing: readonly string[] = ['A (1)', 'B (2)']
  let is_silent = false
  const device = await deviceOf(clock, {
    open: async () => ({
      identity,
      async read() {
        if (is_silent) throw new Error('no answer')
        return { values: null, complaints: [], missing }
      },
    }),
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  })
  const poll = async (count: number) => {
    for (let nth = 0; nth < count; nth += 1) {
      device.poll(clock.elapsedMs())
      await clock.advance(5000)
    }
    return lines.splice(0).map((line) => line.missing)
  }
  assert.deepEqual(await poll(10), [['A (1)', 'B (2)']])
  missing = ['B (2)']
  assert.deepEqual(await poll(10), [['B (2)']], 'another list')
  is_silent = true
  assert.deepEqual(await poll(10), [])
  is_silent = false
  assert.deepEqual(await poll(10), [['B (2)']], 'another contact')
  missing = []
  assert.deepEqual(await poll(10), [])
})

test('a reading says how long its poll took, whatever the wall clock does', async () => {
  const clock = virtualClock('2026-06-01T10:00:00Z')
  const polls: Poll[] = []
  const device = await deviceOf(clock, {
    open: async () => ({
      identity,
      async read() {
        await new Promise<void>((resolve) => clock.after(2000, resolve))
        return { values: null, complaints: [] }
      },
    }),
    onRead(_, __, poll) {
      polls.push(poll)
      return []
    },
  })
  device.poll(1000)
  await clock.advance(1000)
  clock.step(-3_600_000)
  await clock.advance(1000)
  assert.deepEqual(polls, [{ round_at: 1000, took_ms: 2000 }])
})

test('what control may command is looked for every ten seconds, and others every thirty', async () => {
  for (const interval_ms of [500, 1000, 5000, 10_000]) {
    assert.deepEqual(await searchesOf('inverter', interval_ms), [10_000])
    assert.deepEqual(await searchesOf('logger', interval_ms), [10_000])
    assert.deepEqual(await searchesOf('station', interval_ms), [30_000])
  }
})

test('a device that is polled more seldom than that is looked for at each poll', async () => {
  assert.deepEqual(await searchesOf('inverter', 7000), [7000])
  assert.deepEqual(await searchesOf('inverter', 60_000), [60_000])
  assert.deepEqual(await searchesOf('meter', 60_000), [60_000])
})
