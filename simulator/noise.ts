/**
 * Deterministic noise: the same seed, channel and position always give the same value, so that any
 * instant of the simulation can be computed without those before it.
 */

/** A number in [0, 1) for a whole `index`, by the finalizer of MurmurHash3. */
export function hash01(seed: number, channel: number, index: number): number {
  let h =
    Math.imul(seed, 0x9e3779b1) ^ Math.imul(channel, 0x85ebca6b) ^ Math.imul(index, 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32
}

/** A smooth curve in [0, 1) through independent values at whole `x`. */
export function noise(seed: number, channel: number, x: number): number {
  const from = Math.floor(x)
  const share = x - from
  const eased = share * share * share * (share * (share * 6 - 15) + 10)
  const before = hash01(seed, channel, from)
  return before + (hash01(seed, channel, from + 1) - before) * eased
}

/** A fixed deviation of one element: mean 0, about normal, within ±3 `sigma`. */
export function spread(seed: number, channel: number, index: number, sigma: number): number {
  let sum = 0
  for (let draw = 0; draw < 3; draw += 1) sum += hash01(seed, channel + draw * 7919, index)
  return (sum - 1.5) * 2 * sigma
}
