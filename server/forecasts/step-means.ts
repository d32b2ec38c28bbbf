/** The mean of steps of one length over a part of them. */

/** Of steps `from` until before `to`, which need not be whole; beyond the last there is nothing. */
export function meanOver(values: readonly number[], from: number, to: number): number {
  let sum = 0
  for (let nth = Math.floor(from); nth < to; nth += 1) {
    sum += (values[nth] ?? 0) * (Math.min(to, nth + 1) - Math.max(from, nth))
  }
  return sum / (to - from)
}
