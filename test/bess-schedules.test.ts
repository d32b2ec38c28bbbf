/** Plans of batteries over HTTP: what is proposed, what it says of itself, what keeps it back. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { addPrices, day_prices, priceAt } from '../server/batteries/fixtures/schedule-site.ts'
import {
  day_after,
  market_code,
  noon,
  type SchedulePlant,
  schedulePlant,
  site_id,
  today,
  tomorrow,
} from './schedule-plant.ts'

let plant: SchedulePlant

before(async () => {
  plant = await schedulePlant()
})
after(() => plant.close())
beforeEach(() => plant.forget())

// biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
type Answer = any
const optimize = (body: object = {}, bess_id = 1) =>
  plant.call('POST', `/bess/${bess_id}/optimize`, body)
const near = (actual: number, expected: number, off: number, what = '') =>
  assert.ok(Math.abs(actual - expected) <= off, `${what} ${actual}, not ${expected}`)

/** What the state of charge, energy and money of open hours must come to, told independently. */
function assertAddsUp(schedule: Answer, capacity_kwh: number, one_way: number) {
  let soc_pct = schedule.inputs.soc_start_pct
  let [charged, discharged] = [0, 0]
  for (const hour of schedule.hours) {
    const energies = hour.quarter_power_kw?.map((power: number) => power / 4) ?? [hour.energy_kwh]
    for (const kwh of energies) {
      charged += Math.max(0, -kwh)
      discharged += Math.max(0, kwh)
    }
    if (hour.locked) continue
    near(hour.soc_start_pct, soc_pct, 2e-3, `soc_start_pct of ${hour.hour}`)
    for (const kwh of energies) {
      soc_pct += (100 * (kwh < 0 ? -kwh * one_way : -kwh / one_way)) / capacity_kwh
    }
    near(hour.soc_end_pct, soc_pct, 2e-3, `soc_end_pct of ${hour.hour}`)
    assert.ok(hour.soc_end_pct >= schedule.inputs.soc_min_pct - 1e-3)
    assert.ok(hour.soc_end_pct <= schedule.inputs.soc_max_pct + 1e-3)
    assert.ok(hour.min_power_kw <= hour.power_kw && hour.power_kw <= hour.max_power_kw)
  }
  const { totals } = schedule
  near(totals.charge_kwh, charged, 1e-3)
  near(totals.discharge_kwh, discharged, 1e-3)
  const sum = schedule.hours.reduce((total: number, one: Answer) => total + one.expected_amount, 0)
  near(totals.expected_net_amount, sum - totals.expected_degradation_amount, 1e-6)
  near(
    totals.expected_net_amount,
    totals.expected_revenue_amount - totals.expected_cost_amount,
    1e-6,
  )
}

test('a day is planned: it buys where it is cheap, sells where it is dear, and adds up', async () => {
  await addPrices(plant.db, { date: tomorrow })
  const { status, body } = await optimize({ target_date: tomorrow })
  assert.equal(status, 201)
  assert.deepEqual([body.status, body.version, body.target_date], ['proposed', 1, tomorrow])
  assert.equal(body.optimizer.solver_status, 'optimal')
  assertAddsUp(body, 392, Math.sqrt(0.88))
  assert.deepEqual(
    body.hours.map((hour: Answer) => [hour.price_per_mwh, hour.locked]),
    day_prices.map((price) => [price, false]),
  )
  const powers = body.hours.map((hour: Answer) => hour.power_kw)
  assert.equal(powers[13], -200)
  assert.equal(powers[19], 200)
  assert.ok(body.totals.cycles <= 1.5)
  // No price is known after the day, and what is left is worth less than its last hours pay.
  near(body.hours.at(-1).soc_end_pct, 10, 0.01)
  const read = await plant.call('GET', `/bess/schedules/${body.schedule_id}`)
  assert.deepEqual(read.body, body)
  const listed = await plant.call('GET', `/bess/1/schedules?target_date=${tomorrow}`)
  assert.deepEqual(listed.body, { data: [body], meta: { count: 1, next_cursor: null } })
})

test('quarters of prices are quarters of the plan, within every hour', async () => {
  await addPrices(plant.db, { date: tomorrow, minutes: 15 })
  const { body } = await optimize({ target_date: tomorrow })
  assert.equal(body.inputs.price_step_min, 15)
  assertAddsUp(body, 392, Math.sqrt(0.88))
  for (const { hour, price_per_mwh, quarter_power_kw, power_kw, expected_amount } of body.hours) {
    near(price_per_mwh, day_prices[hour]!, 1e-9)
    const mean = quarter_power_kw.reduce((a: number, b: number) => a + b, 0) / 4
    assert.equal(power_kw, Math.trunc(Math.round(mean * 1e6) / 1e3) / 1e3, 'whole watts')
    const worth = quarter_power_kw.reduce((sum: number, power: number, nth: number) => {
      return sum + ((power / 4) * priceAt(hour * hour_ms + (nth * hour_ms) / 4, 15)) / 1000
    }, 0)
    near(expected_amount, worth, 1e-5)
  }
  const split = body.hours.filter((one: Answer) => new Set(one.quarter_power_kw).size > 1)
  assert.ok(split.length > 0, 'no hour has quarters of its own')
})

test('without a date it is for today: what has passed stays as it was', async () => {
  await addPrices(plant.db, { date: today })
  plant.clock.set(noon + hour_ms / 3)
  await plant.measure({ unit1_pct: 30 })
  const first = (await optimize()).body
  assert.equal(first.target_date, today)
  assert.deepEqual(
    first.hours.map((hour: Answer) => hour.locked),
    day_prices.map((_, hour) => hour <= 12),
  )
  assert.ok(first.hours.slice(0, 13).every((hour: Answer) => hour.power_kw === 0))
  assert.equal(first.inputs.planned_from_at, '2026-06-21T13:00:00.000Z')
  assert.equal(first.inputs.soc_start_pct, 30)
  await plant.call('POST', `/bess/schedules/${first.schedule_id}/approve`)

  plant.clock.set(noon + 1.5 * hour_ms)
  await plant.measure({ unit1_pct: 50 })
  const again = (await optimize()).body
  // The running hour goes on as approved: half an hour of it adds to what is measured.
  assert.equal(first.hours[13].power_kw, -200)
  assert.equal(again.hours[13].power_kw, -200)
  near(again.inputs.soc_start_pct, 50 + (100 * 100 * Math.sqrt(0.88)) / 392, 1e-3)
  assert.deepEqual([again.hours[13].min_power_kw, again.hours[13].max_power_kw], [-200, -200])
  assert.equal(again.inputs.soc_end_target_pct, first.hours.at(-1).soc_end_pct)
  assertAddsUp(again, 392, Math.sqrt(0.88))
})

test('what the day began with and has done already counts', async () => {
  await addPrices(plant.db, { date: today })
  const [start] = await plant.db.query<{ discharged_total_kwh: number }>(
    'select discharged_total_kwh from bess_latest where bess_id = 1',
  )
  await plant.db.execute(
    `insert into bess_readings (site_id, bess_id, measured_at, quality, soc_pct,
       discharged_total_kwh) values ($1, 1, '2026-06-21T00:00:20Z', 'good', 44, $2)`,
    [site_id, start!.discharged_total_kwh - 400],
  )
  const steady = await optimize({ objective: 'capacity_firming' })
  assert.equal(steady.body.inputs.soc_end_target_pct, 44)
  const { body } = await optimize()
  // 1.5 cycles of 352.8 kWh for the day; 400 kWh that were given had been drawn with losses.
  const left = 1.5 * 352.8 - 400 / Math.sqrt(0.88)
  near(body.totals.discharge_kwh, left * Math.sqrt(0.88), 0.05)
})

test('too many plans at once are told to come again', async () => {
  await addPrices(plant.db, { date: tomorrow })
  const answers = await Promise.all(
    day_prices.slice(0, 12).map(() => optimize({ target_date: tomorrow })),
  )
  const statuses = answers.map(({ status }) => status)
  assert.ok(statuses.includes(201) && statuses.includes(503), String(statuses))
  const refused = answers.find(({ status }) => status === 503)!
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  assert.equal((await optimize({ target_date: tomorrow })).status, 201)
})

test('the day that follows begins where the approved schedule of the day ends', async () => {
  await addPrices(plant.db, { date: today, hours: 48 })
  const { body } = await optimize({ soc_end_target_pct: 77 })
  const measured = await optimize({ target_date: tomorrow })
  assert.deepEqual(measured.body.inputs.soc_start_source, 'measured')
  await plant.call('POST', `/bess/schedules/${body.schedule_id}/approve`)
  const followed = (await optimize({ target_date: tomorrow })).body
  assert.equal(followed.inputs.soc_start_source, 'approved_schedule')
  assert.equal(followed.inputs.soc_start_pct, body.hours.at(-1).soc_end_pct)
  assert.ok(followed.inputs.soc_start_pct >= 77 - 1e-3)
})

test('a hole in published prices is 409 with the missing hours, and so is no price at all', async () => {
  const none = await optimize({ target_date: tomorrow })
  assert.equal(none.status, 409)
  assert.equal(none.body.error.code, 'conflict_state')
  assert.equal(none.body.error.details.current_state, 'no_price')
  assert.deepEqual(
    none.body.error.details.missing_hours,
    day_prices.map((_, hour) => hour),
  )
  await addPrices(plant.db, { date: tomorrow, minutes: 15, without: [5, 17] })
  const hole = await optimize({ target_date: tomorrow })
  assert.deepEqual(
    [hole.status, hole.body.error.details.current_state, hole.body.error.details.missing_hours],
    [409, 'price_hole', [5, 17]],
  )
  const all = await plant.call('POST', '/bess/optimize-all', { target_date: tomorrow })
  assert.deepEqual([all.status, all.body.error.details.current_state], [409, 'price_hole'])
  assert.deepEqual(
    all.body.error.details.skipped.map(({ bess_id, code, details }: Answer) => {
      return [bess_id, code, details.missing_hours]
    }),
    [
      [1, 'price_hole', [5, 17]],
      [2, 'price_hole', [5, 17]],
    ],
  )
  assert.equal((await plant.db.query('select from battery_schedules')).length, 0)
})

test('a hole before the hours that are open keeps nobody from planning them', async () => {
  await addPrices(plant.db, { date: today, without: [5] })
  const { status, body } = await optimize()
  assert.equal(status, 201)
  assert.equal(body.hours[5].price_per_mwh, null)
  assert.equal(body.inputs.price_status, 'published')
})

test('beyond the published prices the plan goes by the forecast, else it is idle', async () => {
  await addPrices(plant.db, { date: tomorrow, hours: 22 })
  const idle = (await optimize({ target_date: tomorrow })).body
  assert.equal(idle.inputs.price_status, 'incomplete')
  for (const hour of idle.hours.slice(22)) {
    assert.deepEqual(
      [hour.price_per_mwh, hour.power_kw, hour.action, hour.expected_amount],
      [null, 0, 'idle', null],
    )
  }
  assert.ok(idle.totals.expected_net_amount > 0)

  await forecastPrices(day_after, [400, 400])
  const { body } = await optimize({ target_date: tomorrow })
  assert.deepEqual(
    [body.inputs.price_status, body.inputs.price_source],
    ['published_and_forecast', 'csv'],
  )
  assert.deepEqual(
    [22, 23].map((hour) => body.hours[hour].price_per_mwh),
    [400, 400],
  )
  // All that it holds, for prices fall after that.
  const sold = body.hours[22].power_kw + body.hours[23].power_kw
  near(sold, 392 * 0.85 * Math.sqrt(0.88), 0.03)

  const far = (await optimize({ target_date: day_after })).body
  assert.equal(far.inputs.price_source, 'price_forecast')
  assert.deepEqual(
    [21, 22].map((hour) => far.hours[hour].price_per_mwh),
    [20, null],
  )
})

/** A delivery day of the market, by its own clock: its first prices, and 20 after them. */
async function forecastPrices(delivery_date: string, first: readonly number[]) {
  const made = new Date(noon - hour_ms)
  await plant.db.execute(
    `insert into price_models (market_code, version, trained_at, state, facts, scores)
     values ($1, 1, $2, 'in_use', '{}', '{}')`,
    [market_code, made],
  )
  const prices = day_prices.map((_, hour) => first[hour] ?? 20)
  await plant.db.execute(
    `insert into price_runs (market_code, delivery_date, issued_at, is_hindcast, model_version,
       known_until_at, start_at, resolution_minutes, p10_price, p50_price, p90_price,
       negative_probability)
     values ($1, $2, $3, false, 1, $3, $4, 60, $5, $5, $5, $6)`,
    [
      market_code,
      delivery_date,
      made,
      new Date(Date.parse(delivery_date) - 2 * hour_ms),
      prices,
      prices.map(() => null),
    ],
  )
}

test('a day leaves what prices after it are worth, unless somebody set its end', async () => {
  await addPrices(plant.db, { date: tomorrow, hours: 22 })
  // The last two hours of the day are the first of the delivery day that follows.
  await forecastPrices(day_after, [20, 20, 400, 400])
  const kept = (await optimize({ target_date: tomorrow })).body
  assert.deepEqual([kept.hours.length, kept.optimizer.solver_status], [24, 'optimal'])
  near(kept.hours.at(-1).soc_end_pct, 95, 0.01)
  near(kept.inputs.soc_end_target_pct, 95, 0.01)
  await plant.db.execute('update price_runs set p10_price = array_fill(20, array[24])')
  const unsure = (await optimize({ target_date: tomorrow })).body
  near(unsure.hours.at(-1).soc_end_pct, 10, 0.01)
  const asked = (await optimize({ target_date: tomorrow, soc_end_target_pct: 30 })).body
  near(asked.hours.at(-1).soc_end_pct, 30, 0.01)
  assert.equal(asked.inputs.soc_end_target_pct, 30)
  const steady = (await optimize({ target_date: tomorrow, objective: 'capacity_firming' })).body
  assert.equal(steady.inputs.soc_end_target_pct, 60)
})

test('what the unit cannot reach is 422 and names what bounds it', async () => {
  await addPrices(plant.db, { date: today })
  const beyond = await optimize({ soc_end_target_pct: 99 })
  assert.deepEqual([beyond.status, beyond.body.error.code], [422, 'validation_error'])
  const { errors, bound_by, reachable_soc_end_pct } = beyond.body.error.details
  assert.deepEqual([errors[0].field, errors[0].code], ['soc_end_target_pct', 'infeasible'])
  assert.deepEqual(bound_by, ['soc_max'])
  near(reachable_soc_end_pct, 95, 0.01)
  plant.clock.set(noon + 10.5 * hour_ms)
  await plant.measure({ unit1_pct: 20, unit2_pct: 60 })
  const late = await optimize({ soc_end_target_pct: 90 })
  assert.deepEqual([late.status, late.body.error.details.bound_by], [422, ['charge_limit']])
  near(
    late.body.error.details.reachable_soc_end_pct,
    20 + (100 * 200 * Math.sqrt(0.88)) / 392,
    0.01,
  )
  const all = await plant.call('POST', '/bess/optimize-all', { soc_end_target_pct: 89 })
  assert.deepEqual(
    all.body.skipped.map((one: Answer) => [one.bess_id, one.code, one.details.bound_by]),
    [[1, 'infeasible', ['charge_limit']]],
  )
  assert.deepEqual(
    all.body.data.map(({ bess_id }: Answer) => bess_id),
    [2],
  )
})

test('who cannot be planned is told why: unknown, retired, unmeasured, too late, too far', async () => {
  await addPrices(plant.db, { date: today, hours: 48 })
  assert.equal((await optimize({}, 99)).status, 404)
  for (const target_date of ['2026-06-20', '2026-06-24']) {
    const { status, body } = await optimize({ target_date })
    assert.equal(status, 422)
    assert.equal(body.error.details.errors[0].field, 'target_date')
  }
  const unknown = await optimize({ soc_target: 50 })
  assert.equal(unknown.body.error.details.errors[0].code, 'unknown_field')
  plant.clock.pass(31_000)
  const stale = await optimize()
  assert.deepEqual(
    [stale.status, stale.body.error.details.current_state, stale.body.error.details.age_s],
    [409, 'telemetry_stale', 31],
  )
  plant.clock.set(noon + 11.5 * hour_ms)
  await plant.measure()
  assert.equal((await optimize()).body.error.details.current_state, 'no_hours_left')
  await plant.db.execute('update batteries set retired_at = now() where bess_id = 1')
  const gone = await optimize({ target_date: tomorrow })
  assert.deepEqual([gone.status, gone.body.error.details.current_state], [409, 'retired'])
})

test('units share what the plans may feed in with the plants, whose forecast counts', async () => {
  await addPrices(plant.db, { date: tomorrow })
  await plant.limitExport(180)
  const pv = day_prices.map((_, hour) => (hour > 5 && hour < 21 ? 120 : 0))
  await plant.db.execute(
    `insert into forecast_runs (site_id, target, target_date, issued_at, model, weather_source,
       resolution_minutes, p10_kw, p50_kw, p90_kw, poa_irradiance_w_m2, ambient_temperature_c,
       cloud_cover_pct, is_night, total_p10_kwh, total_p50_kwh, total_p90_kwh, confidence)
     values ($1, 'site', $2, $3, 'physical', 'test', 60, $4, $4, $4, $4::float8[]::real[],
       $4::float8[]::real[], $4::float8[]::real[], array_fill(false, array[24]), 1, 1, 1, 'high')`,
    [site_id, tomorrow, new Date(noon - hour_ms), pv],
  )
  const { body } = await plant.call('POST', '/bess/optimize-all', { target_date: tomorrow })
  const [one, two] = body.data
  const sums = day_prices.map((_, hour) => one.hours[hour].power_kw + two.hours[hour].power_kw)
  for (const [hour, sum] of sums.entries()) {
    assert.equal(one.hours[hour].pv_forecast_kw, pv[hour])
    assert.ok(sum + pv[hour]! <= 180 + 2e-3, `${sum} kW at ${hour}`)
  }
  near(sums[19]!, 60, 2e-3)
  near(sums[21]!, 180, 2e-3)
  const without = pv.reduce<number>(
    (sum, power, hour) => sum + (power * day_prices[hour]!) / 1000,
    0,
  )
  near(one.totals.expected_without_battery_amount, without, 1e-4)
  const gain = one.totals.expected_connection_amount - without
  const ageing = (unit: Answer) => unit.totals.expected_degradation_amount
  const own = [one, two].map((unit) => unit.totals.expected_net_amount + ageing(unit))
  near(gain, own[0]! + own[1]!, 1e-4)
  // One alone leaves what the other is to do, here by its open proposal.
  const alone = (await optimize({ target_date: tomorrow }, 2)).body
  for (const [hour, { power_kw }] of alone.hours.entries()) {
    assert.ok(power_kw + one.hours[hour].power_kw + pv[hour]! <= 180 + 2e-3)
  }
})

test('the power falls as the datasheet says, at the beginning and the end of each step', async () => {
  await addPrices(plant.db, { date: tomorrow, minutes: 15 })
  const curve = [
    { soc_pct: 0, max_charge_power_kw: 200, max_discharge_power_kw: 20 },
    { soc_pct: 30, max_charge_power_kw: 200, max_discharge_power_kw: 200 },
    { soc_pct: 70, max_charge_power_kw: 200, max_discharge_power_kw: 200 },
    { soc_pct: 100, max_charge_power_kw: 20, max_discharge_power_kw: 200 },
  ]
  await plant.db.execute('update batteries set power_curve = $1 where bess_id = 1', [
    JSON.stringify(curve),
  ])
  const { body } = await optimize({ target_date: tomorrow })
  assertAddsUp(body, 392, Math.sqrt(0.88))
  let [soc_pct, bound] = [body.inputs.soc_start_pct, 0]
  for (const power of body.hours.flatMap((hour: Answer) => hour.quarter_power_kw)) {
    const before_pct = soc_pct
    soc_pct -= (25 * power * (power < 0 ? Math.sqrt(0.88) : 1 / Math.sqrt(0.88))) / 392
    for (const at of [before_pct, soc_pct]) {
      const charge_kw = Math.min(200, 20 + 6 * (100 - at))
      const discharge_kw = Math.min(200, 20 + 6 * at)
      assert.ok(-power <= charge_kw + 0.02 && power <= discharge_kw + 0.02, `${power} at ${at} %`)
      if (power < -1 && charge_kw < 200 && -power > charge_kw - 0.5) bound += 1
      if (power > 1 && discharge_kw < 200 && power > discharge_kw - 0.5) bound += 1
    }
  }
  assert.ok(bound > 2, 'the curve bound nothing')
})

test('what the inventory does not tell is assumed, and said to be', async () => {
  await addPrices(plant.db, { date: tomorrow })
  const [one, two] = (await plant.call('POST', '/bess/optimize-all', { target_date: tomorrow }))
    .body.data
  assert.deepEqual([one.inputs.efficiency_pct, one.inputs.efficiency_is_assumed], [88, false])
  assert.deepEqual([two.inputs.efficiency_pct, two.inputs.efficiency_is_assumed], [85, true])
  assertAddsUp(two, 100, Math.sqrt(0.85))
})
