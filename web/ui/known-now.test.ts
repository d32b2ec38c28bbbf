import assert from 'node:assert/strict'
import test from 'node:test'
import type { Overview } from '@heliograph/sdk'
import { knownNow } from './known-now.ts'

const plant = (logger_id: number, comm_state: string) => ({
  logger_id,
  comm_state,
  status: 'online',
  ac_power_kw: -0.1,
  inverters_online: 4,
})
const overviewOf = (...comm_states: string[]) =>
  ({
    loggers: comm_states.map((comm_state, nth) => plant(nth + 1, comm_state)),
    inverters: comm_states.map((_, nth) => ({
      inverter_id: nth + 1,
      logger_id: nth + 1,
      comm_state: 'asleep',
      state: 'mppt',
      ac_power_kw: 3,
    })),
    bess: [{ bess_id: 1, power_kw: -100, soc_pct: 40 }],
    status: {
      health_status: 'healthy',
      health_reasons: ['edge_offline'],
      ac_power_kw: -0.1,
      import_power_kw: 100,
      inverters_asleep: comm_states.length,
      inverters_unknown: 0,
      inverters_total: comm_states.length,
    },
  }) as unknown as Overview

test('while no plant is connected nothing is healthy, online or delivering', () => {
  const { loggers, inverters, status, bess } = knownNow(overviewOf('disconnected', 'disconnected'))
  for (const logger of loggers) {
    assert.equal(logger.status, 'offline')
    assert.equal(logger.ac_power_kw, null)
    assert.equal(logger.inverters_online, null)
  }
  for (const inverter of inverters) {
    assert.deepEqual([inverter.comm_state, inverter.ac_power_kw], ['unknown', null])
  }
  assert.equal(status.health_status, 'offline')
  assert.deepEqual(status.health_reasons, ['logger_disconnected:1', 'logger_disconnected:2'])
  assert.deepEqual([status.ac_power_kw, status.import_power_kw], [null, null])
  assert.deepEqual([bess?.[0]?.power_kw, bess?.[0]?.soc_pct], [null, null])
  assert.deepEqual([status.inverters_asleep, status.inverters_unknown], [0, 2])
})

test('one plant that is not connected leaves the values of the others', () => {
  const { loggers, status } = knownNow(overviewOf('connected', 'disconnected'))
  assert.deepEqual(
    loggers.map(({ status, ac_power_kw }) => [status, ac_power_kw]),
    [
      ['online', -0.1],
      ['offline', null],
    ],
  )
  assert.equal(status.health_status, 'degraded')
  assert.equal(status.ac_power_kw, -0.1)
})

test('with all plants connected it is what the server says', () => {
  const overview = overviewOf('connected', 'backfilling')
  assert.equal(knownNow(overview), overview)
})
