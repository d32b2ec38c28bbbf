import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { NodeState } from '@heliograph/domain/node'
import { columnsOf } from '@heliograph/domain/readings'
import fc from 'fast-check'
import { anyCharacter } from '../../test/any-character.ts'
import { Conditions } from '../conditions.ts'
import { virtualClock } from '../fixtures/virtual-clock.ts'
import { keepingRecorder, live, retained, stampsBy, station } from './fixtures/stations.ts'
import { NodeWatch } from './node-watch.ts'
import { readState } from './state-message.ts'

const noon = '2026-06-21T10:00:00.000Z'
const noon_ms = Date.parse(noon)
const whole: NodeState = {
  measured_at: noon,
  temperatures_c: { oil: 61.5 },
  humidity_pct: { air: 40 },
  fan_currents_a: { 'fan-1': 1.9 },
  doors_open: { door: false },
  relays: { 'fan-relay': { on: true, cause: 'automation', reason: 'oil above 60 °C' } },
}

const bytes = (message: unknown) => Buffer.from(JSON.stringify(message))

async function watched(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-node-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'conditions.json')
  const conditions = await Conditions.open(path)
  const clock = virtualClock(noon)
  const recorder = keepingRecorder()
  const stamps = stampsBy(clock)
  const start = (of = conditions) =>
    new NodeWatch(station, { recorder, conditions: of, stamps, onCommState: () => {} })
  return { path, conditions, clock, recorder, start, watch: start() }
}

const told = ({ events }: ReturnType<typeof keepingRecorder>) =>
  events.map(({ code, edge }) => `${code} ${edge}`)

test('a state becomes one reading in the order of the channels', async (t) => {
  const { recorder, watch } = await watched(t)
  watch.state(bytes(whole), live)
  assert.deepEqual(recorder.readings, [
    {
      node_number: 7,
      measured_at: noon_ms,
      quality: 'good',
      channel_values: [61.5, 40, 1.9, 0, 1],
    },
  ])
  assert.deepEqual(Object.keys(recorder.readings[0]!).sort(), [...columnsOf('node')].sort())
  assert.equal(watch.deviceStatus().comm_state, 'connected')
})

test('one instant is one reading, a late one is another', async (t) => {
  const { recorder, watch, clock } = await watched(t)
  watch.state(bytes(whole), retained)
  watch.state(bytes(whole), live)
  await clock.advance(20_000)
  watch.state(bytes({ ...whole, measured_at: noon_ms + 20_000 }), live)
  watch.state(bytes({ ...whole, measured_at: noon_ms + 10_000 }), live)
  watch.state(bytes({ ...whole, measured_at: noon_ms + 10_000 }), live)
  assert.deepEqual(
    recorder.readings.map(({ measured_at }) => measured_at - noon_ms),
    [0, 20_000, 10_000],
  )
})

test('a retained message is a reading at its own time, and does not prove a node online', async (t) => {
  const { recorder, watch } = await watched(t)
  watch.state(bytes({ ...whole, measured_at: '2026-06-20T12:00:00+02:00' }), retained)
  assert.equal(recorder.readings[0]?.measured_at, noon_ms - 86_400_000)
  assert.equal(watch.deviceStatus().comm_state, 'unknown')
  const { measured_at: _, ...timeless } = whole
  watch.state(bytes(timeless), retained)
  assert.equal(recorder.readings.length, 1, 'kept and without a time: from nobody knows when')
})

test('a node without a clock is stamped by the edge; a wrong clock makes it suspect', async (t) => {
  const { recorder, watch } = await watched(t)
  const { measured_at: _, ...timeless } = whole
  watch.state(bytes(timeless), live)
  for (const measured_at of ['1970-01-01T00:00:07Z', '2026-06-21T10:00:01', 1_782_036_000, true]) {
    const { state, complaints } = readState(station, bytes({ ...whole, measured_at }), noon_ms)
    assert.equal(state?.measured_at, null, String(measured_at))
    assert.deepEqual(
      complaints.map(({ point }) => point),
      ['measured_at'],
    )
  }
  watch.state(bytes({ ...whole, measured_at: '1970-01-01T00:00:07Z' }), live)
  assert.deepEqual(
    recorder.readings.map(({ measured_at, quality }) => [measured_at - noon_ms, quality]),
    [[0, 'good']],
    'the edge stamps both with the same instant',
  )
})

test('invalid parts are reported once, leave the rest, and clear after a minute', async (t) => {
  const { recorder, watch, clock } = await watched(t)
  const wrong = { ...whole, temperatures_c: { oil: 4000 }, humidity_pct: 'dry' }
  watch.state(bytes(wrong), live)
  await clock.advance(10_000)
  watch.state(bytes({ ...wrong, measured_at: noon_ms + 10_000 }), live)
  assert.deepEqual(recorder.readings[1]?.channel_values, [null, null, 1.9, 0, 1])
  const rising = ['nonsense_value:humidity_pct rising', 'nonsense_value:temperatures_c.oil rising']
  assert.deepEqual(told(recorder).sort(), rising)
  await clock.advance(61_000)
  watch.state(bytes({ ...whole, measured_at: noon_ms + 71_000 }), live)
  assert.equal(told(recorder).filter((one) => one.endsWith('falling')).length, 2)
})

test('no payload throws, and texts in events are clean', async (t) => {
  const { recorder, watch } = await watched(t)
  const payloads = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .record({
        measured_at: fc.anything(),
        temperatures_c: fc.dictionary(fc.constantFrom('oil', '__proto__', 'x'), fc.anything()),
        relays: fc.dictionary(
          fc.constantFrom('fan-relay', 'x'),
          fc.record({
            on: fc.boolean(),
            cause: fc.anything(),
            reason: fc.string({ unit: anyCharacter }),
          }),
        ),
      })
      .map((message) => bytes(message)),
  )
  fc.assert(
    fc.property(payloads, fc.boolean(), (payload, is_retained) => {
      watch.state(payload, { is_retained, is_sent_again: true })
      watch.status(payload, { is_retained })
    }),
    { numRuns: 150 },
  )
  const relays = { 'fan-relay': { on: true, reason: ' a\u0000b\ud800 ' } }
  const { state } = readState(station, bytes({ relays }), noon_ms)
  assert.equal(state?.relays[0]?.reason, 'a b\ufffd')
  assert.doesNotMatch(JSON.stringify(recorder.events), /\\u0000|\\ud[89a-f]/)
})

test('a clock ahead is rejected and reported once', async (t) => {
  const { recorder, watch, clock } = await watched(t)
  const ahead = (ms: number) => ({ ...whole, measured_at: noon_ms + ms })
  watch.state(bytes(ahead(5000)), live)
  watch.state(bytes({ ...ahead(290_000), humidity_pct: { air: 41 } }), live)
  await clock.advance(10_000)
  watch.state(bytes(ahead(300_000)), live)
  assert.deepEqual(
    recorder.readings.map(({ measured_at, quality }) => [measured_at - noon_ms, quality]),
    [
      [5000, 'good'],
      [0, 'suspect'],
      [10_000, 'suspect'],
    ],
  )
  assert.deepEqual(told(recorder), ['nonsense_value:measured_at rising'])
  // Switched at a time of that clock, which is not known.
  const relays = { 'fan-relay': { on: false, changed_at: noon_ms + 12_000 } }
  await clock.advance(10_000)
  watch.state(bytes({ ...ahead(310_000), relays }), live)
  assert.equal(recorder.events.at(-1)?.code, 'relay:fan-relay')
  assert.equal(recorder.events.at(-1)?.at, noon_ms + 20_000)
})

test('a message without a valid value is rejected and reported', async (t) => {
  for (const wrong of [
    {},
    { temperature: { oil: 20 } },
    { temperatures_c: { oil: '20' }, relays: { 'fan-relay': 'on' } },
    { temperatures_c: { oil: null } },
  ]) {
    const { recorder, watch } = await watched(t)
    watch.state(bytes({ measured_at: noon, ...wrong }), live)
    assert.deepEqual(recorder.readings, [])
    assert.ok(told(recorder).includes('nonsense_value:state rising'), JSON.stringify(wrong))
  }
})

test('an invalid date is no time', () => {
  const now = Date.parse('2026-03-02T12:00:01Z')
  for (const [measured_at, read] of [
    ['2026-02-30T12:00:00Z', null],
    ['2026-02-31T12:00:00+01:00', null],
    ['2026-13-01T12:00:00Z', null],
    ['2026-02-28T12:00:00Z', Date.parse('2026-02-28T12:00:00Z')],
  ] as const) {
    const { state } = readState(station, bytes({ ...whole, measured_at }), now)
    assert.equal(state?.measured_at, read, measured_at)
  }
})

test('messages out of order, and two of one instant, lose no switching', async (t) => {
  const { recorder, watch } = await watched(t)
  const state = (at_s: number, on: boolean, more: object = {}) =>
    bytes({ measured_at: noon_ms + at_s * 1000, relays: { 'fan-relay': { on, ...more } } })
  watch.state(state(0, false), live)
  const changed_at = noon_ms - 21_000
  watch.state(state(-20, true, { cause: 'automation', changed_at }), live)
  watch.state(state(-15, false), live)
  watch.state(state(0, true, { cause: 'manual' }), live)
  watch.state(state(0, true, { cause: 'manual' }), live)
  assert.deepEqual(
    recorder.events.map(({ at, details }) => [at - noon_ms, details?.['to'], details?.['cause']]),
    [
      [-21_000, true, 'automation'],
      [0, false, 'unknown'],
      [1, true, 'manual'],
    ],
  )
  assert.deepEqual(
    recorder.readings.map(({ measured_at, channel_values }) => [
      measured_at - noon_ms,
      channel_values?.[4],
    ]),
    [
      [0, 0],
      [-20_000, 1],
      [-15_000, 0],
      [1, 1],
    ],
  )
})

test('a retained status brings no node online, but reports it offline', async (t) => {
  const { recorder, watch, clock } = await watched(t)
  watch.status(Buffer.from('online'), retained)
  assert.deepEqual(
    [watch.deviceStatus().comm_state, watch.deviceStatus().last_ok_at],
    ['unknown', null],
  )
  await clock.advance(31_000)
  watch.tick()
  watch.status(Buffer.from('online'), retained)
  assert.deepEqual(told(recorder), ['device_offline rising'])
  watch.status(Buffer.from('online'), live)
  watch.status(Buffer.from('offline'), retained)
  assert.equal(watch.deviceStatus().comm_state, 'disconnected')
})

test('a reading that could not be written counts when sent again', async (t) => {
  const { recorder, watch } = await watched(t)
  const forget = watch.state(bytes(whole), live)
  watch.state(bytes(whole), live)
  assert.equal(recorder.readings.length, 1)
  forget()
  watch.state(bytes(whole), live)
  assert.equal(recorder.readings.length, 2)
})

test('a switching is reported once with its cause, also across a restart', async (t) => {
  const { path, conditions, clock, recorder, start, watch } = await watched(t)
  const relay = (at_s: number, more: object) => {
    const relays = { 'fan-relay': { on: false, ...more } }
    return bytes({ ...whole, measured_at: noon_ms + at_s * 1000, relays })
  }
  await clock.advance(60_000)
  watch.state(relay(0, {}), live)
  assert.equal(recorder.events.length, 0, 'how it stood before is not known')
  watch.state(relay(10, { on: true, cause: 'manual', reason: 'test' }), live)
  watch.state(relay(20, { on: true }), live)
  assert.deepEqual(recorder.events, [
    {
      at: noon_ms + 10_000,
      source_kind: 'node',
      source_id: 'ts-1',
      code: 'relay:fan-relay',
      edge: 'once',
      severity: 'info',
      message: 'Relay fan-relay of node ts-1 is on: manual, test',
      details: { channel: 'fan-relay', from: false, to: true, cause: 'manual', reason: 'test' },
    },
  ])

  await conditions.save(conditions.snapshot()!, { epoch: 'a', seq: 1 })
  const again = await Conditions.open(path)
  const next = start(again)
  next.state(relay(20, { on: true }), retained)
  assert.equal(recorder.events.length, 1)
  const changed_at = noon_ms + 25_000
  next.state(relay(30, { cause: 'automation', changed_at }), live)
  assert.equal(recorder.events[1]?.at, changed_at)
  assert.deepEqual(recorder.events[1]?.details?.['from'], true)

  // The journal knows more than the file: what it tells is not told again.
  const replayed = await Conditions.open(path)
  replayed.replay({ epoch: 'a', seq: 2 }, recorder.events.slice(1))
  start(replayed).state(relay(30, { cause: 'automation', changed_at }), retained)
  assert.equal(recorder.events.length, 2)
})

test('a switching off and on between two messages is found by changed_at', async (t) => {
  const { recorder, watch } = await watched(t)
  const relays = (changed_at: number) => ({ 'fan-relay': { on: true, changed_at } })
  watch.state(
    bytes({ ...whole, measured_at: noon_ms - 20_000, relays: relays(noon_ms - 30_000) }),
    live,
  )
  watch.state(bytes({ ...whole, relays: relays(noon_ms - 5000) }), live)
  assert.deepEqual(
    recorder.events.map(({ at, details }) => [at - noon_ms, details?.['from'], details?.['to']]),
    [
      [-30_000, null, true],
      [-5000, false, true],
    ],
  )
})

test('missing reports and the last will take a node offline, its next message online', async (t) => {
  const { recorder, watch, clock } = await watched(t)
  watch.status(Buffer.from('online'), live)
  await clock.advance(30_000)
  watch.tick()
  assert.equal(watch.deviceStatus().comm_state, 'connected')
  await clock.advance(1000)
  watch.tick()
  watch.tick()
  assert.equal(watch.deviceStatus().comm_state, 'disconnected')
  watch.state(bytes({ ...whole, measured_at: noon_ms + 31_000 }), live)
  watch.status(Buffer.from('offline'), live)
  assert.deepEqual(told(recorder), [
    'device_offline rising',
    'device_offline falling',
    'device_offline rising',
  ])
  clock.step(-3_600_000)
  watch.status(Buffer.from('online'), live)
  clock.step(-60_000)
  watch.tick()
  assert.equal(watch.deviceStatus().comm_state, 'connected', 'a clock may step back')
  await clock.advance(31_000)
  watch.tick()
  assert.equal(watch.deviceStatus().comm_state, 'disconnected', 'and silence counts on')
})
