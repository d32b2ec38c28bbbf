import assert from 'node:assert/strict'
import test from 'node:test'
import { type Event, step } from './events.ts'
import {
  after,
  done,
  power,
  read,
  reads,
  sent,
  started,
  timer,
  worstAt,
} from './fixtures/plain-source.ts'
import { load } from './site.ts'
import type { Traits } from './source.ts'
import type { Kind, State } from './worst.ts'
import { answers, isAnswered, isAt, obeys, shows } from './worst.ts'

const night: Event = { is: 'night', is_night: true }
const battery = { is_pv: false, lowest_w: -50 }
const setpoint = (at_s: number, w: number, changes = {}) =>
  read(at_s, w, { min_w: -50, ...changes })
/** Power above the ceiling at this limit for 30 s, and no distrust any more. */
const above_ceiling = (limit_w: number): Event[] =>
  reads(limit_w, 0, 90).flatMap((one, nth) =>
    nth % 2 || nth > 6 ? [one] : [one, power(5 * nth, 120)],
  )

interface Case {
  name: string
  traits?: Partial<Traits>
  events: Event[]
  /** Export without it. */
  kind?: Kind
  /** Worst case at a time in seconds. */
  worst: [at_s: number, w: number][]
}

/** A raise on its way while the ceiling doubles, so that it may take effect as twice that. */
const rescaled = [read(0, 40), sent(1, 50), read(5, 80, { max_w: 200 })]
const worst_cases: Case[] = [
  {
    name: 'never read: the ceiling of the site file',
    traits: { peak_w: 110 },
    events: [],
    worst: [[0, 110]],
  },
  {
    name: 'a fresh read-back counts, a stale one does not',
    events: [read(0, 40)],
    worst: [
      [15, 40],
      [15.001, 100],
    ],
  },
  {
    name: 'a command under a lower ceiling counts as as much of the higher one, for its latency',
    events: [...rescaled, done(6, 50), read(15, 80, { max_w: 200 })],
    worst: [[15, 80]],
  },
  {
    name: 'the same while the driver has not returned',
    events: [...rescaled, read(60, 80, { max_w: 200 })],
    worst: [[60, 100]],
  },
  {
    name: 'the same if it was never sent',
    events: [...rescaled, { is: 'unsent', id: 'a', w: 50, command: null }],
    worst: [[5, 80]],
  },
  { name: 'a higher ceiling as read', events: [read(0, 40, { max_w: 120 })], worst: [[16, 120]] },
  {
    name: 'a ceiling as read is never below the rating',
    events: [read(0, 40, { max_w: 60 })],
    worst: [[16, 100]],
  },
  {
    name: 'a device that keeps its limit keeps it in silence, and the commands under way',
    traits: { keeps_limit: true },
    events: [read(0, 40)],
    worst: [[1e6, 40]],
  },
  {
    name: 'a command to a device that keeps its limit counts in silence',
    traits: { keeps_limit: true },
    events: [read(0, 40), sent(1e6, 60)],
    worst: [[2e6, 60]],
  },
  {
    name: 'a timer ends the limit that a device keeps in silence',
    traits: { keeps_limit: true },
    events: [read(0, 40, timer(60, 90))],
    worst: [
      [29.999, 40],
      [30, 90],
      [1e6, 90],
    ],
  },
  {
    name: 'a timer that is due within 30 s',
    events: [read(0, 40, timer(42, 90))],
    worst: [
      [11.999, 40],
      [12, 90],
    ],
  },
  {
    name: 'a raise from the moment that it is sent',
    events: [read(0, 40), sent(0, 60)],
    worst: [[0, 60]],
  },
  {
    name: 'a raise with the rounding of the register',
    traits: { tolerance_w: 5 },
    events: [read(0, 40), sent(0, 60)],
    worst: [[0, 65]],
  },
  {
    name: 'a lower frees nothing before the read-back',
    events: [read(0, 40), sent(0, 20), done(0, 20)],
    worst: [[14, 40]],
  },
  {
    name: 'a lower is free with the read-back',
    events: [read(0, 40), sent(0, 20), done(0, 20), read(1, 20)],
    worst: [[1, 20]],
  },
  {
    name: 'a raise that a lower has overtaken, for the latency',
    events: [
      read(0, 40),
      sent(0, 80),
      done(0, 80),
      read(1, 40),
      sent(2, 40),
      done(2, 40),
      read(5.999, 40),
    ],
    worst: [[5.999, 80]],
  },
  {
    name: 'a raise that a lower has overtaken, and its latency is over',
    events: [
      read(0, 40),
      sent(0, 80),
      done(0, 80),
      read(1, 40),
      sent(2, 40),
      done(2, 40),
      read(6, 40),
    ],
    worst: [[6, 40]],
  },
  {
    name: 'a command counts as long as its driver has not returned',
    events: [read(0, 40), sent(0, 80), read(60, 40)],
    worst: [[60, 80]],
  },
  {
    name: 'a repeated command begins its latency anew',
    events: [read(0, 40), sent(0, 80), done(0, 80), sent(5, 80), done(5, 80), read(10, 40)],
    worst: [[10, 80]],
  },
  {
    name: 'a raise that is shown has taken effect',
    events: [
      read(0, 40),
      sent(0, 80),
      done(0, 80),
      read(1, 80),
      sent(2, 40),
      done(2, 40),
      read(3, 40),
    ],
    worst: [[3, 40]],
  },
  {
    name: 'a repeated raise that is shown may take effect once more',
    events: [
      read(0, 40),
      sent(0, 80),
      sent(1, 80),
      done(1, 80),
      read(2, 80),
      sent(3, 40),
      done(3, 40),
      read(4, 40),
    ],
    worst: [[4, 80]],
  },
  {
    name: 'a raise that may be shown by the read-back of another one',
    traits: { tolerance_w: 8 },
    events: [
      read(0, 100),
      sent(0, 30),
      done(0, 30),
      read(7, 30),
      sent(20, 45),
      done(20, 45),
      sent(21, 50),
      done(21, 50),
      read(22, 45),
    ],
    worst: [[22, 58]],
  },
  {
    name: 'measured power above the limit',
    events: [read(0, 40), power(0, 70)],
    worst: [[0, 70]],
  },
  {
    name: 'measured power within 2 % is no excess',
    events: [read(0, 40), power(0, 42)],
    worst: [[0, 40]],
  },
  {
    name: 'PV that falls silent at night',
    events: [read(0, 40), night],
    worst: [
      [0, 40],
      [15, 40],
      [15.001, 0],
      [1e6, 0],
    ],
  },
  {
    name: 'PV power puts the night in doubt for an hour',
    events: [read(0, 40), night, power(0, 3)],
    worst: [
      [0, 40],
      [3599, 100],
      [3600, 0],
    ],
  },
  {
    name: 'read-backs that make no sense leave the source stale',
    events: [
      read(0, 40),
      read(5, 20, { max_w: 0 }),
      read(6, 20, { max_w: 201 }),
      read(7, 111),
      read(8, -1),
      read(9, Number.NaN),
    ],
    worst: [[16, 100]],
  },
  {
    name: 'an older read-back does not replace a newer one',
    events: [read(5, 40), read(4, 20)],
    worst: [[5, 40]],
  },
  {
    name: 'a lower with the rounding of the register is not above the read-back',
    traits: { tolerance_w: 5 },
    events: [read(0, 40), sent(0, 38)],
    worst: [[0, 40]],
  },
  {
    name: 'the limit as read once more stays as it is',
    traits: { tolerance_w: 5 },
    events: [read(0, 40), sent(0, 40)],
    worst: [[0, 40]],
  },
  {
    name: 'a setpoint of a battery that reverses, with the rounding of the register',
    traits: { ...battery, tolerance_w: 5 },
    events: [setpoint(0, -40), sent(0, 38)],
    worst: [[0, 43]],
  },
  {
    name: 'rounding ends at the largest import',
    traits: { ...battery, tolerance_w: 5 },
    events: [setpoint(0, 0), sent(0, -48)],
    kind: 'import',
    worst: [[0, 50]],
  },
  {
    name: 'import of a battery that was never read',
    traits: battery,
    events: [],
    kind: 'import',
    worst: [[0, 50]],
  },
  {
    name: 'import of a battery whose largest import is more than in the site file',
    traits: battery,
    events: [setpoint(0, -40, { min_w: -80 })],
    kind: 'import',
    worst: [
      [0, 40],
      [16, 80],
    ],
  },
  {
    name: 'import of a battery whose largest import is never below that of the site file',
    traits: battery,
    events: [setpoint(0, -10, { min_w: -20 })],
    kind: 'import',
    worst: [[16, 50]],
  },
  {
    name: 'measured import above the setpoint',
    traits: battery,
    events: [setpoint(0, -20), power(0, -30)],
    kind: 'import',
    worst: [[0, 30]],
  },
  {
    name: 'the noise of a battery that imports more than it exports',
    traits: { ...battery, lowest_w: -200 },
    events: [setpoint(0, 40, { min_w: -200 }), power(0, 43)],
    worst: [[0, 40]],
  },
  {
    name: 'measured power above the limit counts in silence',
    traits: { keeps_limit: true },
    events: [read(0, 40), power(0, 70)],
    worst: [[1e6, 70]],
  },
  {
    name: 'measured power of a device that was never read',
    events: [power(0, 120)],
    worst: [[0, 120]],
  },
  {
    name: 'PV power at dusk, while it is fresh',
    events: [read(5, 40), power(5, 30), night],
    worst: [
      [20, 40],
      [20.001, 0],
    ],
  },
  {
    name: 'a battery at night',
    traits: battery,
    events: [setpoint(0, 40), night],
    worst: [[0, 40]],
  },
  {
    name: 'an inverter with a battery behind it imports at night',
    traits: { ...battery, is_pv: true },
    events: [setpoint(0, -40), night],
    kind: 'import',
    worst: [[0, 40]],
  },
  {
    name: 'import when power above the ceiling was seen at full export',
    traits: battery,
    events: [...above_ceiling(100), setpoint(95, 100)],
    kind: 'import',
    worst: [[95, 0]],
  },
  {
    name: 'a limit below the ceiling that held nothing',
    events: [...above_ceiling(80), read(95, 80), power(95, 50)],
    worst: [[95, 120]],
  },
  {
    name: 'a source that left the site file counts on, and with its ceiling when stale',
    traits: { keeps_limit: true },
    events: [read(0, 40), { is: 'site', sources: [] }],
    worst: [
      [15, 40],
      [16, 100],
    ],
  },
]

for (const one of worst_cases) {
  test(`worst case: ${one.name}`, () => {
    const state = after(started(one.traits ?? {}), one.events)
    const found = one.worst.map(([at_s]) => [at_s, worstAt(state, at_s, one.kind)])
    assert.deepEqual(found, one.worst)
  })
}

const fits: [w: number, command_w: number, fits: boolean, fits_smallest?: boolean][] = [
  [0, 0, true],
  [3, 0, false, true],
  [10, 0, false, true],
  [11, 0, false],
  [8, 50, false],
  [-2, 3, false],
  [0, 3, true],
  [93, 99, true],
  [99, 100, true],
  [98, 100, false],
  [-49, -50, true],
  [-48, -50, false],
]
for (const [w, command_w, is_shown, is_answer = is_shown] of fits) {
  test(`a read-back of ${w} W after a command of ${command_w} W`, () => {
    const traits = { ...battery, tolerance_w: 5, smallest_limit_w: 10 }
    const s = after(started(traits), [setpoint(0, 0)]).sources.get('a')!
    assert.deepEqual([shows(s, w, command_w), answers(s, w, command_w)], [is_shown, is_answer])
  })
}

test('only a read-back since the command answers it', () => {
  const answered = (w: number, ...events: Event[]) => {
    const s = after(started({ smallest_limit_w: 10 }), events).sources.get('a')!
    return [isAt(s, w), isAnswered(s, w)]
  }
  assert.deepEqual(answered(50), [false, false])
  assert.deepEqual(answered(50, read(5, 50)), [true, true])
  assert.deepEqual(answered(50, read(4, 50), sent(5, 50)), [false, false])
  assert.deepEqual(answered(50, read(4, 60), sent(5, 50), read(5, 50)), [true, true])
  assert.deepEqual(answered(0, read(4, 10), sent(5, 0)), [false, false])
  assert.deepEqual(answered(0, read(4, 60), sent(5, 0), read(5, 10)), [false, true])
})

const fallback: [name: string, traits: Partial<Traits>, events: Event[], w: number][] = [
  ['a device that was never read', {}, [], 100],
  ['a source that is not controlled', { is_uncontrolled: true }, [read(0, 40)], 100],
  ['one that keeps its limit', { is_uncontrolled: true, keeps_limit: true }, [read(0, 40)], 100],
  ['PV returns to its ceiling', {}, [read(0, 40, timer(60, 30))], 100],
  ['PV that keeps its limit', { keeps_limit: true }, [read(0, 40)], 40],
  ['a battery whose watchdog has a setpoint', battery, [setpoint(0, 40, timer(60, 30))], 30],
  ['a battery whose watchdog imports', battery, [setpoint(0, 40, timer(60, -30))], 0],
  ['a battery whose watchdog is unknown', battery, [setpoint(0, 40)], 100],
  ['no watchdog', { ...battery, has_no_watchdog: true }, [setpoint(0, 40)], 40],
]
for (const [name, traits, events, w] of fallback) {
  test(`export in silence: ${name}`, () => {
    assert.equal(worstAt(after(started(traits), events), 16, 'fallback'), w)
  })
}

test('what was saved of a source that left the site file says nothing', () => {
  const saved = [...after(started({}), [read(0, 40)]).sources.values()]
  const loaded = load([{ ...saved[0]!, unheard_ms: 0 }], 0)
  assert.equal(worstAt(loaded, 0), 40)
  assert.equal(worstAt(step(loaded, { is: 'site', sources: [] }), 0), 100)
})

const measured = (at_s: number, limit_w: number, w: number) => [read(at_s, limit_w), power(at_s, w)]

/** Limited to 50 W, and delivers more every 5 s. */
const delivering = (w: number, to_s: number): Event[] => [
  read(0, 100),
  sent(0, 50),
  done(0, 50),
  read(1, 50),
  ...reads(50, 5, to_s).flatMap((_, nth) => measured(5 + 5 * nth, 50, w)),
]

test('power above the limit for 30 s: the source counts with its ceiling for 60 s', () => {
  const trusted = after(started({}), delivering(60, 30))
  assert.equal(worstAt(trusted, 30), 60)
  const distrusted = after(trusted, [...measured(35, 50, 60), ...measured(36, 50, 40)])
  assert.equal(worstAt(distrusted, 36), 100)
  const later = after(distrusted, reads(50, 40, 90))
  assert.equal(worstAt(later, 94.999), 100)
  assert.equal(worstAt(after(later, [read(95, 50)]), 95), 50)
})

test('lower and lower commands do not hide power above the limit', () => {
  const commands = [10, 15, 20, 25].flatMap((at_s) => {
    const w = 50 - at_s
    return [sent(at_s, w), done(at_s, w), read(at_s + 1, w), power(at_s + 1, 60)]
  })
  const state = after(started({}), [...delivering(60, 5), ...commands, read(35, 25), power(35, 60)])
  assert.equal(worstAt(state, 35), 100)
})

test('a source that exceeds its ceiling at full power counts with that at full power only', () => {
  const full = [0, 10, 20, 30].flatMap((at_s) => measured(at_s, 100, 120))
  const state = after(started({}), [...full, ...reads(100, 35, 95), power(95, 50)])
  assert.equal(worstAt(state, 95), 120)
  const events = [sent(95, 98), done(95, 98), read(102, 98), power(102, 98)]
  assert.equal(worstAt(after(state, events), 102), 98)
})

test('a source whose limit did not hold disobeys while it holds that limit or its ceiling', () => {
  const obeysAt = (state: State, at_s: number) => obeys(state.sources.get('a')!, at_s * 1000)
  const full = [0, 10, 20, 30].flatMap((at_s) => measured(at_s, 100, 120))
  const state = after(started({}), [...full, ...reads(100, 35, 95), power(95, 50)])
  assert.equal(obeysAt(state, 95), false)
  assert.equal(obeysAt(after(state, [sent(95, 98), done(95, 98), read(102, 98)]), 102), true)
  const smaller = read(100, 90, { max_w: 90 })
  assert.equal(obeysAt(after(state, [smaller]), 100), false, 'its lower ceiling is no lower limit')
  const never_read = [0, 10, 20, 30].map((at_s) => power(at_s, 120))
  assert.equal(obeysAt(after(started({}), never_read), 95), true, 'it was told nothing')
})

test('a ramp explains power above the limit until its time is over', () => {
  const falling = [0, 10, 20, 30, 40, 50].flatMap((past_s) =>
    measured(101 + past_s, 0, 80 - past_s),
  )
  const events = [...reads(80, 0, 100), sent(100, 0), done(100, 0), ...falling]
  const trusted = after(started({ ramp_ms: 60_000 }), events)
  assert.equal(worstAt(trusted, 160), 80)
  const settled = after(
    trusted,
    [161, 171, 181].flatMap((at_s) => measured(at_s, 0, 30)),
  )
  assert.equal(worstAt(settled, 181), 30)
  assert.equal(worstAt(after(settled, measured(191, 0, 30)), 191), 100)
})
