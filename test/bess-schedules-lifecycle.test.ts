/** What becomes of schedules: nothing is dispatched without approval, whatever is sent. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { publishDeviations } from '../server/alerts/schedule-deviations.ts'
import { endSchedules } from '../server/batteries/ended-schedules.ts'
import { addPrices } from '../server/batteries/fixtures/schedule-site.ts'
import type { Reply } from './curtailment-plant.ts'
import {
  noon,
  type SchedulePlant,
  schedulePlant,
  site_id,
  today,
  tomorrow,
  untilDispatch,
} from './schedule-plant.ts'

let plant: SchedulePlant

before(async () => {
  plant = await schedulePlant()
})
after(() => plant.close())
beforeEach(async () => {
  await plant.forget()
  await addPrices(plant.db, { date: today, hours: 72 })
})

// biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
type Answer = any
const post = (path: string, body?: object, key?: string) => plant.call('POST', path, body, key)
const propose = async (body: object = {}, bess_id = 1): Promise<Answer> => {
  const made = await post(`/bess/${bess_id}/optimize`, body)
  assert.equal(made.status, 201, made.text)
  return made.body
}
const approve = (id: number) => post(`/bess/schedules/${id}/approve`)
const reject = (id: number, body?: object) => post(`/bess/schedules/${id}/reject`, body)
const get = async (id: number): Promise<Answer> =>
  (await plant.call('GET', `/bess/schedules/${id}`)).body
const revise = (id: number, hour: number, body: object, headers: Record<string, string> = {}) =>
  plant.put(`/bess/schedules/${id}/hours/${hour}`, body, headers)

const skippedAs = ({ schedule_id, code, hour }: Answer) => [schedule_id, code, hour]

function assertConflict({ status, body }: Pick<Reply, 'status' | 'body'>, current_state: string) {
  assert.deepEqual([status, body.error.code], [409, 'conflict_state'])
  assert.equal(body.error.details.current_state, current_state)
  assert.ok(Array.isArray(body.error.details.allowed))
}

test('what is approved reaches the edge at once, and nothing else does', async () => {
  const edge = await plant.edge()
  await untilDispatch(edge, (hours) => hours.length === 0)
  const proposed = await propose()
  await reject((await propose({}, 2)).schedule_id)
  const { status, body } = await approve(proposed.schedule_id)
  assert.deepEqual(
    [status, body.status, body.version, body.approved_by],
    [200, 'approved', 2, 'control room'],
  )
  const hours = await untilDispatch(edge, (told) => told.length > 0)
  assert.ok(hours.every(({ schedule_id }) => schedule_id === proposed.schedule_id))
  assert.deepEqual(
    hours.map(({ bess_id, start_at, end_at, power_kw, ended_at }) => ({
      bess_id,
      start_at,
      end_at,
      power_kw,
      ended_at,
    })),
    body.hours.slice(12).map((hour: Answer) => ({
      bess_id: 1,
      start_at: Date.parse(hour.start_at),
      end_at: Date.parse(hour.end_at),
      power_kw: hour.power_kw,
      ended_at: null,
    })),
  )
})

test('the control log has approvals and rejections, with who', async () => {
  await plant.db.execute('delete from battery_control_notes')
  const [today_id, tomorrow_id] = [
    (await propose()).schedule_id,
    (await propose({ target_date: tomorrow })).schedule_id,
  ]
  await reject(tomorrow_id)
  await approve(today_id)
  assertConflict(await reject(today_id), 'approved')
  const { body } = await plant.call('GET', '/bess/1/control-log?tier=operator')
  assert.equal(body.meta.count, 2)
  const shown = ({
    tier,
    actor,
    action,
    schedule_id,
    reason_code,
    message,
    request_id,
  }: Answer) => {
    assert.equal(typeof request_id, 'string')
    return [tier, actor, action, schedule_id, reason_code, message]
  }
  const of = ['operator', 'control room']
  assert.deepEqual(body.data.map(shown), [
    [...of, 'reject', tomorrow_id, 'schedule_rejected', told('rejected', tomorrow)],
    [...of, 'approve', today_id, 'schedule_approved', told('approved', today)],
  ])
})

const told = (done: string, date: string) => `control room ${done} the schedule of ${date}`

test('a second approval takes the place of the first from then on', async () => {
  const edge = await plant.edge()
  const [first, other] = [await propose(), await propose({ target_date: tomorrow })]
  await approve(first.schedule_id)
  await untilDispatch(edge, (told) => told.length > 0)
  plant.clock.set(noon + 2.5 * hour_ms)
  await plant.measure({ unit1_pct: 90 })
  const second = await propose({ soc_end_target_pct: 20 })
  assert.equal((await get(first.schedule_id)).status, 'approved')
  await approve(second.schedule_id)
  const told = await untilDispatch(edge, (hours) => hours.some(({ ended_at }) => ended_at !== null))
  const now = noon + 2.5 * hour_ms
  const old = told.filter(({ schedule_id }) => schedule_id === first.schedule_id)
  assert.ok(old.length > 0 && old.every(({ ended_at }) => ended_at === now))
  const replaced = await get(first.schedule_id)
  assert.deepEqual(
    [replaced.status, replaced.superseded_by, replaced.version],
    ['superseded', second.schedule_id, 3],
  )
  assert.equal(replaced.superseded_at, new Date(now).toISOString())
  // What had been dispatched until then is part of the one that is in force.
  const { hours } = await get(second.schedule_id)
  for (const hour of [12, 13]) assert.equal(hours[hour].power_kw, first.hours[hour].power_kw)
  assert.equal((await get(other.schedule_id)).status, 'proposed')
  plant.clock.set(noon + 12 * hour_ms)
  assert.equal((await get(second.schedule_id)).status, 'failed')
})

test('hours that pass before the approval were not dispatched, and are told so', async () => {
  const { schedule_id, hours } = await propose()
  assert.ok(hours[13].power_kw < -100)
  plant.clock.set(noon + 2.5 * hour_ms)
  await plant.measure({ unit1_pct: 20 })
  for (const hour of [13, 14]) {
    assertConflict(await revise(schedule_id, hour, { power_kw: 0 }), 'hour_locked')
  }
  const { body } = await approve(schedule_id)
  assert.equal(body.hours[13].power_kw, 0)
  assert.equal(body.hours[13].soc_end_pct, null)
  assert.equal(body.hours[19].power_kw, hours[19].power_kw)
  const [violation] = body.constraint_violations
  assert.deepEqual([violation.constraint, violation.hour], ['soc_min', 19])
  const kept = await get(schedule_id)
  assert.deepEqual(kept.constraint_violations, body.constraint_violations)
})

test('what is left of the running quarter counts for what can be followed after it', async () => {
  const { schedule_id, hours } = await propose()
  const { quarter_power_kw, soc_end_pct } = hours[13]
  assert.ok(quarter_power_kw[2] + quarter_power_kw[3] < -50, String(quarter_power_kw))
  plant.clock.set(noon + 1.5 * hour_ms)
  // The last two quarters charge it to what was planned for the end of the hour.
  const left_kwh = (quarter_power_kw[2] + quarter_power_kw[3]) / 4
  const unit1_pct = soc_end_pct + (100 * left_kwh * Math.sqrt(0.88)) / 392
  await plant.measure({ unit1_pct })
  assert.deepEqual((await approve(schedule_id)).body.constraint_violations, [])
})

test('a plan begins with what the running hour is still approved to do', async () => {
  const { schedule_id } = await propose()
  await approve(schedule_id)
  await plant.db.execute(
    `update battery_schedules
     set hours = jsonb_set(hours, '{13,quarter_power_kw}', '[0, -200, 80, 0]')
     where schedule_id = $1`,
    [schedule_id],
  )
  // Five minutes of the second quarter are left, then it discharges, then it rests.
  plant.clock.set(noon + 1.5 * hour_ms - hour_ms / 12)
  await plant.measure({ unit1_pct: 50 })
  const { inputs } = await propose()
  const one_way = Math.sqrt(0.88)
  const added_kwh = (200 / 12) * one_way - 20 / one_way
  const expected_pct = 50 + (100 * added_kwh) / 392
  assert.ok(Math.abs(inputs.soc_start_pct - expected_pct) < 1e-3, `${inputs.soc_start_pct} %`)
})

test('a new proposal takes the place of the open one of its unit and day alone', async () => {
  const ids: number[] = []
  for (const bess_id of [1, 2]) {
    for (const target_date of [today, tomorrow]) {
      ids.push((await propose({ target_date }, bess_id)).schedule_id)
    }
  }
  const { schedule_id } = await propose({ objective: 'combined' })
  const statuses = await Promise.all(ids.map(async (id) => (await get(id)).status))
  assert.deepEqual(statuses, ['superseded', 'proposed', 'proposed', 'proposed'])
  const { version, superseded_by } = await get(ids[0]!)
  assert.deepEqual([version, superseded_by], [2, schedule_id])
  const listed = await plant.call('GET', '/bess/1/schedules')
  assert.deepEqual(
    listed.body.data.map((one: Answer) => one.schedule_id),
    [schedule_id, ids[0]],
  )
})

test('only what is proposed can be decided on: 409 with what it is', async () => {
  const { schedule_id: approved } = await propose({ target_date: tomorrow })
  await approve(approved)
  const { schedule_id: rejected } = await propose({ target_date: tomorrow })
  const { body } = await reject(rejected, { reason: 'too much wear' })
  assert.deepEqual(
    [body.status, body.reject_reason, body.rejected_by, body.version],
    ['rejected', 'too much wear', 'control room', 2],
  )
  const { schedule_id: superseded } = await propose()
  const { schedule_id: expired } = await propose()
  const assertRefused = async (id: number, state: string) => {
    assertConflict(await approve(id), state)
    assertConflict(await reject(id), state)
    assertConflict(await revise(id, 20, { power_kw: 0 }), state)
  }
  await assertRefused(approved, 'approved')
  await assertRefused(rejected, 'rejected')
  await assertRefused(superseded, 'superseded')
  plant.clock.set(noon + 12 * hour_ms)
  await assertRefused(expired, 'expired')
  await assertRefused(approved, 'approved')
  assert.equal((await get(expired)).expires_at, null)
  const all = await post(`/bess/schedules/approve-all?target_date=${today}`)
  assert.deepEqual([all.status, all.body.approved], [200, []])
  assert.deepEqual(all.body.skipped.map(skippedAs), [[expired, 'expired', null]])
  assert.equal((await approve(999_999)).status, 404)
})

test('of another site that the key sees it is 409 with the site, of all others it is 404', async () => {
  const { schedule_id } = await propose()
  await plant.db.query(
    `insert into clients (client_id, name, modules) overriding system value
     values (77, 'stranger', '{}');
     insert into sites (site_id, client_id, name)
     select 'other', client_id, 'Other' from sites where site_id = 'park'
     union all select 'hidden', 77, 'Hidden';
     update battery_schedules set site_id = 'other'`,
  )
  const told = await approve(schedule_id)
  assertConflict(told, 'proposed')
  assert.equal(told.body.error.details.of_site_id, 'other')
  await plant.db.execute(`update battery_schedules set site_id = 'hidden'`)
  assert.equal((await approve(schedule_id)).status, 404)
})

test('approve-all is for today, and skips what it must', async () => {
  const { body: made } = await post('/bess/optimize-all')
  const { schedule_id: later } = await propose({ target_date: tomorrow })
  const [one, two] = made.data
  await plant.db.execute('update batteries set retired_at = now() where bess_id = 2')
  const { body } = await post('/bess/schedules/approve-all')
  assert.deepEqual(body.approved, [one.schedule_id])
  assert.deepEqual(body.skipped.map(skippedAs), [[two.schedule_id, 'unit_retired', null]])
  assert.equal((await get(later)).status, 'proposed')
  assertConflict(await approve(two.schedule_id), 'unit_retired')
  assert.deepEqual((await post('/bess/schedules/approve-all')).body.approved, [])
})

test('an hour is revised within its band, and the whole day follows', async () => {
  const before = await propose()
  const id = before.schedule_id
  const { min_power_kw, max_power_kw, power_kw } = before.hours[19]
  assert.ok(min_power_kw < 100 && power_kw === 200 && max_power_kw === 200)
  const { status, body } = await revise(id, 19, { power_kw: 100, note: 'less wear' })
  assert.equal(status, 200)
  assert.deepEqual([body.version, body.edited, body.edited_hours], [2, true, [19]])
  const hour = body.hours[19]
  assert.deepEqual(
    [hour.power_kw, hour.original_power_kw, hour.edited_by, hour.edit_note, hour.edited_at],
    [100, 200, 'control room', 'less wear', new Date(noon).toISOString()],
  )
  const shift = (100 * 100) / Math.sqrt(0.88) / 392
  for (const [nth, after] of body.hours.entries()) {
    if (nth < 19) assert.equal(after.soc_end_pct, before.hours[nth].soc_end_pct)
    else {
      const moved = after.soc_end_pct - before.hours[nth].soc_end_pct
      assert.ok(Math.abs(moved - shift) < 3e-3, `${moved} of hour ${nth}`)
    }
  }
  const lost = (100 * (hour.price_per_mwh - 8)) / 1000
  const net = before.totals.expected_net_amount - body.totals.expected_net_amount
  assert.ok(Math.abs(net - lost) < 1e-5)
  assert.deepEqual(await get(id), body)

  const again = await revise(id, 19, { power_kw: 150 })
  assert.deepEqual(
    [again.body.version, again.body.hours[19].original_power_kw, again.body.hours[19].edit_note],
    [3, 200, null],
  )
  for (const [power, bound] of [
    [max_power_kw + 0.01, 'max_power_kw'],
    [min_power_kw - 0.01, 'min_power_kw'],
  ] as const) {
    const refused = await revise(id, 19, { power_kw: power })
    assert.equal(refused.status, 422)
    assert.ok(Math.abs(refused.body.error.details[bound] - before.hours[19][bound]) < 2e-3)
    assert.equal(refused.body.error.details.errors[0].code, 'out_of_range')
  }
  // What was charged before would not be gone by the end: it says where, and why.
  const held = await revise(id, 19, { power_kw: max_power_kw + 0.01 })
  assert.deepEqual(
    [held.body.error.details.first_infeasible_hour, held.body.error.details.by],
    [19, 'discharge_limit'],
  )
  assertConflict(await revise(id, 12, { power_kw: 0 }), 'hour_locked')
  assertConflict(await revise(id, 3, { power_kw: 0 }), 'hour_locked')
  const alias = await revise(id, 19, { target_kw: 100 })
  assert.deepEqual(alias.body.error.details.errors.map(({ code }: Answer) => code).sort(), [
    'required',
    'unknown_field',
  ])
  assert.equal((await get(id)).version, 3)
})

test('a revision over what has changed since is 412, and so is a decision', async () => {
  const { schedule_id } = await propose()
  const path = `/bess/schedules/${schedule_id}`
  const seen = (await plant.call('GET', path)).headers.get('etag')!
  assert.equal((await revise(schedule_id, 20, { power_kw: 0 }, { 'if-match': seen })).status, 200)
  const stale = await revise(schedule_id, 21, { power_kw: 0 }, { 'if-match': seen })
  assert.deepEqual([stale.status, stale.body.error.code], [412, 'precondition_failed'])
  const decide = async (verb: string, etag: string) => {
    const answer = await fetch(
      `http://127.0.0.1:${plant.port}/v1/sites/${site_id}${path}/${verb}`,
      {
        method: 'POST',
        headers: { authorization: plant.authorization, 'if-match': etag },
      },
    )
    return answer.status
  }
  assert.equal(await decide('approve', seen), 412)
  assert.equal(await decide('reject', seen), 412)
  const now = (await plant.call('GET', path)).headers.get('etag')!
  assert.equal(await decide('approve', now), 200)
})

test('of two at once one approves, one is told; two proposals leave one open', async () => {
  const other = await plant.replica()
  const { schedule_id } = await propose()
  const answers = await Promise.all(
    [plant, other, plant].map((one) => one.call('POST', `/bess/schedules/${schedule_id}/approve`)),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409])
  const made = await Promise.all(
    [plant, other, plant, other].map((one) => one.call('POST', '/bess/1/optimize', {})),
  )
  assert.deepEqual(
    made.map(({ status }) => status),
    [201, 201, 201, 201],
  )
  const { body } = await plant.call('GET', '/bess/1/schedules')
  const open = body.data.filter(({ status }: Answer) => status === 'proposed')
  assert.equal(open.length, 1)
  const first = open[0].schedule_id
  const raced = await Promise.all([
    approve(first),
    post('/bess/1/optimize', {}),
    reject(first),
    approve(first),
  ])
  const [yes, , no, twice] = raced.map(({ status }) => status)
  assert.ok([yes, no, twice].filter((status) => status === 200).length <= 1)
})

test('a command repeated with its key is done once', async () => {
  const [one, two] = [
    await post('/bess/1/optimize', {}, 'a'),
    await post('/bess/1/optimize', {}, 'a'),
  ]
  assert.equal(one.text, two.text)
  const { schedule_id } = one.body
  const path = `/bess/schedules/${schedule_id}/approve`
  const approved = await post(path, undefined, 'b')
  const replayed = await post(path, undefined, 'b')
  assert.deepEqual([replayed.status, replayed.text], [200, approved.text])
  assert.equal((await get(schedule_id)).version, 2)
})

test('the deviation from an approved schedule and its end are published, once each', async () => {
  const { schedule_id } = await propose()
  await approve(schedule_id)
  const tomorrows = await propose({ target_date: tomorrow })
  await approve(tomorrows.schedule_id)
  const alert = { code: 'dispatch_deviation', bess_id: 1 }
  const changes = [
    { kind: 'raised', alert },
    { kind: 'worsened', alert },
    { kind: 'raised', alert: { ...alert, code: 'battery_alarm' } },
    { kind: 'raised', alert: { ...alert, bess_id: 2 } },
  ]
  const round = { site: { site_id }, now: new Date(noon), changes }
  await plant.db.transaction((tx) => publishDeviations(tx, round as never))
  await endSchedules(plant.db, new Date(noon))
  const midnight = new Date(tomorrow)
  await endSchedules(plant.db, midnight)
  await endSchedules(plant.db, midnight)
  const events = await plant.db.query<Answer>(
    `select type, subject, record from published_events
     where type in ('schedule.deviated', 'schedule.ended') order by event_id`,
  )
  assert.deepEqual(
    events.map(({ type, subject, record }) => [type, subject, record.status]),
    [
      ['schedule.deviated', `schedule/${schedule_id}`, 'approved'],
      ['schedule.ended', `schedule/${schedule_id}`, 'failed'],
    ],
  )
})
