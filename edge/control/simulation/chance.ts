/** Chance that comes from a seed alone. */
export interface Chance {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  yes(probability: number): boolean
  pick<Of>(from: readonly Of[]): Of
}

/** Mulberry32 (T. Ettinger, public domain): 32 bits of state are enough to play with. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    yes: (probability) => next() < probability,
    pick: (from) => from[Math.floor(next() * from.length)]!,
  }
}

/** Another seed, for the nth part of what a seed stands for. */
export const seedOf = (seed: number, nth: number) =>
  (Math.imul(seed, 0x9e3779b1) ^ Math.imul(nth + 1, 0x85ebca6b)) >>> 0
