/**
 * The ASDU types in use, with the layout of their information elements (IEC 60870-5-101, 7.2 and
 * 7.3). Each element is a value and the octet beside it: quality, or the qualifier of a command.
 */
import { time_tag_bytes } from './time-tag.ts'

export interface Element {
  value: number
  /** Bits of the descriptor as on the wire, without those of the value; 0 for none. */
  descriptor: number
}

interface Layout {
  bytes: number
  read(view: DataView, offset: number): Element
  write(view: DataView, offset: number, element: Element): void
}

export interface AsduType {
  id: number
  name: string
  layout: Layout
  is_tagged: boolean
}

/** Bit of the qualifier of a command: select, else execute. */
export const select_bit = 0x80

const none: Layout = { bytes: 0, read: () => ({ value: 0, descriptor: 0 }), write() {} }

/** One octet with the value in its lowest bits. */
const octet = (mask: number): Layout => ({
  bytes: 1,
  read(view, offset) {
    const byte = view.getUint8(offset)
    return { value: byte & mask, descriptor: byte & ~mask & 0xff }
  },
  write: (view, offset, { value, descriptor }) =>
    view.setUint8(offset, (value & mask) | (descriptor & ~mask)),
})

/** A value and an octet after it. */
const described = (
  bytes: number,
  read: (view: DataView, offset: number) => number,
  write: (view: DataView, offset: number, value: number) => void,
): Layout => ({
  bytes: bytes + 1,
  read: (view, offset) => ({
    value: read(view, offset),
    descriptor: view.getUint8(offset + bytes),
  }),
  write(view, offset, { value, descriptor }) {
    write(view, offset, value)
    view.setUint8(offset + bytes, descriptor)
  },
})

const clamped = (value: number, least: number, most: number) =>
  Math.min(most, Math.max(least, Math.round(value)))

/** -1 to 1 - 2^-15. */
const normalized = described(
  2,
  (view, offset) => view.getInt16(offset, true) / 32_768,
  (view, offset, value) => view.setInt16(offset, clamped(value * 32_768, -32_768, 32_767), true),
)
const scaled = described(
  2,
  (view, offset) => view.getInt16(offset, true),
  (view, offset, value) => view.setInt16(offset, clamped(value, -32_768, 32_767), true),
)
const short_float = described(
  4,
  (view, offset) => view.getFloat32(offset, true),
  (view, offset, value) => view.setFloat32(offset, value, true),
)
/** A counter; the descriptor has its sequence number, carry, adjusted and invalid. */
const counter = described(
  4,
  (view, offset) => view.getInt32(offset, true),
  (view, offset, value) => view.setInt32(offset, value, true),
)
const test_counter: Layout = {
  bytes: 2,
  read: (view, offset) => ({ value: view.getUint16(offset, true), descriptor: 0 }),
  write: (view, offset, { value }) => view.setUint16(offset, value, true),
}

const single_bit = octet(0x01)
const two_bits = octet(0x03)
const whole_octet = octet(0xff)

const type = (id: number, name: string, layout: Layout, is_tagged = false): AsduType => ({
  id,
  name,
  layout,
  is_tagged,
})

export const asduTypes = [
  type(1, 'M_SP_NA_1', single_bit),
  type(3, 'M_DP_NA_1', two_bits),
  type(9, 'M_ME_NA_1', normalized),
  type(11, 'M_ME_NB_1', scaled),
  type(13, 'M_ME_NC_1', short_float),
  type(15, 'M_IT_NA_1', counter),
  type(30, 'M_SP_TB_1', single_bit, true),
  type(31, 'M_DP_TB_1', two_bits, true),
  type(34, 'M_ME_TD_1', normalized, true),
  type(35, 'M_ME_TE_1', scaled, true),
  type(36, 'M_ME_TF_1', short_float, true),
  type(37, 'M_IT_TB_1', counter, true),
  type(45, 'C_SC_NA_1', single_bit),
  type(46, 'C_DC_NA_1', two_bits),
  type(47, 'C_RC_NA_1', two_bits),
  type(48, 'C_SE_NA_1', normalized),
  type(49, 'C_SE_NB_1', scaled),
  type(50, 'C_SE_NC_1', short_float),
  type(58, 'C_SC_TA_1', single_bit, true),
  type(59, 'C_DC_TA_1', two_bits, true),
  type(60, 'C_RC_TA_1', two_bits, true),
  type(61, 'C_SE_TA_1', normalized, true),
  type(62, 'C_SE_TB_1', scaled, true),
  type(63, 'C_SE_TC_1', short_float, true),
  type(70, 'M_EI_NA_1', octet(0x7f)),
  type(100, 'C_IC_NA_1', whole_octet),
  type(101, 'C_CI_NA_1', octet(0x3f)),
  type(103, 'C_CS_NA_1', none, true),
  type(105, 'C_RP_NA_1', whole_octet),
  type(107, 'C_TS_TA_1', test_counter, true),
] as const satisfies readonly AsduType[]

const by_id = new Map<number, AsduType>(asduTypes.map((one) => [one.id, one]))
const by_name = new Map<string, AsduType>(asduTypes.map((one) => [one.name, one]))

/** null for a type that is not in use here. */
export const asduType = (id: number): AsduType | null => by_id.get(id) ?? null

/** @throws for a name that is not in the table */
export function namedType(name: string): AsduType {
  const found = by_name.get(name)
  if (!found) throw new Error(`no ASDU type ${name}`)
  return found
}

/** The same type without its time tag. */
export function bareOf(type: AsduType): AsduType {
  const isBare = ({ name, layout, is_tagged }: AsduType) =>
    !is_tagged && layout === type.layout && name.slice(0, 4) === type.name.slice(0, 4)
  return asduTypes.find(isBare) ?? type
}

export const elementBytes = ({ layout, is_tagged }: AsduType): number =>
  layout.bytes + (is_tagged ? time_tag_bytes : 0)
