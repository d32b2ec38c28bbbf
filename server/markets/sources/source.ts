/** A source of day-ahead prices: asked for one delivery day, it gives it or says why not. */

import type { PeriodSpan, PricePeriod } from '../periods.ts'
import type { Market } from '../price-store.ts'

export type Outcome =
  | {
      outcome: 'published'
      /** Ascending, without overlap, each beginning in the delivery day; some may be missing. */
      periods: PricePeriod[]
      /** ISO 4217, of the prices. */
      currency: string
      document_id: string | null
      /** As the source says; null where it does not. */
      published_at: Date | null
    }
  | { outcome: 'none_yet' }
  /** `reason` is for people and holds no secret. */
  | { outcome: 'failed'; reason: string }

export interface Answer {
  status: number
  text: string
}

/** One GET; throws `SourceFault` where no whole answer came. */
export type Get = (url: URL, signal: AbortSignal) => Promise<Answer>

interface FetchNeeds {
  get: Get
  now: Date
  signal: AbortSignal
}

export interface Source {
  /** Never throws for what a source does wrong: that is `failed`. */
  fetchDay(market: Market, day: PeriodSpan, needs: FetchNeeds): Promise<Outcome>
}

/** Why an answer cannot be used, in words without secrets. */
export class SourceFault extends Error {}

/** Turns what is thrown at an unusable answer into an outcome; all else is thrown on. */
export async function outcomeOf(ask: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof SourceFault) return { outcome: 'failed', reason: error.message }
    throw error
  }
}

/** The periods that begin within a day, as an outcome. */
export function published(
  periods: readonly PricePeriod[],
  day: PeriodSpan,
  { currency, document_id = null }: { currency: string; document_id?: string | null },
): Outcome {
  const within = periods.filter(({ start_ms }) => start_ms >= day.start_ms && start_ms < day.end_ms)
  if (within.length === 0) return { outcome: 'none_yet' }
  return { outcome: 'published', periods: within, currency, document_id, published_at: null }
}
