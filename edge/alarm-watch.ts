/** The alarm words of one device as events, each bit a condition of its own. */
import type { AlarmWords } from '@heliograph/domain/alarms/decode'
import { type AlarmTable, alarm_words_max } from '@heliograph/domain/alarms/table'
import {
  type AlarmChange,
  type AlarmDebounce,
  alarmTransitions,
  debounceAlarms,
} from '@heliograph/domain/alarms/transitions'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Conditions, Source } from './conditions.ts'

const code_pattern = /^alarm:([a-z0-9_-]+):(\d):(\d+)$/

const word_names = ['alarm_1', 'alarm_2', 'alarm_3', 'alarm_4', 'alarm_5'] as const
/** Devices have as many words as their kind of reading has columns for. */
type Reading = { readonly [Name in (typeof word_names)[number]]?: number | null }

export class AlarmWatch {
  readonly #source: Source
  readonly #conditions: Conditions
  #table: AlarmTable | null = null
  #debounce: AlarmDebounce | null = null
  /** The words whose alarms have been told. */
  #told: AlarmWords = []

  constructor(source: Source, conditions: Conditions) {
    this.#source = source
    this.#conditions = conditions
  }

  /** The events of one poll, after the debounce over two. */
  poll(reading: Reading, table: AlarmTable, at: number): LinkEvent[] {
    const words = word_names.map((name) => reading[name] ?? null)
    const settled = this.#table === table && words.every((word, i) => this.#isSettled(word, i))
    if (settled) return []
    const replaced = this.#table === table ? [] : this.#begin(table, at)
    this.#debounce = debounceAlarms(this.#debounce, words, table)
    const { confirmed } = this.#debounce
    const { rising, falling } = alarmTransitions(this.#told, confirmed, table)
    this.#told = confirmed.map((word, index) => word ?? this.#told[index] ?? null)
    const events = [
      ...rising.map((change) => this.#rise(change, table, at)),
      ...falling.map((change) => this.#fall(change, table, at)),
    ]
    return [...replaced, ...events].filter((event) => event !== null)
  }

  #isSettled(word: number | null, index: number): boolean {
    return word === this.#debounce?.read[index] && word === this.#debounce.confirmed[index]
  }

  /** Takes up what was told before a restart; alarms of another table are no more. */
  #begin(table: AlarmTable, at: number): (LinkEvent | null)[] {
    this.#table = table
    this.#debounce = null
    const told: (number | null)[] = new Array(alarm_words_max).fill(null)
    const gone: (LinkEvent | null)[] = []
    for (const { code } of this.#conditions.activeOf(this.#source)) {
      const [, table_id, word, bit] = code_pattern.exec(code) ?? []
      if (table_id === undefined) continue
      if (table_id === table.table_id) {
        const index = Number(word) - 1
        told[index] = ((told[index] ?? 0) | (1 << Number(bit))) >>> 0
        continue
      }
      const message = 'The device has other alarms now'
      gone.push(this.#conditions.fall(this.#source, code, { at, message }))
    }
    this.#told = told
    return gone
  }

  #rise(change: AlarmChange, table: AlarmTable, at: number): LinkEvent | null {
    const { row } = change
    const severity = row?.severity ?? 'warning'
    const condition = { ...this.#source, code: codeOf(change, table), severity }
    const message = row ? row.name : `Unknown alarm: word ${change.word}, bit ${change.bit}`
    return this.#conditions.rise(condition, { at, message, details: detailsOf(change, table) })
  }

  #fall(change: AlarmChange, table: AlarmTable, at: number): LinkEvent | null {
    const name = change.row?.name ?? `Unknown alarm: word ${change.word}, bit ${change.bit}`
    const said = { at, message: `${name}: over`, details: detailsOf(change, table) }
    return this.#conditions.fall(this.#source, codeOf(change, table), said)
  }
}

function codeOf({ word, bit }: AlarmChange, { table_id }: AlarmTable): string {
  return `alarm:${table_id}:${word}:${bit}`
}

function detailsOf({ word, bit, row }: AlarmChange, { table_id }: AlarmTable) {
  return {
    table_id,
    alarm_word: word,
    bit,
    alarm_code: row?.code ?? null,
    name: row?.name ?? null,
    category: row?.category ?? null,
  }
}
