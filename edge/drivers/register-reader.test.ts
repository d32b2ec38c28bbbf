import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type NumberRegister,
  type NumberType,
  type Register,
  wordsOf,
} from '@heliograph/domain/profile'
import fc from 'fast-check'
import { BusError, exceptionError } from '../bus/bus-error.ts'
import { createMemoryBus } from './fixtures/memory-bus.ts'
import { rawNumber, textIn, wordsOfNumber } from './register-codec.ts'
import { createRegisterReader, planRequests } from './register-reader.ts'

const register = (address: number, more: Partial<NumberRegister> = {}): NumberRegister => ({
  name: `R${address}`,
  address,
  type: 'u16',
  ...more,
})

const anyRegister = fc.record({
  name: fc.constant('R'),
  address: fc.integer({ min: 0, max: 700 }).map((at) => at * 4),
  type: fc.constantFrom<NumberType>('u16', 'i32', 'u64'),
  table: fc.constant('input' as const),
})

test('every register is read whole, in requests within the limits of Modbus', () => {
  fc.assert(
    fc.property(fc.array(anyRegister), fc.nat(30), (registers: Register[], gap) => {
      const requests = planRequests(registers, { gap_max: gap })
      assert.ok(requests.every(({ count }) => count >= 1 && count <= 125))
      const asked = requests.flatMap((request) => request.registers)
      assert.equal(asked.length, registers.length)
      for (const { address, count, registers: of } of requests) {
        for (const one of of) {
          assert.ok(one.address >= address && one.address + wordsOf(one) <= address + count)
        }
      }
    }),
  )
})

test('a long row is read in requests of maximum length', () => {
  const row = Array.from({ length: 100 }, (_, nth) => register(2 * nth, { type: 'u32' }))
  assert.deepEqual(
    planRequests(row).map(({ address, count }) => [address, count]),
    [
      [0, 124],
      [124, 76],
    ],
  )
})

test('the two tables are never read in one request', () => {
  const requests = planRequests([register(1), register(2, { table: 'input' }), register(3)])
  assert.deepEqual(
    requests.map(({ table, address, count }) => [table, address, count]),
    [
      ['holding', 1, 3],
      ['input', 2, 1],
    ],
  )
})

test('written numbers are read back, in both word orders', () => {
  const types: [NumberType, fc.Arbitrary<number>][] = [
    ['u16', fc.integer({ min: 0, max: 0xfffe })],
    ['i16', fc.integer({ min: -0x7fff, max: 0x7ffe })],
    ['u32', fc.integer({ min: 0, max: 0xffff_fffe })],
    ['i32', fc.integer({ min: -0x7fff_ffff, max: 0x7fff_fffe })],
    ['u64', fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })],
    ['i64', fc.maxSafeInteger()],
    ['f32', fc.float({ noNaN: true, noDefaultInfinity: true })],
    ['f64', fc.double({ noNaN: true, noDefaultInfinity: true })],
    ['bcd16', fc.integer({ min: 0, max: 9999 })],
    ['bcd32', fc.integer({ min: 0, max: 99_999_999 })],
  ]
  for (const [type, values] of types) {
    fc.assert(
      fc.property(values, fc.constantFrom('high_first', 'low_first'), (value, order) => {
        const words = wordsOfNumber({ name: 'R', type }, value, order)
        assert.equal(rawNumber({ type }, words, order), value)
      }),
    )
  }
  assert.deepEqual([...wordsOfNumber({ name: 'R', type: 'u32' }, 0x1_0002, 'low_first')], [2, 1])
})

test('a number that does not fit, or means no value, is not written', () => {
  for (const [type, value] of [
    ['u16', -1],
    ['u16', 0xffff],
    ['i16', 0x7fff],
    ['i32', -0x8000_0000],
    ['u32', 1.5],
    ['u32', Number.NaN],
  ] as const) {
    const write = () => wordsOfNumber({ name: 'R', type }, value, 'high_first')
    assert.throws(write, RangeError, `${type} ${value}`)
  }
})

test('numbers of makers come out as their documents say', () => {
  const raw = (type: NumberType, words: number[], more: Partial<NumberRegister> = {}) =>
    rawNumber({ type, ...more }, Uint16Array.from(words), 'high_first')
  assert.equal(raw('f32', [0x4148, 0]), 12.5)
  assert.equal(raw('f32', [0, 0x4148], { word_order: 'low_first' }), 12.5)
  assert.equal(raw('f32', [0x4841, 0], { swap_bytes: true }), 12.5)
  assert.equal(raw('f64', [0x4029, 0, 0, 0]), 12.5)
  assert.equal(raw('i64', [0xffff, 0xffff, 0xffff, 0xfffe]), -2)
  assert.equal(raw('bcd16', [0x1234]), 1234)
  assert.equal(raw('bcd32', [0x0012, 0x3456]), 123_456)
  assert.equal(raw('bcd16', [0x12a4]), Number.NaN)
})

test('a register may hold the power of ten of another; without it there is no value', async () => {
  const scaled = (address: number, scale_address: number) =>
    register(address, {
      scale: 0.1,
      scale_register: register(scale_address, { type: 'i16' }),
    })
  const words = Uint16Array.of(1234, 0xfffe, 2, 0x8000, 0x7fc0, 0)
  const bus = createMemoryBus({ 3: { base: 0, registers: words } })
  const down = scaled(0, 1)
  const up = { ...scaled(0, 2), type: 'i16' as const }
  const none = { ...scaled(0, 3), table: 'holding' as const }
  const nan = register(4, { type: 'f32' })
  const values = await createRegisterReader({ bus, ...place }, [down, up, none, nan])()
  assert.deepEqual([down, up, none, nan].map(values.number), [1.234, 12_340, null, null])
})

test('no request is longer than the device takes', () => {
  const row = Array.from({ length: 9 }, (_, nth) => register(2 * nth, { type: 'u32' }))
  const requests = planRequests(row, { registers_max: 5 })
  assert.deepEqual(
    requests.map(({ address, count }) => [address, count]),
    [
      [0, 4],
      [4, 4],
      [8, 4],
      [12, 4],
      [16, 2],
    ],
  )
})

test('text ends at its first zero; all ones and blanks are null', () => {
  assert.equal(textIn(Uint16Array.of(0x4142, 0x4300, 0x4445)), 'ABC')
  assert.equal(textIn(Uint16Array.of(0x2020, 0)), null)
  assert.equal(textIn(Uint16Array.of(0xffff, 0xffff)), null)
})

const place = { unit_id: 3, word_order: 'high_first' } as const

function busWithout(...missing: number[]) {
  const bus = createMemoryBus({
    3: { base: 0, registers: Uint16Array.from({ length: 300 }, (_, n) => n) },
  })
  bus.before = (address, count) => {
    if (missing.some((at) => at >= address && at < address + count)) throw exceptionError(2)
  }
  return bus
}

test('missing registers are detected once, and not read again', async () => {
  const bus = busWithout(20, 21)
  const registers = Array.from({ length: 40 }, (_, at) =>
    register(at, at === 20 || at === 21 ? { optional: true } : {}),
  )
  const read = createRegisterReader({ bus, ...place }, registers)
  const first = await read()
  assert.equal(first.number(registers[19]!), 19)
  assert.equal(first.number(registers[20]!), null)
  assert.equal(first.number(registers[39]!), 39)
  bus.asked.length = 0
  const second = await read()
  assert.equal(second.number(registers[39]!), 39)
  assert.ok(bus.asked.length <= 6, `${bus.asked.length} requests`)
})

test('a gap that the device refuses is left out afterwards', async () => {
  const bus = busWithout(5)
  const registers = [1, 2, 3, 9].map((at) => register(at))
  const read = createRegisterReader({ bus, ...place }, registers)
  const values = await read()
  assert.deepEqual(registers.map(values.raw), [1, 2, 3, 9])
  bus.asked.length = 0
  await read()
  assert.deepEqual(bus.asked, [
    [3, 1, 3],
    [3, 9, 1],
  ])
})

test('a refused register is missing, named and not read again', async () => {
  const bus = busWithout(20, 150)
  const registers = Array.from({ length: 40 }, (_, at) => register(5 * at, { type: 'u32' }))
  const read = createRegisterReader({ bus, ...place }, registers)
  for (const values of [await read(), await read()]) {
    assert.deepEqual(values.missing, ['R20 (20)', 'R150 (150)'])
    const missing = registers.filter(values.isMissing)
    assert.deepEqual(missing, [registers[4], registers[30]])
    const raws = registers.filter((one) => !missing.includes(one)).map(values.raw)
    assert.ok(raws.every((raw) => raw !== null))
    assert.equal(values.number(registers[4]!), null)
  }
  bus.asked.length = 0
  await read()
  const asked = bus.asked.some(([, at, count]) => at <= 20 && at + count > 20)
  assert.equal(asked, false)
})

test('missing registers are retried after communication loss, and from time to time', async () => {
  const missing = [2]
  const bus = busWithout()
  bus.before = (address, count) => {
    if (missing.some((at) => at >= address && at < address + count)) throw exceptionError(4)
  }
  const registers = [register(1), register(2), register(3)]
  const read = createRegisterReader({ bus, ...place }, registers)
  const raws = async () => registers.map((await read()).raw)
  assert.deepEqual(await raws(), [1, null, 3])
  missing.length = 0
  assert.deepEqual(await raws(), [1, null, 3])
  const answer = bus.before
  bus.before = () => {
    throw new BusError('timeout', 'no answer')
  }
  await assert.rejects(read(), /no answer/)
  bus.before = answer
  assert.deepEqual(await raws(), [1, 2, 3])
  missing.push(2)
  assert.deepEqual(await raws(), [1, null, 3], 'what is refused from now on')
  missing.length = 0
  for (let nth = 0; nth < 100; nth += 1) assert.deepEqual(await raws(), [1, null, 3])
  assert.deepEqual(await raws(), [1, 2, 3])
})

test('a device that refuses everything, or does not answer, fails the reading', async () => {
  const registers = [register(1), register(2)]
  const refused = createRegisterReader({ bus: busWithout(1, 2), ...place }, registers)
  await assert.rejects(refused(), /illegal data address/)
  const bus = busWithout()
  bus.before = () => {
    throw new BusError('timeout', 'no answer')
  }
  const optional = [register(1, { optional: true })]
  await assert.rejects(createRegisterReader({ bus, ...place }, optional)(), /no answer/)
  assert.equal(bus.asked.length, 1)
})

test('gains divide, and all forms of no value are null', async () => {
  const words = Uint16Array.of(0xffff, 0x8000, 0x7fff, 0x00ff, 0xfffd, 250)
  const bus = createMemoryBus({ 3: { base: 0, registers: words } })
  const registers = [
    register(0),
    register(1, { type: 'i16' }),
    register(2, { type: 'i16' }),
    register(3, { type: 'u32', absent: [0x00ff_fffd] }),
    register(5, { scale: 0.01 }),
  ]
  const values = await createRegisterReader({ bus, ...place }, registers)()
  assert.deepEqual(
    registers.map((one) => values.number(one)),
    [null, null, null, null, 2.5],
  )
})
