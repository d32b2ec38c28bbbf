/** When a standing order limits its plants on a delivery day. Pure. */
import { quarter_ms } from '@heliograph/domain/durations'

export interface NetQuarter {
  start_ms: number
  /** Net price, micro per MWh; null where unknown. */
  net_micro: number | null
}

export interface PlannedPeriod {
  start_ms: number
  end_ms: number
  /** Mean over the quarter hours, micro per MWh. */
  net_micro: number
}

/**
 * The periods of the cheapest quarter hours with a net price below the bound, at most
 * `quarters_max` of them, ascending. A quarter hour without a price is never in a period.
 */
export function periodsBelow(
  quarters: readonly NetQuarter[],
  { below_micro, quarters_max }: { below_micro: number; quarters_max: number },
): PlannedPeriod[] {
  const cheapest = quarters
    .flatMap(({ start_ms, net_micro }) =>
      net_micro !== null && net_micro < below_micro ? [{ start_ms, net_micro }] : [],
    )
    .sort((a, b) => a.net_micro - b.net_micro || a.start_ms - b.start_ms)
    .slice(0, quarters_max)
    .sort((a, b) => a.start_ms - b.start_ms)
  const periods: PlannedPeriod[] = []
  for (const { start_ms, net_micro } of cheapest) {
    const last = periods.at(-1)
    if (last?.end_ms === start_ms) {
      const count = (start_ms - last.start_ms) / quarter_ms
      last.net_micro += (net_micro - last.net_micro) / (count + 1)
      last.end_ms += quarter_ms
    } else {
      periods.push({ start_ms, end_ms: start_ms + quarter_ms, net_micro })
    }
  }
  return periods
}
