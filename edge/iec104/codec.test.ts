import assert from 'node:assert/strict'
import test from 'node:test'
import { chanceOf } from '../control/simulation/chance.ts'
import { type Apdu, encodeApdu, splitApdus } from './apci.ts'
import { answerTo, asdu_bytes_max, causes, decodeAsdu, encodeAsdu, objectsOf } from './asdu.ts'
import { namedType } from './asdu-types.ts'
import { randomAsdu } from './fixtures/random-asdu.ts'
import { readTimeTag, writeTimeTag } from './time-tag.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const header = {
  cause: causes.spontaneous,
  is_negative: false,
  is_test: false,
  originator: 0,
  common_address: 1,
}

test('an ASDU is the octets of the standard', () => {
  const at = Date.UTC(2026, 5, 21, 9, 30, 15, 250)
  const measured = [{ address: 0x010203, value: 12.5, descriptor: 0x80, at }]
  const bytes = encodeAsdu(namedType('M_ME_TF_1'), header, measured)
  // 21 June 2026 is a Sunday: day of the week 7.
  assert.equal(hex(bytes), '24010300010003020100004841' + '80' + '923b1e09f5061a')
  const command = { ...header, cause: causes.activation, originator: 7, common_address: 0x1234 }
  const select = [{ address: 500, value: 1, descriptor: 0x80, at: null }]
  const bytes_of_select = encodeAsdu(namedType('C_SC_NA_1'), command, select)
  assert.equal(hex(bytes_of_select), '2d0106073412f4010081')
})

test('each ASDU is read as it was meant', () => {
  const chance = chanceOf(104)
  for (let nth = 0; nth < 5000; nth += 1) {
    const { type, header, objects, bytes } = randomAsdu(chance)
    assert.ok(bytes.length <= asdu_bytes_max)
    const asdu = decodeAsdu(bytes)!
    const { body: _, object_count, is_sequence, ...read } = asdu
    assert.deepEqual(read, { type_id: type.id, ...header })
    assert.equal(object_count, objects.length)
    assert.equal(is_sequence, false)
    assert.deepEqual(objectsOf(asdu), objects)
  }
})

test('a sequence has one address, and the next elements the next addresses', () => {
  const asdu = decodeAsdu(bytesOf('01 83 14 00 01 00 0a 00 00 01 00 81'))!
  assert.deepEqual(objectsOf(asdu), [
    { address: 10, value: 1, descriptor: 0, at: null },
    { address: 11, value: 0, descriptor: 0, at: null },
    { address: 12, value: 1, descriptor: 0x80, at: null },
  ])
})

test('octets that are no objects of their type are none', () => {
  assert.equal(decodeAsdu(bytesOf('64 01 06 00 01')), null)
  const refused = [
    // No object; one octet short; one too many; a type that is not in use.
    '64 00 06 00 01 00',
    '64 01 06 00 01 00 00 00 00',
    '64 01 06 00 01 00 00 00 00 14 00',
    '7a 01 06 00 01 00 00 00 00 14',
  ]
  for (const text of refused) assert.equal(objectsOf(decodeAsdu(bytesOf(text))!), null)
})

test('an answer repeats the objects, with another cause', () => {
  const asdu = decodeAsdu(bytesOf('64 01 86 07 01 00 00 00 00 14'))!
  const answer = answerTo(asdu, { cause: causes.unknown_type, is_negative: true })
  assert.equal(hex(answer), '6401ec070100' + '00000014')
})

test('values beyond the range of their type stop at its end', () => {
  const readBack = (name: string, value: number) => {
    const bytes = encodeAsdu(namedType(name), header, [
      { address: 1, value, descriptor: 0, at: null },
    ])
    return objectsOf(decodeAsdu(bytes)!)![0]!.value
  }
  assert.equal(readBack('M_ME_NA_1', 1), 32_767 / 32_768)
  assert.equal(readBack('M_ME_NA_1', -1.5), -1)
  assert.equal(readBack('M_ME_NB_1', 40_000), 32_767)
  assert.equal(readBack('M_ME_NB_1', -7.4), -7)
})

test('a time tag keeps its instant to the millisecond', () => {
  const bytes = new Uint8Array(7)
  const chance = chanceOf(56)
  const last = Date.UTC(2099, 11, 31, 23, 59, 59, 999)
  const instants = [Date.UTC(2000, 0, 1), Date.UTC(2028, 1, 29, 23, 59, 59, 999), last]
  for (let nth = 0; nth < 1000; nth += 1) instants.push(chance.between(instants[0]!, last))
  for (const at of instants) {
    writeTimeTag(bytes, 0, at)
    assert.equal(readTimeTag(bytes, 0), at)
  }
  writeTimeTag(bytes, 0, null)
  assert.equal(readTimeTag(bytes, 0), null)
  // Summer time is an hour ahead.
  writeTimeTag(bytes, 0, last)
  bytes[3]! |= 0x80
  assert.equal(readTimeTag(bytes, 0), last - 3_600_000)
  // 31 June; minute 60; hour 24.
  assert.equal(readTimeTag(bytesOf('00 00 00 00 1f 06 1a'), 0), null)
  assert.equal(readTimeTag(bytesOf('00 00 3c 00 01 06 1a'), 0), null)
  assert.equal(readTimeTag(bytesOf('00 00 00 18 01 06 1a'), 0), null)
})

test('a stream is cut into APDUs wherever it is broken', () => {
  const asdu = bytesOf('64 01 06 00 01 00 00 00 00 14')
  const sent: Apdu[] = [
    { format: 'u', function: 'start_act' },
    { format: 'i', send_seq: 32_767, receive_seq: 300, asdu },
    { format: 's', receive_seq: 32_767 },
    { format: 'i', send_seq: 0, receive_seq: 0, asdu },
  ]
  const stream = Buffer.concat(sent.map(encodeApdu))
  assert.equal(hex(encodeApdu(sent[1]!)), `680efeff5802${hex(asdu)}`)
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const first = splitApdus(stream.subarray(0, cut))
    const second = splitApdus(Buffer.concat([first.rest, stream.subarray(cut)]))
    const found = [...first.apdus, ...second.apdus]
    assert.deepEqual(found.map(encodeApdu).map(hex), sent.map(encodeApdu).map(hex))
    assert.equal(first.fault ?? second.fault, null)
  }
})

test('octets that are no APDU are a fault, and what came before them counts', () => {
  const faults: [octets: string, fault: RegExp][] = [
    ['67 04 07 00 00 00', /start octet/],
    ['68 03 07 00 00', /length of 3/],
    ['68 fe 00 00 00 00', /length of 254/],
    // Two functions at once; no function; reserved bits.
    ['68 04 0f 00 00 00', /U frame/],
    ['68 04 03 00 00 00', /U frame/],
    ['68 04 07 00 00 01', /U frame/],
    ['68 05 07 00 00 00 00', /longer/],
    ['68 04 01 00 01 00', /S frame/],
    ['68 04 05 00 00 00', /S frame/],
    ['68 04 00 00 01 00', /odd/],
  ]
  for (const [octets, fault] of faults) {
    const found = splitApdus(bytesOf(`68 04 43 00 00 00 ${octets}`))
    assert.match(found.fault ?? '', fault)
    assert.deepEqual(found.apdus, [{ format: 'u', function: 'test_act' }])
  }
})
