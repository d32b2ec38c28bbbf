/** The prices of a market in quarter hours, read as one value: a year of rows takes much longer. */
import type { PriceKind, PricePeriod } from '../prices/store.ts'
import type { Queries } from '../storage/database.ts'
import { type QuarterPrices, quarterPrices } from './quarter-prices.ts'

/** Of a period: its begin and end, Unix ms, and its price in micro; 8 bytes each, big endian. */
const packed = [
  'extract(epoch from start_at) * 1000',
  'extract(epoch from end_at) * 1000',
  'price * 1000000',
].map((value) => `float8send((${value})::float8)`)
const record_bytes = 8 * packed.length

const periodsIn = {
  name: 'market_prices_packed',
  text: `select string_agg(${packed.join(' || ')}, ''::bytea order by start_at) as periods
         from market_prices
         where market_code = $1 and kind = $2 and is_current and start_at < $4 and end_at > $3
           -- No period is longer than a day: this bound lets the index end the search.
           and start_at > $3::timestamptz - interval '1 day'`,
}

/** The newest prices of [from_ms, to_ms), whole quarters. */
export async function readQuarterPrices(
  db: Queries,
  { market_code, kind }: { market_code: string; kind: PriceKind },
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Promise<QuarterPrices> {
  const [row] = await db.query<{ periods: Buffer | null }>(periodsIn, [
    market_code,
    kind,
    new Date(from_ms),
    new Date(Math.max(from_ms, to_ms)),
  ])
  return quarterPrices(unpacked(row!.periods ?? Buffer.alloc(0)), { from_ms, to_ms })
}

function* unpacked(periods: Buffer): Generator<PricePeriod> {
  const view = new DataView(periods.buffer, periods.byteOffset, periods.length)
  for (let at = 0; at < periods.length; at += record_bytes) {
    yield {
      start_ms: view.getFloat64(at),
      end_ms: view.getFloat64(at + 8),
      price_micro: Math.round(view.getFloat64(at + 16)),
    }
  }
}
