/**
 * Plans standing orders: limits that a person approved once for hours with a low net price. Today
 * and tomorrow of the market become ordinary curtailment commands, and are planned anew when prices
 * change. A period that has begun, or that a person released, stays as it is.
 */
import { hour_ms, quarter_ms } from '@heliograph/domain/durations'
import type { Plant } from '@heliograph/domain/limit-shares'
import { localDate } from '@heliograph/domain/local-day'
import { addDays } from '@heliograph/domain/utc-day'
import { readTerms } from '../contracts/ledger.ts'
import { readPlantPrices } from '../contracts/plant-prices.ts'
import type { Role } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { scopesOf } from '../http/roles.ts'
import { auditWrite } from '../http/write-audit.ts'
import { beginRoundOf, shareRound } from '../jobs/site-rounds.ts'
import { solarWeight } from '../markets/day.ts'
import { priceOf } from '../markets/micro.ts'
import { deliveryDay, type PeriodSpan } from '../markets/periods.ts'
import { siteFacts } from '../plant/site-facts.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { createGroup, plantsFor, releaseGroup } from './commands.ts'
import { type NetQuarter, type PlannedPeriod, periodsBelow } from './standing-plan.ts'
import {
  endPeriod,
  insertPeriod,
  lockOrder,
  type Outcome,
  putDay,
  readDay,
  readPeriodsOf,
  type StandingOrder,
  type StoredPeriod,
} from './standing-store.ts'

/** Who sets and releases orders, for the audit. */
interface Person {
  id: string
  name: string
}

interface Run {
  now: Date
  signal: AbortSignal
}

const job = 'plan_standing_orders'

export async function planStandingOrders(db: Database, run: Run): Promise<void> {
  // A day of the market ends up to half a day after that of UTC.
  await beginRoundOf(
    db,
    job,
    `select distinct site_id from standing_orders
     where state = 'active' and end_date >= $1::date - 1 order by site_id`,
    [run.now],
  )
  await shareStandingOrders(db, run)
}

export const shareStandingOrders = (db: Database, { now, signal }: Run): Promise<void> =>
  shareRound(db, job, { work: (site_id) => planSite(db, site_id, now), signal })

async function planSite(db: Database, site_id: string, now: Date): Promise<void> {
  const orders = await db.query<{ standing_order_id: number }>(
    `select standing_order_id from standing_orders where site_id = $1 and state = 'active'
     order by standing_order_id`,
    [site_id],
  )
  for (const { standing_order_id } of orders) {
    await db.transaction(async (tx) => {
      const order = await lockOrder(tx, { site_id, standing_order_id })
      if (order?.state === 'active') await planOrder(tx, order, now)
    })
  }
}

/** The day of the market on which `now` is. */
export const marketDate = ({ timezone }: Pick<StandingOrder, 'timezone'>, now: Date): string =>
  localDate(now.getTime(), timezone)

/** Plans today and tomorrow of the market, until the end date. The order must be locked. */
export async function planOrder(tx: Transaction, order: StandingOrder, now: Date): Promise<void> {
  const today = marketDate(order, now)
  for (const delivery_date of [today, addDays(today, 1)]) {
    if (delivery_date <= order.end_date) await planDay(tx, order, { delivery_date, now })
  }
}

async function planDay(
  tx: Transaction,
  order: StandingOrder,
  { delivery_date, now }: { delivery_date: string; now: Date },
): Promise<void> {
  const key = { ...order, delivery_date }
  const day = await readDay(tx, key)
  if (day && day.skipped_by !== null) return
  const plants = await plantsOf(tx, order, now)
  const span = deliveryDay(delivery_date, order.timezone)
  const quarters = plants === null ? [] : await readQuarters(tx, order, { plants, span })
  const periods = await readPeriodsOf(tx, key)
  const isFixed = (one: StoredPeriod) => one.is_released || one.start_at <= now
  const fixed = periods.filter(isFixed)
  const refusal = plants === null ? 'no_plant' : await refusalOf(tx, order)
  const wanted = refusal === null ? wantedPeriods(order, quarters, { fixed, now }) : []
  const unpriced_quarter_count = quarters.filter(({ net_micro }) => net_micro === null).length
  const is_unpriced = unpriced_quarter_count > 0 && unpriced_quarter_count === quarters.length
  const outcome: Outcome =
    refusal ??
    (wanted.length + fixed.length > 0 ? 'planned' : is_unpriced ? 'no_price' : 'none_below')
  await putDay(tx, key, { outcome, unpriced_quarter_count, planned_at: now, skipped_by: null })
  // In safe mode limits are neither set nor released.
  if (refusal !== 'safe_mode') {
    const open = periods.filter((one) => !isFixed(one))
    const isSame = (one: StoredPeriod, other: PlannedPeriod) =>
      one.start_at.getTime() === other.start_ms && one.end_at.getTime() === other.end_ms
    const unwanted = open.filter((one) => !wanted.some((other) => isSame(one, other)))
    await withdraw(tx, order, unwanted, { now, by: approverOf(order) })
    for (const period of wanted.filter((other) => !open.some((one) => isSame(one, other)))) {
      await orderPeriod(tx, order, { ...period, delivery_date, now })
    }
  }
}

const approverOf = ({ approved_by_id, approved_by }: StandingOrder): Person => ({
  id: approved_by_id,
  name: approved_by,
})

/** The plants of the order that are in service; null without one. */
async function plantsOf(db: Queries, order: StandingOrder, now: Date): Promise<Plant[] | null> {
  const end_at = new Date(now.getTime() + hour_ms)
  try {
    return (await plantsFor(db, { ...order, end_at, now })).plants
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** Why the order may not act now: its approver lost the right, or the site is in safe mode. */
async function refusalOf(
  db: Queries,
  { site_id, approved_by_id }: StandingOrder,
): Promise<'safe_mode' | 'not_allowed' | null> {
  const site = await db.queryOne<{
    is_safe_mode: boolean
    modules: string[]
    role: Role | null
    is_given: boolean | null
  }>(
    `select s.safe_mode_since_at is not null as is_safe_mode, c.modules, u.role,
       u.site_ids is null or s.site_id = any (u.site_ids) as is_given
     from sites s
       join clients c using (client_id)
       left join users u on u.client_id = s.client_id and u.id = $2 and u.disabled_at is null
     where s.site_id = $1`,
    [site_id, approved_by_id],
  )
  if (site!.is_safe_mode) return 'safe_mode'
  const { modules, role, is_given } = site!
  const may = role !== null && scopesOf[role].includes('curtailment:write')
  return may && is_given && modules.includes('basic_scada') ? null : 'not_allowed'
}

interface PlannedQuarter extends NetQuarter {
  is_dark: boolean
}

/** Net prices of a day: at each quarter hour the highest of the plants, null if one is unknown. */
async function readQuarters(
  db: Queries,
  { site_id, currency }: StandingOrder,
  { plants, span }: { plants: readonly Plant[]; span: PeriodSpan },
): Promise<PlannedQuarter[]> {
  const window = { from_ms: span.start_ms, to_ms: span.end_ms }
  const logger_id = plants.length === 1 ? plants[0]!.logger_id : null
  const prices = await readPlantPrices(db, { site_id, logger_id, site_currency: null, ...window })
  const netAt = (logger_id: number, at_ms: number) => {
    const quarter = prices.plants.get(logger_id)?.(at_ms)
    return quarter?.currency === currency ? quarter.net_price : null
  }
  const weight = solarWeight(await siteFacts(db, site_id))
  return Array.from({ length: (span.end_ms - span.start_ms) / quarter_ms }, (_, nth) => {
    const start_ms = span.start_ms + nth * quarter_ms
    const nets = plants.map(({ logger_id }) => netAt(logger_id, start_ms))
    const known = nets.filter((net) => net !== null)
    return {
      start_ms,
      net_micro: known.length === nets.length ? Math.max(...known) : null,
      is_dark: weight !== null && weight({ start_ms, end_ms: start_ms + quarter_ms }) === 0,
    }
  })
}

/** The rest of the day, beside the periods that are fixed and use up hours of the day. */
function wantedPeriods(
  { net_price_below, hours_per_day_max }: StandingOrder,
  quarters: readonly PlannedQuarter[],
  { fixed, now }: { fixed: readonly StoredPeriod[]; now: Date },
): PlannedPeriod[] {
  const used_ms = fixed.reduce((sum, { start_at, end_at }) => sum + (+end_at - +start_at), 0)
  const left_ms = (hours_per_day_max ?? Infinity) * hour_ms - used_ms
  const free = quarters.filter(({ start_ms, is_dark }) => {
    const end_ms = start_ms + quarter_ms
    const is_fixed = fixed.some((one) => +one.start_at < end_ms && start_ms < +one.end_at)
    return !is_dark && !is_fixed && end_ms > now.getTime()
  })
  const below_micro = Math.round(net_price_below * 1e6)
  const quarters_max = Math.max(0, Math.floor(left_ms / quarter_ms))
  return periodsBelow(free, { below_micro, quarters_max })
}

/** Orders the limit by the command of the API, in the name of the person who approved it. */
async function orderPeriod(
  tx: Transaction,
  order: StandingOrder,
  {
    start_ms,
    end_ms,
    net_micro,
    delivery_date,
    now,
  }: PlannedPeriod & {
    delivery_date: string
    now: Date
  },
): Promise<void> {
  const { site_id, standing_order_id, scope, logger_id, limit_mode, limit_value } = order
  const limit = { scope, logger_id, limit_mode, limit_value }
  const [start_at, end_at] = [new Date(start_ms), new Date(end_ms)]
  const request_id = requestId(order, { start_at, now })
  const { group_id } = await createGroup(tx, {
    ...limit,
    site_id,
    source: 'standing_order',
    start_at,
    end_at,
    hold_until_at: null,
    now,
    created_by: order.approved_by,
    request_id,
    idempotency_key: null,
  })
  const net_price = priceOf(Math.round(net_micro))
  await insertPeriod(
    tx,
    { site_id, standing_order_id, delivery_date },
    {
      group_id,
      start_ms,
      end_ms,
      net_price,
    },
  )
  await audit(tx, order, {
    by: approverOf(order),
    now,
    method: 'POST',
    path: '/curtailment/window',
    body: { ...limit, start_at, end_at, standing_order_id, delivery_date, net_price },
    request_id,
  })
}

/** Releases periods by the command of the API, and forgets those that have not begun. */
export async function withdraw(
  tx: Transaction,
  order: StandingOrder,
  periods: readonly StoredPeriod[],
  { now, by }: { now: Date; by: Person },
): Promise<void> {
  const { site_id, standing_order_id } = order
  for (const period of periods.filter((one) => !one.is_released && one.end_at > now)) {
    const { group_id, start_at } = period
    await releaseGroup(tx, { site_id, group_id, now, by: by.name })
    await endPeriod(tx, site_id, period, now)
    await audit(tx, order, {
      by,
      now,
      method: 'DELETE',
      path: `/curtailment/group/${group_id}`,
      body: { standing_order_id },
      request_id: requestId(order, { start_at, now }),
    })
  }
}

const requestId = (
  { standing_order_id }: StandingOrder,
  { start_at, now }: { start_at: Date; now: Date },
) => `standing_order_${standing_order_id}_${start_at.toISOString()}_${now.getTime()}`

interface AuditedCommand {
  by: Person
  now: Date
  method: string
  path: string
  body: object
  request_id: string
}

async function audit(
  tx: Transaction,
  { site_id, standing_order_id }: StandingOrder,
  { by, now, method, path, body, request_id }: AuditedCommand,
): Promise<void> {
  const write = {
    site_id,
    // The entry is of the site; the client is not stored.
    caller: { key_id: by.id, key_name: by.name, client_id: 0 },
    method,
    url: path,
    body,
    request_id,
    address: `standing order ${standing_order_id}`,
    idempotency_key: null,
  }
  const status = method === 'POST' ? 201 : 200
  await auditWrite(tx, write, now, { status, text: '' })
}

/** The common currency and the time zone of the markets into which these plants sell now. */
export async function readContractFrame(
  db: Queries,
  { site_id, plants, now }: { site_id: string; plants: readonly Plant[]; now: Date },
) {
  const from_ms = Math.floor(now.getTime() / hour_ms) * hour_ms
  const to_ms = from_ms + hour_ms
  const query = { site_id, logger_id: null, site_currency: null, from_ms, to_ms }
  const { termsByPlant, markets } = await readTerms(db, query)
  const terms = plants.map(({ logger_id }) => termsByPlant.get(logger_id)?.[0])
  const known = terms.filter((one) => one !== undefined)
  return {
    without_contract: plants.filter((_, nth) => terms[nth] === undefined),
    currencies: [...new Set(known.map(({ assignment }) => assignment.currency))],
    timezones: [...new Set(known.map(({ market_code }) => markets.get(market_code)!.timezone))],
  }
}
