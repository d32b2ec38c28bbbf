/**
 * Devices that left site.yaml, or their plant in it. Whether one is disconnected only a person at
 * the site can know: until that was said it counts on in the plant that it left, with what it may
 * deliver at worst. What was never heard of was never there, and does not count.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Controlled } from './decide.ts'
import type { DeviceRecord, Place } from './device-record.ts'

/** It cannot be told anything, and counts. */
export interface RemovedDevice extends Controlled {
  is_removed: true
  /** site.yaml has it in another plant. */
  is_moved: boolean
}

type Standing = Pick<DeviceRecord, 'place' | 'left' | 'freed_id'>

const nowhere: Standing = {}

export class RemovedDevices {
  readonly #standings = new Map<number, Standing>()
  /** The newest record with its standing, and what it was made of. */
  readonly #whole = new Map<
    number,
    { of: DeviceRecord; standing: Standing; record: DeviceRecord }
  >()
  /** By inverter_id: the plant in which site.yaml has it. */
  #here: ReadonlyMap<number, number> = new Map()

  /** @param records of an earlier run */
  constructor(records: ReadonlyMap<number, DeviceRecord>) {
    for (const [inverter_id, { place, left, freed_id }] of records) {
      if (!place && !left && freed_id === undefined) continue
      this.#standings.set(inverter_id, {
        ...(place !== undefined && { place }),
        ...(left && { left }),
        ...(freed_id !== undefined && { freed_id }),
      })
    }
  }

  /** @param here the plant of each device of site.yaml, by inverter_id */
  apply(here: ReadonlyMap<number, number>): void {
    this.#here = here
    for (const [inverter_id, { place, left = [] }] of this.#standings) {
      const there = place && !this.#isAt(inverter_id, place) ? [place.logger_id] : []
      const logger_id = here.get(inverter_id) ?? (there.length === 0 ? place?.logger_id : undefined)
      const all = [...new Set([...left, ...there])].filter((id) => id !== logger_id)
      this.#set(inverter_id, { left: all })
    }
  }

  /** It was heard there. */
  heardAt(inverter_id: number, place: Place): void {
    const known = this.#standings.get(inverter_id)?.place
    if (known === place) return
    const is_same = isDeepStrictEqual(known, place)
    if (!is_same) this.#set(inverter_id, { place })
  }

  placeOf(inverter_id: number): Place | null {
    return this.#standings.get(inverter_id)?.place ?? null
  }

  /** By logger_id: those that count in it, though site.yaml does not have them there. */
  counting(): Map<number, number[]> {
    const ids = new Map<number, number[]>()
    for (const [inverter_id, { left = [] }] of this.#standings) {
      for (const id of left) ids.set(id, [...(ids.get(id) ?? []), inverter_id])
    }
    return ids
  }

  /** By this request it was said before that it is disconnected. */
  isFreedBy(inverter_id: number, request_id: string): boolean {
    return this.#standings.get(inverter_id)?.freed_id === request_id
  }

  /** Why nobody can say that it is disconnected; null: it counts, and need not. */
  refusalOf(inverter_id: number): string | null {
    if ((this.#standings.get(inverter_id)?.left ?? []).length > 0) return null
    return this.#here.has(inverter_id) ? 'site.yaml has this device' : 'it does not count'
  }

  free(inverter_id: number, freed_id: string): void {
    const { place = null } = this.#standings.get(inverter_id) ?? nowhere
    const is_here = place !== null && this.#isAt(inverter_id, place)
    this.#set(inverter_id, { place: is_here ? place : null, left: [], freed_id })
  }

  /** The same object where nothing in it changes. */
  withStanding(inverter_id: number, record: DeviceRecord): DeviceRecord {
    const standing = this.#standings.get(inverter_id)
    if (!standing) return record
    const known = this.#whole.get(inverter_id)
    const is_known = known?.of === record || known?.record === record
    if (known && is_known && known.standing === standing) return known.record
    const whole = { of: record, standing, record: { ...record, ...standing } }
    this.#whole.set(inverter_id, whole)
    return whole.record
  }

  get ids(): Iterable<number> {
    return this.#standings.keys()
  }

  /** A controller also where site.yaml has all that it limited there, each by itself. */
  #isAt(inverter_id: number, { logger_id, inverters }: Place): boolean {
    if (this.#here.get(inverter_id) === logger_id) return true
    return inverters?.every((id) => this.#here.get(id) === logger_id) ?? false
  }

  #set(inverter_id: number, changes: Standing): void {
    const standing = this.#standings.get(inverter_id) ?? nowhere
    const next = { ...standing, ...changes }
    const is_same = isDeepStrictEqual({ left: [], ...standing }, { left: [], ...next })
    if (!is_same) this.#standings.set(inverter_id, next)
  }
}
