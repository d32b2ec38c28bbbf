import { type IntervalOptions, intervals, type Span } from '../../telemetry/energy.ts'

/**
 * Seconds of the span that each sample represents by the trapezoidal rule. The weighted sum of
 * values is the integral of the straight lines between them; sums of consecutive spans add up.
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
