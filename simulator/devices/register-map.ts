/** A SunSpec map of many models that encodes only requested ones: a battery has hundreds. */
import { Refusal } from './unit.ts'

export interface Part {
  /** Number of registers, including ID and L. */
  length: number
  make(): Uint16Array
}

interface Placed extends Part {
  from: number
}

interface RegisterMap {
  /** Number of registers of the map, from the marker on. */
  readonly length: number
  /**
   * `key` changes whenever values may have changed.
   * @throws {Refusal} for registers outside the map
   */
  read(from: number, count: number, key: string): Uint16Array
  /** The part of a register, and the offset within; null outside the map. */
  placeOf(register: number): { part: number; offset: number } | null
}

const marker = [0x5375, 0x6e53]
const end = [0xffff, 0]

/** @throws {RangeError} if the models do not fit after `base_address` */
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
