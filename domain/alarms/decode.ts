import { type Severity, severities } from '../link.ts'
import { type AlarmRow, type AlarmTable, alarm_words_max } from './table.ts'

/** The alarm words of a device from `alarm_1` on; `null` for one that was not read. */
export type AlarmWords = readonly (number | null)[]

export interface BitPlace {
  /** From 1. */
  word: number
  /** From 0, the least significant. */
  bit: number
}

interface DecodedAlarms {
  alarms: (AlarmRow & BitPlace)[]
  /** Set bits that are not in the table, with their value in the word. */
  unknown_bits: (BitPlace & { mask: number })[]
  /** Words marked as not available, as read. */
  not_available: { word: number; value: number }[]
  /** Highest severity of the alarms in the table; unknown bits have no severity. */
  highest_severity: Severity | null
}

/**
 * Decodes the set bits of up to five alarm words. Every set bit is in `alarms` or `unknown_bits`,
 * ascending by word and bit, except for words that are not available.
 *
 * Bits above the width of the table and words beyond its last are decoded as unknown bits.
 *
 * @throws RangeError for more than five words, or one that is not an integer of 0 to 2^32 - 1
 */
export function decodeAlarms(table: AlarmTable, words: AlarmWords): DecodedAlarms {
  const rows = new Map(table.rows.map((row) => [`${row.alarm_word}.${row.bit}`, row]))
  const decoded: DecodedAlarms = {
    alarms: [],
    unknown_bits: [],
    not_available: [],
    highest_severity: null,
  }
  checkedWords(words).forEach((value, index) => {
    const word = index + 1
    if (value === null) return
    if (!isAvailable(table, value)) {
      decoded.not_available.push({ word, value })
      return
    }
    for (const bit of setBits(value)) {
      const row = rows.get(`${word}.${bit}`)
      if (row) decoded.alarms.push({ ...row, word })
      else decoded.unknown_bits.push({ word, bit, mask: 2 ** bit })
    }
  })
  decoded.highest_severity = highestSeverity(decoded.alarms)
  return decoded
}

/** The positions of the set bits of an unsigned 32-bit word, ascending. */
export function setBits(value: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => (value >>> bit) & 1)
}

/** False for the value that marks a word as not available; such a word has no alarms. */
export function isAvailable({ word_bits, not_available }: AlarmTable, value: number): boolean {
  if (not_available === 'highest_bit') return value < 2 ** (word_bits - 1)
  return value !== 2 ** word_bits - 1
}

/**
 * The words as they are.
 *
 * @throws RangeError for more than five words, or one that is not an integer of 0 to 2^32 - 1
 */
export function checkedWords(words: AlarmWords): AlarmWords {
  if (words.length > alarm_words_max) {
    throw new RangeError(`There are ${words.length} alarm words, at most ${alarm_words_max} fit`)
  }
  words.forEach((value, index) => {
    if (value !== null && !(Number.isInteger(value) && value >= 0 && value < 2 ** 32)) {
      throw new RangeError(`alarm_${index + 1} is ${value}, not an integer of 0 to 4294967295`)
    }
  })
  return words
}

function highestSeverity(alarms: readonly AlarmRow[]): Severity | null {
  return severities.findLast((severity) => alarms.some((row) => row.severity === severity)) ?? null
}
