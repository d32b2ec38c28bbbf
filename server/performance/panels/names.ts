/** How the names of panel models are compared, and the number that each of them gets. */
import { createHash } from 'node:crypto'

/** Ids that a site file gives by hand stay below this. */
export const params_id_min = 1_048_576
export const params_id_max = 2_147_483_647

/** Trade marks say nothing; compatibility forms would spell one of them out. */
const marks = /[™®©]/g
const accents = /\p{M}/gu
/** Everything but letters, digits and two signs: `G8+` is another module than `G8`. */
const ignored = /[^\p{L}\p{N}+%]+/gu

/** A name without case, accents and trade marks; blanks and signs are still there. */
const plain = (name: string): string =>
  name.replace(marks, '').normalize('NFKD').replace(accents, '').toLowerCase()

/**
 * A name as it is compared: `CS3W-400P` and `cs3w 400p` are one. Case, accents, blanks, hyphens and
 * punctuation (`.,_/()[]*` …) do not count, `+` and `%` do.
 */
export function nameKey(name: string): string {
  return plain(name).replace(ignored, '')
}

/** The words of a query as they are compared, once each. */
export function words(query: string): string[] {
  return [...new Set(query.split(/\s+/u).map(nameKey).filter(Boolean))]
}

/**
 * A mask as long as the key of a name: `1` where one of its words begins. A word begins the name or
 * follows what the key leaves out.
 */
export function wordStarts(name: string): string {
  return plain(name)
    .split(ignored)
    .map((word) => word && `1${'0'.repeat(word.length - 1)}`)
    .join('')
}

/**
 * The number of a panel model by the key of its name, 1 048 576 to 2 147 483 647: the first bytes
 * of a SHA-256, so that it is the same on every machine and in every edition of a list. `attempt`
 * counts up where another name has the number already.
 */
export function paramsId(key: string, attempt = 0): number {
  const digest = createHash('sha256')
    .update(attempt === 0 ? key : `${key}\n${attempt}`)
    .digest()
  return params_id_min + (digest.readUInt32BE(0) % (params_id_max - params_id_min + 1))
}

/**
 * Numbers for new names: the number of its name, or of the next attempt where that is taken. Names
 * are served in order of their keys, so that the order of a file decides nothing.
 */
export function numberNames(
  keys: Iterable<string>,
  taken: ReadonlySet<number>,
  number: typeof paramsId = paramsId,
): Map<string, number> {
  const numbers = new Map<string, number>()
  const used = new Set(taken)
  for (const key of [...new Set(keys)].sort()) {
    let attempt = 0
    let params_id = number(key)
    while (used.has(params_id)) {
      attempt += 1
      params_id = number(key, attempt)
    }
    used.add(params_id)
    numbers.set(key, params_id)
  }
  return numbers
}
