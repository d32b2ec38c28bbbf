/**
 * ASDUs as IEC 60870-5-104 fixes them: cause of transmission in two octets with the originator,
 * common address in two, address of an information object in three.
 */
import { type AsduType, asduType, type Element, elementBytes } from './asdu-types.ts'
import { readTimeTag, writeTimeTag } from './time-tag.ts'

export interface AsduHeader {
  type_id: number
  cause: number
  is_negative: boolean
  is_test: boolean
  /** Address of the originator; 0 for none. */
  originator: number
  common_address: number
}

/** An ASDU as received. Its objects stay octets, so that an answer can repeat them unchanged. */
export interface Asdu extends AsduHeader {
  object_count: number
  /** One address, and the elements after it belong to consecutive addresses. */
  is_sequence: boolean
  body: Uint8Array
}

export interface InformationObject extends Element {
  address: number
  /** Unix ms; null without a time tag, or with an invalid one. */
  at: number | null
}

export const causes = {
  periodic: 1,
  background: 2,
  spontaneous: 3,
  initialized: 4,
  requested: 5,
  activation: 6,
  activation_con: 7,
  deactivation: 8,
  deactivation_con: 9,
  activation_termination: 10,
  interrogated_by_station: 20,
  counters_requested: 37,
  unknown_type: 44,
  unknown_cause: 45,
  unknown_common_address: 46,
  unknown_object_address: 47,
} as const

export const asdu_bytes_max = 249
const header_bytes = 6
const address_bytes = 3

/** null for octets that are too short to name type, cause and address. */
export function decodeAsdu(bytes: Uint8Array): Asdu | null {
  if (bytes.length < header_bytes || bytes.length > asdu_bytes_max) return null
  const [type_id, qualifier, cause, originator, low, high] = bytes as unknown as number[]
  return {
    type_id: type_id!,
    cause: cause! & 0x3f,
    is_negative: (cause! & 0x40) !== 0,
    is_test: (cause! & 0x80) !== 0,
    originator: originator!,
    common_address: low! | (high! << 8),
    object_count: qualifier! & 0x7f,
    is_sequence: (qualifier! & 0x80) !== 0,
    body: bytes.subarray(header_bytes),
  }
}

/** null where the octets are not what type and number of objects say, and for an unknown type. */
export function objectsOf({
  type_id,
  object_count,
  is_sequence,
  body,
}: Asdu): InformationObject[] | null {
  const type = asduType(type_id)
  if (!type || object_count === 0) return null
  const bytes = elementBytes(type)
  const addresses = is_sequence ? 1 : object_count
  if (body.length !== addresses * address_bytes + object_count * bytes) return null
  const view = viewOf(body)
  const addressAt = (offset: number) => view.getUint16(offset, true) | (body[offset + 2]! << 16)
  return Array.from({ length: object_count }, (_, nth) => {
    const offset = is_sequence ? nth * bytes : nth * (bytes + address_bytes)
    const address = is_sequence ? addressAt(0) + nth : addressAt(offset)
    return { address, ...elementAt(type, view, offset + address_bytes) }
  })
}

function elementAt(type: AsduType, view: DataView, offset: number) {
  const { layout, is_tagged } = type
  const bytes = new Uint8Array(view.buffer, view.byteOffset)
  const at = is_tagged ? readTimeTag(bytes, offset + layout.bytes) : null
  return { ...layout.read(view, offset), at }
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

/** The most objects, each with its address, that fit into one ASDU of the type. */
export const objectsPerAsdu = (type: AsduType): number =>
  Math.min(127, Math.floor((asdu_bytes_max - header_bytes) / (address_bytes + elementBytes(type))))

/** @throws for more objects than fit */
export function encodeAsdu(
  type: AsduType,
  header: Omit<AsduHeader, 'type_id'>,
  objects: readonly InformationObject[],
): Uint8Array {
  const { layout, is_tagged } = type
  if (objects.length > objectsPerAsdu(type))
    throw new RangeError(`too many objects of ${type.name}`)
  const stride = address_bytes + elementBytes(type)
  const bytes = new Uint8Array(header_bytes + objects.length * stride)
  writeHeader(bytes, { ...header, type_id: type.id }, objects.length)
  const view = viewOf(bytes)
  for (const [nth, { address, at, ...element }] of objects.entries()) {
    const offset = header_bytes + nth * stride
    view.setUint16(offset, address & 0xffff, true)
    view.setUint8(offset + 2, address >> 16)
    layout.write(view, offset + address_bytes, element)
    if (is_tagged) writeTimeTag(bytes, offset + address_bytes + layout.bytes, at)
  }
  return bytes
}

/** The same ASDU with another cause: how a station confirms and rejects. */
export function answerTo(
  { body, object_count, is_sequence, ...header }: Asdu,
  changes: Partial<Pick<AsduHeader, 'cause' | 'is_negative' | 'common_address'>>,
): Uint8Array {
  const bytes = new Uint8Array(header_bytes + body.length)
  writeHeader(bytes, { ...header, ...changes }, object_count | (is_sequence ? 0x80 : 0))
  bytes.set(body, header_bytes)
  return bytes
}

function writeHeader(bytes: Uint8Array, header: AsduHeader, qualifier: number): void {
  const { type_id, cause, is_negative, is_test, originator, common_address } = header
  bytes[0] = type_id
  bytes[1] = qualifier
  bytes[2] = cause | (is_negative ? 0x40 : 0) | (is_test ? 0x80 : 0)
  bytes[3] = originator
  bytes[4] = common_address & 0xff
  bytes[5] = common_address >> 8
}
