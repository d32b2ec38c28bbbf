/**
 * The readings of a device in an hour as one compressed block, column by column. Lossless: what
 * comes out is what went in, to the last digit. Pure.
 *
 * Columns without any value are left out. Each column is stored under its name, so that a block
 * remains readable when columns are added.
 */
import { constants as zlib, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { type ByteReader, type ByteWriter, byteReader, byteWriter } from './bytes.ts'
import { type MaybeNumber, readNumbers, writeNumbers } from './numbers.ts'

/** A value of a reading as the database driver returns it; instants are Unix ms. */
export type BlockValue = string | number | null | readonly MaybeNumber[]
type Column = readonly BlockValue[]

export interface Columns {
  count: number
  /** By name, each of `count` values. */
  columns: ReadonlyMap<string, Column>
}

const forms = { numbers: 0, words: 1, arrays: 2 } as const

/**
 * Text of layout 1 that blocks need not repeat; never changed. Other names take a few bytes more.
 */
const known_names =
  'inverter_id first_string_index meter_id station_id logger_id node_number measured_at quality ' +
  'state state_vendor_code ac_power_kw reactive_power_kvar apparent_power_kva power_factor ' +
  'frequency_hz voltage_l1_l2_v voltage_l2_l3_v voltage_l3_l1_v voltage_l1_n_v voltage_l2_n_v ' +
  'voltage_l3_n_v current_l1_a current_l2_a current_l3_a dc_power_kw dc_voltage_v dc_current_a ' +
  'energy_total_kwh cabinet_temperature_c heatsink_temperature_c transformer_temperature_c ' +
  'insulation_resistance_kohm available_power_kw power_limit_pct limited_by alarm_1 alarm_2 ' +
  'alarm_3 alarm_4 alarm_5 mppt_voltage_v mppt_current_a mppt_power_kw mppt_temperature_c ' +
  'mppt_energy_total_kwh current_a voltage_v active_power_kw energy_export_kwh ' +
  'energy_import_kwh poa_irradiance_w_m2 ghi_w_m2 dhi_w_m2 module_temperature_c ' +
  'ambient_temperature_c relative_humidity_pct pressure_hpa wind_speed_m_s wind_direction_deg ' +
  'rain_mm instrument_values inverters_online inverters_total channel_values good suspect ' +
  'estimated off sleeping starting mppt throttled shutting_down fault standby test unknown none'
/** Each as `text` of a `ByteWriter` writes it. */
const dictionary = Buffer.from(
  known_names
    .split(' ')
    .map((name) => `${String.fromCharCode(name.length)}${name}`)
    .join(''),
)

const compression = {
  params: { [zlib.ZSTD_c_compressionLevel]: 3, [zlib.ZSTD_c_checksumFlag]: 1 },
  dictionary,
}

export function encodeBlock({ count, columns }: Columns): Buffer {
  const to = byteWriter()
  to.count(count)
  for (const [name, values] of columns) {
    const example = values.find((value) => value !== null)
    if (example === undefined) continue
    to.text(name)
    to.measured(() => writeColumn(to, values, example!))
  }
  return zstdCompressSync(to.taken(), compression)
}

function writeColumn(to: ByteWriter, values: Column, example: BlockValue): void {
  if (typeof example === 'number') {
    to.u8(forms.numbers)
    writeNumbers(to, values as readonly MaybeNumber[])
  } else if (typeof example === 'string') {
    to.u8(forms.words)
    writeWords(to, values as readonly (string | null)[])
  } else {
    to.u8(forms.arrays)
    writeArrays(to, values as readonly (readonly MaybeNumber[] | null)[])
  }
}

function writeWords(to: ByteWriter, values: readonly (string | null)[]): void {
  const places = new Map<string, number>()
  const numbers = values.map((value) => {
    if (value === null) return null
    const place = places.get(value) ?? places.size
    places.set(value, place)
    return place
  })
  to.count(places.size)
  for (const word of places.keys()) to.text(word)
  writeNumbers(to, numbers)
}

/** All first elements, then all second ones: neighbours in time are alike. */
function writeArrays(to: ByteWriter, arrays: readonly (readonly MaybeNumber[] | null)[]): void {
  const lengths = arrays.map((array) => array?.length ?? null)
  const elements: MaybeNumber[] = []
  eachElement(lengths, (nth, place) => elements.push(arrays[nth]![place]!))
  writeNumbers(to, lengths)
  to.count(elements.length)
  writeNumbers(to, elements)
}

function eachElement(
  lengths: readonly MaybeNumber[],
  work: (nth: number, place: number) => void,
): void {
  let longest = 0
  for (const length of lengths) longest = Math.max(longest, length ?? 0)
  for (let place = 0; place < longest; place += 1) {
    for (let nth = 0; nth < lengths.length; nth += 1) {
      if (lengths[nth]! > place) work(nth, place)
    }
  }
}

/**
 * The columns of a block; with `wanted` only these. A column that was left out is missing.
 *
 * @throws Error for a damaged block
 */
export function decodeBlock(block: Buffer, wanted?: ReadonlySet<string>): Columns {
  const bytes = zstdDecompressSync(block, { dictionary })
  const from = byteReader(bytes)
  const count = from.count()
  const columns = new Map<string, Column>()
  while (!from.isAtEnd()) {
    const name = from.text()
    const size = from.size()
    if (wanted && !wanted.has(name)) from.skip(size)
    else columns.set(name, readColumn(from, count))
  }
  return { count, columns }
}

function readColumn(from: ByteReader, count: number): Column {
  const form = from.u8()
  if (form === forms.numbers) return readNumbers(from, count)
  if (form === forms.arrays) return readArrays(from, count)
  const words = Array.from({ length: from.count() }, () => from.text())
  return readNumbers(from, count).map((place) => (place === null ? null : words[place]!))
}

function readArrays(from: ByteReader, count: number): Column {
  const lengths = readNumbers(from, count)
  const elements = readNumbers(from, from.count())
  const [length] = lengths
  // Nearly all columns: each element is at the same place of every array.
  if (lengths.every((each) => each === length && length !== null)) {
    return lengths.map((_, nth) => {
      const array: MaybeNumber[] = []
      for (let at = nth; at < elements.length; at += lengths.length) array.push(elements[at]!)
      return array
    })
  }
  const arrays = lengths.map((length) =>
    length === null ? null : new Array<MaybeNumber>(length).fill(null),
  )
  let taken = 0
  eachElement(lengths, (nth, place) => {
    arrays[nth]![place] = elements[taken++]!
  })
  return arrays
}
