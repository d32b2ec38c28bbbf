import { type AlarmWords, type BitPlace, checkedWords, isAvailable, setBits } from './decode.ts'
import { type AlarmRow, type AlarmTable, alarm_words_max } from './table.ts'

/** A bit that changed; `row` is null for a bit that is not in the table. */
export type AlarmChange = BitPlace & { row: AlarmRow | null }

interface AlarmTransitions {
  rising: AlarmChange[]
  falling: AlarmChange[]
}

/**
 * Alarms that were set or cleared between two readings of a device; `previous` is null before the
 * first.
 *
 * A word that was not read or is not available clears no alarm. Compare with the last known words,
 * as kept by `debounceAlarms`: otherwise an alarm that lasts through a failed read is set twice.
 *
 * @throws RangeError for words that `decodeAlarms` refuses
 */
export function alarmTransitions(
  previous: AlarmWords | null,
  current: AlarmWords,
  table: AlarmTable,
): AlarmTransitions {
  const before = knownWords(previous ?? [], table)
  const rising: AlarmChange[] = []
  const falling: AlarmChange[] = []
  knownWords(current, table).forEach((now, index) => {
    if (now === null) return
    const was = before[index] ?? 0
    const changed = (bits: number) =>
      setBits(bits).map((bit) => ({ word: index + 1, bit, row: rowAt(table, index + 1, bit) }))
    rising.push(...changed(now & ~was))
    falling.push(...changed(was & ~now))
  })
  return { rising, falling }
}

/** State of the debouncing of alarm words. Plain data that can be stored and resumed. */
export interface AlarmDebounce {
  /** The last value read of each word; `null` before the first. */
  read: AlarmWords
  /** The confirmed words; `null` with too few reads. */
  confirmed: AlarmWords
}

/**
 * Processes one poll. A bit changes in `confirmed` when two consecutive polls agree; a poll that
 * could not read a word changes nothing. Start with null, and compare `confirmed` of two states
 * with `alarmTransitions`.
 *
 * @throws RangeError for words that `decodeAlarms` refuses
 */
export function debounceAlarms(
  state: AlarmDebounce | null,
  words: AlarmWords,
  table: AlarmTable,
): AlarmDebounce {
  const next = knownWords(words, table).map((now, index) => {
    const read = state?.read[index] ?? null
    const confirmed = state?.confirmed[index] ?? null
    if (now === null) return { read, confirmed }
    if (read === null) return { read: now, confirmed }
    const agreed = ~(now ^ read)
    const word = ((now & agreed) | ((confirmed ?? 0) & ~agreed)) >>> 0
    // Bits of several polls may add up to the value that stands for none.
    return { read: now, confirmed: isAvailable(table, word) ? word : confirmed }
  })
  return {
    read: next.map(({ read }) => read),
    confirmed: next.map(({ confirmed }) => confirmed),
  }
}

/** All five words, `null` where unknown. */
function knownWords(words: AlarmWords, table: AlarmTable): (number | null)[] {
  const checked = checkedWords(words)
  return Array.from({ length: alarm_words_max }, (_, index) => {
    const value = checked[index] ?? null
    return value !== null && isAvailable(table, value) ? value : null
  })
}

function rowAt(table: AlarmTable, word: number, bit: number): AlarmRow | null {
  return table.rows.find((row) => row.alarm_word === word && row.bit === bit) ?? null
}
