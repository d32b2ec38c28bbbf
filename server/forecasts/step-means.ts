/** The mean of steps of one length over a part of them. */

/** Mean of steps [from, to), which may be fractions; values beyond the last step are 0. */
export function meanOver(values: readonly number[], from: number, to: number): number {
  let sum = 0
  for (let nth = Math.floor(from); nth < to; nth += 1) {
    sum += (values[nth] ?? 0) * (Math.min(to, nth + 1) - Math.max(from, nth))
  }
  return sum / (to - from)
}
