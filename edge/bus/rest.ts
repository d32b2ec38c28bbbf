import type { Timers } from '@heliograph/domain/clock'
import type { BusError } from './bus-error.ts'

export interface RestNeeds {
  timers: Timers
  /** From 0 to below 1: spreads the attempts of many edges over time. */
  random(): number
}

export interface Rest {
  reason: BusError | null
  begin(reason: BusError): void
  /** Ends the pause and resets its length. */
  end(): void
}

/** Pauses that double each time, up to `max_ms`, each shortened by up to a half at random. */
export function createRest(
  { first_ms, max_ms }: { first_ms: number; max_ms(): number },
  { timers, random }: RestNeeds,
): Rest {
  let delay_ms = first_ms
  let cancel = () => {}
  const rest: Rest = {
    reason: null,
    begin(reason) {
      cancel()
      rest.reason = reason
      delay_ms = Math.min(delay_ms, max_ms())
      cancel = timers.after(delay_ms * (0.5 + random() / 2), () => {
        rest.reason = null
      })
      delay_ms *= 2
    },
    end() {
      cancel()
      rest.reason = null
      delay_ms = first_ms
    },
  }
  return rest
}
