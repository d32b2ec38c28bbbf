/**
 * Values of a row that no SQL statement reads, as one column of bytes: at most half the space of
 * columns of their own, and faster to store. Lossless to the last digit. Pure.
 *
 * A row is its layout, a form of four bits for each column, and the values. A number is the zigzag
 * code of the difference from the previous number with the same decimals.
 */
import type { ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { ByteReader, ByteWriter } from './blocks/bytes.ts'
import type { BlockValue } from './blocks/codec.ts'
import { decimalsOf, type MaybeNumber, powers, unzigzag, zigzag } from './blocks/numbers.ts'

type Name = keyof (typeof readingKinds)['inverter']['columns']

/** By kind, in the order of layout 1: append another layout rather than change one. */
export const compactColumns: Partial<Record<ReadingKind, readonly string[]>> = {
  inverter: [
    'state_vendor_code',
    'reactive_power_kvar',
    'apparent_power_kva',
    'power_factor',
    'frequency_hz',
    'voltage_l1_l2_v',
    'voltage_l2_l3_v',
    'voltage_l3_l1_v',
    'voltage_l1_n_v',
    'voltage_l2_n_v',
    'voltage_l3_n_v',
    'current_l1_a',
    'current_l2_a',
    'current_l3_a',
    'dc_power_kw',
    'dc_voltage_v',
    'dc_current_a',
    'heatsink_temperature_c',
    'transformer_temperature_c',
    'insulation_resistance_kohm',
    'mppt_voltage_v',
    'mppt_current_a',
    'mppt_power_kw',
    'mppt_temperature_c',
    'mppt_energy_total_kwh',
  ] satisfies Name[],
}

const layout = 1

/** `numbers` of a list share their decimals; `doubles` are 8-byte floats, or null. */
const forms = { none: 0, numbers: 1, double: 2, doubles: 3, decimals: 4 } as const
/** A number with up to this many decimals has a form of its own: `forms.decimals` and more. */
const decimals_max = 11
const presence = { no: 0, yes: 1 } as const

/**
 * Writes the compact columns of a row.
 *
 * @param decimals of each column in earlier rows, at first 0; updated
 */
export function writeCompact(
  to: ByteWriter,
  values: readonly BlockValue[],
  decimals: number[],
): void {
  to.u8(layout)
  const of_columns = values.map((value, nth) => formOf(value, nth, decimals))
  for (let nth = 0; nth < of_columns.length; nth += 2) {
    to.u8(of_columns[nth]! | ((of_columns[nth + 1] ?? forms.none) << 4))
  }
  const previous = new Float64Array(decimals_max + 1)
  const writeNumber = (value: number, places: number) => {
    const scaled = Math.round(value * powers[places]!)
    to.count(zigzag(scaled - previous[places]!))
    previous[places] = scaled
  }
  for (let nth = 0; nth < values.length; nth += 1) {
    const value = values[nth]!
    const form = of_columns[nth]!
    if (form === forms.double) to.f64(value as number)
    else if (form >= forms.decimals) writeNumber(value as number, form - forms.decimals)
    else if (form !== forms.none) {
      const list = value as readonly MaybeNumber[]
      to.count(list.length)
      if (form === forms.numbers) {
        to.u8(decimals[nth]!)
        for (const each of list) writeNumber(each!, decimals[nth]!)
      } else {
        for (const each of list) {
          to.u8(each === null ? presence.no : presence.yes)
          if (each !== null) to.f64(each)
        }
      }
    }
  }
}

function formOf(value: BlockValue, nth: number, decimals: number[]): number {
  if (value === null) return forms.none
  if (typeof value === 'number') {
    const places = decimalsOf(value, decimals[nth]!)
    if (places < 0 || places > decimals_max) return forms.double
    decimals[nth] = places
    return forms.decimals + places
  }
  let [places, largest] = [decimals[nth]!, 0]
  for (const each of value as readonly MaybeNumber[]) {
    places = each === null ? -1 : decimalsOf(each, places)
    if (places < 0 || places > decimals_max) return forms.doubles
    largest = Math.max(largest, Math.abs(each!))
  }
  // The decimals of a later number may make an earlier one too large.
  if (decimalsOf(largest, places) !== places) return forms.doubles
  decimals[nth] = places
  return forms.numbers
}

/**
 * Reads rows one after another; a name that is not wanted is left out.
 *
 * @throws Error for a row of a later release
 */
export function readCompact(
  kind: ReadingKind,
  from: ByteReader,
  count: number,
  wanted: ReadonlySet<string>,
): Map<string, BlockValue[]> {
  const names = compactColumns[kind]!
  const columns = names.map((name) =>
    wanted.has(name) ? new Array<BlockValue>(count).fill(null) : null,
  )
  const previous = new Float64Array(decimals_max + 1)
  const readNumber = (places: number) => {
    const scaled = previous[places]! + unzigzag(from.count())
    previous[places] = scaled
    return scaled / powers[places]!
  }
  const readList = (form: number) => {
    const length = from.count()
    const list = new Array<MaybeNumber>(length)
    const places = form === forms.numbers ? from.u8() : 0
    for (let at = 0; at < length; at += 1) {
      if (form === forms.numbers) list[at] = readNumber(places)
      else list[at] = from.u8() === presence.yes ? from.f64() : null
    }
    return list
  }
  for (let row = 0; row < count; row += 1) {
    const found = from.u8()
    if (found !== layout) throw new Error(`a row has layout ${found}`)
    previous.fill(0)
    const of_columns = from.slice((names.length + 1) >> 1)
    for (let nth = 0; nth < names.length; nth += 1) {
      const form = (of_columns[nth >> 1]! >> (4 * (nth & 1))) & 15
      if (form === forms.none) continue
      let value: BlockValue
      if (form >= forms.decimals) value = readNumber(form - forms.decimals)
      else value = form === forms.double ? from.f64() : readList(form)
      const column = columns[nth]
      if (column) column[row] = value
    }
  }
  return new Map(names.flatMap((name, nth) => (columns[nth] ? [[name, columns[nth]]] : [])))
}
