import type { PeriodSpan, PricePeriod } from '../periods.ts'
import type { Market } from '../price-store.ts'

export type Outcome =
  | {
      outcome: 'published'
      /** Ascending, without overlap, each starting in the delivery day; some may be missing. */
      periods: PricePeriod[]
      /** ISO 4217 code of the prices. */
      currency: string
      document_id: string | null
      /** Null when the source does not state it. */
      published_at: Date | null
    }
  | { outcome: 'none_yet' }
  /** `reason` is for people and holds no secret. */
  | { outcome: 'failed'; reason: string }

/** GET; throws `SourceFault` without a complete response. */
export type Get = (url: URL, signal: AbortSignal) => Promise<{ status: number; text: string }>

interface FetchNeeds {
  get: Get
  now: Date
  signal: AbortSignal
}

export interface Source {
  /** Failures of the source are returned as `failed`, never thrown. */
  fetchDay(market: Market, day: PeriodSpan, needs: FetchNeeds): Promise<Outcome>
}

/** Reason why a response is unusable, without secrets. */
export class SourceFault extends Error {}

/** Turns a `SourceFault` into a failed outcome; rethrows all other errors. */
export async function outcomeOf(ask: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof SourceFault) return { outcome: 'failed', reason: error.message }
    throw error
  }
}

/** Outcome with the periods that start within a day. */
export function published(
  periods: readonly PricePeriod[],
  day: PeriodSpan,
  { currency, document_id = null }: { currency: string; document_id?: string | null },
): Outcome {
  const within = periods.filter(({ start_ms }) => start_ms >= day.start_ms && start_ms < day.end_ms)
  if (within.length === 0) return { outcome: 'none_yet' }
  return { outcome: 'published', periods: within, currency, document_id, published_at: null }
}
