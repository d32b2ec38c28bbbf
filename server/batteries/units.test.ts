import assert from 'node:assert/strict'
import test from 'node:test'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { liveUnit, now } from './fixtures/live-unit.ts'
import { operatingMode, unitStatus, usableEnergy } from './units.ts'

const polled = { now, poll: { ...defaultPollIntervals } }
const ago = (s: number) => new Date(now.getTime() - 1000 * s)
const statusOf = (...with_: Parameters<typeof liveUnit>) => unitStatus(liveUnit(...with_), polled)
const modeOf = (row: NonNullable<Parameters<typeof liveUnit>[0]>['row'] = {}) =>
  operatingMode(liveUnit({ row }).row, now)

test('the status is the gravest that applies', () => {
  assert.equal(statusOf(), 'online')
  assert.equal(statusOf({ row: { state: 'standby' } }), 'standby')
  assert.equal(statusOf({ row: { state: 'full' } }), 'online')
  assert.equal(statusOf({ row: { control_place: 'local' } }), 'maintenance')
  assert.equal(statusOf({ row: { state: 'fault', control_place: 'local' } }), 'fault')
  assert.equal(statusOf({ pcs: [{}, { state: 'fault' }] }), 'fault')
  assert.equal(statusOf({ row: { measured_at: ago(30), state: 'fault' } }), 'fault')
  assert.equal(statusOf({ row: { measured_at: ago(31), state: 'fault' } }), 'offline')
  assert.equal(statusOf({ row: { measured_at: null } }), 'unknown')
})

test('a PCS that is silent since it was in fault makes no fault of today', () => {
  assert.equal(statusOf({ pcs: [{ state: 'fault', measured_at: ago(3600) }] }), 'online')
})

test('who commands it is the source of the last setpoint of this hour', () => {
  assert.equal(modeOf(), 'idle')
  const command_from_at = ago(3599)
  assert.equal(modeOf({ command_source: 'schedule', command_from_at }), 'schedule')
  assert.equal(modeOf({ command_source: 'operator', command_from_at }), 'manual')
  assert.equal(modeOf({ command_source: 'schedule', command_from_at: ago(3600) }), 'idle')
  const commanded = { command_source: 'schedule', command_from_at } as const
  assert.equal(modeOf({ ...commanded, control_place: 'local' }), 'maintenance')
  assert.equal(modeOf({ ...commanded, state: 'off' }), 'off')
})

test('usable is what the datasheet says, else what the window leaves', () => {
  const { row } = liveUnit()
  assert.equal(usableEnergy(row), 360)
  assert.equal(usableEnergy({ ...row, usable_energy_kwh: null, soc_max_pct: 80 }), 300)
})
