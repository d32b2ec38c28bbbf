/**
 * PCS that left site.yaml, or their connection in it. One that was once heard feeds in all the
 * same, until somebody disconnects it: so it counts on at the connection that it left, with all
 * that it may discharge, until an operator at the site says that it is disconnected. What was never
 * heard was never there, and does not count.
 */
import type { Battery } from '@heliograph/domain/battery'
import type { ListedPcs, RemovedPcs } from '../control/battery-shares.ts'
import { type PcsKey, pcsId } from '../control/pcs-name.ts'
import type { ControlledUnit } from './controlled-unit.ts'

/** What of a PCS survives a restart. */
export interface PcsRecord extends PcsKey {
  /** The most that it may discharge: its rating, or what it said itself where that is more. */
  max_w: number
  /** Where it was heard last; `logger_id` null: at the common connection. null: disconnected. */
  place: { logger_id: number | null } | null
  /** The connections that it left, and at which it counts until an operator says so. */
  left: readonly (number | null)[]
  /** The newest request that said so: it is done but once. */
  freed_id: string | null
  /** Without another write it goes on with its setpoint: it has no timer. */
  stands: boolean
}

export class PcsPlaces implements RemovedPcs {
  readonly #records = new Map<string, PcsRecord>()
  /** By PCS: its connection in site.yaml. */
  #here: ReadonlyMap<string, number | null> = new Map()

  /** @param records of an earlier run */
  constructor(records: readonly PcsRecord[]) {
    for (const record of records) this.#records.set(pcsId(record), record)
  }

  get records(): readonly PcsRecord[] {
    return [...this.#records.values()]
  }

  apply(batteries: readonly Battery[]): void {
    this.#here = new Map(
      batteries.flatMap(({ bess_id, logger_id = null, pcs }) =>
        pcs.map(({ pcs_idx }) => [pcsId({ bess_id, pcs_idx }), logger_id] as const),
      ),
    )
    for (const [id, record] of this.#records) {
      const { place, left } = record
      const there = place && !this.#isAt(id, place.logger_id) ? [place.logger_id] : []
      const all = [...new Set([...left, ...there])].filter((one) => !this.#isAt(id, one))
      this.#records.set(id, { ...record, left: all })
    }
  }

  /** At each tick; whether something is to be saved. */
  look(units: readonly ControlledUnit[]): boolean {
    const heard = units.flatMap(({ bess_id, logger_id, pcs }) =>
      pcs
        .filter(({ power }) => power.state !== null)
        .map(({ pcs_idx, rated_w, power, stands: now }) => {
          const max_w = Math.max(rated_w, power.ceiling_w)
          const stands = now ?? this.stands({ bess_id, pcs_idx })
          return this.#heardAt({ bess_id, pcs_idx, logger_id, max_w }, stands)
        }),
    )
    return heard.includes(true)
  }

  counting(): ListedPcs[] {
    return [...this.#records.values()].flatMap(({ bess_id, pcs_idx, max_w, left }) =>
      left.map((logger_id) => ({ bess_id, pcs_idx, logger_id, max_w })),
    )
  }

  /** Those of them that site.yaml has nowhere: the log has each in one place otherwise. */
  nowhere(): ListedPcs[] {
    return this.counting().filter((one) => !this.isHere(one))
  }

  /** As it was heard last. */
  stands(pcs: PcsKey): boolean {
    return this.#records.get(pcsId(pcs))?.stands ?? false
  }

  /** Where it counts: its place in site.yaml, and those that it left. */
  placesOf(pcs: PcsKey): (number | null)[] {
    const id = pcsId(pcs)
    const here = this.#here.get(id)
    return [...(here === undefined ? [] : [here]), ...(this.#records.get(id)?.left ?? [])]
  }

  isHere(pcs: PcsKey): boolean {
    return this.#here.has(pcsId(pcs))
  }

  isFreedBy(pcs: PcsKey, request_id: string): boolean {
    return this.#records.get(pcsId(pcs))?.freed_id === request_id
  }

  refusalOf(pcs: PcsKey): string | null {
    if ((this.#records.get(pcsId(pcs))?.left ?? []).length > 0) return null
    return this.isHere(pcs) ? 'site.yaml has this device' : 'it does not count'
  }

  free(pcs: PcsKey, freed_id: string): void {
    const id = pcsId(pcs)
    const record = this.#records.get(id)
    if (!record) return
    const is_here = record.place !== null && this.#isAt(id, record.place.logger_id)
    const place = is_here ? record.place : null
    this.#records.set(id, { ...record, place, left: [], freed_id })
  }

  /** Whether that is news. */
  #heardAt({ bess_id, pcs_idx, logger_id, max_w }: ListedPcs, stands: boolean): boolean {
    const id = pcsId({ bess_id, pcs_idx })
    const known = this.#records.get(id)
    const is_there = known?.place?.logger_id === logger_id
    if (is_there && known?.max_w === max_w && known.stands === stands) return false
    const { left = [], freed_id = null } = known ?? {}
    this.#records.set(id, { bess_id, pcs_idx, max_w, place: { logger_id }, left, freed_id, stands })
    return true
  }

  #isAt(id: string, logger_id: number | null): boolean {
    return this.#here.has(id) && this.#here.get(id) === logger_id
  }
}
