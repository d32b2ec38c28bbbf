/** APDUs on the wire: start octet, length, four control octets, and an ASDU or none. */
import { asdu_bytes_max } from './asdu.ts'

export const functions = {
  start_act: 0x07,
  start_con: 0x0b,
  stop_act: 0x13,
  stop_con: 0x23,
  test_act: 0x43,
  test_con: 0x83,
} as const
export type FunctionName = keyof typeof functions

export type Apdu =
  | { format: 'i'; send_seq: number; receive_seq: number; asdu: Uint8Array }
  | { format: 's'; receive_seq: number }
  | { format: 'u'; function: FunctionName }

const start = 0x68
const control_bytes = 4
const length_max = control_bytes + asdu_bytes_max
/** Sequence numbers have 15 bits. */
export const seq_modulus = 2 ** 15

const functionOf = new Map<number, FunctionName>(
  Object.entries(functions).map(([name, octet]) => [octet, name as FunctionName]),
)

export function encodeApdu(apdu: Apdu): Uint8Array {
  const asdu = apdu.format === 'i' ? apdu.asdu : new Uint8Array()
  const bytes = new Uint8Array(2 + control_bytes + asdu.length)
  bytes[0] = start
  bytes[1] = control_bytes + asdu.length
  if (apdu.format === 'u') bytes[2] = functions[apdu.function]
  else {
    bytes[2] = apdu.format === 'i' ? (apdu.send_seq << 1) & 0xff : 0x01
    bytes[3] = apdu.format === 'i' ? apdu.send_seq >> 7 : 0
    bytes[4] = (apdu.receive_seq << 1) & 0xff
    bytes[5] = apdu.receive_seq >> 7
  }
  bytes.set(asdu, 2 + control_bytes)
  return bytes
}

/** The APDU of one frame, or what is wrong with it. */
function decodeApdu(bytes: Uint8Array): Apdu | string {
  const [, , first, second, third, fourth] = bytes as unknown as number[]
  const length = bytes.length - 2
  const receive_seq = (third! >> 1) | (fourth! << 7)
  if ((first! & 0x01) === 0) {
    if ((third! & 0x01) !== 0) return 'the second sequence number of an I frame is odd'
    const send_seq = (first! >> 1) | (second! << 7)
    return { format: 'i', send_seq, receive_seq, asdu: bytes.subarray(2 + control_bytes) }
  }
  if (length !== control_bytes) return 'an S or U frame is longer than its control field'
  if ((first! & 0x02) === 0) {
    if (first !== 0x01 || second !== 0 || (third! & 0x01) !== 0) return 'a malformed S frame'
    return { format: 's', receive_seq }
  }
  const named = functionOf.get(first!)
  if (named === undefined || second !== 0 || third !== 0 || fourth !== 0) {
    return 'a U frame with no function, or several'
  }
  return { format: 'u', function: named }
}

/**
 * Cuts a stream into APDUs. Gives those that are whole, and the octets left over: fewer than one
 * frame. After a fault nothing of the stream can be trusted.
 */
export function splitApdus(bytes: Uint8Array): {
  apdus: Apdu[]
  rest: Uint8Array
  fault: string | null
} {
  const apdus: Apdu[] = []
  let offset = 0
  const left = () => bytes.subarray(offset)
  while (offset < bytes.length) {
    if (bytes[offset] !== start) return { apdus, rest: left(), fault: 'no start octet 68H' }
    const length = bytes[offset + 1]
    if (length === undefined) break
    if (length < control_bytes || length > length_max) {
      return { apdus, rest: left(), fault: `a length of ${length}` }
    }
    if (bytes.length - offset < 2 + length) break
    const apdu = decodeApdu(bytes.subarray(offset, offset + 2 + length))
    if (typeof apdu === 'string') return { apdus, rest: left(), fault: apdu }
    apdus.push(apdu)
    offset += 2 + length
  }
  return { apdus, rest: left(), fault: null }
}
