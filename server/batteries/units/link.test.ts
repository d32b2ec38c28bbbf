/** What an edge sends of batteries, by way of the link, as the API tells it. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import type { BatterySetup } from '@heliograph/domain/battery'
import type { DispatchReport } from '@heliograph/domain/dispatch'
import type { Frame, LinkEvent } from '@heliograph/domain/link'
import { noon, type ServedSite, servedSite } from '../../fixtures/served-site.ts'
import { inventoryFrame, park, readingsFrame } from '../../link/fixtures/plant.ts'
import { ingestInto } from '../../link/ingest.ts'
import {
  batteries,
  bessValues,
  cellsValues,
  clusterValues,
  pcsValues,
} from '../fixtures/battery-site.ts'

type Row = Record<string, unknown>

const edge_id = 'abcdef012345'
const read_ms = noon.getTime() - 1000
let site: ServedSite
let send: (...frames: Omit<Frame, 'seq'>[]) => Promise<void>

before(async () => {
  site = await servedSite()
  await site.db.execute(
    `INSERT INTO edges (site_id, edge_id, name, secret_sha256, agent_version, last_seen_at)
     VALUES ('demo', $1, 'edge', '\\x00', '1.4.0', now())`,
    [edge_id],
  )
  const { ingest } = ingestInto(site.db)
  let sent = 0
  send = async (...frames) => {
    const numbered = frames.map((frame, nth) => ({ ...frame, seq: sent + nth + 1 }))
    sent += frames.length
    const source = { site_id: 'demo', edge_id, epoch: 'a', received_at: noon.getTime() }
    const { refused_frames } = await ingest({ ...source, lane: 'live', frames: numbered })
    const refused = await site.db.query('SELECT reason FROM rejected_frames')
    assert.deepEqual([refused_frames, refused], [0, []])
  }
  const host = { protocol: 'modbus_tcp', host: '10.0.0.3', port: 502 } as const
  const inventory = {
    ...park(),
    site_id: 'demo',
    locations: [...park().locations, { location_id: 2, type: 'plot' as const, name: 'South' }],
    batteries: [...batteries],
    connections: [...park().connections, { connection_id: 'storage', ...host }],
  }
  await send(inventoryFrame(0, inventory))
})
after(() => site.close())

const get = async (path: string) => {
  const { status, body } = await site.get(path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('readings of a unit, its PCS, clusters and cells', async () => {
  const of = { bess_id: 1, measured_at: read_ms }
  await send(
    readingsFrame(0, 'bess', [{ ...bessValues(), ...of }]),
    readingsFrame(0, 'pcs', [
      { ...pcsValues(), ...of },
      { ...pcsValues({ pcs_idx: 1 }), ...of },
    ]),
    readingsFrame(0, 'cluster', [{ ...clusterValues({ cluster_idx: 1 }), ...of }]),
    readingsFrame(0, 'cells', [{ ...cellsValues({ cluster_idx: 1 }), ...of }]),
  )
  const now = await get('/bess/1/current')
  assert.deepEqual([now.power_kw, now.soc_pct, now.age_s, now.quality], [100, 60, 1, 'good'])
  assert.equal((await get('/bess/1/pcs/current')).ac_power_kw, 96)
  const { data } = await get('/bess/1/clusters')
  assert.deepEqual(
    data.map(({ quality }: Row) => quality),
    ['missing', 'good'],
  )
  const cluster = await get('/bess/1/clusters/1')
  assert.deepEqual(cluster.cell_voltages_mv.slice(8), [3298, null, 3290, 3299])
  const unit = await get('/bess/1')
  assert.deepEqual([unit.status, unit.ems_firmware], ['online', '1.4.0'])
})

const threshold: BatterySetup['protection'][number] = {
  parameter: 'cell_over_voltage',
  level: 'level_1',
  trip_value: 3600,
  recover_value: 3500,
  unit: 'mV',
  delay_ms: 2000,
  action: 'stop',
  source: 'bms',
}

const setup: BatterySetup = {
  bess_id: 1,
  read_at: read_ms,
  rated_energy_kwh: 401,
  rated_charge_power_kw: 200,
  rated_discharge_power_kw: 210,
  rated_capacity_ah: 560,
  soc_min_pct: 2,
  soc_max_pct: 98,
  soc_reserve_pct: null,
  ramp_rate_kw_s: null,
  heartbeat_timeout_s: 10,
  bms_firmware: '3.2',
  protection: [threshold, { ...threshold, level: 'pre_alarm', action: 'warn', trip_value: 3500 }],
  raw_registers: [{ address: 40_070, name: 'WHRtg', value: 401_000, unit: 'Wh' }],
}

test('what it is set to, and when that changed', async () => {
  const nothing = await get('/bess/1/setup')
  assert.deepEqual([nothing.read_at, nothing.config_hash, nothing.soc_min_pct], [null, null, null])
  assert.deepEqual([nothing.bms_address, nothing.timezone], ['storage/60', 'Europe/Berlin'])
  assert.deepEqual((await get('/bess/1/protection')).data, [])

  await send({ kind: 'battery_setup', payload: [setup] })
  const first = await get('/bess/1/setup')
  assert.deepEqual([first.rated_energy_kwh, first.max_discharge_power_kw], [401, 210])
  assert.deepEqual([first.soc_min_pct, first.heartbeat_timeout_s], [2, 10])
  assert.deepEqual(first.raw_registers, setup.raw_registers)
  assert.equal((await get('/bess/1')).bms_firmware, '3.2')
  // The inventory has that of unit 1 only.
  const capacities = async () =>
    (await get('/bess')).data.map((unit: { rated_capacity_ah: number }) => unit.rated_capacity_ah)
  assert.deepEqual(await capacities(), [560, null])
  const other = { ...setup, bess_id: 2, rated_capacity_ah: 140 }
  await send({ kind: 'battery_setup', payload: [other] })
  assert.deepEqual(await capacities(), [560, 140])

  const second_ms = read_ms + 500
  await send({ kind: 'battery_setup', payload: [{ ...setup, read_at: second_ms }] })
  const second = await get('/bess/1/setup')
  assert.equal(second.read_at, new Date(second_ms).toISOString())
  assert.deepEqual([second.changed_at, second.config_hash], [first.read_at, first.config_hash])

  const reread = async (at_ms: number, told_at: number) => {
    const again = { bess_id: 1, read_at: at_ms, told_at }
    await send({ kind: 'battery_setup', payload: [again] })
    const now = await get('/bess/1/setup')
    assert.deepEqual([now.changed_at, now.config_hash], [first.read_at, first.config_hash])
    return now.read_at
  }
  const later_ms = read_ms + 700
  assert.equal(await reread(later_ms, second_ms), new Date(later_ms).toISOString())
  const stays = new Date(later_ms).toISOString()
  assert.equal(await reread(later_ms - 100, second_ms), stays, 'what comes late moves nothing back')
  assert.equal(await reread(read_ms + 800, read_ms + 750), stays, 'of one that is not here yet')

  const third_ms = read_ms + 900
  await send({ kind: 'battery_setup', payload: [{ ...setup, soc_min_pct: 3, read_at: third_ms }] })
  const third = await get('/bess/1/setup')
  assert.deepEqual([third.soc_min_pct, third.changed_at], [3, third.read_at])
  assert.notEqual(third.config_hash, first.config_hash)

  const { data } = await get('/bess/1/protection')
  assert.deepEqual(
    data.map(({ level, trip_value, read_at }: Row) => [level, trip_value, read_at]),
    [
      ['pre_alarm', 3500, third.read_at],
      ['level_1', 3600, third.read_at],
    ],
  )
})

test('alarms count while they are set, by the newest of each', async () => {
  const alarm = (
    at_s: number,
    edge: LinkEvent['edge'],
    [source_kind, source_id, code]: [LinkEvent['source_kind'], string, string],
    severity: LinkEvent['severity'],
  ): LinkEvent => ({
    at: read_ms + 1000 * (at_s - 60),
    source_kind,
    source_id,
    code,
    edge,
    severity,
    message: code,
    details: null,
  })
  const hot = ['bess', '1', 'over_temperature'] as const
  await send({
    kind: 'events',
    payload: [
      alarm(1, 'rising', [...hot], 'warning'),
      alarm(2, 'falling', [...hot], 'warning'),
      alarm(3, 'rising', [...hot], 'critical'),
      alarm(4, 'rising', ['pcs', '1.1', 'fan_failure'], 'minor'),
      alarm(5, 'rising', ['bess', '1', 'soc_low'], 'info'),
      alarm(6, 'falling', ['bess', '1', 'soc_low'], 'info'),
      alarm(7, 'once', ['bess', '1', 'restarted'], 'info'),
      alarm(8, 'rising', ['bess', '2', 'insulation_low'], 'major'),
      alarm(8, 'rising', ['inverter', '1', 'over_temperature'], 'major'),
    ],
  })
  // What arrives late is older than what is known.
  await send({ kind: 'events', payload: [alarm(0, 'falling', [...hot], 'warning')] })
  assert.equal((await get('/bess/1/current')).alarm_count, 2)
  assert.equal((await get('/bess/2/current')).alarm_count, 1)
  const { active_alarm_counts } = await get('/bess/fleet/summary')
  assert.deepEqual(active_alarm_counts, { info: 0, warning: 1, major: 1, critical: 1 })
})

test('the last setpoint tells who commands, and that the connection is at its limit', async () => {
  const hour_ms = noon.getTime() - 600_000
  const report: DispatchReport = {
    bess_id: 1,
    issued_at: hour_ms + 1000,
    reported_at: hour_ms + 3000,
    schedule_id: 7,
    interval_start_at: hour_ms,
    source: 'schedule',
    requested_power_kw: 150,
    clamped_power_kw: null,
    clamp_reason: 'permit',
    sent_at: hour_ms + 1000,
    acknowledged_at: null,
    achieved_power_kw: null,
    achieved_at: null,
    soc_pct: 60,
    status: 'clamped',
    failure_code: null,
  }
  await send({ kind: 'dispatch', payload: [report] })
  assert.equal((await get('/bess/1')).operating_mode, 'schedule')
  const envelope = await get('/bess/1/envelope')
  assert.deepEqual([envelope.site_limit_active, envelope.limited_by_discharge], [true, 'site'])
  assert.equal(envelope.max_discharge_power_kw, null)
  const clamped = await get('/bess/fleet/summary')
  assert.deepEqual([clamped.max_charge_power_kw, clamped.max_discharge_power_kw], [180, null])

  const next = { ...report, issued_at: hour_ms + 9000, reported_at: hour_ms + 9000 }
  await send({
    kind: 'dispatch',
    payload: [{ ...next, clamp_reason: null, clamped_power_kw: 0 }],
  })
  assert.equal((await get('/bess/1')).operating_mode, 'schedule')
  const free = await get('/bess/1/envelope')
  assert.deepEqual([free.site_limit_active, free.max_discharge_power_kw], [false, 190])
})
