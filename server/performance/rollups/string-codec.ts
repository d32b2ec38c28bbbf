/**
 * Storage format of string sums: rows of 4-byte floats, one row per quantity with one float per
 * string. Reading a week of twelve thousand strings takes a fraction of the time of numbers as
 * text.
 */
import { additive_quantities, type StringSums } from '../diagnostics/string-sums.ts'

/**
 * Order of the rows; a change requires a new layout. The first layout has no `energy_sample_count`;
 * sums of final weeks keep that layout.
 */
const quantities = [...additive_quantities, 'current_a_max'] as const
export const string_layout = 2
const first_layout = 1
const added_row = additive_quantities.indexOf('energy_sample_count')

export interface StoredStrings {
  string_count: number
  layout: number
  sums: Buffer
}

export function encodeStrings(sums: StringSums): StoredStrings {
  const string_count = sums.energy_kwh.length
  const floats = new Float32Array(quantities.length * string_count)
  for (const [row, quantity] of quantities.entries()) {
    for (const [nth, value] of sums[quantity].entries()) {
      floats[row * string_count + nth] = value ?? Number.NaN
    }
  }
  return {
    string_count,
    layout: string_layout,
    sums: Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength),
  }
}

export const decodeStrings = (stored: StoredStrings): StringSums => sumStored([stored])

/**
 * Adds stored sums of one inverter like `addSums`; the result is as long as the longest input.
 * Written as loops for speed: a week of a large site has some ten thousand sums.
 */
export function sumStored(all: readonly StoredStrings[]): StringSums {
  const string_count = all.reduce((most, stored) => Math.max(most, stored.string_count), 0)
  const totals = new Float64Array(additive_quantities.length * string_count)
  const highest_a = new Float64Array(string_count).fill(Number.NaN)
  for (const stored of all) {
    const floats = floatsOf(stored)
    const count = stored.string_count
    for (let row = 0; row < additive_quantities.length; row += 1) {
      const from = row * count
      const to = row * string_count
      for (let nth = 0; nth < count; nth += 1) totals[to + nth]! += floats[from + nth]!
    }
    const from = additive_quantities.length * count
    for (let nth = 0; nth < count; nth += 1) {
      const value = floats[from + nth]!
      if (!(highest_a[nth]! >= value) && !Number.isNaN(value)) highest_a[nth] = value
    }
  }
  const sums = { current_a_max: new Array<number | null>(string_count) } as StringSums
  for (const [row, quantity] of additive_quantities.entries()) {
    sums[quantity] = listOf(totals, row * string_count, string_count)
  }
  for (let nth = 0; nth < string_count; nth += 1) {
    const value = highest_a[nth]!
    sums.current_a_max[nth] = Number.isNaN(value) ? null : value
  }
  return sums
}

type Quantity = Exclude<(typeof quantities)[number], 'energy_sample_count' | 'current_a_max'>

/** SQL that reads one quantity of stored sums of either layout, without the other quantities. */
export const quantityBytes = (quantity: Quantity): string =>
  `substring(sums from 1 + 4 * string_count * ${quantities.indexOf(quantity)} for 4 * string_count)`

export const quantityOf = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length / 4 }, (_, nth) => bytes.readFloatLE(4 * nth))

function listOf(values: Float64Array, from: number, length: number): number[] {
  const list = new Array<number>(length)
  for (let nth = 0; nth < length; nth += 1) list[nth] = values[from + nth]!
  return list
}

function floatsOf({ sums, string_count, layout }: StoredStrings): Float32Array {
  const is_first = layout === first_layout
  const rows = is_first ? quantities.length - 1 : quantities.length
  if ((!is_first && layout !== string_layout) || sums.length !== 4 * rows * string_count) {
    throw new Error(`sums of strings of layout ${layout}, ${sums.length} bytes, cannot be read`)
  }
  const floats =
    sums.byteOffset % 4 === 0
      ? new Float32Array(sums.buffer, sums.byteOffset, sums.length / 4)
      : new Float32Array(Uint8Array.from(sums).buffer)
  if (!is_first) return floats
  const all = new Float32Array(quantities.length * string_count)
  const at = added_row * string_count
  all.set(floats.subarray(0, at))
  all.fill(Number.NaN, at, at + string_count)
  all.set(floats.subarray(at), at + string_count)
  return all
}
