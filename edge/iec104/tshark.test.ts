/**
 * Our APDUs as Wireshark's dissector reads them. More of them: `TSHARK_APDUS=100000`, another seed:
 * `TSHARK_SEED=7`.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { type Chance, chanceOf } from '../control/simulation/chance.ts'
import { type Apdu, encodeApdu, type FunctionName, functions } from './apci.ts'
import { captureOf } from './fixtures/capture.ts'
import { type MeantAsdu, randomAsdu } from './fixtures/random-asdu.ts'

const tshark = '/usr/bin/tshark'
const skip = existsSync(tshark) ? false : 'tshark is not there: install tshark'
const seed = Number(process.env['TSHARK_SEED'] ?? 104)
const count = Number(process.env['TSHARK_APDUS'] ?? 10_000)

const header_fields = ['typeid', 'numix', 'sq', 'causetx', 'nega', 'test', 'oa', 'addr']
const element_fields = ['siq', 'diq', 'sco', 'dco', 'rco', 'coi', 'qoi', 'qcc', 'qrp']
const value_fields = ['normval', 'scalval', 'float', 'bcr.count']
const descriptor_fields = ['qds', 'qos']
const counter_fields = ['bcr.sq', 'bcr.cy', 'bcr.ca', 'bcr.iv']
const asdu_fields = [
  ...header_fields,
  'ioa',
  ...element_fields,
  ...value_fields,
  ...descriptor_fields,
  ...counter_fields,
  'cp56time',
  'rawdata',
]
const apdu_fields = ['type', 'utype', 'tx', 'rx'].map((name) => `iec60870_104.${name}`)
const fields = [
  '_ws.expert.message',
  '_ws.malformed',
  ...apdu_fields,
  ...asdu_fields.map((name) => `iec60870_asdu.${name}`),
]

/** The fields of each APDU by name; one that occurs for each object has a list. */
function dissect(apdus: readonly Uint8Array[]): Map<string, string[]>[] {
  const folder = mkdtempSync(join(tmpdir(), 'tshark-'))
  try {
    const path = join(folder, 'apdus.pcap')
    writeFileSync(path, captureOf(apdus))
    const shown = fields.flatMap((name) => ['-e', name])
    const format = ['-T', 'fields', '-E', 'separator=|', '-E', 'aggregator=;']
    const { stdout, status, stderr } = spawnSync(tshark, ['-r', path, ...format, ...shown], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC' },
      maxBuffer: 2 ** 28,
    })
    assert.equal(status, 0, stderr)
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => {
        const cells = line.split('|').map((cell) => (cell === '' ? [] : cell.split(';')))
        return new Map(fields.map((name, nth) => [name, cells[nth] ?? []]))
      })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const formatIs = { i: '0x00000000', s: '0x00000001', u: '0x00000003' } as const

function randomApdu(chance: Chance): { apdu: Apdu; meant: MeantAsdu | null } {
  const receive_seq = chance.between(0, 32_767)
  if (chance.yes(0.1)) return { apdu: { format: 's', receive_seq }, meant: null }
  if (chance.yes(0.1)) {
    const named = chance.pick(Object.keys(functions) as FunctionName[])
    return { apdu: { format: 'u', function: named }, meant: null }
  }
  const meant = randomAsdu(chance, chance.yes(0.1) ? 127 : 4)
  const send_seq = chance.between(0, 32_767)
  return { apdu: { format: 'i', send_seq, receive_seq, asdu: meant.bytes }, meant }
}

test(`tshark reads ${count} APDUs of ours, and each means what we meant`, { skip }, () => {
  const chance = chanceOf(seed)
  const sent = Array.from({ length: count }, () => randomApdu(chance))
  const seen = dissect(sent.map(({ apdu }) => encodeApdu(apdu)))
  assert.equal(seen.length, count)
  for (const [nth, { apdu, meant }] of sent.entries()) {
    const found = seen[nth]!
    const where = `APDU ${nth} of seed ${seed}`
    assert.deepEqual(found.get('_ws.expert.message'), [], where)
    assert.deepEqual(found.get('_ws.malformed'), [], where)
    assert.equal(Number(found.get('iec60870_104.type')), Number(formatIs[apdu.format]), where)
    if (apdu.format === 'i') assert.equal(Number(found.get('iec60870_104.tx')), apdu.send_seq)
    if (apdu.format !== 'u') assert.equal(Number(found.get('iec60870_104.rx')), apdu.receive_seq)
    // The dissector shows the octet without the two bits that name the format.
    if (apdu.format === 'u') {
      const octet = Number(found.get('iec60870_104.utype'))
      assert.equal(octet, functions[apdu.function] >> 2, where)
    }
    if (meant) checkAsdu(meant, (name) => found.get(`iec60870_asdu.${name}`) ?? [], where)
  }
})

function checkAsdu(meant: MeantAsdu, of: (name: string) => string[], where: string): void {
  const { type, header, objects } = meant
  const expected = [
    type.id,
    objects.length,
    0,
    header.cause,
    Number(header.is_negative),
    Number(header.is_test),
    header.originator,
    header.common_address,
  ]
  assert.deepEqual(
    header_fields.map((name) => Number(of(name))),
    expected,
    where,
  )
  const addresses = objects.map(({ address }) => address)
  // The dissector knows no elements of the test command, and shows the first address alone.
  if (type.name === 'C_TS_TA_1') {
    assert.equal(Number(of('ioa')), addresses[0], where)
    assert.equal(of('rawdata').length, 1, where)
    return
  }
  assert.deepEqual(of('rawdata'), [], where)
  assert.deepEqual(of('ioa').map(Number), addresses, where)
  const octets = element_fields.flatMap(of).map(Number)
  const values = value_fields.flatMap(of).map(Number)
  for (const [index, { value, descriptor, at }] of objects.entries()) {
    if (values.length > 0) {
      const share = Math.abs(values[index]! - value) / Math.max(1, Math.abs(value))
      assert.ok(share < 1e-5, `${where}: ${values[index]} is not ${value}`)
    }
    if (octets.length > 0) assert.equal(octets[index], value | descriptor, where)
    const described = descriptor_fields.flatMap(of)[index]
    const counter = counter_fields.map((name) => Number(of(name)[index] ?? 0))
    const [sequence, carry, adjusted, invalid] = counter as [number, number, number, number]
    const of_counter = sequence | (carry << 5) | (adjusted << 6) | (invalid << 7)
    if (values.length > 0) assert.equal(Number(described ?? of_counter), descriptor, where)
    if (at !== null) assert.equal(Date.parse(of('cp56time')[index]!), at, where)
  }
  const is_bare = type.layout.bytes === 0
  assert.equal(octets.length + values.length, is_bare ? 0 : objects.length, where)
}
