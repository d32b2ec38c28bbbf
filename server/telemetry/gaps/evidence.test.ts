import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type Cause,
  causeOf,
  causes,
  type Evidence,
  type EvidenceEvent,
  mayStillCome,
} from './evidence.ts'

const gap = {
  start_ms: 1000,
  end_ms: 2000,
  last_state: 'mppt',
  retired_ms: null,
  bus: [],
  site: [],
}
const event = (at_ms: number, code: string, edge: EvidenceEvent['edge']): EvidenceEvent => ({
  at_ms,
  code,
  edge,
})
const cause = (events: EvidenceEvent[], may_come = false, more: object = {}) =>
  causeOf({ ...gap, ...more, events }, may_come)

test('nothing noticed: unknown, or the fault that the device was in', () => {
  assert.equal(cause([]), 'unknown')
  assert.equal(cause([], false, { last_state: 'fault' }), 'device_fault')
})

test('a device that did not answer', () => {
  const pair = [event(1100, 'device_offline', 'rising'), event(1990, 'device_offline', 'falling')]
  assert.equal(cause(pair), 'communication')
  assert.equal(cause(pair, false, { last_state: 'fault' }), 'device_fault')
  assert.equal(cause(pair.slice(0, 1), true, { end_ms: null }), 'communication')
  // It answered again before, or fell silent after.
  assert.equal(
    cause([event(100, 'device_offline', 'rising'), event(900, 'device_offline', 'falling')]),
    'unknown',
  )
  assert.equal(cause([event(2100, 'device_offline', 'rising')]), 'unknown')
  // It was silent already when the night ended.
  assert.equal(cause([event(100, 'device_offline', 'rising')]), 'communication')
  assert.equal(cause([event(1990, 'device_offline', 'falling')]), 'communication')
})

test('a link that was down: what may come is late, what did not come was not measured', () => {
  const pair = [event(1050, 'edge_offline', 'rising'), event(2500, 'edge_offline', 'falling')]
  assert.equal(cause(pair, true), 'communication')
  assert.equal(cause(pair, false), 'agent_stopped')
})

test('a journal that lost readings while the link was down', () => {
  const down = event(1050, 'edge_offline', 'rising')
  const up = event(2500, 'edge_offline', 'falling')
  assert.equal(cause([down, event(2300, 'journal_dropped', 'once'), up]), 'buffer_overflow')
  assert.equal(cause([down, event(1500, 'journal_cut', 'once'), up]), 'agent_stopped')
  assert.equal(cause([down, up, event(2600, 'journal_dropped', 'once')]), 'agent_stopped')
  assert.equal(cause([event(1500, 'journal_write_failed', 'rising')]), 'buffer_overflow')
  // The edge said that it did not answer: there was nothing to lose.
  const silent = event(1100, 'device_offline', 'rising')
  assert.equal(cause([down, silent, event(2300, 'journal_dropped', 'once'), up]), 'communication')
})

test('what was lost is of the time that its event tells', () => {
  const lost = (lost_from_ms: number, lost_to_ms: number | null) => ({
    ...event(9000, 'journal_dropped', 'once'),
    lost_from_ms,
    lost_to_ms,
  })
  assert.equal(cause([lost(1500, 1600)]), 'buffer_overflow')
  assert.equal(cause([lost(2100, 2600)]), 'unknown')
  assert.equal(cause([lost(500, 900)]), 'unknown')
  const missing = { ...event(9000, 'frames_missing', 'once'), lost_from_ms: 900 }
  assert.equal(cause([missing]), 'communication')
  // Where it says after which readings, it is of no other time.
  assert.equal(cause([{ ...missing, lost_after_ms: [300, 2000] }]), 'unknown')
  assert.equal(cause([{ ...missing, lost_after_ms: [300, 1000] }]), 'communication')
})

const pairOf = (code: string, from_ms: number, to_ms: number) => [
  event(from_ms, code, 'rising'),
  event(to_ms, code, 'falling'),
]
const silent = pairOf('device_offline', 1050, 1990)
const heard = [] as const
const mute = [{ start_ms: 1040, end_ms: 1980 }]
const started = (at_ms: number, down_from_ms: number | null, lost_power: boolean) => [
  { ...event(at_ms, 'agent_started', 'once'), down_from_ms, lost_power },
]
const jumped = [{ ...event(1999, 'clock_jumped', 'once'), jump_ms: 990 }]
const unlinked = pairOf('edge_offline', 1020, 2100)
const dropped = { ...event(2100, 'journal_dropped', 'once'), lost_from_ms: 1010, lost_to_ms: 1900 }
const shut_down = pairOf('alarm:sunspec-inverter:1:6', 900, 2050)
const no_grid = pairOf('alarm:sunspec-inverter:1:4', 1000, 2050)
const by_hand_huawei = pairOf('alarm:huawei-sun2000:1:0', 900, 2050)

/** What was noticed, most of it also of the other rows, and what it comes to. */
const table: [string, Cause, Partial<Evidence>][] = [
  ['nothing at all', 'unknown', {}],
  ['the clock was put forward over it', 'clock_jump', { events: jumped }],
  ['it was put forward, and a device was silent', 'clock_jump', { events: [...silent, ...jumped] }],

  ['not in the site file', 'configuration', { events: pairOf('device_retired', 1100, 1990) }],
  ['silent before it was taken out', 'communication', { events: silent, retired_ms: 2000 }],
  ['taken out, and nothing else', 'configuration', { retired_ms: 2000 }],
  ['taken out later', 'unknown', { retired_ms: 2500 }],
  ['out for a moment of it', 'unknown', { events: pairOf('device_retired', 1100, 1200) }],

  ['the machine went down', 'power_loss', { events: started(1980, 1010, true) }],
  ['and the link with it', 'power_loss', { events: [...unlinked, ...started(1980, 1010, true)] }],
  ['nobody knows since when', 'power_loss', { events: started(1980, null, true) }],
  ['the agent was stopped or killed', 'agent_stopped', { events: started(1980, 1010, false) }],
  ['it started at another time', 'unknown', { events: started(2500, 1010, false) }],
  ['it was down for a moment', 'agent_stopped', { events: started(1400, 1380, false) }],
  [
    'it was down for a moment, and lost readings of all the time',
    'buffer_overflow',
    { events: [...started(1400, 1380, false), dropped] },
  ],
  [
    'power was lost, and the device took long to wake up',
    'power_loss',
    {
      events: [...started(1100, 1010, true), ...pairOf('device_offline', 1150, 1990)],
      bus: [heard],
    },
  ],
  [
    'it was silent long before power was lost; others were not',
    'device_fault',
    { events: [...silent, ...started(1900, 1850, true)], bus: [mute, heard], site: [mute, heard] },
  ],
  [
    'all fell silent, and then the machine of the agent',
    'power_loss',
    { events: [...silent, ...started(1900, 1600, true)], bus: [mute, mute], site: [mute, mute] },
  ],
  [
    'all fell silent, and the agent was restarted',
    'communication',
    { events: [...silent, ...started(1900, 1800, false)], bus: [mute, mute], site: [mute, mute] },
  ],
  ['no grid, and silent', 'power_loss', { events: [...no_grid, ...silent], bus: [heard] }],
  ['no grid before, and not known whether silent', 'power_loss', { events: no_grid }],
  [
    'the grid was there again',
    'unknown',
    { events: pairOf('alarm:sunspec-inverter:1:4', 800, 990) },
  ],

  ['shut down by hand', 'maintenance', { events: [...shut_down, ...silent], bus: [heard] }],
  ['shut down by hand, no events since', 'maintenance', { events: shut_down }],
  ['another alarm of another table', 'unknown', { events: by_hand_huawei }],

  ['silent among others that are heard', 'device_fault', { events: silent, bus: [mute, heard] }],
  ['the bus is silent', 'communication', { events: silent, bus: [mute, mute] }],
  ['alone on its bus', 'communication', { events: silent, bus: [mute] }],
  ['silent, of a fault', 'device_fault', { events: silent, bus: [mute], last_state: 'fault' }],
  ['the last state was a fault', 'device_fault', { last_state: 'fault' }],

  ['dropped by the journal', 'buffer_overflow', { events: [...unlinked, dropped] }],
  ['the link was down, nothing came', 'agent_stopped', { events: unlinked }],
  [
    'lost on the way',
    'communication',
    { events: [{ ...event(2500, 'frames_missing', 'once'), lost_after_ms: [1000] }] },
  ],
]

test('the decision table of causes', async (t) => {
  for (const [noticed, meant, evidence] of table) {
    await t.test(`${noticed}: ${meant}`, () => {
      assert.equal(causeOf({ ...gap, events: [], ...evidence }, false), meant)
    })
  }
  assert.deepEqual(new Set(table.map(([, cause]) => cause)), new Set(causes))
})

test('while it lasts, what was noticed so far tells', () => {
  const open = (more: Partial<Evidence>) =>
    causeOf({ ...gap, events: [], ...more, end_ms: null }, true)
  const since = [{ start_ms: 1040, end_ms: Number.POSITIVE_INFINITY }]
  const events = silent.slice(0, 1)
  assert.equal(open({ events, bus: [since, since] }), 'communication')
  assert.equal(open({ events, bus: [since, mute] }), 'device_fault')
  assert.equal(open({ events: unlinked.slice(0, 1) }), 'communication')
  assert.equal(open({ events: started(1100, 1010, true) }), 'power_loss')
  assert.equal(open({}), 'unknown')
})

test('a clock that was put forward over the hole', () => {
  const jump = (jump_ms: number) => ({ ...event(1999, 'clock_jumped', 'once'), jump_ms })
  assert.equal(cause([jump(990)]), 'clock_jump')
  assert.equal(cause([jump(-990)]), 'unknown')
  assert.equal(cause([jump(400)]), 'unknown')
  assert.equal(cause([{ ...jump(990), at_ms: 900 }]), 'unknown')
})

test('readings may still come from an edge that was not heard of, or has older ones', () => {
  const minute = 60_000
  const end = 100 * minute
  assert.equal(mayStillCome(end, []), false)
  const edge = { last_seen_ms: end + 5 * minute, journal_oldest_ms: null }
  assert.equal(mayStillCome(end, [edge]), false)
  assert.equal(mayStillCome(end, [edge, { ...edge, last_seen_ms: end }]), true)
  assert.equal(mayStillCome(end, [{ ...edge, journal_oldest_ms: end - minute }]), true)
  assert.equal(mayStillCome(end, [{ ...edge, journal_oldest_ms: end + minute }]), false)
})
