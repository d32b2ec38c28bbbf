import assert from 'node:assert/strict'
import test from 'node:test'
import type { Event } from './events.ts'
import { after, done, power, read, reads, sent, started, worstAt } from './fixtures/plain-source.ts'
import type { Traits } from './source.ts'

interface Case {
  name: string
  traits?: Partial<Traits>
  events: Event[]
  /** Worst case at a time in seconds. */
  worst: [at_s: number, w: number][]
}

const lowered = [...reads(80, 0, 100), sent(100.5, 40), done(100.5, 40), read(101, 40)]
/** Of a source that needs 30 s to come down. */
const cases: Case[] = [
  {
    name: 'the earlier limit counts until a read after the ramp',
    events: [...lowered, ...reads(40, 105, 130)],
    worst: [
      [130, 80],
      [140, 80],
    ],
  },
  {
    name: 'over',
    events: [...lowered, ...reads(40, 105, 130), read(131, 40)],
    worst: [[131, 40]],
  },
  {
    name: 'low power under a cloud frees nothing',
    events: [...lowered, read(105, 40), power(105, 3)],
    worst: [[105, 80]],
  },
  {
    name: 'another lower limit begins the time anew',
    events: [
      ...lowered,
      ...reads(40, 105, 120),
      sent(120, 20),
      done(120, 20),
      read(121, 20),
      ...reads(20, 126, 146),
    ],
    worst: [[150.999, 80]],
  },
  {
    name: 'another lower limit, over',
    events: [
      ...lowered,
      ...reads(40, 105, 120),
      sent(120, 20),
      done(120, 20),
      read(121, 20),
      ...reads(20, 126, 146),
      read(151, 20),
    ],
    worst: [[151, 20]],
  },
  {
    name: 'the same limit again, as before a timer ends, does not begin the time anew',
    events: [
      ...lowered,
      read(110, 40),
      sent(115, 40),
      done(115, 40),
      ...reads(40, 120, 130),
      read(131, 40),
    ],
    worst: [[131, 40]],
  },
  {
    name: 'a raise on the way down does not begin the time anew',
    events: [...lowered, read(110, 40), sent(115, 60), done(115, 60), ...reads(60, 121, 131)],
    worst: [[131, 60]],
  },
  {
    name: 'a lower command that no read has shown begins the time anew',
    events: [
      ...lowered,
      read(110, 40),
      sent(111, 20),
      done(111, 20),
      sent(112, 40),
      done(112, 40),
      ...reads(40, 114, 139),
    ],
    worst: [[139, 80]],
  },
  {
    name: 'another ceiling begins the time anew',
    events: [
      ...lowered,
      ...[105, 110, 120, 131].map((at_s) => read(at_s, 40, { max_w: at_s > 105 ? 110 : 100 })),
    ],
    worst: [[131, 80]],
  },
  {
    name: 'after a silence from the ceiling, of a device that keeps its limit as well',
    traits: { keeps_limit: true },
    events: [...reads(0, 0, 100), read(116, 0)],
    worst: [[116, 100]],
  },
  {
    name: 'a device that is read for the first time comes from its ceiling',
    events: reads(40, 0, 25),
    worst: [[25, 100]],
  },
  {
    name: 'of a raise that a lower has overtaken, when its latency is over',
    events: [
      ...reads(100, 0, 5),
      sent(5, 40),
      done(5, 40),
      ...reads(40, 10, 100),
      sent(100, 80),
      done(100, 80),
      read(101, 40),
      sent(102, 40),
      done(102, 40),
      read(105, 40),
      ...reads(40, 108, 133),
    ],
    worst: [[138, 80]],
  },
]
for (const { name, traits, events, worst: expected } of cases) {
  test(`ramp: ${name}`, () => {
    const state = after(started({ ramp_ms: 30_000, ...traits }), events)
    const found = expected.map(([at_s]) => [at_s, worstAt(state, at_s)])
    assert.deepEqual(found, expected)
  })
}
