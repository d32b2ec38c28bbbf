/** The items of a history as JSON text, written from columns without an object for each reading. */
import { ascii, number_bytes_max, writeNumber } from '../http/ascii-text.ts'
import type { BlockValue } from './blocks/codec.ts'
import type { ReadingColumns } from './reading-columns.ts'

const [comma, list, list_end, item_end] = [...',[]}'].map((character) => character.charCodeAt(0))
const item_start = ascii(',{"measured_at":"')
const time_end = ascii('"')

/** Items of readings with these values, each after a comma. */
export function itemsText(parts: readonly ReadingColumns[], names: readonly string[]): Buffer {
  const labels = names.map((name) => ascii(`,"${name}":`))
  const fixed = labels.reduce((sum, label) => sum + label.length, 64)
  const words = new Map<string, Uint8Array>()
  const wordOf = (word: string) => {
    const known = words.get(word) ?? Buffer.from(JSON.stringify(word))
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
      at = write(bytes, at, item_start)
      at += bytes.write(new Date(times_ms[nth]!).toISOString(), at, 'latin1')
      at = write(bytes, at, time_end)
      for (let place = 0; place < labels.length; place += 1) {
        at = write(bytes, at, labels[place]!)
        const value: BlockValue = values[place]?.[nth] ?? null
        if (value === null || typeof value === 'number') at = writeNumber(bytes, at, value)
        else if (typeof value === 'string') {
          const word = wordOf(value)
          reserve(fixed + word.length + labels.length * number_bytes_max)
          at = write(bytes, at, word)
        } else {
          reserve(fixed + (labels.length + value.length) * (number_bytes_max + 1))
          bytes[at++] = list!
          for (let element = 0; element < value.length; element += 1) {
            if (element > 0) bytes[at++] = comma!
            at = writeNumber(bytes, at, value[element]!)
          }
          bytes[at++] = list_end!
        }
      }
      bytes[at++] = item_end!
    }
  }
  return bytes.subarray(0, at)
}

function write(bytes: Uint8Array, start: number, more: Uint8Array): number {
  for (let nth = 0; nth < more.length; nth += 1) bytes[start + nth] = more[nth]!
  return start + more.length
}
