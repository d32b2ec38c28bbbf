import assert from 'node:assert/strict'
import test from 'node:test'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { edgeCommState, type InverterVitals, inverterCommState } from './communication.ts'
import { frameOf } from './frame.ts'
import { health_reasons_max, type LoggerVitals, loggerStatus, siteHealth } from './health.ts'
import type { Situation } from './situation.ts'

const now = new Date('2026-06-21T10:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
const poll = { ...defaultPollIntervals, inverter_s: 20 }
const day: Situation = {
  now,
  day_start_at: ago(43_200),
  sun_elevation_deg: 60,
  poll,
  is_edge_offline: false,
  offline_before_at: ago(900),
}
const night: Situation = { ...day, sun_elevation_deg: -20, offline_before_at: ago(10_000) }

const inverter: InverterVitals = {
  inverter_id: 7,
  logger_id: 1,
  state: 'mppt',
  measured_at: ago(5),
  edge_comm_state: 'connected',
  logger_data_at: ago(5),
}

test('a reading is stale after three polls, and not before 30 s', () => {
  const quality = (seconds: number, poll_s: number) =>
    frameOf({ measured_at: ago(seconds), received_at: now, quality: 'good' }, poll_s, now).quality
  assert.equal(quality(60, 20), 'good')
  assert.equal(quality(61, 20), 'stale')
  assert.equal(quality(30, 5), 'good')
  assert.equal(quality(31, 5), 'stale')
})

test('the frame says when, how old and how good', () => {
  assert.deepEqual(
    frameOf({ measured_at: ago(2), received_at: ago(1), quality: 'suspect' }, 5, now),
    {
      measured_at: '2026-06-21T09:59:58.000Z',
      received_at: '2026-06-21T09:59:59.000Z',
      age_s: 2,
      quality: 'suspect',
    },
  )
  const never = frameOf({ measured_at: null, received_at: null, quality: null }, 5, now)
  assert.deepEqual(never, {
    measured_at: null,
    received_at: null,
    age_s: null,
    quality: 'missing',
  })
  const ahead = frameOf({ measured_at: ago(-4), received_at: now, quality: 'good' }, 5, now)
  assert.equal(ahead.age_s, 0)
})

test('an inverter that does not answer is asleep at night and disconnected by day', () => {
  const silent = { ...inverter, measured_at: ago(3600), edge_comm_state: 'disconnected' } as const
  assert.equal(inverterCommState(inverter, day), 'connected')
  assert.equal(inverterCommState(inverter, night), 'connected')
  assert.equal(inverterCommState(silent, day), 'disconnected')
  assert.equal(inverterCommState(silent, night), 'asleep')
  assert.equal(inverterCommState(silent, { ...day, sun_elevation_deg: 2.9 }), 'asleep')
  assert.equal(inverterCommState(silent, { ...day, sun_elevation_deg: 3 }), 'disconnected')
  assert.equal(inverterCommState(silent, { ...day, sun_elevation_deg: null }), 'disconnected')
})

test('of an inverter whose logger delivers nothing nobody knows', () => {
  const silent = { ...inverter, measured_at: ago(3600), logger_data_at: ago(901) }
  assert.equal(inverterCommState(silent, day), 'unknown')
  assert.equal(inverterCommState(silent, night), 'asleep')
  assert.equal(inverterCommState({ ...silent, logger_data_at: ago(10_001) }, night), 'unknown')
  const never = { ...inverter, measured_at: null, edge_comm_state: null }
  assert.equal(inverterCommState(never, day), 'unknown')
  const tried = { ...never, edge_comm_state: 'disconnected' } as const
  assert.equal(inverterCommState(tried, day), 'disconnected')
})

test('health follows from loggers and inverters', () => {
  const one = { logger_id: 1, data_at: ago(5) }
  const late = { logger_id: 2, data_at: ago(901) }
  const never = { logger_id: 3, data_at: null }
  const dead = { ...inverter, measured_at: ago(3600) }
  const health = (
    loggers: LoggerVitals[],
    inverters: InverterVitals[],
    situation: Situation,
    critical = 0,
    underperforming_logger_ids: number[] = [],
  ) => {
    const judged = { loggers, inverters, alerts: { critical, underperforming_logger_ids } }
    const { health_status, health_reasons } = siteHealth(judged, situation)
    return [health_status, ...health_reasons]
  }
  assert.deepEqual(health([one], [inverter], day), ['healthy'])
  assert.deepEqual(health([], [], day), ['unknown'])
  assert.deepEqual(health([never], [], day), ['unknown', 'logger_no_data:3'])
  assert.deepEqual(health([late], [], day), ['offline', 'logger_offline:2'])
  assert.deepEqual(health([late, never], [], day), [
    'offline',
    'logger_offline:2',
    'logger_no_data:3',
  ])
  assert.deepEqual(health([one, late], [], day), ['degraded', 'logger_offline:2'])
  assert.deepEqual(health([one], [{ ...inverter, state: 'fault' }], day), [
    'degraded',
    'inverter_fault:7',
  ])
  assert.deepEqual(health([one], [dead], day), ['degraded', 'inverter_disconnected:7'])
  assert.deepEqual(health([one], [dead], night), ['healthy'])
  const faulted_before = { ...dead, state: 'fault' }
  assert.deepEqual(health([one], [faulted_before], night), ['healthy'])
  const asleep = { ...dead, measured_at: ago(9000), logger_data_at: ago(9000) }
  assert.deepEqual(health([{ ...one, data_at: ago(9000) }], [asleep], night), ['healthy'])
  assert.deepEqual(health([{ ...one, data_at: ago(10_001) }], [], night), [
    'offline',
    'logger_offline:1',
  ])
  assert.deepEqual(health([one], [inverter], day, 2), ['degraded', 'critical_alerts:2'])
  assert.deepEqual(health([one], [inverter], day, 0, [1]), [
    'degraded',
    'logger_underperformance:1',
  ])
  assert.deepEqual(health([late], [], day, 1), ['offline', 'critical_alerts:1', 'logger_offline:2'])
  assert.deepEqual(health([], [], day, 1), ['unknown', 'critical_alerts:1'])
  const many = Array.from({ length: 300 }, () => dead)
  const [, ...reasons] = health([one], many, day, 1)
  assert.equal(reasons.length, health_reasons_max)
  assert.equal(reasons[0], 'critical_alerts:1', 'not cut off by the many')
})

test('a logger is as its own readings and its inverters are', () => {
  const dead = { ...inverter, measured_at: ago(3600) }
  const status = (data_at: Date | null, inverters = [inverter]) =>
    loggerStatus({ logger_id: 1, data_at }, inverters, day)
  assert.equal(status(null), 'unknown')
  assert.equal(status(ago(900)), 'online')
  assert.equal(status(ago(901)), 'offline')
  assert.equal(status(ago(1), [inverter, dead]), 'degraded')
  const atNight = (data_at: Date) => loggerStatus({ logger_id: 1, data_at }, [dead], night)
  assert.equal(atNight(ago(900)), 'online')
  assert.equal(atNight(ago(901)), 'asleep')
  assert.equal(atNight(ago(10_000)), 'asleep')
  assert.equal(atNight(ago(10_001)), 'offline')
})

test('the link of an edge is judged by what was heard of it', () => {
  const state = (last_seen_at: Date | null, journal_oldest_at: Date | null = null) =>
    edgeCommState({ last_seen_at, journal_oldest_at }, now)
  assert.equal(state(null), 'unknown')
  assert.equal(state(ago(60)), 'connected')
  assert.equal(state(ago(61)), 'disconnected')
  assert.equal(state(ago(1), ago(30)), 'connected')
  assert.equal(state(ago(1), ago(3600)), 'backfilling')
})

test('a site whose edge is silent is not healthy, however fresh its last readings are', () => {
  const loggers = [{ logger_id: 1, data_at: ago(70) }]
  const alerts = { critical: 0, underperforming_logger_ids: [] }
  const judged = { loggers, inverters: [], alerts }
  assert.equal(siteHealth(judged, night).health_status, 'healthy')
  assert.deepEqual(siteHealth(judged, { ...night, is_edge_offline: true }), {
    health_status: 'degraded',
    health_reasons: ['edge_offline'],
  })
})
