/**
 * Where sources were heard, and the connections in site.yaml that they left. Whether one is
 * disconnected only a person at the site can know: until that was said it counts on at the
 * connection that it left, with what it may deliver at worst. What was never heard was never there,
 * and does not count.
 */
import { isDeepStrictEqual } from 'node:util'

/** `inverters`: those that it limits, where it is the controller of a plant. */
interface Connection {
  /** null: the common connection. */
  logger_id: number | null
  inverters?: number[]
}

/** What of that survives a restart. */
interface Standing<Place extends Connection> {
  /** Where it was heard last; null: it is disconnected, an operator said. */
  place?: Place | null
  /** The connections that it left, and at which it counts until an operator says so. */
  left?: Place['logger_id'][]
  /** The newest request that said so: it is done but once. */
  freed_id?: string | null
}

type Change<Place extends Connection> = Omit<Standing<Place>, 'freed_id'> & { freed_id?: string }

export class Places<Key, Place extends Connection> {
  readonly #records: ReadonlyMap<Key, Standing<Place>>
  readonly #change: (key: Key, changes: Change<Place>) => void
  #here: ReadonlyMap<Key, Place['logger_id']> = new Map()

  /** @param records with those of an earlier run; `change` changes one of them */
  constructor(
    records: ReadonlyMap<Key, Standing<Place>>,
    change: (key: Key, changes: Change<Place>) => void,
  ) {
    this.#records = records
    this.#change = change
  }

  /** @param here where site.yaml has each */
  apply(here: ReadonlyMap<Key, Place['logger_id']>): void {
    this.#here = here
    for (const [key, { place, left: known = [] }] of this.#records) {
      const all = new Set([...known, ...(place ? [place.logger_id] : [])])
      const left = [...all].filter((logger_id) => !this.#isAt(key, { ...place, logger_id }))
      if (!isDeepStrictEqual(left, known)) this.#change(key, { left })
    }
  }

  /** It was heard there. */
  heardAt(key: Key, place: Place): void {
    const known = this.#records.get(key)?.place
    if (known !== place && !isDeepStrictEqual(known, place)) this.#change(key, { place })
  }

  /** Those that count at a connection, though site.yaml does not have them there. */
  counting(): Map<Place['logger_id'], Key[]> {
    const all = [...this.#records].flatMap(([key, { left = [] }]) =>
      left.map((logger_id) => ({ key, logger_id })),
    )
    const of_each = Map.groupBy(all, ({ logger_id }) => logger_id)
    return new Map(
      [...of_each].map(([logger_id, those]) => [logger_id, those.map(({ key }) => key)]),
    )
  }

  /** Where it counts: its place in site.yaml, and those that it left. */
  placesOf(key: Key): Place['logger_id'][] {
    const here = this.#here.get(key)
    return [...(here === undefined ? [] : [here]), ...(this.#records.get(key)?.left ?? [])]
  }

  isHere(key: Key): boolean {
    return this.#here.has(key)
  }

  /** By this request it was said before that it is disconnected. */
  isFreedBy(key: Key, request_id: string): boolean {
    return this.#records.get(key)?.freed_id === request_id
  }

  /** Why nobody can say that it is disconnected; null: it counts, and need not. */
  refusalOf(key: Key): string | null {
    if ((this.#records.get(key)?.left ?? []).length > 0) return null
    return this.isHere(key) ? 'site.yaml has this device' : 'it does not count'
  }

  free(key: Key, freed_id: string): void {
    const { place = null } = this.#records.get(key) ?? {}
    const is_here = place !== null && this.#isAt(key, place)
    this.#change(key, { place: is_here ? place : null, left: [], freed_id })
  }

  /** A controller also where site.yaml has all that it limited there, each by itself. */
  #isAt(key: Key, { logger_id, inverters }: Connection): boolean {
    if (this.#here.has(key) && this.#here.get(key) === logger_id) return true
    const here: ReadonlyMap<unknown, number | null> = this.#here
    return inverters?.every((id) => here.get(id) === logger_id) ?? false
  }
}
