/** The items of a history as text, written from columns without an object for each reading. */
import { type AsciiText, ascii } from '../http/ascii-text.ts'
import { csvField } from '../http/export-items.ts'
import type { ReadingColumns } from './reading-columns.ts'

const none = ascii('')
const comma = ascii(',')
const list = ascii('[')
const list_end = ascii(']')
const quote = ascii('"')

const json = {
  start: ascii('{"measured_at":"'),
  time_end: ascii('"'),
  labelOf: (name: string) => `,"${name}":`,
  wordOf: (word: string) => JSON.stringify(word),
  missing: ascii('null'),
  end: ascii('}'),
  between: comma,
}
const forms = {
  json,
  ndjson: { ...json, end: ascii('}\n'), between: none },
  csv: {
    start: none,
    time_end: none,
    labelOf: () => ',',
    wordOf: csvField,
    missing: none,
    end: ascii('\n'),
    between: none,
  },
}

/** Adds items of readings with `measured_at` and these values. */
export function addItems(
  text: AsciiText,
  form: keyof typeof forms,
  parts: readonly ReadingColumns[],
  names: readonly string[],
): void {
  const { start, time_end, labelOf, missing, end, between, ...of } = forms[form]
  const labels = names.map((name) => ascii(labelOf(name)))
  const words = new Map<string, Uint8Array>()
  const addWord = (word: string) => {
    const known = words.get(word) ?? Buffer.from(of.wordOf(word))
    words.set(word, known)
    text.add(known)
  }
  const addList = (values: readonly (number | null)[]) => {
    const is_quoted = form === 'csv' && values.length > 1
    if (is_quoted) text.add(quote)
    text.add(list)
    for (let nth = 0; nth < values.length; nth += 1) {
      if (nth > 0) text.add(comma)
      text.addNumber(values[nth]!)
    }
    text.add(list_end)
    if (is_quoted) text.add(quote)
  }
  let before = none
  for (const { count, times_ms, columns } of parts) {
    const values = names.map((name) => columns.get(name))
    for (let nth = 0; nth < count; nth += 1) {
      text.add(before)
      before = between
      text.add(start)
      text.addText(new Date(times_ms[nth]!).toISOString())
      text.add(time_end)
      for (let place = 0; place < labels.length; place += 1) {
        text.add(labels[place]!)
        const value = values[place]?.[nth] ?? null
        if (value === null) text.add(missing)
        else if (typeof value === 'number') text.addNumber(value)
        else if (typeof value === 'string') addWord(value)
        else addList(value)
      }
      text.add(end)
    }
  }
}
