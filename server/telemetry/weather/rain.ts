/** Rain gauges: registers that count millimetres, until they overflow or are reset. */

/** The heaviest rain on record fell at some 38 mm in a minute; gauges count in steps. */
const heaviest_mm_min = 40
const step_mm = 1

/**
 * What fell between two readings of a gauge's counter, mm, 0 or more; null for what cannot have
 * fallen in that time. A counter that stands lower than before began again, at midnight or when it
 * was full: what it shows has fallen since.
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
