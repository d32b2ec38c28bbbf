/** A unit with a SunSpec map that encodes only requested models: a battery has hundreds. */
import { fixedLength, type Model } from '@heliograph/domain/sunspec/point'
import { Refusal, type Unit } from './unit.ts'

const sunspec_base_address = 40_000

/** One model of the map. */
export interface Part<Now> {
  model: Model
  /** Number of repeating groups; 0 by default. */
  groups?: number
  make(now: Now): Uint16Array
}

interface Mapped<Now, Told> {
  base_address?: number | undefined
  parts: readonly Part<Now>[]
  now(): Now
  /** Changes whenever values may have changed. */
  version(now: Now): string
  isAway(): boolean
  /** Effect of a word at `123.5`, after those before it; without it no register is writable. */
  take?(place: string, word: number, told: Partial<Told>): Partial<Told> | undefined
  tell?(told: Partial<Told>): void
}

const marker = [0x5375, 0x6e53]
const end = [0xffff, 0]

/** @throws {RangeError} if the models do not fit after the base address */
export function sunspecUnit<Now, Told>(mapped: Mapped<Now, Told>): Unit {
  const { base_address = sunspec_base_address, parts } = mapped
  let end_at = marker.length
  const placed = parts.map((part) => {
    const from = end_at
    end_at += fixedLength(part.model) + (part.groups ?? 0) * (part.model.group?.length ?? 0)
    return { ...part, from, to: end_at }
  })
  const length = end_at + end.length
  if (base_address + length > 0x1_0000) {
    throw new RangeError(`${length} registers do not fit behind ${base_address}`)
  }
  const words = new Uint16Array(length)
  words.set(marker)
  words.set(end, end_at)
  let known = ''
  const fresh = new Set<(typeof placed)[number]>()

  /** `123.5`: register 5 of model 123, counted from its id. */
  function placeOf(register: number): string {
    const part = placed.find(({ from, to }) => register >= from && register < to)
    return part ? `${part.model.id}.${register - part.from}` : ''
  }

  return {
    read(address, count) {
      const from = address - base_address
      const to = from + count
      if (from < 0 || to > length) throw new Refusal('illegal data address')
      const now = mapped.now()
      const version = mapped.version(now)
      if (version !== known) fresh.clear()
      known = version
      for (const part of placed) {
        if (part.to <= from || part.from >= to || fresh.has(part)) continue
        words.set(part.make(now), part.from)
        fresh.add(part)
      }
      return words.subarray(from, to)
    },
    write(address, values) {
      let told: Partial<Told> = {}
      for (const [nth, word] of values.entries()) {
        const effect = mapped.take?.(placeOf(address - base_address + nth), word, told)
        if (!effect) throw new Refusal('illegal data address')
        told = { ...told, ...effect }
      }
      mapped.tell?.(told)
    },
    isAway: () => mapped.isAway(),
  }
}

/** The value of a switch. @throws {Refusal} for another word */
export function flag(word: number): boolean {
  if (word > 1) throw new Refusal('illegal data value')
  return word === 1
}
