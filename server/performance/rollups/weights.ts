/** How long each sample of a series stands for. */
import { type IntervalOptions, intervals, type Span } from '../../telemetry/energy.ts'

/**
 * The seconds of the span that each sample stands for: its share, by the trapezoidal rule, of the
 * covered intervals beside it. A sum of values by these weights is the integral of the straight
 * lines between them; over spans that follow one another such sums add up.
 */
export function sampleWeights(
  times_ms: readonly number[],
  span: Span,
  options: IntervalOptions = {},
): Float64Array {
  const weights_s = new Float64Array(times_ms.length)
  for (const { from, to, start_ms, end_ms } of intervals(times_ms, span, options)) {
    const first_ms = times_ms[from]!
    const last_ms = times_ms[to]!
    const inside_s = (end_ms - start_ms) / 1000
    const later = ((start_ms + end_ms) / 2 - first_ms) / (last_ms - first_ms)
    weights_s[from]! += inside_s * (1 - later)
    weights_s[to]! += inside_s * later
  }
  return weights_s
}
