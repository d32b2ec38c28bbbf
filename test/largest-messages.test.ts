/** The largest messages of an edge: the server takes each, and none comes near to its bound. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ControlNote } from '@heliograph/domain/dispatch'
import {
  type DeviceKind,
  frame_length_max,
  type LinkEvent,
  up_bytes_max,
} from '@heliograph/domain/link'
import type { Node } from '@heliograph/domain/node'
import { emptyReading, type ReadingKind, type ReadingOf } from '@heliograph/domain/readings'
import type { Inverter, Site } from '@heliograph/domain/site'
import type { Entry } from '@heliograph/edge/journal'
import { batchesOf } from '@heliograph/edge/link'
import { batchText } from '@heliograph/edge/link-client'
import { Recorder } from '@heliograph/edge/recorder'
import { type FrameOrigin, prepareFrame } from '@heliograph/server/link/frames'
import { readMessage } from '@heliograph/server/link/messages'
import { containerBattery } from '@heliograph/simulator/fixtures/battery'
import { smallSite } from '@heliograph/simulator/fixtures/site'
import { pino } from 'pino'

const at = Date.UTC(2026, 5, 21, 12)
const origin: FrameOrigin = { site_id: 'small', lane: 'live', received_at: at }
const nth = (count: number) => Array.from({ length: count }, (_, index) => index)
/** As long as a name may be, and three bytes for each character. */
const name = (what: string, id: number) => `${what} ${id} `.padEnd(40, '測')

const [plant] = smallSite.loggers
const [model] = plant!.inverters

/** Every field filled in: four kinds of string groups, and two combiner boxes at each inverter. */
function inverterOf(id: number): Inverter {
  return {
    ...model!,
    inverter_id: id,
    name: name('Inverter', id),
    location_id: 1 + (id % 100),
    manufacturer: 'Maker of inverters',
    model: 'INV-110KTL-H3',
    serial_number: `SN${1e9 + id}`,
    installed_date: '2024-05-31',
    max_ac_power_kw: 36,
    max_dc_voltage_v: 1500,
    nominal_efficiency_pct: 98.6,
    phase_count: 3,
    connection: `gateway-${id % 50}`,
    unit_id: 1 + Math.floor(id / 50),
    limit: { ramp_s: 60, latency_s: 5, step_pct: 1, tolerance_pct: 1, least_pct: 5 },
    string_groups: nth(4).map(() => ({ ...model!.string_groups[0]!, strings: 6, connected: true })),
    combiners: nth(2).map((box) => ({
      combiner_id: `CB-${id}-${box}`,
      first_string_index: 12 * box,
      string_count: 12,
      connection: `gateway-${id % 50}`,
      unit_id: 100 + 2 * Math.floor(id / 50) + box,
      driver: 'sunspec',
    })),
  }
}

const nodeOf = (id: number): Node => ({
  node_id: `ts-${id}`,
  node_number: id,
  name: name('Station', id),
  location_id: 1,
  type: 'transformer_station',
  channels: nth(20).map((channel) => ({
    channel: `oil-${channel}`,
    kind: 'temperature',
    label: name('Oil', channel),
    role: 'oil',
    warn_high_c: 85,
    alarm_high_c: 95,
  })),
})

const inverters = nth(1000).map((index) => inverterOf(index + 1))
const site: Site = {
  ...smallSite,
  locations: nth(101).map((index) => ({
    location_id: index + 1,
    type: 'transformer_station',
    name: name('Place', index),
    access_notes: 'Key at the gate house. '.repeat(10),
  })),
  connections: nth(50).map((gateway) => ({
    connection_id: `gateway-${gateway}`,
    protocol: 'modbus_tcp' as const,
    host: `10.0.0.${gateway + 1}`,
    port: 502,
  })),
  loggers: nth(10).map((logger) => ({
    logger_id: logger + 1,
    name: name('Plant', logger),
    rated_power_kw: 3300,
    inverters: inverters.filter(({ inverter_id }) => inverter_id % 10 === logger),
  })),
  meters: nth(10).map((index) => ({
    ...smallSite.meters![0]!,
    meter_id: index + 1,
    connection: 'gateway-1',
    unit_id: 150 + index,
  })),
  nodes: nth(100).map((index) => nodeOf(index + 1)),
  batteries: nth(20).map((index) => ({
    ...containerBattery,
    bess_id: index + 1,
    bms: { ...containerBattery.bms, connection: 'gateway-2', unit_id: 170 + index },
    pcs: [{ ...containerBattery.pcs[0]!, connection: 'gateway-3', unit_id: 170 + index }],
  })),
}

/** The frames that a recorder makes of what is handed in within one second. */
async function recorded(handIn: (recorder: Recorder) => void): Promise<Entry[]> {
  const entries: Entry[] = []
  const recorder = new Recorder({
    source: { source_kind: 'edge', source_id: 'small' },
    journal: {
      epoch: 'e',
      last_seq: 0,
      append: async (group) => {
        entries.push(...group)
        return []
      },
    },
    conditions: { snapshot: () => null, fall: () => null } as never,
    clock: { now: () => new Date(at) } as never,
    timers: { after: () => () => {} } as never,
    log: pino({ level: 'silent' }),
  })
  handIn(recorder)
  assert.ok(await recorder.persist())
  return entries
}

const reading = <Kind extends ReadingKind>(kind: Kind, values: Partial<ReadingOf[Kind]>) => ({
  ...(emptyReading(kind) as ReadingOf[Kind]),
  measured_at: at,
  quality: 'good',
  ...values,
})

/** As the server takes the frames: each message within its bound, and no frame refused. */
function taken(entries: readonly Entry[]): string[] {
  const frames = entries.map(({ kind, payload }, index) => ({ seq: index + 1, kind, payload }))
  return [...batchesOf(frames)].flatMap((batch) => {
    const text = batchText('live', batch)
    assert.ok(Buffer.byteLength(text) < up_bytes_max, `${Buffer.byteLength(text)} bytes`)
    const message = readMessage(text)
    assert.ok(message.type === 'batch')
    return message.frames.map((frame) => {
      const { content } = prepareFrame(frame, origin)
      assert.notEqual(content.is, 'refused', JSON.stringify(content).slice(0, 300))
      return content.is
    })
  })
}

test('the inventory of a thousand inverters has room', () => {
  const payload = JSON.stringify(site)
  assert.ok(payload.length > frame_length_max, `${payload.length}`)
  assert.ok(Buffer.byteLength(payload) < (3 * up_bytes_max) / 4, `${Buffer.byteLength(payload)}`)
  assert.deepEqual(taken([{ kind: 'inventory', payload, readings: 0 }]), ['inventory'])
})

test('the status of all its devices has room, with none of them answering', () => {
  const ids = (kind: DeviceKind, count: number) =>
    nth(count).map((id) => ({
      kind,
      id: `${kind}-${id}`,
      comm_state: 'disconnected',
      since: at,
      last_ok_at: at,
      error: 'connect ETIMEDOUT 10.0.0.1:502 after 3 attempts; the connection rests for 30 s',
      identity: {
        manufacturer: '測'.repeat(16),
        model: '測'.repeat(16),
        serial_number: '測'.repeat(16),
        firmware_version: '測'.repeat(16),
      },
    }))
  const report = {
    type: 'status',
    at,
    lowest_unacked_seq: 1,
    journal: { depth_frames: 1, depth_bytes: 1, oldest_at: null },
    devices: [
      ...ids('inverter', 1000),
      ...ids('combiner', 2000),
      ...ids('station', 20),
      ...ids('meter', 10),
      ...ids('node', 100),
      ...ids('bess', 20),
      ...ids('pcs', 20),
    ],
  }
  const text = JSON.stringify(report)
  assert.ok(Buffer.byteLength(text) < (3 * up_bytes_max) / 4, `${Buffer.byteLength(text)}`)
  assert.deepEqual(readMessage(text), report)
})

test('a second in which all is measured is split into frames, each row in one of them', async () => {
  const figures = (count: number, figure: number) => nth(count).map((index) => figure + index / 100)
  const entries = await recorded((recorder) => {
    for (const { inverter_id } of inverters) {
      const per_mppt = { mppt_voltage_v: figures(12, 983.1), mppt_current_a: figures(12, 13.22) }
      recorder.reading('inverter', reading('inverter', { inverter_id, ...per_mppt }))
      const row = { first_string_index: 0, current_a: figures(24, 7.12) }
      recorder.reading('string', reading('string', { inverter_id, ...row }))
    }
    for (const bess_id of nth(5)) {
      for (const cluster_idx of nth(400)) {
        const cells = { cell_voltage_mv: figures(416, 3301), cell_temperature_c: figures(416, 25) }
        const row = { bess_id: bess_id + 1, cluster_idx, cell_balancing: figures(416, 0), ...cells }
        recorder.reading('cells', reading('cells', row))
      }
    }
  })
  assert.ok(entries.every(({ payload }) => payload.length <= frame_length_max))
  const rows = entries.flatMap(({ payload }) =>
    Object.entries(JSON.parse(payload) as Record<string, { rows: unknown[][] }>).flatMap(
      ([kind, table]) => table.rows.map((row) => `${kind} ${row[0]} ${row[1]}`),
    ),
  )
  assert.equal(rows.length, 4000)
  assert.equal(new Set(rows).size, 4000)
  assert.equal(
    entries.reduce((sum, { readings }) => sum + readings, 0),
    4000,
  )
  assert.ok(taken(entries).every((is) => is === 'readings'))
})

test('as many notes and events as can wait are split, and keep their order', async () => {
  const note = (count: number): ControlNote => ({
    bess_id: 1,
    at,
    nth: count,
    tier: 'permit',
    actor: 'edge',
    action: 'clamp',
    from_power_kw: 100.25,
    to_power_kw: 50.125,
    reason_code: 'permit',
    success: true,
    message: '測'.repeat(500),
    overrode_tier: null,
    schedule_id: null,
    alarm_code: null,
    soc_pct: 50,
  })
  const event = (count: number): LinkEvent => ({
    at,
    source_kind: 'inverter',
    source_id: `${count}`,
    code: 'device_offline',
    edge: 'rising',
    severity: 'major',
    message: '測'.repeat(1000),
    details: { values: nth(50).map((value) => `value ${value} ${'測'.repeat(20)}`) },
  })
  const entries = await recorded((recorder) => {
    for (const count of nth(5000)) recorder.tell('control_notes', `${count}`, note(count))
    for (const count of nth(5000)) recorder.event(event(count))
  })
  assert.ok(entries.every(({ payload }) => payload.length <= frame_length_max))
  const of = (kind: string) =>
    entries.filter((entry) => entry.kind === kind).flatMap(({ payload }) => JSON.parse(payload))
  assert.deepEqual(
    of('control_notes').map((one) => one.nth),
    nth(5000),
  )
  assert.deepEqual(
    of('events').map((one) => Number(one.source_id)),
    nth(5000),
  )
  assert.deepEqual(new Set(taken(entries)), new Set(['control_notes', 'events']))
})
