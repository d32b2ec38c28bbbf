import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import type { Node } from '@heliograph/domain/node'
import { type StationState, type Surroundings, stateMessage, stationAt } from './station.ts'

const node: Pick<Node, 'node_number' | 'channels'> = {
  node_number: 1,
  channels: [
    { channel: 'oil', kind: 'temperature', label: 'Oil', role: 'oil' },
    { channel: 'room', kind: 'temperature', label: 'Room', role: 'ambient' },
    { channel: 'air', kind: 'humidity', label: 'Air' },
    { channel: 'fan', kind: 'fan_current', label: 'Fan', relay: 'fan-relay' },
    { channel: 'door', kind: 'door', label: 'Door' },
    { channel: 'fan-relay', kind: 'relay', label: 'Fan' },
  ],
}
const seed = 1
/** A Sunday at midnight. */
const start_ms = Date.UTC(2026, 5, 21)

/** The station minute by minute, under the same conditions all along. */
function run(around: Omit<Surroundings, 'time_ms'>, minutes: number, from: StationState | null) {
  const states: StationState[] = []
  let before = from
  for (let nth = 0; nth < minutes; nth += 1) {
    const time_ms = (before?.time_ms ?? start_ms) + minute_ms
    before = stationAt(node, { ...around, time_ms }, { before, seed })
    states.push(before)
  }
  return states
}

const cool = { ambient_temperature_c: 10, relative_humidity_pct: 60, load_ratio: 0 }
const hot = { ambient_temperature_c: 33, relative_humidity_pct: 40, load_ratio: 1 }

const currentOf = (state: StationState) =>
  stateMessage(node, state, seed).fan_currents_a?.['fan'] ?? Number.NaN

test('oil under full load approaches its rise over the air within hours', () => {
  const [idle] = run(cool, 1, null)
  const loaded = run({ ...cool, load_ratio: 1 }, 600, idle!)
  const after = (minutes: number) => loaded[minutes - 1]!.oil_temperature_c
  const gained = after(180) - idle!.oil_temperature_c
  const whole = after(600) - idle!.oil_temperature_c
  assert.ok(gained / whole > 0.55 && gained / whole < 0.72, String(gained / whole))
  assert.ok(after(600) > 70 && after(600) < 85, String(after(600)))
})

test('fans start above one temperature and stop below a lower one, and report it', () => {
  const [first] = run(cool, 1, null)
  const warm = run(hot, 300, first!)
  const on = warm.find(({ fan }) => fan.on)!
  assert.equal(on.fan.cause, 'automation')
  assert.equal(on.fan.changed_ms, on.time_ms)
  assert.ok(on.room_temperature_c >= 35)
  const off = run(cool, 300, on).find(({ fan }) => !fan.on)!
  assert.ok(off.room_temperature_c <= 30)
  const message = stateMessage(node, on, seed)
  assert.deepEqual(message.relays?.['fan-relay'], {
    on: true,
    cause: 'automation',
    reason: 'above 35 °C',
    changed_at: new Date(on.time_ms).toISOString(),
  })
  assert.ok(currentOf(on) > 1.5)
  assert.ok(currentOf(off) < 0.1)
})

test('occasional visits by day switch by hand', () => {
  const days = run(cool, 90 * 24 * 60, null)
  const open = days.filter(({ door_open }) => door_open)
  assert.ok(open.length > 0 && open.length < days.length / 100, `${open.length} minutes`)
  assert.ok(open.every(({ fan }) => fan.on && fan.cause === 'manual'))
  const hours = open.map(({ time_ms }) => new Date(time_ms).getUTCHours())
  assert.ok(Math.min(...hours) >= 7 && Math.max(...hours) < 16)
  const after = days[days.lastIndexOf(open.at(-1)!) + 1]!
  assert.deepEqual([after.fan.on, after.fan.cause], [false, 'manual'])
})
