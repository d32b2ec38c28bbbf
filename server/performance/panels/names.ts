/** Comparison of the names of panel models, and the ids derived from them. */
import { createHash } from 'node:crypto'

/** Ids assigned in site files are below this value. */
export const params_id_min = 1_048_576
export const params_id_max = 2_147_483_647

/** Trademark signs, removed before NFKD spells them out. */
const marks = /[™®©]/g
const accents = /\p{M}/gu
/** Everything but letters, digits, `+` and `%`: `G8+` differs from `G8`. */
const ignored = /[^\p{L}\p{N}+%]+/gu

/** A name without case, accents and trademark signs; blanks and punctuation stay. */
const plain = (name: string): string =>
  name.replace(marks, '').normalize('NFKD').replace(accents, '').toLowerCase()

/**
 * Comparison key of a name: `CS3W-400P` and `cs3w 400p` are equal. Case, accents, blanks, hyphens
 * and punctuation (`.,_/()[]*` …) are ignored; `+` and `%` are significant.
 */
export function nameKey(name: string): string {
  return plain(name).replace(ignored, '')
}

/** Comparison keys of the words of a query, without duplicates. */
export function words(query: string): string[] {
  return [...new Set(query.split(/\s+/u).map(nameKey).filter(Boolean))]
}

/** Mask of the key of a name: `1` at the first character of each word, else `0`. */
export function wordStarts(name: string): string {
  return plain(name)
    .split(ignored)
    .map((word) => word && `1${'0'.repeat(word.length - 1)}`)
    .join('')
}

/**
 * Id of a panel model from the key of its name, 1 048 576 to 2 147 483 647: the first bytes of a
 * SHA-256, so that it is equal on every server and in every edition of a list. `attempt` counts up
 * while another name has the id.
 */
export function paramsId(key: string, attempt = 0): number {
  const digest = createHash('sha256')
    .update(attempt === 0 ? key : `${key}\n${attempt}`)
    .digest()
  return params_id_min + (digest.readUInt32BE(0) % (params_id_max - params_id_min + 1))
}

/**
 * Ids for new names; taken ids lead to the next attempt. Names are processed in the order of their
 * keys, so that the order of a file has no effect.
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
