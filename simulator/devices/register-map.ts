/**
 * A SunSpec map of many models, of which only those are encoded that are asked for: a battery has
 * hundreds of them.
 */
import { Refusal } from './unit.ts'

export interface Part {
  /** Registers, ID and L among them. */
  length: number
  make(): Uint16Array
}

interface Placed extends Part {
  from: number
}

interface RegisterMap {
  /** The last register of the map, counted from the marker. */
  readonly length: number
  /**
   * `key` is another one whenever the values may be others.
   * @throws {Refusal} for registers that are not there
   */
  read(from: number, count: number, key: string): Uint16Array
  /** Which part a register is in, and where within; null where there is none. */
  placeOf(register: number): { part: number; offset: number } | null
}

const marker = [0x5375, 0x6e53]
const end = [0xffff, 0]

/** @throws {RangeError} where the models do not fit behind `base_address` */
export function registerMap(parts: readonly Part[], base_address: number): RegisterMap {
  let from = marker.length
  const placed = parts.map((part): Placed => {
    const at = { ...part, from }
    from += part.length
    return at
  })
  const length = from + end.length
  if (base_address + length > 0x1_0000) {
    throw new RangeError(`${length} registers do not fit behind ${base_address}`)
  }
  const words = new Uint16Array(length)
  words.set(marker)
  words.set(end, from)
  let known = ''
  const fresh = new Set<Placed>()
  return {
    length,
    read(at, count, key) {
      if (at < 0 || at + count > length) throw new Refusal('illegal data address')
      if (key !== known) fresh.clear()
      known = key
      for (const part of placed) {
        if (part.from + part.length <= at || part.from >= at + count || fresh.has(part)) continue
        words.set(part.make(), part.from)
        fresh.add(part)
      }
      return words.subarray(at, at + count)
    },
    placeOf(register) {
      const part = placed.findIndex(
        (one) => register >= one.from && register < one.from + one.length,
      )
      return part < 0 ? null : { part, offset: register - placed[part]!.from }
    },
  }
}
