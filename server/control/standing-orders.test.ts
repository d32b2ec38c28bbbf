/** Standing orders from approval to the commands of a day, through the operations of the page. */
import assert from 'node:assert/strict'
import test, { before, beforeEach } from 'node:test'
import { hour_ms, minute_ms, quarter_ms } from '@heliograph/domain/durations'
import { listWrites } from '../access/audit.ts'
import { type Browser, platformOfFile } from '../access/fixtures/served-platform.ts'
import { storePrices } from '../markets/publications.ts'
import { planStandingOrders } from './standing-orders.ts'
import { openRows } from './store.ts'

const platform = platformOfFile()
const site_id = 'first'
/** Noon at the site; the sun shines from 03:10Z to 19:20Z. */
const now = new Date('2036-06-20T10:00:00Z')
/** The delivery day after `now`, in Brussels. */
const tomorrow_ms = Date.parse('2036-06-20T22:00Z')

let operator: Browser
before(async () => {
  operator = await platform.person('operator', 'operator@example.com')
})
beforeEach(async () => {
  platform.clock.set(new Date(platform.clock.now().getTime() + minute_ms))
  await platform.db.execute(
    `delete from standing_order_periods; delete from standing_order_days;
     delete from standing_orders; delete from curtailment_hours; delete from curtailment_rows; delete from curtailment_groups;
     delete from loggers; delete from market_assignments; delete from fees;
     delete from market_prices; delete from write_audit; delete from client_audit;
     update users set disabled_at = null; update sites set safe_mode_since_at = null,
       inventory = '{"timezone": "Europe/Berlin", "latitude": 48.6, "longitude": 12.1}';
     insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
       updated_at)
     select 'first', id, 'Plant ' || id, 100, 100, now(), now() from generate_series(1, 2) as id;
     insert into market_assignments (site_id, assignment_id, logger_id, market_code, contract_type,
       fixed_price, pays_at_negative_price, currency, valid_from)
     values ('first', 1, 1, 'BE', 'feed_in_premium', 20, false, 'EUR', '2026-01-01'),
       ('first', 2, 2, 'BE', 'spot', null, true, 'EUR', '2026-01-01')`,
  )
  platform.clock.set(now)
})

/** Day-ahead prices: `usual`, but for some spans `HH:MM-HH:MM`, in UTC of the day. */
async function publish(prices: Record<string, number>, usual: number | null = 50) {
  const at = (time: string) => Date.parse(`2036-06-21T${time}Z`)
  const special = Object.entries(prices).map(([span, price]) => {
    const [start, end] = span.split('-') as [string, string]
    return { start_ms: at(start), end_ms: at(end), price }
  })
  const periods = Array.from({ length: 96 }, (_, nth) => {
    const start_ms = tomorrow_ms + nth * quarter_ms
    const found = special.find((one) => one.start_ms <= start_ms && start_ms < one.end_ms)
    const price = found?.price ?? usual
    return price === null
      ? []
      : [{ start_ms, end_ms: start_ms + quarter_ms, price_micro: price * 1e6 }]
  }).flat()
  await platform.db.transaction((tx) =>
    storePrices(tx, {
      market_code: 'BE',
      kind: 'day_ahead',
      source: 'csv',
      document_id: null,
      published_at: null,
      fetched_at: platform.clock.now(),
      periods,
    }),
  )
}

const limit = { scope: 'logger', logger_id: 2, limit_mode: 'percent', limit_value: 1 }
const order = { site_id, ...limit, net_price_below: 0, end_date: '2036-09-30' }

async function approve(change: object = {}) {
  const body = { ...order, ...change }
  const made = await operator.ask('POST', '/platform/standing-orders', { body })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body
}

const plan = () =>
  planStandingOrders(platform.db, {
    now: platform.clock.now(),
    signal: new AbortController().signal,
  })

async function listed() {
  const { body } = await operator.ask('GET', `/platform/standing-orders?site_id=${site_id}`)
  return body.data[0]
}

const dayOf21 = async () =>
  (await listed()).days.find((one: { delivery_date: string }) => one.delivery_date === '2036-06-21')

const change = (id: number, body: object, path = '', method = 'PATCH') =>
  operator.ask(method, `/platform/standing-orders/${id}${path}`, { body: { site_id, ...body } })
const skip = (id: number, delivery_date: string) => change(id, { delivery_date }, '/skip', 'POST')

/** Orders that are open: plant, span in UTC, limit. */
async function orders() {
  const rows = await openRows(platform.db, { site_id, has_money: false }, platform.clock.now())
  const time = (at: string | null) => at!.slice(11, 16)
  return rows
    .filter(({ release_requested_at }) => release_requested_at === null)
    .map((row) => {
      assert.equal(row.source, 'standing_order')
      const span = `${time(row.start_at)}-${time(row.end_at)}`
      return `${row.logger_id} ${span} ${row.max_power_kw}`
    })
}

test('the quarter hours of tomorrow below the bound are limited once prices are published', async () => {
  const made = await approve()
  assert.deepEqual([made.currency, made.timezone, made.state], ['EUR', 'Europe/Brussels', 'active'])
  assert.deepEqual(
    made.days.map(({ delivery_date, outcome, unpriced_quarter_count }: never) =>
      [delivery_date, outcome, unpriced_quarter_count].join(' '),
    ),
    ['2036-06-21 no_price 96', '2036-06-20 no_price 96'],
  )
  assert.deepEqual(await orders(), [])
  // Before dawn there is nothing to limit.
  await publish({ '01:00-02:00': -5, '10:00-10:30': -1, '10:30-11:45': -20, '14:00-15:00': -0.01 })
  await plan()
  assert.deepEqual(await orders(), ['2 10:00-11:45 1', '2 14:00-15:00 1'])
  const day = await dayOf21()
  assert.deepEqual([day.outcome, day.unpriced_quarter_count], ['planned', 0])
  assert.equal(day.periods[0].avg_net_price_per_mwh.toFixed(4), ((-1 * 2 - 20 * 5) / 7).toFixed(4))
  await plan()
  assert.equal((await orders()).length, 2, 'a second plan of the same prices orders nothing')
})

test('at most the hours of a day are limited, the cheapest ones', async () => {
  await publish({ '08:00-10:00': -1, '10:00-10:30': -9, '12:00-13:00': -3 })
  await approve({ hours_per_day_max: 1.75 })
  assert.deepEqual(await orders(), ['2 08:00-08:15 1', '2 10:00-10:30 1', '2 12:00-13:00 1'])
})

test('the net price is that of the contract, after fees', async () => {
  await publish({ '08:00-09:00': -5, '10:00-11:00': 1, '12:00-13:00': 3 })
  await platform.db.execute(
    `insert into fees (site_id, code, name, basis, value, currency, valid_from)
     values ('first', 'aggregator', 'Direct marketing', 'per_mwh', 2, 'EUR', '2026-01-01')`,
  )
  // The premium of 20 is not paid below 0.
  await approve({ logger_id: 1, limit_value: 2 })
  assert.deepEqual(await orders(), ['1 08:00-09:00 2'])
  await approve({ logger_id: 2 })
  assert.deepEqual(await orders(), ['1 08:00-09:00 2', '2 08:00-09:00 1', '2 10:00-11:00 1'])
})

test('an order for the site acts where the net price of every plant is below the bound', async () => {
  await publish({ '08:00-09:00': -5, '10:00-11:00': 1 })
  await approve({ scope: 'site', logger_id: undefined, net_price_below: 2 })
  assert.deepEqual(await orders(), ['1 08:00-09:00 1', '2 08:00-09:00 1'])
})

test('a missing price is no action, and the day says so', async () => {
  await publish({ '08:00-09:00': -5, '11:00-12:00': -5 }, null)
  await approve()
  assert.deepEqual(await orders(), ['2 08:00-09:00 1', '2 11:00-12:00 1'])
  assert.equal((await listed()).days[0].unpriced_quarter_count, 88)
})

test('changed prices change what has not begun', async () => {
  await publish({ '08:00-10:00': -5, '12:00-13:00': -5 })
  await approve({ hours_per_day_max: 3.5 })
  platform.clock.set(new Date('2036-06-21T09:01:00Z'))
  await publish({ '08:00-10:00': 7, '11:00-14:00': -5 })
  await plan()
  assert.deepEqual(await orders(), ['2 08:00-10:00 1', '2 11:00-12:30 1'])
  const day = await dayOf21()
  assert.equal(day.periods.length, 2, 'what was withdrawn before its start is forgotten')
})

test('a period that a person released is not ordered again', async () => {
  await publish({ '08:00-10:00': -5, '12:00-13:00': -5 })
  const { days } = await approve()
  await platform.db.execute('update curtailment_rows set released_at = $2 where group_id = $1', [
    days[0].periods[0].group_id,
    now,
  ])
  await plan()
  assert.deepEqual(await orders(), ['2 12:00-13:00 1'])
  await publish({ '08:00-11:00': -5, '12:00-13:00': -5 })
  await plan()
  assert.deepEqual(await orders(), ['2 10:00-11:00 1', '2 12:00-13:00 1'])
})

test('a skipped day is released and not planned again', async () => {
  await publish({ '08:00-10:00': -5 })
  const { standing_order_id: id } = await approve()
  platform.clock.set(new Date('2036-06-21T09:00:00Z'))
  const { body } = await skip(id, '2036-06-21')
  assert.deepEqual([body.days[0].outcome, body.days[0].skipped_by], ['skipped', 'The operator'])
  assert.deepEqual(
    body.days[0].periods.map(({ end_at }: { end_at: string }) => end_at.slice(0, 19)),
    ['2036-06-21T09:00:00'],
  )
  await plan()
  assert.deepEqual(await orders(), [])
  assert.equal((await dayOf21()).outcome, 'skipped')
  const past = await skip(id, '2036-06-20')
  assert.equal(past.body.error.details.errors[0].field, 'delivery_date')
})

test('a pause releases, resuming plans again, an end is final', async () => {
  await publish({ '08:00-10:00': -5 })
  const { standing_order_id: id } = await approve()
  await change(id, { state: 'paused' })
  await plan()
  assert.deepEqual(await orders(), [])
  assert.deepEqual((await listed()).days, [])
  await change(id, { state: 'active' })
  assert.deepEqual(await orders(), ['2 08:00-10:00 1'])
  await change(id, { state: 'ended' })
  assert.deepEqual(await orders(), [])
  const { status, body } = await change(id, { state: 'active' })
  assert.deepEqual([status, body.error.code], [409, 'conflict_state'])
})

test('the rights of the approver are checked at each planning', async () => {
  await approve()
  await publish({ '08:00-10:00': -5 })
  const outcome = async (statement: string) => {
    await platform.db.execute(statement)
    await plan()
    const days = await platform.db.query<{ outcome: string }>(
      `select outcome from standing_order_days where delivery_date = '2036-06-21'`,
    )
    return `${days[0]!.outcome}: ${(await orders()).length}`
  }
  assert.equal(await outcome(`update users set role = 'viewer'`), 'not_allowed: 0')
  assert.equal(await outcome(`update users set role = 'operator'`), 'planned: 1')
  assert.equal(await outcome(`update users set site_ids = '{second}'`), 'not_allowed: 0')
  assert.equal(await outcome(`update users set site_ids = '{first}'`), 'planned: 1')
  assert.equal(await outcome('update users set disabled_at = now()'), 'not_allowed: 0')
  await platform.db.execute('update users set disabled_at = null, site_ids = null')
  assert.equal(await outcome('update sites set safe_mode_since_at = now()'), 'safe_mode: 0')
  assert.equal(await outcome('update sites set safe_mode_since_at = null'), 'planned: 1')
  assert.equal(
    await outcome('update sites set safe_mode_since_at = now()'),
    'safe_mode: 1',
    'safe mode releases nothing',
  )
  await platform.db.execute('update sites set safe_mode_since_at = null')
  assert.equal(await outcome('update loggers set retired_at = now()'), 'no_plant: 0')
})

test('the audit names the order and the person who approved it', async () => {
  await publish({ '08:00-10:00': -5 })
  const { standing_order_id, days } = await approve()
  const to = new Date(platform.clock.now().getTime() + minute_ms)
  const { writes } = await listWrites(platform, { site_id, to, limit: 10 })
  const [entry] = writes
  const { key_name, method, path, body, address, curtailment } = entry!
  assert.deepEqual([key_name, method, path], ['The operator', 'POST', '/curtailment/window'])
  assert.equal(address, `standing order ${standing_order_id}`)
  assert.equal(curtailment!.group_id, days[0].periods[0].group_id)
  assert.deepEqual(JSON.parse(body!), {
    ...limit,
    start_at: '2036-06-21T08:00:00.000Z',
    end_at: '2036-06-21T10:00:00.000Z',
    standing_order_id,
    delivery_date: '2036-06-21',
    net_price: -5,
  })
})

test('what an order saved and cost, after fees', async () => {
  await publish({ '08:00-09:00': -8, '09:00-10:00': 3 })
  await platform.db.execute(
    `insert into fees (site_id, code, name, basis, value, currency, valid_from)
     values ('first', 'aggregator', 'Direct marketing', 'per_mwh', 2, 'EUR', '2026-01-01')`,
  )
  const { days } = await approve({ net_price_below: 2 })
  platform.clock.set(new Date('2036-06-21T10:30:00Z'))
  await platform.db.execute(
    `update curtailment_rows set applied_at = start_at, told_at = start_at, restored_at = end_at`,
  )
  await platform.db.execute(
    `insert into curtailment_hours (site_id, group_id, logger_id, hour_at, curtailed_energy_kwh,
       quarter_wh)
     select 'first', $1, 2, at::timestamptz, 200, '{50000,50000,50000,50000}'
     from unnest('{2036-06-21T08:00Z,2036-06-21T09:00Z}'::text[]) as at`,
    [days[0].periods[0].group_id],
  )
  const order = await listed()
  for (const { curtailed_energy_kwh, saved_amount, lost_amount, money_reason } of [
    order,
    order.days[0],
  ]) {
    assert.deepEqual(
      { curtailed_energy_kwh, saved_amount, lost_amount, money_reason },
      { curtailed_energy_kwh: 400, saved_amount: 2, lost_amount: 0.2, money_reason: null },
    )
  }
})

test('an order that cannot be planned is refused, by field', async () => {
  const fieldOf = async (change: object) => {
    const body = { ...order, ...change }
    const answer = await operator.ask('POST', '/platform/standing-orders', { body })
    return `${answer.status} ${answer.body.error.details.errors[0].field}`
  }
  assert.equal(await fieldOf({ logger_id: 7 }), '422 logger_id')
  assert.equal(await fieldOf({ site_id: 'foreign' }), '422 site_id')
  assert.equal(await fieldOf({ end_date: '2036-06-19' }), '422 end_date')
  assert.equal(await fieldOf({ hours_per_day_max: 0.3 }), '422 hours_per_day_max')
  await platform.db.execute('delete from market_assignments where logger_id = 2')
  assert.equal(await fieldOf({}), '422 scope')
  assert.equal(await fieldOf({ scope: 'site' }), '422 scope')
  assert.deepEqual(await platform.db.query('select from standing_orders'), [])
})

test('the last day is the end date', async () => {
  await publish({ '08:00-10:00': -5 })
  await approve({ end_date: '2036-06-20' })
  assert.deepEqual(await orders(), [])
  platform.clock.set(new Date('2036-06-20T22:00:00Z'))
  assert.equal((await listed()).state, 'ended')
  platform.clock.set(new Date(now.getTime() + hour_ms))
})
