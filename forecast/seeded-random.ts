/**
 * Deterministic random numbers from 0 to below 1: the generator sfc32 of C. Doty-Humphrey,
 * PractRand 0.94, three 32-bit counters.
 */
export function seededRandom(seed: number): () => number {
  let a = 0
  let b = seed | 0
  let c = Math.floor(seed / 2 ** 32) | 0
  let counter = 1
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  // The streams of neighbouring seeds are independent only after some steps.
  for (let turn = 0; turn < 15; turn++) next()
  return next
}

/** The seed of a text: FNV-1a of its UTF-8, 32 bits (G. Fowler, L. C. Noll, K. Vo). */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  }
  return hash
}
