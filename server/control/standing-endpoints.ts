/** Standing orders of a site: approved by operators, planned by the server. */
import { day_ms } from '@heliograph/domain/durations'
import type { Plant } from '@heliograph/domain/limit-shares'
import { utcDate } from '@heliograph/domain/utc-day'
import type { Static } from 'typebox'
import { checkSite, type PlatformNeeds, platformOperation } from '../access/platform-operation.ts'
import { SiteId } from '../access/schemas.ts'
import { mayRead } from '../http/authorize.ts'
import type { Caller } from '../http/endpoint.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError, badField } from '../http/errors.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { served } from '../storage/records.ts'
import { insertRow } from '../storage/rows.ts'
import { takeId } from '../storage/site-ids.ts'
import { plantsFor } from './commands.ts'
import { marketDate, planOrder, readContractFrame, withdraw } from './standing-orders.ts'
import { readSavings } from './standing-savings.ts'
import {
  DaySkip,
  OrderChange,
  StandingOrderBody,
  StandingOrderId,
  StandingOrderRecord,
} from './standing-schemas.ts'
import {
  forgetDays,
  lockOrder,
  type OrderKey,
  putDay,
  readDays,
  readPeriods,
  readPeriodsOf,
  type StandingOrder,
} from './standing-store.ts'

const operations = { ...platformOperation, role: 'operator' } as const
const path = '/platform/standing-orders'
const params = { standing_order_id: StandingOrderId }

/** Most orders of a site that have not ended. */
const orders_max = 20
const listed_days = 31
const summed_days = 366

export const listStandingOrders = endpoint({
  ...platformOperation,
  role: 'viewer',
  method: 'GET',
  path,
  operation_id: 'platform_standing_orders_list',
  summary: 'List the standing orders of a site',
  description:
    'Returns the orders with their planned days, newest first, and what they saved and cost over ' +
    'the last 366 days.',
  query: { site_id: SiteId },
  returns: List(StandingOrderRecord),
  async handle({ caller, query: { site_id } }, { db, clock }: PlatformNeeds) {
    await checkSite(db, caller, site_id)
    const orders = await db.query<StandingOrder>(
      'select * from standing_orders where site_id = $1 order by standing_order_id desc',
      [site_id],
    )
    const now = clock.now()
    const records: Record[] = []
    for (const order of orders) records.push(await recordOf(db, order, { caller, now }))
    return list(records)
  },
})

type Record = Static<typeof StandingOrderRecord>

async function recordOf(
  db: Queries,
  order: StandingOrder,
  { caller, now }: { caller: Caller; now: Date },
): Promise<Record> {
  const since = utcDate(now.getTime() - summed_days * day_ms)
  const periods = await readPeriods(db, order, since)
  const has_money = mayRead(caller, 'earnings:read')
  const savingsOf = await readSavings(db, order, { periods, has_money, now })
  const days = (await readDays(db, order, listed_days)).map((day) => {
    const of_day = periods.filter(({ delivery_date }) => delivery_date === day.delivery_date)
    return {
      ...day,
      planned_at: day.planned_at.toISOString(),
      periods: of_day.map(({ group_id, start_at, end_at, net_price, is_released }) => ({
        group_id,
        start_at: start_at.toISOString(),
        end_at: end_at.toISOString(),
        avg_net_price_per_mwh: net_price,
        is_released,
      })),
      ...savingsOf(of_day),
    }
  })
  return served(StandingOrderRecord, {
    ...order,
    state: stateOf(order, now),
    days,
    ...savingsOf(periods),
  })
}

const stateOf = (order: StandingOrder, now: Date) =>
  marketDate(order, now) > order.end_date ? 'ended' : order.state

export const createStandingOrder = endpoint({
  ...operations,
  method: 'POST',
  path,
  operation_id: 'platform_standing_order_create',
  summary: 'Approve a standing order',
  description:
    'Returns the order with its first planned days. From now on, the plants are limited in ' +
    'daylight quarter hours with a net price below the bound. Orders of a day are planned once ' +
    'its prices are published, and planned anew when prices change before a period begins. With ' +
    'scope `site` the net price of every plant must be below the bound. Rejected with 422 when a ' +
    'plant has no contract, or contracts differ in currency or in the time zone of the market.',
  body: StandingOrderBody,
  status: 201,
  returns: StandingOrderRecord,
  example: {
    body: {
      site_id: 'demo',
      scope: 'site',
      limit_mode: 'percent',
      limit_value: 1,
      net_price_below: 0,
      end_date: '2036-09-30',
    },
  },
  async handle({ tx, caller, body }, { clock }: PlatformNeeds) {
    const { site_id, scope, logger_id = null, hours_per_day_max = null, ...rest } = body
    await checkSite(tx, caller, site_id)
    const now = clock.now()
    const end_at = new Date(now.getTime() + day_ms)
    const { plants } = await plantsFor(tx, { site_id, scope, logger_id, end_at, now })
    const frame = await requireFrame(tx, { site_id, plants, now })
    if (rest.end_date < marketDate(frame, now)) {
      throw badField('end_date', 'out_of_range', 'must be today or later')
    }
    await checkCount(tx, site_id)
    const order = await insertRow<StandingOrder>(
      tx,
      'standing_orders',
      {
        ...rest,
        ...frame,
        site_id,
        standing_order_id: await takeId(tx, site_id, 'standing_order_id'),
        scope,
        logger_id: scope === 'site' ? null : logger_id,
        hours_per_day_max,
        state: 'active',
        created_at: now,
        approved_by_id: caller.key_id,
        approved_by: caller.key_name,
      },
      'returning *',
    )
    await planOrder(tx, order!, now)
    return recordOf(tx, order!, { caller, now })
  },
})

/** The one currency and time zone of the contracts of these plants. */
async function requireFrame(
  tx: Transaction,
  of: { site_id: string; plants: readonly Plant[]; now: Date },
) {
  const { without_contract, currencies, timezones } = await readContractFrame(tx, of)
  const refuse = (message: string) => badField('scope', 'invalid_value', message)
  const [plant] = without_contract
  if (plant) throw refuse(`plant ${plant.logger_id} has no contract, so its net price is unknown`)
  if (currencies.length > 1) throw refuse('the contracts of the plants have several currencies')
  if (timezones.length > 1) throw refuse('the plants sell into markets of several time zones')
  return { currency: currencies[0]!, timezone: timezones[0]! }
}

async function checkCount(tx: Transaction, site_id: string): Promise<void> {
  const row = await tx.queryOne<{ count: number }>(
    `select count(*)::int as count from standing_orders where site_id = $1 and state <> 'ended'`,
    [site_id],
  )
  if (row!.count < orders_max) return
  throw new ApiError('conflict_state', { current_state: 'too_many_orders', orders_max })
}

/** Locks an order that has not ended. */
async function requireOrder(
  tx: Transaction,
  { site_id, standing_order_id }: OrderKey,
  { caller, now }: { caller: Caller; now: Date },
): Promise<StandingOrder> {
  await checkSite(tx, caller, site_id).catch(() => {
    throw new ApiError('not_found', { site_id })
  })
  const order = await lockOrder(tx, { site_id, standing_order_id })
  if (order === null) throw new ApiError('not_found', { standing_order_id })
  if (stateOf(order, now) !== 'ended') return order
  throw new ApiError('conflict_state', { current_state: 'ended', allowed: ['active', 'paused'] })
}

const by = ({ key_id: id, key_name: name }: Caller) => ({ id, name })

export const changeStandingOrder = endpoint({
  ...operations,
  method: 'PATCH',
  path: `${path}/{standing_order_id}`,
  operation_id: 'platform_standing_order_change',
  summary: 'Pause, resume or end a standing order',
  description:
    'Returns the changed order. A pause and an end release its limits; `active` plans it again. ' +
    'Rejected with 409 when the order has ended.',
  params,
  body: OrderChange,
  returns: StandingOrderRecord,
  example: { body: { site_id: 'demo', state: 'paused' } },
  async handle({ tx, caller, params: { standing_order_id }, body }, { clock }: PlatformNeeds) {
    const now = clock.now()
    const key = { site_id: body.site_id, standing_order_id }
    const order = { ...(await requireOrder(tx, key, { caller, now })), state: body.state }
    await tx.execute(
      'update standing_orders set state = $3 where site_id = $1 and standing_order_id = $2',
      [body.site_id, standing_order_id, body.state],
    )
    if (body.state === 'active') await planOrder(tx, order, now)
    else {
      const today = marketDate(order, now)
      const periods = await readPeriods(tx, order, today)
      await withdraw(tx, order, periods, { now, by: by(caller) })
      await forgetDays(tx, order, today)
    }
    return recordOf(tx, order, { caller, now })
  },
})

export const skipStandingOrderDay = endpoint({
  ...operations,
  method: 'POST',
  path: `${path}/{standing_order_id}/skip`,
  operation_id: 'platform_standing_order_skip',
  summary: 'Skip a day of a standing order',
  description:
    'Returns the order. Its limits of the day are released, and the day is not planned again. ' +
    'Rejected with 422 for a day before today or after the end of the order.',
  params,
  body: DaySkip,
  returns: StandingOrderRecord,
  example: { body: { site_id: 'demo', delivery_date: '2036-06-21' } },
  async handle({ tx, caller, params: { standing_order_id }, body }, { clock }: PlatformNeeds) {
    const now = clock.now()
    const { site_id, delivery_date } = body
    const key = { site_id, standing_order_id }
    const order = await requireOrder(tx, key, { caller, now })
    if (delivery_date < marketDate(order, now) || delivery_date > order.end_date) {
      const message = `must be a day from today to ${order.end_date}, the end of the order`
      throw badField('delivery_date', 'out_of_range', message)
    }
    const periods = await readPeriodsOf(tx, { ...key, delivery_date })
    await withdraw(tx, order, periods, { now, by: by(caller) })
    const skipped = { outcome: 'skipped', skipped_by: caller.key_name, planned_at: now } as const
    await putDay(tx, { ...key, delivery_date }, { ...skipped, unpriced_quarter_count: 0 })
    return recordOf(tx, order, { caller, now })
  },
})
