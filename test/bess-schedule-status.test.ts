/** The status of an approved schedule is what the edge reported of it, whenever that arrives. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import type { DispatchReport } from '@heliograph/domain/dispatch'
import { hour_ms } from '@heliograph/domain/durations'
import type { Lane } from '@heliograph/domain/link'
import { addPrices } from '../server/batteries/fixtures/schedule-site.ts'
import type { EdgeClient } from '../server/link/fixtures/edge-client.ts'
import { noon, type SchedulePlant, schedulePlant, today, tomorrow } from './schedule-plant.ts'

// biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
type Answer = any

const midnight = noon + 12 * hour_ms

let plant: SchedulePlant
let seq = 0

before(async () => {
  plant = await schedulePlant()
})
after(() => plant.close())
beforeEach(async () => {
  await plant.forget()
  await plant.db.execute('delete from battery_dispatches')
  await addPrices(plant.db, { date: today, hours: 72 })
})

async function approved(target_date = today): Promise<Answer> {
  const made = await plant.call('POST', '/bess/1/optimize', { target_date })
  assert.equal(made.status, 201, made.text)
  const answer = await plant.call('POST', `/bess/schedules/${made.body.schedule_id}/approve`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

const get = async (id: number): Promise<Answer> =>
  (await plant.call('GET', `/bess/schedules/${id}`)).body

/** Status and reason of a schedule; the other reads of the status agree. */
async function statusOf(id: number): Promise<[string, string | null]> {
  const schedule = await get(id)
  const listed = await plant.call('GET', `/bess/1/schedules?target_date=${schedule.target_date}`)
  const found = listed.body.data.find((one: Answer) => one.schedule_id === id)
  assert.deepEqual(found, schedule)
  if (new Date(plant.clock.now()).toISOString().startsWith(schedule.target_date)) {
    const unit = await plant.call('GET', '/bess/1')
    assert.equal(unit.body.schedule_status_today, schedule.status)
    const dashboard = await plant.call('GET', '/bess/1/dashboard')
    assert.equal(dashboard.body.schedule.status, schedule.status)
  }
  return [schedule.status, schedule.status_reason]
}

/** What an edge reports of one hour of a schedule. */
function reportOf(schedule: Answer, hour: number, told: Partial<DispatchReport>): DispatchReport {
  const start_at = Date.parse(schedule.hours[hour].start_at)
  return {
    bess_id: 1,
    issued_at: start_at,
    reported_at: start_at + 1000,
    schedule_id: schedule.schedule_id,
    interval_start_at: start_at,
    source: 'schedule',
    requested_power_kw: schedule.hours[hour].power_kw,
    clamped_power_kw: null,
    clamp_reason: null,
    sent_at: null,
    acknowledged_at: null,
    achieved_power_kw: null,
    achieved_at: null,
    soc_pct: 60,
    status: 'achieved',
    failure_code: null,
    ...told,
  }
}

async function send(edge: EdgeClient, payload: DispatchReport[], lane: Lane = 'live') {
  seq += 1
  edge.batch(lane, [{ seq, kind: 'dispatch', payload }])
  await edge.untilAcked(seq)
}

const failed = { status: 'failed', failure_code: 'pcs_not_ready' } as const

test('a schedule is dispatching from the first report of an edge, not from its day on', async () => {
  const schedule = await approved()
  const id = schedule.schedule_id
  assert.deepEqual([schedule.status, schedule.status_reason], ['approved', 'not_reported'])
  plant.clock.set(noon + 3 * hour_ms)
  assert.deepEqual(await statusOf(id), ['approved', 'not_reported'])
  const edge = await plant.edge()
  await send(edge, [reportOf(schedule, 14, { status: 'sent' })])
  assert.deepEqual(await statusOf(id), ['dispatching', null])
  assert.deepEqual((await get(id)).executed_hours, [])
})

test('a day without any report has failed, until late reports say otherwise', async () => {
  const schedule = await approved()
  const id = schedule.schedule_id
  plant.clock.set(midnight)
  assert.deepEqual(await statusOf(id), ['failed', 'not_reported'])
  const edge = await plant.edge()
  const hours = Array.from({ length: 12 }, (_, nth) => reportOf(schedule, 12 + nth, {}))
  await send(edge, hours, 'backlog')
  assert.deepEqual(await statusOf(id), ['completed', null])
  assert.deepEqual(
    (await get(id)).executed_hours,
    [...hours.keys()].map((nth) => 12 + nth),
  )
})

test('what the edge could not do has failed, with its reason, and may go on later', async () => {
  const schedule = await approved()
  const id = schedule.schedule_id
  const powered = schedule.hours.filter((one: Answer) => !one.locked && one.power_kw !== 0)
  assert.ok(powered.length > 1)
  const edge = await plant.edge()
  plant.clock.set(noon + hour_ms)
  await send(edge, [reportOf(schedule, 12, failed)])
  assert.deepEqual(await statusOf(id), ['failed', 'not_executed'])
  assert.equal((await get(id)).failure_code, 'pcs_not_ready')
  // The edge goes on trying.
  const hour = powered[0].hour
  plant.clock.set(Date.parse(schedule.hours[hour].end_at))
  await send(edge, [reportOf(schedule, hour, { status: 'acknowledged' })])
  assert.deepEqual(await statusOf(id), ['dispatching', null])
  const next = powered[1].hour
  plant.clock.set(Date.parse(schedule.hours[next].end_at))
  await send(edge, [reportOf(schedule, next, failed)])
  assert.deepEqual(await statusOf(id), ['dispatching', 'interrupted'])
  plant.clock.set(midnight)
  assert.deepEqual(await statusOf(id), ['completed', 'partly_executed'])
  assert.equal((await get(id)).failure_code, 'pcs_not_ready')
})

test('hours that stand still do not make a day completed whose power was never given', async () => {
  const schedule = await approved()
  const id = schedule.schedule_id
  const edge = await plant.edge()
  plant.clock.set(midnight)
  await send(
    edge,
    schedule.hours.slice(12).map(({ hour, power_kw }: Answer) => {
      const held = { status: 'clamped', clamp_reason: 'alarm', clamped_power_kw: 0 } as const
      return reportOf(schedule, hour, power_kw === 0 ? {} : held)
    }),
  )
  assert.deepEqual(await statusOf(id), ['failed', 'not_executed'])
})

test('reports of another schedule of the same day say nothing of this one', async () => {
  const first = await approved()
  const edge = await plant.edge()
  plant.clock.set(noon + 2 * hour_ms)
  await send(edge, [reportOf(first, 12, {}), reportOf(first, 13, {})])
  await plant.measure()
  const second = await approved()
  assert.deepEqual(await statusOf(second.schedule_id), ['approved', 'not_reported'])
  const replaced = await get(first.schedule_id)
  assert.deepEqual([replaced.status, replaced.status_reason], ['superseded', null])
  assert.deepEqual(replaced.executed_hours, [12, 13])
  plant.clock.set(midnight)
  assert.deepEqual(await statusOf(second.schedule_id), ['failed', 'not_reported'])
  const later = await plant.replica()
  const { body } = await later.call('GET', `/bess/schedules/${second.schedule_id}`)
  assert.deepEqual([body.status, body.status_reason], ['failed', 'not_reported'])
})

test('a day that is to come is approved, whatever an edge reports of today', async () => {
  const { schedule_id } = await approved(tomorrow)
  assert.deepEqual(await statusOf(schedule_id), ['approved', null])
})
