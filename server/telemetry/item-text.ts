/** The items of a history as text, written from columns without an object for each reading. */
import { ascii, number_bytes_max, writeNumber } from '../http/ascii-text.ts'
import { csvField } from '../http/export-items.ts'
import type { BlockValue } from './blocks/codec.ts'
import type { ReadingColumns } from './reading-columns.ts'

const [comma, list, list_end, quote] = [...',[]"'].map((character) => character.charCodeAt(0))

const json = {
  start: ascii(',{"measured_at":"'),
  time_end: ascii('"'),
  labelOf: (name: string) => `,"${name}":`,
  wordOf: (word: string) => JSON.stringify(word),
  missing: ascii('null'),
  end: ascii('}'),
}
const forms = {
  /** Each item after a comma. */
  json,
  ndjson: { ...json, start: json.start.subarray(1), end: ascii('}\n') },
  csv: {
    start: ascii(''),
    time_end: ascii(''),
    labelOf: () => ',',
    wordOf: csvField,
    missing: ascii(''),
    end: ascii('\n'),
  },
}

/** Items of readings with `measured_at` and these values. */
export function itemsText(
  form: keyof typeof forms,
  parts: readonly ReadingColumns[],
  names: readonly string[],
): Buffer {
  const { start, time_end, labelOf, missing, end, ...of } = forms[form]
  const labels = names.map((name) => ascii(labelOf(name)))
  const fixed = labels.reduce((sum, label) => sum + label.length, 64)
  const words = new Map<string, Uint8Array>()
  const wordOf = (word: string) => {
    const known = words.get(word) ?? Buffer.from(of.wordOf(word))
    words.set(word, known)
    return known
  }
  let bytes = Buffer.allocUnsafeSlow(0)
  let at = 0
  const reserve = (more: number) => {
    if (at + more <= bytes.length) return
    const wider = Buffer.allocUnsafeSlow(2 * (at + more))
    bytes.copy(wider, 0, 0, at)
    bytes = wider
  }
  for (const { count, times_ms, columns } of parts) {
    const values = names.map((name) => columns.get(name))
    for (let nth = 0; nth < count; nth += 1) {
      reserve(fixed + labels.length * number_bytes_max)
      at = write(bytes, at, start)
      at += bytes.write(new Date(times_ms[nth]!).toISOString(), at, 'latin1')
      at = write(bytes, at, time_end)
      for (let place = 0; place < labels.length; place += 1) {
        at = write(bytes, at, labels[place]!)
        const value: BlockValue = values[place]?.[nth] ?? null
        if (value === null) at = write(bytes, at, missing)
        else if (typeof value === 'number') at = writeNumber(bytes, at, value)
        else if (typeof value === 'string') {
          const word = wordOf(value)
          reserve(fixed + word.length + labels.length * number_bytes_max)
          at = write(bytes, at, word)
        } else {
          reserve(fixed + (labels.length + value.length) * (number_bytes_max + 1))
          const is_quoted = form === 'csv' && value.length > 1
          if (is_quoted) bytes[at++] = quote!
          bytes[at++] = list!
          for (let element = 0; element < value.length; element += 1) {
            if (element > 0) bytes[at++] = comma!
            at = writeNumber(bytes, at, value[element]!)
          }
          bytes[at++] = list_end!
          if (is_quoted) bytes[at++] = quote!
        }
      }
      at = write(bytes, at, end)
    }
  }
  return bytes.subarray(0, at)
}

function write(bytes: Uint8Array, start: number, more: Uint8Array): number {
  for (let nth = 0; nth < more.length; nth += 1) bytes[start + nth] = more[nth]!
  return start + more.length
}
