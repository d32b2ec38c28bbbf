import { type AlarmWords, type BitPlace, checkedWords, isAvailable, setBits } from './decode.ts'
import { type AlarmRow, type AlarmTable, alarm_words_max } from './table.ts'

/** A bit that changed; `row` is null for one that the table does not explain. */
export type AlarmChange = BitPlace & { row: AlarmRow | null }

interface AlarmTransitions {
  rising: AlarmChange[]
  falling: AlarmChange[]
}

/**
 * Which alarms came and went between two readings of a device; `previous` is null before the first.
 *
 * A word that was not read, or says that it is not available, tells nothing: none of its alarms
 * fell. Compare with the last words that were known, as `debounceAlarms` keeps them; else an alarm
 * that outlasts a failed read rises twice.
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

/** Alarm words on their way to being believed. Plain data: it may be stored and taken up again. */
export interface AlarmDebounce {
  /** The last word read of each; `null` where none was yet. */
  read: AlarmWords
  /** The words that count; `null` where too little was read to know. */
  confirmed: AlarmWords
}

/**
 * Takes one poll into account. A bit changes in `confirmed` when two polls in a row show it so; a
 * poll that could not read a word neither confirms nor denies. Begin with null, and compare
 * `confirmed` of two states with `alarmTransitions`.
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
    return { read: now, confirmed: ((now & agreed) | ((confirmed ?? 0) & ~agreed)) >>> 0 }
  })
  return {
    read: next.map(({ read }) => read),
    confirmed: next.map(({ confirmed }) => confirmed),
  }
}

/** All five words, `null` for those of which nothing is known. */
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
