/** What approvals answer: the schedules that they break, and what a refused one lacks. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { addPrices } from '../server/batteries/fixtures/schedule-site.ts'
import { noon, type SchedulePlant, schedulePlant, today, tomorrow } from './schedule-plant.ts'

// biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
type Answer = any

let plant: SchedulePlant

before(async () => {
  plant = await schedulePlant()
})
after(() => plant.close())
beforeEach(async () => {
  await plant.forget()
  await addPrices(plant.db, { date: today, hours: 72 })
})

const post = (path: string, body?: object) => plant.call('POST', path, body)
const propose = async (body: object = {}): Promise<Answer> => {
  const made = await post('/bess/1/optimize', body)
  assert.equal(made.status, 201, made.text)
  return made.body
}
const approve = async (id: number): Promise<Answer> => {
  const { status, body, text } = await post(`/bess/schedules/${id}/approve`)
  assert.equal(status, 200, text)
  return body
}
const refusedApproval = async (id: number): Promise<Answer> => {
  const { status, body } = await post(`/bess/schedules/${id}/approve`)
  assert.deepEqual([status, body.error.code], [409, 'conflict_state'])
  return body.error.details
}
const get = async (id: number): Promise<Answer> =>
  (await plant.call('GET', `/bess/schedules/${id}`)).body

/** Tomorrow is approved from a full end of today; a plan that ends today empty is proposed. */
async function chain() {
  await approve((await propose({ soc_end_target_pct: 90 })).schedule_id)
  const next = await propose({ target_date: tomorrow, soc_end_target_pct: 85 })
  const approved = await approve(next.schedule_id)
  assert.deepEqual(approved.broken_schedules, [])
  return { next, empty: await propose({ soc_end_target_pct: 10 }) }
}

async function assertBroken(broken: Answer, { next, empty }: Answer) {
  const now = await get(next.schedule_id)
  const [violation] = now.constraint_violations
  assert.deepEqual(broken, [
    {
      schedule_id: next.schedule_id,
      bess_id: 1,
      target_date: tomorrow,
      constraint: violation.constraint,
      hour: violation.hour,
      soc_start_pct: empty.hours.at(-1).soc_end_pct,
      previous_soc_start_pct: next.inputs.soc_start_pct,
    },
  ])
}

test('an approval names the approved schedules of later days that it breaks', async () => {
  const plans = await chain()
  const { broken_schedules } = await approve(plans.empty.schedule_id)
  await assertBroken(broken_schedules, plans)
  // They stay broken, and are named again, until their day is planned anew.
  const again = await propose({ soc_end_target_pct: 10 })
  const [one] = (await approve(again.schedule_id)).broken_schedules
  assert.equal(one.schedule_id, plans.next.schedule_id)
  const mended = await propose({ target_date: tomorrow })
  await approve(mended.schedule_id)
  const last = await propose({ soc_end_target_pct: 10 })
  assert.deepEqual((await approve(last.schedule_id)).broken_schedules, [])
})

test('approve-all names them too', async () => {
  const plans = await chain()
  const { status, body } = await post(`/bess/schedules/approve-all?target_date=${today}`)
  assert.deepEqual([status, body.approved], [200, [plans.empty.schedule_id]])
  await assertBroken(body.broken_schedules, plans)
})

test('a later day that can be followed from the new start is not broken', async () => {
  await approve((await propose({ soc_end_target_pct: 60 })).schedule_id)
  const next = await propose({ target_date: tomorrow, soc_end_target_pct: 20 })
  const hours = next.hours.map((one: Answer) => ({
    ...one,
    power_kw: 0,
    quarter_power_kw: null,
  }))
  await plant.db.execute('update battery_schedules set hours = $2 where schedule_id = $1', [
    next.schedule_id,
    JSON.stringify(hours),
  ])
  await approve(next.schedule_id)
  const other = await propose({ soc_end_target_pct: 50 })
  assert.deepEqual((await approve(other.schedule_id)).broken_schedules, [])
})

test('a refused approval says why, and what would make it one that can be approved', async () => {
  const { next, empty } = await chain()
  const open = await propose({ target_date: tomorrow, soc_end_target_pct: 85 })
  await approve(empty.schedule_id)
  const infeasible = await refusedApproval(open.schedule_id)
  const [{ constraint, hour }] = (await get(open.schedule_id)).constraint_violations
  assert.deepEqual(infeasible, {
    schedule_id: open.schedule_id,
    current_state: 'infeasible',
    allowed: ['feasible'],
    constraint,
    hour,
    by_kw: null,
    soc_start_pct: empty.hours.at(-1).soc_end_pct,
    message: `The unit cannot follow hour ${hour} from the state of charge that the day begins with (${constraint}).`,
    remedy:
      'Optimise the unit for this day again, or revise hours of this schedule, and approve that.',
  })
  // The remedy helps.
  const fresh = await propose({ target_date: tomorrow })
  const replaced = await refusedApproval(open.schedule_id)
  assert.deepEqual(
    [replaced.current_state, replaced.superseded_by, replaced.remedy],
    ['superseded', fresh.schedule_id, `Decide on schedule ${fresh.schedule_id} instead.`],
  )
  await approve(fresh.schedule_id)
  assert.equal((await get(next.schedule_id)).status, 'superseded')
  const twice = await refusedApproval(fresh.schedule_id)
  assert.equal(twice.message, 'The schedule is approved already.')
  plant.clock.set(noon + 60 * hour_ms)
  const over = await refusedApproval(fresh.schedule_id)
  assert.equal(over.current_state, 'failed')
  assert.match(over.remedy, /Optimise the unit/)
})

test('beyond the export limit it says by how much, and approve-all says the same', async () => {
  const { schedule_id, hours } = await propose({ target_date: tomorrow })
  await plant.limitExport(150)
  const first = hours.find(({ power_kw }: Answer) => power_kw > 150)
  const refused = await refusedApproval(schedule_id)
  assert.deepEqual([refused.current_state, refused.hour], ['export_limit', first.hour])
  assert.ok(refused.by_kw > 0)
  assert.equal(
    refused.remedy,
    `Lower hour ${first.hour} by ${refused.by_kw} kW here or at another unit of the connection, ` +
      'or optimise all units again.',
  )
  const all = await post(`/bess/schedules/approve-all?target_date=${tomorrow}`)
  const { message, remedy } = refused
  assert.deepEqual(all.body, {
    approved: [],
    skipped: [{ schedule_id, code: 'export_limit', hour: first.hour, message, remedy }],
    broken_schedules: [],
  })
  assert.equal(all.status, 200)
})

test('a unit out of service and a schedule of another site say what to do', async () => {
  const { schedule_id } = await propose()
  await plant.db.execute('update batteries set retired_at = now() where bess_id = 1')
  const retired = await refusedApproval(schedule_id)
  assert.equal(retired.remedy, 'Put the unit back into site.yaml, or reject the schedule.')
  await plant.db.execute('update batteries set retired_at = null where bess_id = 1')
  const rejected = await post(`/bess/schedules/${schedule_id}/reject`)
  assert.equal(rejected.status, 200)
  const { current_state, message } = await refusedApproval(schedule_id)
  assert.deepEqual([current_state, message], ['rejected', 'The schedule was rejected.'])
})
