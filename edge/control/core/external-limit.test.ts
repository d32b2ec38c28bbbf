import assert from 'node:assert/strict'
import test from 'node:test'
import type { Event } from './events.ts'
import { after, done, read, reads, sent, started, worstAt } from './fixtures/plain-source.ts'
import type { Traits } from './source.ts'

/** An operator says that the limit of another master is void. */
const released: Event = { is: 'released', id: 'a', groups: ['plant'] }

const own_50 = [read(0, 100), sent(0, 50), done(0, 50), ...reads(50, 1, 26)]
const by_another = [...own_50, read(30, 30)]
const external: [
  name: string,
  events: Event[],
  external_w: number | null,
  traits?: Partial<Traits>,
][] = [
  ['a lower limit found at first stays', [read(0, 40)], 40],
  ['the own lower limit does not end it', [read(0, 40), sent(0, 30), read(1, 30)], 40],
  ['a lower one replaces it', [read(0, 40), sent(0, 30), read(1, 30), read(5, 20)], 20],
  ['another master raises its limit before any command', [read(0, 40), read(5, 70)], 70],
  ['another master lifts its limit before any command', [read(0, 40), read(5, 100)], null],
  ['a limit below the own command', by_another, 30],
  ['a higher read-back in contact ends it', [...by_another, read(35, 70)], 70],
  [
    'a higher read-back of a new contact does not',
    [...by_another, read(35, 100, { is_first: true })],
    30,
  ],
  ['a higher read-back after a silence does not', [...by_another, read(46, 100)], 30],
  [
    'a higher read-back with another ceiling does not',
    [...by_another, read(35, 120, { max_w: 120 })],
    30,
  ],
  ['an operator ends it', [...by_another, released], null],
  ['a lower ceiling scales it down', [read(0, 50), read(5, 25, { max_w: 50 })], 25],
  [
    'a higher ceiling does not scale it up',
    [read(0, 50), read(5, 25, { max_w: 50 }), read(10, 50)],
    25,
  ],
  [
    'a ceiling below it is no other limit',
    [read(0, 80), read(5, 80, { max_w: 70 }), read(10, 80, { max_w: 90 })],
    80,
  ],
  [
    'a limit above a lower ceiling holds when that rises',
    [read(0, 80), read(1, 80, { max_w: 70 }), sent(2, 60), read(3, 60, { max_w: 90 })],
    80,
  ],
  [
    'a limit above the ceiling is none when it is first found',
    [read(0, 80, { max_w: 70 }), sent(1, 0), read(5, 0, { max_w: 70 }), read(9, 0, { max_w: 90 })],
    null,
  ],
  ['rounding beyond the tolerance looks the same', [read(0, 100), sent(0, 80), read(5, 78)], 78],
  [
    'rounding within the tolerance is none',
    [read(0, 100), sent(0, 80), read(5, 77)],
    null,
    { tolerance_w: 2 },
  ],
  [
    'a command that comes through late does not end it',
    [
      read(0, 100),
      sent(0, 50),
      done(0, 50),
      read(1, 10),
      sent(2, 10),
      done(2, 10),
      read(3, 50),
      read(4, 10),
    ],
    10,
  ],
  [
    'a command that comes through after a slow read began does not end it',
    [
      read(0, 100),
      sent(0, 50),
      done(0, 50),
      read(1, 30),
      read(7, 30, { began_ms: 5000 }),
      read(8, 50),
    ],
    30,
  ],
  [
    'a read that began before another was known does not end it',
    [read(0, 100), read(6, 30, { began_ms: 5000 }), read(7, 100, { began_ms: 5500 })],
    30,
  ],
  [
    'a repeated command may come through after it',
    [read(0, 40), sent(0, 80), sent(1, 80), done(1, 80), read(2, 80), read(3, 10), read(4, 80)],
    10,
  ],
  [
    'the smallest limit after a command of 0',
    [read(0, 100), sent(0, 0), read(5, 10)],
    null,
    { smallest_limit_w: 10 },
  ],
  ['a battery setpoint respects none', [read(0, 40)], null, { respects_external: false }],
]
for (const [name, events, external_w, traits = {}] of external) {
  test(`external limit: ${name}`, () => {
    assert.equal(after(started(traits), events).sources.get('a')!.external_w, external_w)
  })
}

test('two raises by another master within 60 s: the source counts with its ceiling for 60 s', () => {
  const lower = (at_s: number) => [sent(at_s, 40), done(at_s, 40), read(at_s, 40)]
  const raised = (at_s: number) => [...reads(40, at_s - 15, at_s - 1), read(at_s, 90)]
  const once = after(started({}), [read(0, 100), ...lower(0), ...raised(20), ...lower(21)])
  assert.equal(worstAt(after(once, [read(27, 40)]), 27), 40)
  const twice = after(once, [...reads(40, 27, 62), ...raised(79), ...lower(80)])
  assert.equal(worstAt(after(twice, reads(40, 85, 135)), 138.999), 100)
  assert.equal(worstAt(after(twice, [...reads(40, 85, 135), read(139, 40)]), 139), 40)
  const late = after(once, [...reads(40, 27, 62), ...raised(80), ...lower(81), read(87, 40)])
  assert.equal(worstAt(late, 87), 40)
})
