/** The middle value, of an even number of them the mean of the middle two; null of nothing. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[sorted.length >> 1]!
  return sorted.length % 2 === 1 ? upper : (sorted[(sorted.length >> 1) - 1]! + upper) / 2
}
