/** Stores published prices as revisions; replaced prices stay stored and are no longer current. */

import { cached } from '@heliograph/domain/cached'
import { quarter_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import type { Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import { decimalOf, priceOf } from './micro.ts'
import type { PeriodSpan, PricePeriod } from './periods.ts'
import { type Market, type PriceKind, readRate } from './price-store.ts'
import { publishPrices } from './published.ts'
import type { PriceSource } from './schemas.ts'

interface Publication {
  market_code: string
  kind: PriceKind
  source: PriceSource
  document_id: string | null
  published_at: Date | null
  fetched_at: Date
  /** Ascending, without overlap. */
  periods: readonly PricePeriod[]
}

export interface Stored {
  added_count: number
  /** New prices that replaced another price. */
  changed_count: number
  unchanged_count: number
  /** Prices not stored because finer periods are known for that time. */
  coarser_count: number
}

interface Known extends PricePeriod {
  revision: number
}

interface Revision {
  replaced: Known[]
  taken: Known[]
  unchanged_count: number
  coarser_count: number
}

/**
 * Changes that a publication makes to the current prices, pure. Current prices and `published`
 * ascend without overlap. An equal price of an equal period changes nothing. A period replaces all
 * periods that it overlaps, unless one of them is finer; then the period is not stored. `past` are
 * prices that were replaced before: a new revision number exceeds all earlier ones of its time.
 */
export function reviseBy(
  { current, past }: { current: readonly Known[]; past: readonly Known[] },
  published: readonly PricePeriod[],
): Revision {
  const replaced = new Set<Known>()
  const newestOf = revisionsOf([...current, ...past])
  const revision: Revision = { replaced: [], taken: [], unchanged_count: 0, coarser_count: 0 }
  let first = 0
  for (const period of published) {
    while (first < current.length && current[first]!.end_ms <= period.start_ms) first += 1
    const overlapped: Known[] = []
    for (let index = first; index < current.length; index += 1) {
      if (current[index]!.start_ms >= period.end_ms) break
      overlapped.push(current[index]!)
    }
    const [one] = overlapped
    if (overlapped.some((known) => lengthOf(known) < lengthOf(period))) revision.coarser_count += 1
    else if (one && isSame(one, period)) revision.unchanged_count += 1
    else {
      for (const known of overlapped) replaced.add(known)
      revision.taken.push({ ...period, revision: newestOf(period) + 1 })
    }
  }
  return { ...revision, replaced: [...replaced] }
}

/** Highest revision in any quarter hour of a period; 0 without one. */
function revisionsOf(known: readonly Known[]): (period: PeriodSpan) => number {
  const bySlot = new Map<number, number>()
  for (const { revision, ...period } of known) {
    for (const slot of slotsIn(period)) bySlot.set(slot, Math.max(revision, bySlot.get(slot) ?? 0))
  }
  return (period) => Math.max(...slotsIn(period).map((slot) => bySlot.get(slot) ?? 0))
}

function slotsIn({ start_ms, end_ms }: PeriodSpan): number[] {
  const first = Math.floor(start_ms / quarter_ms)
  return Array.from({ length: Math.ceil(end_ms / quarter_ms) - first }, (_, nth) => first + nth)
}

const lengthOf = ({ start_ms, end_ms }: PricePeriod) => end_ms - start_ms
const isSame = (a: PricePeriod, b: PricePeriod) =>
  a.start_ms === b.start_ms && a.end_ms === b.end_ms && a.price_micro === b.price_micro

/** Class of the PostgreSQL advisory locks on the prices of a market: `hgmp`. */
const advisory_class = 0x68676d70

/** Stores the prices of a publication that differ from the current ones as new revisions. */
export async function storePrices(tx: Transaction, publication: Publication): Promise<Stored> {
  const { market_code, kind, periods } = publication
  const [first, last] = [periods[0], periods.at(-1)]
  if (!first || !last) {
    return { added_count: 0, changed_count: 0, unchanged_count: 0, coarser_count: 0 }
  }
  await tx.execute('select pg_advisory_xact_lock($1, hashtext($2))', [advisory_class, market_code])
  const known = await tx.query<Known & { is_current: boolean }>(
    `select (extract(epoch from start_at) * 1000)::float8 as start_ms,
       (extract(epoch from end_at) * 1000)::float8 as end_ms,
       (price * 1000000)::bigint as price_micro, revision, is_current
     from market_prices where market_code = $1 and kind = $2
       and start_at < $4 and end_at > $3 and start_at > $3::timestamptz - interval '1 day'
     order by start_at`,
    [market_code, kind, isoTime(first.start_ms), isoTime(last.end_ms)],
  )
  const stored = {
    current: known.filter(({ is_current }) => is_current),
    past: known.filter(({ is_current }) => !is_current),
  }
  const { replaced, taken, unchanged_count, coarser_count } = reviseBy(stored, periods)
  await retire(tx, { market_code, kind }, replaced)
  await insert(tx, publication, taken)
  if (kind === 'day_ahead' && taken.length > 0) {
    await publishPrices(tx, publication, taken.length)
  }
  const changed_count = taken.filter(({ revision }) => revision > 1).length
  return {
    added_count: taken.length - changed_count,
    changed_count,
    unchanged_count,
    coarser_count,
  }
}

async function retire(
  tx: Transaction,
  { market_code, kind }: Pick<Publication, 'market_code' | 'kind'>,
  replaced: readonly Known[],
): Promise<void> {
  if (replaced.length === 0) return
  await tx.execute(
    `update market_prices set is_current = false
     where market_code = $1 and kind = $2 and is_current and start_at = any($3::timestamptz[])`,
    [market_code, kind, replaced.map(({ start_ms }) => isoTime(start_ms))],
  )
}

async function insert(tx: Transaction, publication: Publication, taken: readonly Known[]) {
  if (taken.length === 0) return
  const { market_code, kind, source, document_id, published_at, fetched_at } = publication
  await tx.execute(
    `insert into market_prices (market_code, kind, source, document_id, published_at, fetched_at,
       start_at, end_at, price, revision)
     select $1, $2, $3, $4, $5, $6, d.*
     from unnest($7::timestamptz[], $8::timestamptz[], $9::numeric[], $10::int[]) as d`,
    [
      market_code,
      kind,
      source,
      document_id,
      published_at,
      fetched_at,
      taken.map(({ start_ms }) => isoTime(start_ms)),
      taken.map(({ end_ms }) => isoTime(end_ms)),
      taken.map(({ price_micro }) => decimalOf(price_micro)),
      taken.map(({ revision }) => revision),
    ],
  )
}

/**
 * Converts prices by the exchange rate of the UTC day on which each period starts, rounded to a
 * millionth. Null when a day has no rate.
 */
export async function inCurrency(
  tx: Transaction,
  periods: readonly PricePeriod[],
  { from, to }: { from: string; to: string },
): Promise<PricePeriod[] | null> {
  if (from === to) return [...periods]
  const rateOn = cached((date: string) =>
    readRate(tx, { currency: from, base: to, on: new Date(date) }),
  )
  const converted: PricePeriod[] = []
  for (const period of periods) {
    const rate = await rateOn(utcDate(period.start_ms))
    if (rate === null) return null
    converted.push({ ...period, price_micro: Math.round(period.price_micro * rate) || 0 })
  }
  return converted
}

type Limits = Pick<Market, 'currency' | 'price_min_per_mwh' | 'price_max_per_mwh'>

/** Why a price is outside the limits of its auction; null when it is within. */
export function limitFault(
  price_micro: number,
  { currency, price_min_per_mwh, price_max_per_mwh }: Limits,
): string | null {
  const price = priceOf(price_micro)
  if (price_min_per_mwh !== null && price < price_min_per_mwh) {
    return `${price} is below ${price_min_per_mwh} ${currency}, the lower price limit of the auction`
  }
  return price_max_per_mwh !== null && price > price_max_per_mwh
    ? `${price} is above ${price_max_per_mwh} ${currency}, the upper price limit of the auction`
    : null
}
