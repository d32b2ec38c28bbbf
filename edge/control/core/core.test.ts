import assert from 'node:assert/strict'
import test from 'node:test'
import { decide, exceeded, whyUnsafe } from './core.ts'
import type { Event } from './events.ts'
import {
  after,
  done,
  permit,
  power,
  read,
  reads,
  sent,
  started,
  timer,
} from './fixtures/plain-source.ts'
import type { State } from './worst.ts'

/** `a: 50` is a lower, `a: +50` a raise. */
const commandsAt = (
  state: State,
  at_s: number,
  requested: Readonly<Record<string, number>> = {},
) => {
  const { commands, fault } = decide(state, at_s * 1000, new Map(Object.entries(requested)))
  assert.equal(fault, null)
  return commands.map(({ id, w, is_raise }) => `${id}: ${is_raise ? '+' : ''}${w}`)
}

/** Sources at a limit that the edge has set, read last at 20 s. */
const heldAt = (limits: Readonly<Record<string, number>>, permit_w: number): State => {
  const events = Object.entries(limits).flatMap(([id, w]) => {
    const full = read(0, 100, { id })
    return w === 100
      ? [full, ...reads(w, 5, 20, id)]
      : [full, sent(0, w, id), done(0, w, id), ...reads(w, 5, 20, id)]
  })
  const sources = Object.keys(limits).map((id) => ({ id }))
  return after(started(...sources), [permit(permit_w), ...events])
}

test('lowers go at once, raises into the room that was read back', () => {
  const state = heldAt({ a: 90, b: 10 }, 100)
  assert.deepEqual(commandsAt(state, 20), ['a: 50'])
  const lowering = after(state, [sent(20, 50), done(20, 50)])
  assert.deepEqual(commandsAt(lowering, 21), [])
  assert.deepEqual(commandsAt(after(lowering, [read(21, 50)]), 21), ['b: +50'])
  assert.deepEqual(commandsAt(heldAt({ a: 50, b: 50 }, 100), 20), [])
})

test('the others make room for a source that is stale', () => {
  const state = after(heldAt({ a: 75, b: 75 }, 150), reads(75, 25, 40))
  assert.deepEqual(commandsAt(state, 35), [])
  assert.deepEqual(commandsAt(state, 35.001), ['a: 50'])
})

test('the others make room for a source that holds more than its command after its latency', () => {
  const events = [sent(20, 30, 'b'), done(20, 30, 'b'), read(25, 50), read(25, 50, { id: 'b' })]
  const state = after(heldAt({ a: 50, b: 50 }, 80), events)
  assert.deepEqual(commandsAt(state, 25), ['a: 40'])
  assert.deepEqual(commandsAt(state, 26), ['a: 40', 'b: 30'])
  // It is told what the other leaves.
  assert.deepEqual(commandsAt(state, 26.001), ['a: 30', 'b: 30'])
})

test('a source that holds more than a lost command, but less than its share, is raised to that', () => {
  const lost = [sent(20, 0, 'b'), done(20, 0, 'b'), read(30, 40), read(30, 20, { id: 'b' })]
  const state = after(heldAt({ a: 40, b: 20 }, 60), lost)
  assert.deepEqual(commandsAt(state, 30), ['a: 30'])
  const lowered = after(state, [
    sent(30, 30),
    done(30, 30),
    read(40, 30),
    read(40, 20, { id: 'b' }),
  ])
  assert.deepEqual(commandsAt(lowered, 40), ['b: +30'])
})

test('the others make room for a distrusted source', () => {
  const above = [20, 50].flatMap((at_s) => [read(at_s, 60, { id: 'b' }), power(at_s, 90, 'b')])
  const state = after(heldAt({ a: 60, b: 60 }, 120), [...above, read(50, 60)])
  assert.deepEqual(commandsAt(state, 50), ['a: 20'])
})

test('a source that holds less than its command obeys', () => {
  const state = after(started({}, { id: 'b', respects_external: false }), [
    permit(100),
    read(0, 100),
    sent(0, 50),
    done(0, 50),
    ...reads(50, 5, 30),
    read(0, 100, { id: 'b' }),
    sent(0, 50, 'b'),
    done(0, 50, 'b'),
    read(20, 30, { id: 'b' }),
    read(30, 30, { id: 'b' }),
  ])
  assert.deepEqual(commandsAt(state, 30), ['b: +50'])
})

test('of two raises the second one waits for the room that the first has taken', () => {
  assert.deepEqual(commandsAt(heldAt({ a: 10, b: 10, c: 80 }, 140), 20), ['c: 46', 'a: +46'])
})

test('a curtailment bounds the export of its group, and no import', () => {
  const curtailed = (...curtailments: { group: string; most_w: number }[]): Event => {
    const event = permit(90)
    assert.ok(event.is === 'permits')
    return { ...event, curtailments }
  }
  const state = after(started({}), [read(0, 80)])
  const plant = { group: 'plant', most_w: 30 }
  const other = { group: 'other', most_w: 10 }
  assert.deepEqual(commandsAt(after(state, [curtailed(other, plant)]), 0), ['a: 30'])
  assert.deepEqual(commandsAt(after(state, [curtailed({ ...plant, most_w: 95 })]), 0), [])
  const traits = { is_pv: false, lowest_w: -50, respects_external: false }
  const battery = after(started(traits), [read(0, -40, { min_w: -50 }), curtailed(plant)])
  assert.deepEqual(commandsAt(battery, 0, { a: -40 }), [])
})

test('two sources that disobey are told what each leaves to the other', () => {
  const told = (id: string, w: number, read_w: number, min_w: number) => [
    sent(20, w, id),
    done(20, w, id),
    read(25, read_w, { id, min_w }),
  ]
  const both = [...told('a', 30, 50, 0), ...told('b', 30, 50, 0)]
  assert.deepEqual(commandsAt(after(heldAt({ a: 50, b: 50 }, 60), both), 26.001), [
    'a: 10',
    'b: 10',
  ])
  const battery = { is_pv: false, lowest_w: -100, respects_external: false, keeps_limit: true }
  const importing = after(started({ ...battery }, { ...battery, id: 'b' }), [
    permit(0, true, 60),
    ...['a', 'b'].flatMap((id) => [
      read(0, 0, { id, min_w: -100 }),
      sent(0, -50, id),
      done(0, -50, id),
      read(20, -50, { id, min_w: -100 }),
    ]),
    ...told('a', -30, -50, -100),
    ...told('b', -30, -50, -100),
  ])
  const requested = { a: -100, b: -100 }
  assert.deepEqual(commandsAt(importing, 26.001, requested), ['a: -10', 'b: -10'])
})

test('nothing is raised until each source was read, or for 15 s', () => {
  const own_10 = (from_s: number, id = 'a') => [
    read(from_s, 100, { id }),
    sent(from_s, 10, id),
    done(from_s, 10, id),
    read(from_s + 1, 10, { id }),
  ]
  const one = after(started({}, { id: 'b' }), [permit(100), ...own_10(0)])
  assert.deepEqual(commandsAt(one, 9), [])
  assert.deepEqual(commandsAt(after(one, own_10(8, 'b')), 9), ['a: +50', 'b: +50'])
  const awaited = after(one, [permit(120)])
  assert.deepEqual(commandsAt(awaited, 15), [])
  assert.deepEqual(commandsAt(awaited, 15.001), ['a: +20'])
})

test('until then a source that was read shares as if all had been', () => {
  const state = after(started({}, { id: 'b' }), [permit(100), read(10, 90)])
  assert.deepEqual(commandsAt(state, 15), ['a: 50'])
  assert.deepEqual(commandsAt(state, 15.001), ['a: 0'])
})

test('without a permit nothing is raised, and a lower is never above what is held', () => {
  assert.deepEqual(commandsAt(after(heldAt({ a: 10 }, 100), [permit(100, false)]), 20), [])
  const raising = after(heldAt({ a: 80 }, 100), [sent(20, 20), permit(50, false)])
  assert.deepEqual(commandsAt(raising, 26), ['a: 20'])
})

test('without a permit a lower under way is not lowered for the rounding of the register', () => {
  const state = after(started({ tolerance_w: 5 }), [permit(100, false), read(0, 50), sent(0, 30)])
  assert.deepEqual(commandsAt(state, 0), [])
})

test('a source that is not controlled is never commanded', () => {
  const events = [permit(50), read(0, 90)]
  assert.deepEqual(commandsAt(after(started({}), events), 0), ['a: 50'])
  assert.deepEqual(commandsAt(after(started({ is_uncontrolled: true }), events), 0), [])
  assert.deepEqual(commandsAt(after(started({}), [permit(50)]), 0), [])
})

test('a raise waits for the pause of the profile', () => {
  const state = after(started({ raise_pause_ms: 20_000 }), [permit(100), read(0, 100)])
  const low = after(state, [sent(5, 30), done(5, 30), ...reads(30, 10, 25)])
  assert.deepEqual(commandsAt(low, 24.999), [])
  assert.deepEqual(commandsAt(low, 25), ['a: +100'])
})

test('full power is not rounded, also where the ceiling is below the rating', () => {
  const state = started({ tolerance_w: 10 })
  const low = after(state, [permit(85), read(0, 80, { max_w: 80 }), sent(1, 0), done(1, 0)])
  assert.deepEqual(commandsAt(after(low, [read(16, 0, { max_w: 80 })]), 16), ['a: +80'])
})

test('what disobeys and holds less than its share keeps its share beside others that hold more', () => {
  const state = started(
    { groups: ['site'], smallest_limit_w: 20 },
    { id: 'b', groups: ['site'] },
    { id: 'c' },
  )
  const limits = { import: { most_w: 0, may_raise: true } }
  const permits = new Map([
    ['site', { ...limits, export: { most_w: 100, may_raise: true } }],
    ['plant', { ...limits, export: { most_w: 50, may_raise: true } }],
  ])
  const held = (at_s: number, w: number) =>
    ['a', 'b', 'c'].map((id) => read(at_s, id === 'c' ? 100 : w, { id }))
  const told = (w: number, id: string) => [sent(1, w, id), done(1, w, id)]
  // One answers 0 with 20 W, one holds 100 W.
  const low = after(state, [
    { is: 'permits', permits, curtailments: [] },
    ...held(0, 100),
    ...told(0, 'a'),
    ...told(20, 'b'),
    ...told(50, 'c'),
    ...held(20, 20),
  ])
  assert.equal(decide(low, 20_000, new Map()).targets_w.get('b'), 50)
})

test('a raise on its way is left alone during the pause, unless there is no room for it', () => {
  const settable = (w: number) => Math.floor(w / 30) * 30
  const rounding = { peak_w: 120, tolerance_w: 20, settable, raise_pause_ms: 20_000 }
  const state = after(started(rounding), [
    permit(150),
    read(0, 100),
    sent(0, 60),
    done(0, 60),
    read(7, 60),
    sent(8, 90),
    done(8, 90),
    read(9, 60),
  ])
  assert.deepEqual(commandsAt(state, 10), [])
  assert.deepEqual(commandsAt(after(state, [permit(80)]), 10), ['a: 60'])
})

test('one lower interrupts a device that settles, further ones wait unless they are by half', () => {
  const settling = after(started({ settle_ms: 10_000 }), [read(0, 100), sent(0, 60), done(0, 60)])
  const state = after(settling, [permit(40), read(5, 60)])
  assert.deepEqual(commandsAt(state, 5), ['a: 40'])
  const interrupted = after(state, [sent(5, 40), done(5, 40), read(6, 40), permit(30)])
  assert.deepEqual(commandsAt(interrupted, 14.999), [])
  assert.deepEqual(commandsAt(interrupted, 15), ['a: 30'])
  assert.deepEqual(commandsAt(after(interrupted, [permit(20)]), 6), ['a: 20'])
})

test('a raise waits until the device has settled', () => {
  const settling = [read(0, 100), sent(0, 60), done(0, 60), permit(100), read(5, 60)]
  const state = after(started({ settle_ms: 10_000 }), settling)
  assert.deepEqual(commandsAt(state, 9.999), [])
  assert.deepEqual(commandsAt(state, 10), ['a: +100'])
})

test('a timer that would end the limit within 30 s is ended by a command', () => {
  const state = heldAt({ a: 40 }, 40)
  assert.deepEqual(commandsAt(after(state, [read(25, 40, timer(56, 100))]), 25), [])
  assert.deepEqual(commandsAt(after(state, [read(25, 40, timer(56, 100))]), 26), ['a: 40'])
})

test('a timer that would import more within 30 s is ended by a command', () => {
  const traits = { is_pv: false, lowest_w: -50, respects_external: false }
  const state = after(started(traits), [
    permit(100, true, 20),
    read(0, 0, { min_w: -50 }),
    sent(0, -20),
    done(0, -20),
    read(10, -20, { min_w: -50, ...timer(40, -50) }),
  ])
  assert.deepEqual(commandsAt(state, 9.999, { a: -20 }), [])
  assert.deepEqual(commandsAt(state, 10, { a: -20 }), ['a: -20'])
})

test('the limit of another master is not raised, nor walked down', () => {
  const state = after(heldAt({ a: 80 }, 100), [read(25, 60)])
  assert.deepEqual(commandsAt(state, 25), [])
  assert.deepEqual(commandsAt(after(state, [permit(60)]), 25), [])
  assert.deepEqual(commandsAt(after(state, [permit(50)]), 25), ['a: 50'])
})

test('a timer of another master that is due within 30 s is ended', () => {
  const state = after(started({}), [permit(40), read(0, 40, timer(30, 100))])
  assert.deepEqual(commandsAt(state, 0), ['a: 40'])
})

test('a command leaves room for the rounding of the register, and none at full power', () => {
  const traits = [
    [{ tolerance_w: 10 }, [100, 100], [99, 89], [9, 0]],
    [{ settable: (w: number) => Math.floor(w / 10) * 10 }, [59, 50], [9, 0]],
    [{ smallest_limit_w: 10 }, [10, 10], [9, 0]],
    [{ smallest_limit_w: 10, tolerance_w: 5 }, [15, 10], [14, 0]],
  ] as const
  for (const [one, ...told] of traits) {
    const state = after(started(one), [read(0, 100)])
    for (const [permit_w, command_w] of told) {
      const command = command_w === 100 ? [] : [`a: ${command_w}`]
      assert.deepEqual(commandsAt(after(state, [permit(permit_w)]), 0), command)
    }
  }
})

test('full power is not rounded, export or import', () => {
  const percent = (w: number, max_w: number) => (Math.floor((w * 10) / max_w) * max_w) / 10
  const traits = { is_pv: false, lowest_w: -50, respects_external: false, tolerance_w: 2 }
  const state = after(started({ ...traits, settable: percent }), [
    permit(100),
    read(0, 0, { min_w: -50 }),
  ])
  const requests = [
    [100, 'a: +100'],
    [99, 'a: +90'],
    [-50, 'a: +-50'],
    [-49, 'a: +-45'],
  ] as const
  for (const [w, command] of requests) {
    assert.deepEqual(commandsAt(state, 0, { a: w }), [command])
  }
})

test('a limit within its target is not lowered for the rounding of the register', () => {
  const events = [read(0, 100), sent(0, 95), done(0, 95), ...reads(95, 5, 20), permit(95)]
  assert.deepEqual(commandsAt(after(started({ tolerance_w: 10 }), events), 20), [])
})

test('the limit of another master is not lowered for the rounding of the register', () => {
  const state = after(started({ tolerance_w: 10 }), [permit(100)])
  assert.deepEqual(commandsAt(after(state, [read(0, 95)]), 0), [])
  assert.deepEqual(commandsAt(after(state, [read(0, 100), sent(0, 80), read(1, 60)]), 1), [])
})

test('a limit of another master within the target is left alone', () => {
  const steps = { settable: (w: number) => Math.floor(w / 10) * 10 }
  const own = [read(0, 100), sent(0, 50), done(0, 50), ...reads(50, 5, 20), permit(59)]
  assert.deepEqual(commandsAt(after(started(steps), [...own, read(25, 55)]), 25), [])
})

test('a battery that reverses comes to 0 and waits there for room', () => {
  const battery = {
    id: 'b',
    lowest_w: -100,
    is_pv: false,
    keeps_limit: true,
    respects_external: false,
  }
  const charging = [
    read(0, 0, { id: 'b', min_w: -100 }),
    sent(0, -50, 'b'),
    done(0, -50, 'b'),
    read(10, -50, { id: 'b', min_w: -100 }),
  ]
  const state = after(started({}, battery), [permit(100), ...charging, read(10, 100)])
  assert.deepEqual(commandsAt(state, 10, { b: 50 }), ['a: 50', 'b: 0'])
  const idle = [sent(10, 0, 'b'), done(10, 0, 'b'), read(17, 0, { id: 'b', min_w: -100 })]
  const waiting = after(state, [...idle, sent(10, 50), done(10, 50), read(11, 100)])
  assert.deepEqual(
    commandsAt(waiting, 17, { b: 50 }).filter((one) => one.startsWith('b')),
    [],
  )
  assert.deepEqual(commandsAt(after(waiting, [read(17, 50)]), 17, { b: 50 }), ['b: +50'])
})

test('what is kept for a battery the others leave to it, also before it uses that', () => {
  const battery = { id: 'b', lowest_w: -100, is_pv: false, respects_external: false }
  const idle = read(0, 0, { id: 'b', min_w: -100 })
  const state = after(started({}, battery), [permit(100), idle, read(0, 100)])
  const targetsOf = (kept: ReadonlyMap<string, number>) =>
    Object.fromEntries(decide(state, 1000, new Map([['b', 10]]), kept).targets_w)
  assert.deepEqual(targetsOf(new Map()), { a: 90, b: 10 })
  assert.deepEqual(targetsOf(new Map([['b', 70]])), { a: 30, b: 10 })
  assert.deepEqual(targetsOf(new Map([['b', 0]])), { a: 90, b: 10 })
})

test('commands that are not safe are named', () => {
  const state = after(heldAt({ a: 40, b: 40 }, 100), [read(25, 30)])
  const whyAt = (w: number, id = 'b') => whyUnsafe(state, [{ id, w, is_raise: true }], 25_000)
  assert.equal(whyAt(70), null)
  assert.equal(whyAt(71), 'plant: export would exceed its permit')
  assert.equal(whyAt(101), 'b cannot be set to 101 W')
  assert.equal(whyAt(-1), 'b cannot be set to -1 W')
  assert.equal(whyAt(Number.NaN), 'b cannot be set to NaN W')
  assert.equal(whyAt(31, 'a'), 'a: above an external limit')
  assert.equal(whyAt(50, 'c'), 'c cannot be set to 50 W')
  const held = after(state, [permit(100, false)])
  const why = whyUnsafe(held, [{ id: 'b', w: 50, is_raise: true }], 25_000)
  assert.equal(why, 'plant: export would exceed its permit')
})

test('a group that may be exceeded is named', () => {
  const state = after(started({}, { id: 'b' }, { id: 'c', groups: ['other'] }), [
    read(0, 50),
    read(0, 50, { id: 'b' }),
  ])
  const found = (event: Event, ...groups: string[]) => exceeded(after(state, [event]), groups, 0)
  assert.equal(found(permit(100), 'plant'), null)
  assert.equal(found(permit(99), 'plant'), 'plant')
  assert.equal(found(permit(Number.NaN), 'plant'), 'plant')
  assert.equal(found(permit(100, false), 'plant'), 'plant')
  assert.equal(found(permit(100), 'plant', 'other'), 'other')
  assert.equal(found(permit(100)), null)
})

interface Disobedient {
  w?: number
  permit_w?: number
}

/** When a source that stays at 100 W is commanded, by a permit of 20 W, in seconds. */
function commandTimes(
  until_s: number,
  at: (at_s: number) => Disobedient,
  is_refused = false,
): number[] {
  let state = started({})
  const times_s: number[] = []
  for (let at_s = 0; at_s <= until_s; at_s += 1) {
    const { w = 100, permit_w = 20 } = at(at_s)
    state = after(state, [permit(permit_w), read(at_s, w)])
    for (const command of decide(state, at_s * 1000, new Map()).commands) {
      const refused = { is: 'done', id: 'a', at_ms: at_s * 1000, w: command.w, is_refused } as const
      state = after(state, [sent(at_s, command.w), refused])
      times_s.push(at_s)
    }
  }
  return times_s
}

test('a command without effect is repeated after its latency, then less and less often', () => {
  const times_s = commandTimes(4 * 3600, () => ({}))
  const pauses_s = times_s.slice(1).map((at_s, nth) => at_s - times_s[nth]!)
  assert.deepEqual(pauses_s.slice(0, 8), [6, 6, 6, 6, 6, 8, 10, 12])
  assert.ok(pauses_s.every((pause_s, nth) => pause_s >= (pauses_s[nth - 1] ?? 0)))
  assert.deepEqual(pauses_s.slice(-2), [600, 600])
})

test('a refused command is repeated after its latency as long as its sum is exceeded', () => {
  const pausesOf = (times_s: readonly number[]) =>
    times_s.slice(1).map((at_s, nth) => at_s - times_s[nth]!)
  assert.deepEqual(new Set(pausesOf(commandTimes(3600, () => ({}), true))), new Set([6]))
  // A raise that is refused exceeds nothing: it is repeated less and less often.
  const lowered = (at_s: number) => (at_s === 0 ? { permit_w: 10 } : { w: 10, permit_w: 100 })
  const raises_s = commandTimes(3600, lowered, true)
  assert.ok(pausesOf(raises_s).at(-1)! > 300)
})

test('another command, and a read-back that changes, end a long pause', () => {
  const isSentAt = (at: (at_s: number) => Disobedient) => commandTimes(2500, at).includes(2500)
  assert.equal(
    isSentAt(() => ({})),
    false,
  )
  assert.equal(
    isSentAt((at_s) => (at_s < 2500 ? {} : { permit_w: 15 })),
    true,
  )
  assert.equal(
    isSentAt((at_s) => (at_s < 2500 ? {} : { w: 99 })),
    true,
  )
})
