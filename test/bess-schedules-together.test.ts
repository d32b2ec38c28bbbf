/** Plans of one site hang together: what one unit is revised to, the others have less of. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { powerAt } from '@heliograph/domain/dispatch'
import { hour_ms } from '@heliograph/domain/durations'
import { addPrices, day_prices } from '../server/batteries/fixtures/schedule-site.ts'
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
beforeEach(() => plant.forget())

// biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
type Answer = any
const post = (path: string, body?: object) => plant.call('POST', path, body)
const propose = async (body: object = {}, bess_id = 1): Promise<Answer> => {
  const made = await post(`/bess/${bess_id}/optimize`, body)
  assert.equal(made.status, 201, made.text)
  return made.body
}
const proposeAll = async (body: object): Promise<Answer[]> => {
  const made = await post('/bess/optimize-all', body)
  assert.equal(made.status, 201, made.text)
  return made.body.data
}
const approve = (id: number) => post(`/bess/schedules/${id}/approve`)
const approveAll = async (date: string): Promise<Answer> =>
  (await post(`/bess/schedules/approve-all?target_date=${date}`)).body
const skippedAs = ({ schedule_id, code, hour }: Answer) => [schedule_id, code, hour]
const get = async (id: number): Promise<Answer> =>
  (await plant.call('GET', `/bess/schedules/${id}`)).body
const revise = (id: number, hour: number, power_kw: number) =>
  plant.put(`/bess/schedules/${id}/hours/${hour}`, { power_kw }, {})

/** The highest sum of what is approved for a day, kW. */
async function approvedPeak(date: string): Promise<number> {
  const sums = day_prices.map(() => 0)
  for (const bess_id of [1, 2]) {
    const { body } = await plant.call('GET', `/bess/${bess_id}/schedules?target_date=${date}`)
    for (const { status, hours } of body.data) {
      if (!['approved', 'dispatching', 'failed'].includes(status)) continue
      for (const { hour, power_kw } of hours) sums[hour]! += power_kw
    }
  }
  return Math.max(...sums)
}

/** As if it had been planned so: one hour of a schedule. */
const force = (schedule_id: number, hour: number, power_kw: number) =>
  plant.db.execute(
    `update battery_schedules
     set hours = jsonb_set(jsonb_set(hours, $2, to_jsonb($3::float8)), $4, 'null')
     where schedule_id = $1`,
    [schedule_id, `{${hour},power_kw}`, power_kw, `{${hour},quarter_power_kw}`],
  )

/** Both units idle tomorrow but for hour 16, under a limit; the ids of both. */
async function idleBut(unit1_kw: number, unit2_kw: number, limit_kw: number) {
  await addPrices(plant.db, { date: tomorrow })
  await plant.limitExport(limit_kw)
  // No demand of an end of the state of charge, which would leave no room to change anything.
  const [one, two] = (await proposeAll({ target_date: tomorrow })).map((made) => made.schedule_id)
  for (const hour of day_prices.keys()) {
    await force(one, hour, hour === 16 ? unit1_kw : 0)
    await force(two, hour, hour === 16 ? unit2_kw : 0)
  }
  return { one, two }
}

test('a revision has what the newest plans of the others leave, freed room too', async () => {
  const { one, two } = await idleBut(180, 20, 200)
  const bandOf = async (id: number) => (await get(id)).hours[16]
  assert.deepEqual([(await bandOf(one)).max_power_kw, (await bandOf(two)).max_power_kw], [180, 20])
  assert.equal((await revise(one, 16, 180.5)).status, 422)
  // Less of one is more of the other, at once and where it is read.
  assert.equal((await revise(one, 16, 175)).status, 200)
  assert.equal((await bandOf(two)).max_power_kw, 25)
  assert.equal((await revise(two, 16, 25.5)).status, 422)
  assert.equal((await revise(two, 16, 25)).status, 200)
  // What is taken is gone.
  const refused = await revise(one, 16, 180)
  assert.deepEqual([refused.status, refused.body.error.details.max_power_kw], [422, 175])
  assert.deepEqual((await approveAll(tomorrow)).skipped, [])
  assert.equal(await approvedPeak(tomorrow), 200)
})

test('of two revisions at once for the same room one is refused', async () => {
  const { one, two } = await idleBut(170, 20, 200)
  const answers = await Promise.all([revise(one, 16, 180), revise(two, 16, 30)])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422])
})

test('hours that others left no room for are mended one after the other', async () => {
  const { one, two } = await idleBut(180, 0, 200)
  await force(one, 17, 50)
  for (const hour of [16, 17]) await force(two, hour, 30)
  await plant.limitExport(70)
  assert.equal((await revise(one, 16, 20)).status, 200)
  assert.equal((await revise(one, 17, 20)).status, 200)
  assert.deepEqual((await get(one)).constraint_violations, [])
})

test('an approval that breaks the limit is 409 with its hour, and approve-all leaves it out', async () => {
  await addPrices(plant.db, { date: tomorrow })
  await plant.limitExport(210)
  const [one, two] = await proposeAll({ target_date: tomorrow })
  for (const { hour } of two.hours) await force(two.schedule_id, hour, hour === 16 ? 30 : 0)
  await force(one.schedule_id, 16, 200)
  const told = await get(two.schedule_id)
  assert.deepEqual(
    told.constraint_violations.map(({ constraint, hour }: Answer) => [constraint, hour]),
    [['export_limit', 16]],
  )
  const all = await approveAll(tomorrow)
  assert.deepEqual(all.approved, [one.schedule_id])
  assert.deepEqual(all.skipped.map(skippedAs), [[two.schedule_id, 'export_limit', 16]])
  const { status, body } = await approve(two.schedule_id)
  assert.equal(status, 409)
  const { current_state, hour, by_kw } = body.error.details
  assert.deepEqual([current_state, hour, by_kw], ['export_limit', 16, 20])
  assert.ok((await approvedPeak(tomorrow)) <= 210 + 2e-3)
  // Repaired, it can be.
  assert.equal((await revise(two.schedule_id, 16, 0)).status, 200)
  assert.equal((await approve(two.schedule_id)).status, 200)
})

test('a limit that was lowered since holds for what was planned before', async () => {
  await addPrices(plant.db, { date: tomorrow })
  const { schedule_id } = await propose({ target_date: tomorrow })
  await plant.limitExport(150)
  assert.equal((await get(schedule_id)).inputs.export_plan_limit_kw, 150)
  assert.equal((await approve(schedule_id)).body.error.details.current_state, 'export_limit')
})

test('tomorrow begins where today is approved to end, whatever is approved later', async () => {
  await addPrices(plant.db, { date: today, hours: 48 })
  const full = await propose({ soc_end_target_pct: 90 })
  await approve(full.schedule_id)
  const next = await propose({ target_date: tomorrow, soc_end_target_pct: 85 })
  assert.ok(next.inputs.soc_start_pct >= 90 - 1e-3)
  await approve(next.schedule_id)
  const open = await propose({ target_date: tomorrow, soc_end_target_pct: 85 })

  // Today is to end nearly empty now: what is approved and what is proposed says so.
  const empty = await propose({ soc_end_target_pct: 10 })
  const end_pct = empty.hours.at(-1).soc_end_pct
  assert.ok(end_pct < 40, `${end_pct} %`)
  assert.equal((await approve(empty.schedule_id)).status, 200)
  for (const before of [next, open]) {
    const now = await get(before.schedule_id)
    assert.equal(now.version, before.schedule_id === next.schedule_id ? 3 : 2)
    assert.equal(now.inputs.soc_start_pct, end_pct)
    assert.equal(now.hours[0].soc_start_pct, end_pct)
    assert.equal(now.constraint_violations.length, 1, JSON.stringify(now.constraint_violations))
  }
  const { status, body } = await approve(open.schedule_id)
  assert.deepEqual([status, body.error.details.current_state], [409, 'infeasible'])
  const { constraint, hour } = (await get(open.schedule_id)).constraint_violations[0]
  assert.deepEqual([body.error.details.constraint, body.error.details.hour], [constraint, hour])
  assert.deepEqual((await approveAll(tomorrow)).skipped.map(skippedAs), [
    [open.schedule_id, 'infeasible', hour],
  ])
  // A fresh plan goes on from there, and wants nothing that only the old one could leave.
  const fresh = await propose({ target_date: tomorrow })
  assert.equal(fresh.inputs.soc_end_target_pct, fresh.inputs.soc_start_pct)
  assert.deepEqual(fresh.constraint_violations, [])
  assert.equal((await approve(fresh.schedule_id)).status, 200)
})

test('what can be followed from another start is approved with the course from there', async () => {
  await addPrices(plant.db, { date: today, hours: 48 })
  const idle = await propose({ target_date: tomorrow })
  for (const { hour } of idle.hours) await force(idle.schedule_id, hour, 0)
  const { schedule_id, hours } = await propose({ soc_end_target_pct: 80 })
  await approve(schedule_id)
  const { status, body } = await approve(idle.schedule_id)
  assert.equal(status, 200)
  const end_pct = hours.at(-1).soc_end_pct
  assert.deepEqual([body.inputs.soc_start_pct, body.hours[23].soc_end_pct], [end_pct, end_pct])
  assert.equal(body.inputs.soc_start_source, 'approved_schedule')
})

test('without an approved day before, a charge far from what it was planned on is 409', async () => {
  await addPrices(plant.db, { date: tomorrow })
  const { schedule_id } = await propose({ target_date: tomorrow, soc_end_target_pct: 60 })
  plant.clock.pass(2 * hour_ms)
  await plant.measure({ unit1_pct: 59.5 })
  const near = await propose({ target_date: tomorrow, soc_end_target_pct: 59 }, 1)
  await plant.measure({ unit1_pct: 30 })
  const { status, body } = await approve(near.schedule_id)
  assert.deepEqual([status, body.error.details.current_state], [409, 'infeasible'])
  await plant.measure({ unit1_pct: 59.1 })
  assert.equal((await approve(near.schedule_id)).status, 200)
  assert.notEqual(near.schedule_id, schedule_id)
})

test('what an hour without a price is worth nobody knows', async () => {
  await addPrices(plant.db, { date: tomorrow, hours: 22 })
  const pv = day_prices.map((_, hour) => (hour > 5 && hour < 21 ? 120 : 0))
  const forecast = (kw: number[]) =>
    plant.db.execute(
      `insert into forecast_runs (site_id, target, target_date, issued_at, model, weather_source,
         resolution_minutes, p10_kw, p50_kw, p90_kw, poa_irradiance_w_m2, ambient_temperature_c,
         cloud_cover_pct, is_night, total_p10_kwh, total_p50_kwh, total_p90_kwh, confidence)
       select $1, 'site', $2, $3, 'physical', 'test', 60, $4, $4, $4, $4::float8[]::real[],
         $4::float8[]::real[], $4::float8[]::real[], array_fill(false, array[24]), 1, 1, 1, 'high'`,
      [site_id, tomorrow, new Date(noon - hour_ms + kw[22]! * 1000), kw],
    )
  await plant.limitExport(1000)
  await forecast(pv)
  const known = (await propose({ target_date: tomorrow })).totals
  assert.ok(known.expected_without_battery_amount > 0)
  assert.ok(known.expected_connection_amount > 0)
  await forecast(pv.map((kw, hour) => (hour === 22 ? 5 : kw)))
  const { totals } = await propose({ target_date: tomorrow })
  assert.equal(totals.expected_without_battery_amount, null)
  assert.equal(totals.expected_connection_amount, null)
  assert.ok(totals.expected_net_amount > 0)
})

test('powers are whole watts: what was planned can be put back, what is finer is rounded', async () => {
  await addPrices(plant.db, { date: tomorrow, minutes: 15 })
  const { schedule_id, hours, optimizer } = await propose({ target_date: tomorrow })
  assert.deepEqual([optimizer.solver_status, optimizer.gap_pct], ['optimal', 0])
  const isWhole = (kw: number) => Math.abs(kw * 1000 - Math.round(kw * 1000)) < 1e-6
  for (const one of hours) {
    for (const kw of [one.power_kw, one.min_power_kw, one.max_power_kw, ...one.quarter_power_kw]) {
      assert.ok(isWhole(kw), `${kw} kW in hour ${one.hour}`)
    }
  }
  const split = hours.filter((one: Answer) => new Set(one.quarter_power_kw).size > 1)
  assert.ok(split.length > 0)
  for (const { hour, min_power_kw, max_power_kw } of split) {
    const changed = await revise(schedule_id, hour, min_power_kw)
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    // Nobody proved that to be the best.
    const { solver_status, gap_pct } = changed.body.optimizer
    assert.deepEqual([solver_status, gap_pct], ['feasible', null])
    const { original_power_kw } = changed.body.hours[hour]
    assert.ok(original_power_kw <= max_power_kw)
    const back = await revise(schedule_id, hour, original_power_kw)
    assert.equal(back.status, 200, JSON.stringify(back.body))
    assert.equal(back.body.hours[hour].power_kw, original_power_kw)
  }
  const open = (await get(schedule_id)).hours.find(
    (one: Answer) => one.max_power_kw - one.min_power_kw > 1,
  )
  const asked = open.min_power_kw + 0.1234567
  const { body } = await revise(schedule_id, open.hour, asked)
  const done = Math.round(asked * 1000) / 1000
  assert.deepEqual(body.hours[open.hour].quarter_power_kw, [done, done, done, done])
})

test('what an hour earns can be added up from its quarters, and whose prices they are is told', async () => {
  await addPrices(plant.db, { date: tomorrow, hours: 22, minutes: 15 })
  const { hours } = await propose({ target_date: tomorrow })
  for (const one of hours.slice(0, 22)) {
    const worth = one.quarter_power_kw.reduce((sum: number, kw: number, nth: number) => {
      return sum + (kw / 4) * (one.quarter_price_per_mwh[nth] / 1000)
    }, 0)
    assert.ok(Math.abs(one.expected_amount - worth) < 1e-5)
    assert.equal(one.price_status, 'published')
  }
  for (const one of hours.slice(22)) {
    assert.deepEqual(
      [one.price_status, one.quarter_price_per_mwh],
      [null, [null, null, null, null]],
    )
  }
})

test('an idle proposal stops the unit once it is approved, the running hour too', async () => {
  await addPrices(plant.db, { date: today })
  const none = await post('/bess/1/optimize', { idle: true })
  assert.deepEqual([none.status, none.body.error.details.current_state], [409, 'nothing_approved'])
  const both = await post('/bess/1/optimize', { idle: true, soc_end_target_pct: 50 })
  assert.equal(both.status, 422)
  const { schedule_id } = await propose()
  await approve(schedule_id)
  const edge = await plant.edge()
  await untilDispatch(edge, (told) => told.length > 0)
  // In an hour that charges; nobody knows its state of charge any more, nor a price.
  const now = noon + 1.4 * hour_ms
  plant.clock.set(now)
  await plant.db.query('delete from bess_latest; delete from market_prices')
  const running = (await get(schedule_id)).hours[13]
  assert.ok(running.power_kw < -100)
  const idle = await propose({ idle: true })
  assert.equal((await get(schedule_id)).status, 'approved')
  assert.equal((await approve(idle.schedule_id)).status, 200)
  const told = await untilDispatch(edge, (hours) => hours.some(({ ended_at }) => ended_at !== null))
  const after = told.filter((hour) => hour.end_at > now)
  assert.deepEqual(
    after.map(
      (hour) => hour.schedule_id === schedule_id || powerAt(hour, Math.max(now, hour.start_at)),
    ),
    after.map((hour) => hour.schedule_id === schedule_id || 0),
  )
  assert.equal(after.filter((hour) => hour.schedule_id === idle.schedule_id).length, 11)
  assert.ok(told.every((hour) => hour.schedule_id !== schedule_id || hour.ended_at === now))
  // One that is planned in the running hour, which it has to keep, can be stopped in it too.
  await addPrices(plant.db, { date: today })
  await plant.measure()
  const again = await propose()
  assert.equal((await approve(again.schedule_id)).status, 200)
  const last = await propose({ idle: true })
  assert.ok(last.hours.slice(14).every(({ power_kw }: Answer) => power_kw === 0))
})

test('of many schedules of a day those that count and the newest are told, all are counted', async () => {
  await addPrices(plant.db, { date: tomorrow })
  const { schedule_id } = await propose({ target_date: tomorrow })
  await approve(schedule_id)
  const open = (await propose({ target_date: tomorrow })).schedule_id
  await plant.db.execute(
    `insert into battery_schedules (site_id, bess_id, target_date, state, objective, created_at,
       created_by, problem, plan, hours)
     select site_id, bess_id, target_date, 'rejected', objective, created_at, created_by, problem,
       plan, hours
     from battery_schedules, generate_series(1, 25) where schedule_id = $1`,
    [open],
  )
  const { body } = await plant.call('GET', `/bess/1/schedules?target_date=${tomorrow}`)
  const ids = body.data.map((one: Answer) => one.schedule_id)
  assert.deepEqual([ids.length, body.meta.count], [20, 27])
  assert.deepEqual(ids.slice(-2), [open, schedule_id])
  assert.deepEqual(
    ids,
    ids.toSorted((a: number, b: number) => b - a),
  )
})
