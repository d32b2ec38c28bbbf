import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import type { LinkEvent, Readings } from '@heliograph/domain/link'
import type { Node } from '@heliograph/domain/node'
import type { NodeReading } from '@heliograph/domain/readings'
import { initialCounters } from '../counters.ts'
import { smallSite } from '../fixtures/site.ts'
import { historyFrameCount, historyFrames } from '../history.ts'
import { createSimulation } from '../site.ts'
import { nodeDays } from './history.ts'

const end_ms = Date.UTC(2026, 6, 21, 12, 30)
const channels: Node['channels'] = [
  { channel: 'oil', kind: 'temperature', label: 'Oil', role: 'oil' },
  { channel: 'room', kind: 'temperature', label: 'Room', role: 'ambient' },
  { channel: 'fan', kind: 'fan_current', label: 'Fan', relay: 'fans' },
  { channel: 'door', kind: 'door', label: 'Door' },
  { channel: 'fans', kind: 'relay', label: 'Fans' },
]
const nodes = [1, 2].map((node_number): Node => {
  const node_id = `ts-${node_number}`
  return { node_id, node_number, name: node_id, type: 'transformer_station', channels }
})
const site = { ...smallSite, nodes }
const simulation = createSimulation(site, 5)
const newest_first = [...nodeDays(simulation, { end_ms, days: 4 })]
const days = newest_first.toReversed()
const relay = channels.length - 1
const of = (node_number: number, readings: readonly NodeReading[]) =>
  readings.filter((reading) => reading.node_number === node_number)

test('days come newest first, so that a partial history has no gap', () => {
  let next_ms = end_ms
  for (const { readings } of newest_first) {
    const times = readings.map(({ measured_at }) => measured_at)
    assert.equal(Math.max(...times), next_ms - minute_ms)
    next_ms = Math.min(...times)
  }
})

test('each node has a reading a minute, of all its channels', () => {
  assert.equal(days.length, 4)
  for (const { node_number } of nodes) {
    const readings = days.flatMap((day) => of(node_number, day.readings))
    assert.equal(readings.length, 4 * 1440)
    readings.forEach(({ measured_at, channel_values }, nth) => {
      assert.equal(measured_at, end_ms - (4 * 1440 - nth) * minute_ms)
      assert.ok(channel_values?.every((value) => value !== null))
    })
  }
})

test('each switching of a relay is one event, and readings show it afterwards', () => {
  for (const { node_id, node_number } of nodes) {
    const readings = days.flatMap((day) => of(node_number, day.readings))
    const switched = readings.flatMap(({ measured_at, channel_values }, nth) => {
      const [was, is] = [readings[nth - 1]?.channel_values?.[relay], channel_values?.[relay]]
      return was === undefined || was === is ? [] : { at: measured_at, from: was === 1 }
    })
    const events = days.flatMap((day) => day.events).filter((event) => event.source_id === node_id)
    assert.ok(events.length >= 2, `${events.length} events`)
    assert.deepEqual(
      events.map(({ at, details }) => ({ at, from: details?.['from'] })),
      switched,
    )
  }
})

test('stations do not depend on the start of the history', () => {
  const [last] = nodeDays(simulation, { end_ms, days: 1 })
  assert.deepEqual(last?.readings, days.at(-1)?.readings)
})

test('a day of many nodes is several frames without loss', () => {
  const many = [1, 2, 3, 4].map((node_number) => ({ ...nodes[0]!, node_number }))
  const of_four = { ...smallSite, nodes: many }
  const counters = initialCounters(of_four, end_ms)
  const frames = [...historyFrames(createSimulation(of_four, 5), { counters, days: 1 })]
  assert.equal(frames.length, historyFrameCount(of_four, 1))
  const tail = frames.slice(-3)
  assert.deepEqual(
    tail.map(({ seq, kind }) => [seq, kind]),
    [
      [25, 'readings'],
      [26, 'readings'],
      [27, 'events'],
    ],
  )
  const rows = tail.slice(0, 2).flatMap(({ payload }) => (payload as Readings).node!.rows)
  assert.equal(new Set(rows.map(([node_number, time]) => `${node_number} ${time}`)).size, 4 * 1440)
})

test('it follows the history of the other devices, in separate frames', () => {
  const counters = initialCounters(site, end_ms)
  const frames = [...historyFrames(simulation, { counters, days: 1 })]
  assert.equal(frames.length, historyFrameCount(site, 1))
  const [readings, events] = frames.slice(-2)
  assert.deepEqual([readings!.seq, events!.seq], [25, 26])
  const { columns, rows } = (readings!.payload as Readings).node!
  assert.deepEqual(
    rows.map((row) => row[columns.indexOf('channel_values')]),
    days.at(-1)!.readings.map(({ channel_values }) => channel_values),
  )
  assert.equal(events!.kind, 'events')
  assert.ok((events!.payload as LinkEvent[]).length > 0)
})
