/** Rain gauges: counters of millimetres that overflow or are reset. */

/** Above the record of 38 mm in a minute. */
const heaviest_mm_min = 40
const step_mm = 1

/**
 * Rain between two readings of a gauge's counter, mm; null for an impossible amount. A counter that
 * is lower than before started again from 0, at midnight or after an overflow.
 */
export function rainBetween(
  before_mm: number,
  after_mm: number,
  elapsed_ms: number,
): number | null {
  const fallen_mm = after_mm >= before_mm ? after_mm - before_mm : after_mm
  const most_mm = step_mm + (heaviest_mm_min * elapsed_ms) / 60_000
  return fallen_mm >= 0 && fallen_mm <= most_mm ? fallen_mm : null
}
