/**
 * Value of curtailed energy by quarter hour at the contract price, by the rules of the accounts.
 * The sum of a plant is rounded once per quarter. Rows that share a quarter get differences of
 * rounded sums, so that rows add up to the plant.
 */

import { hour_ms, quarter_ms } from '@heliograph/domain/durations'
import type { MoneyReason } from '../contracts/accounting.ts'
import { converted, majorUnits, sameCurrency, worth } from '../contracts/money.ts'
import { type QuarterPrice, readPlantPrices, type SitePrices } from '../contracts/plant-prices.ts'
import type { Queries } from '../storage/database.ts'
import {
  type CurtailmentRow,
  hiddenMoney,
  noMoney,
  type RowMoney,
  rowRecord,
  type StoredRow,
} from './curtailment-row.ts'

type CurtailedRow = Pick<StoredRow, 'id' | 'logger_id' | 'start_at' | 'end_at'>

export interface RowReader {
  site_id: string
  /** The caller has `earnings:read`. */
  has_money: boolean
  /** Values energy at the price after fees by energy. Defaults to the contract price. */
  price_basis?: PriceBasis
}

type PriceBasis = 'price' | 'net_price'

/** Rows as the API returns them, valued at the newest prices. */
export async function withMoney(
  db: Queries,
  { site_id, has_money, price_basis = 'price' }: RowReader,
  rows: readonly StoredRow[],
): Promise<CurtailmentRow[]> {
  if (!has_money) return rows.map((row) => rowRecord(row, hiddenMoney))
  const with_energy = rows.filter(({ curtailed_energy_kwh }) => curtailed_energy_kwh !== null)
  const money = await readMoney(db, { site_id, price_basis }, with_energy)
  return rows.map((row) => rowRecord(row, money.get(row.id) ?? noMoney))
}

/** By row id; rows without known curtailed energy are absent. */
async function readMoney(
  db: Queries,
  { site_id, price_basis }: { site_id: string; price_basis: PriceBasis },
  rows: readonly CurtailedRow[],
): Promise<Map<number, RowMoney>> {
  if (rows.length === 0) return new Map()
  const plants = await readPlants(db, site_id, rows)
  if (plants.length === 0) return new Map()
  const [site] = await db.query<{ currency: string | null }>(
    "select inventory->>'currency' as currency from sites where site_id = $1",
    [site_id],
  )
  const prices = await readPlantPrices(db, {
    site_id,
    site_currency: site!.currency,
    logger_id: plants.length === 1 ? plants[0]!.logger_id : null,
    from_ms: Math.min(...plants.map(({ from_ms }) => from_ms)),
    to_ms: Math.max(...plants.map(({ to_ms }) => to_ms)) + hour_ms,
  })
  return new Map(plants.flatMap((plant) => [...moneyOfRows(plant, prices, price_basis)]))
}

interface PlantHours {
  logger_id: number
  /** Start of the first and of the last hour, Unix ms. */
  from_ms: number
  to_ms: number
  /** `packed` records by hour and row. */
  hours: Buffer
}

const ms = (instant: string) => `(extract(epoch from ${instant}) * 1000)::float8`
/** An hour of a row as 8-byte floats: start, row id, and Wh by quarter. */
const packed = [
  ms('h.hour_at'),
  'r.row_id',
  ...[1, 2, 3, 4].map((nth) => `h.quarter_wh[${nth}]`),
].map((value) => `float8send((${value})::float8)`)
const packed_bytes = 8 * packed.length

/** Rows whose end the edge confirms late have hours after their end. */
const lastHour = `
  select max(own.hour_at) from curtailment_hours own
  join curtailment_rows of_row using (site_id, group_id, logger_id)
  where own.site_id = $1 and of_row.row_id = any($5)`

/** All hours of the plants during the rows, since other rows may share quarters with them. */
function readPlants(
  db: Queries,
  site_id: string,
  rows: readonly CurtailedRow[],
): Promise<PlantHours[]> {
  const from_ms = Math.min(...rows.map(({ start_at }) => start_at.getTime()))
  const to_ms = Math.max(...rows.map(({ end_at }) => end_at.getTime()))
  return db.query<PlantHours>(
    `select h.logger_id, ${ms('min(h.hour_at)')} as from_ms, ${ms('max(h.hour_at)')} as to_ms,
            string_agg(${packed.join(' || ')}, ''::bytea order by h.hour_at, r.row_id) as hours
     from curtailment_hours h
     join curtailment_rows r
       on r.site_id = $1 and r.group_id = h.group_id and r.logger_id = h.logger_id
     where h.site_id = $1 and h.logger_id = any($2) and h.hour_at >= $3
       and h.hour_at < greatest($4, (${lastHour}) + interval '1 hour')
       and h.quarter_wh is not null
     group by h.logger_id`,
    [
      site_id,
      [...new Set(rows.map(({ logger_id }) => logger_id))],
      new Date(Math.floor(from_ms / hour_ms) * hour_ms),
      new Date(to_ms),
      rows.map(({ id }) => id),
    ],
  )
}

/** Value of a row so far; each of the `parts` is of one hour and currency. */
interface Tally {
  parts: Part[]
  reason: MoneyReason | null
}

interface Part {
  start_ms: number
  currency: string
  lost: number
  avoided: number
}

function moneyOfRows(
  { logger_id, hours }: PlantHours,
  prices: SitePrices,
  price_basis: PriceBasis,
): Map<number, RowMoney> {
  const priceAt = prices.plants.get(logger_id) ?? (() => null)
  const valueAt = (at_ms: number) => {
    const quarter = priceAt(at_ms)
    return quarter && { ...quarter, price: quarter[price_basis] }
  }
  const view = new DataView(hours.buffer, hours.byteOffset, hours.length)
  const tallies = new Map<number, Tally>()
  let hour = Number.NaN
  let before_wh = [0, 0, 0, 0]
  for (let at = 0; at < hours.length; at += packed_bytes) {
    const float = (nth: number) => view.getFloat64(at + 8 * nth)
    const [start_ms, id] = [float(0), float(1)]
    if (start_ms !== hour) before_wh = [0, 0, 0, 0]
    hour = start_ms
    const tally = tallies.get(id) ?? { parts: [], reason: null }
    tallies.set(id, tally)
    for (const [nth, before] of before_wh.entries()) {
      const own = float(2 + nth)
      addQuarter(tally, { start_ms, at_ms: start_ms + nth * quarter_ms, before, own }, valueAt)
      before_wh[nth] = before + own
    }
  }
  return new Map([...tallies].map(([id, tally]) => [id, moneyOf(tally, prices)]))
}

interface CurtailedQuarter {
  /** Start of the hour and of the quarter, Unix ms. */
  start_ms: number
  at_ms: number
  /** Energy curtailed by the rows before and by this row, Wh. */
  before: number
  own: number
}

type ValueAt = (at_ms: number) => Pick<QuarterPrice, 'currency' | 'price' | 'reason'> | null

/** Quarters without curtailed energy need no price. */
function addQuarter(
  tally: Tally,
  { start_ms, at_ms, before, own }: CurtailedQuarter,
  valueAt: ValueAt,
): void {
  const quarter = valueAt(at_ms)
  if (quarter === null || (own > 0 && quarter.price === null)) {
    // A known price without its fees lacks the exchange rate of a fee.
    if (own > 0) tally.reason ??= quarter ? (quarter.reason ?? 'no_exchange_rate') : 'no_contract'
    return
  }
  const { currency, price } = quarter
  let part = tally.parts.at(-1)
  if (part?.start_ms !== start_ms || part.currency !== currency) {
    part = { start_ms, currency, lost: 0, avoided: 0 }
    tally.parts.push(part)
  }
  if (own === 0 || price === null) return
  const amount = worth(before + own, price) - worth(before, price)
  if (price > 0) part.lost += amount
  else part.avoided -= amount
}

/** In the currency of the contract; in that of the site for several contracts. */
function moneyOf({ parts, reason }: Tally, { currency: of_site, rateAt }: SitePrices): RowMoney {
  const [first, ...others] = parts
  if (reason !== null || !first) return { ...noMoney, money_reason: reason ?? 'no_contract' }
  const is_mixed = others.some((part) => part.currency !== first.currency)
  const currency = is_mixed ? of_site! : first.currency
  let [lost, avoided] = [0n, 0n]
  for (const part of parts) {
    const is_same = part.currency === currency
    const rate = is_same ? sameCurrency : rateAt(part.currency, currency, part.start_ms)
    if (rate === null) return { ...noMoney, money_reason: 'no_exchange_rate' }
    lost += BigInt(converted(part.lost, rate))
    avoided += BigInt(converted(part.avoided, rate))
  }
  return {
    lost_revenue_amount: majorUnits(lost),
    avoided_cost_amount: majorUnits(avoided),
    currency,
    money_reason: null,
  }
}
