import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decode, encode } from './codec.ts'
import { integers, isIntegerType } from './encoding.ts'
import { models } from './models.ts'
import { type Model, type Point, sizeOf } from './point.ts'

const all = Object.values(models) as Model[]
const inverter = {
  values: { W: 12_340, W_SF: 1, Hz: 50.02, Hz_SF: -2, WH: 123_456, WH_SF: 0, St: 4, Evt1: 0 },
}

test('values decode in their units, absent ones as null', () => {
  const { values, complaints, broken } = decode(models[103], encode(models[103], inverter))
  assert.deepEqual(
    [values.W, values.Hz, values.WH, values.St, values.Evt1],
    [12_340, 50.02, 123_456, 4, 0],
  )
  assert.deepEqual([values.A, values.TmpCab, values.EvtVnd1, values.DCW], [null, null, null, null])
  assert.deepEqual(complaints, [])
  assert.equal(broken, null)
})

test('registers of a real measurement decode as documented', () => {
  const registers = encode(models[103], { values: {} })
  registers.set([0xff9c, 0xffff], 14) // W = -100, W_SF = -1
  registers.set([0x0001, 0x86a0, 3], 24) // WH = 100000, WH_SF = 3
  const { values } = decode(models[103], registers)
  assert.equal(values.W, -10)
  assert.equal(values.WH, 100_000_000)
})

test('every "not implemented" form is null without a complaint', () => {
  const forms: [keyof typeof integers, number[]][] = [
    ['int16', [0x8000]],
    ['uint16', [0xffff]],
    ['count', [0xffff]],
    ['enum16', [0xffff]],
    ['bitfield16', [0xffff]],
    ['sunssf', [0x8000]],
    ['int32', [0x8000, 0]],
    ['uint32', [0xffff, 0xffff]],
    ['bitfield32', [0xffff, 0xffff]],
    ['bitfield32', [0x8000, 0]],
    ['acc32', [0, 0]],
    ['uint64', [0xffff, 0xffff, 0xffff, 0xffff]],
    ['acc64', [0, 0, 0, 0]],
  ]
  for (const [type, registers] of forms) {
    assert.deepEqual(decodeOne(type, registers), { value: null, complaints: 0 }, type)
  }
  assert.deepEqual(decodeOne('float32', [0x7fc0, 0]), { value: null, complaints: 0 })
  assert.deepEqual(decodeOne('float32', [0x7fbf, 0xff80]), { value: null, complaints: 0 })
  assert.deepEqual(decodeOne('string2', [0, 0x4142]), { value: null, complaints: 0 })
})

test('impossible values are null with a complaint', () => {
  assert.deepEqual(decodeOne('float32', [0x7f80, 0]), { value: null, complaints: 1 }) // infinity
  assert.deepEqual(decodeOne('float32', [0x7f7f, 0xffff]), { value: null, complaints: 1 })
  assert.deepEqual(decodeOne('bitfield32', [0x8000, 1]), { value: null, complaints: 1 })
  assert.deepEqual(decodeOne('bitfield16', [0x8001]), { value: null, complaints: 1 })
  assert.deepEqual(decodeOne('acc32', [0xffff, 0xffff]), { value: null, complaints: 1 })
  assert.deepEqual(decodeOne('acc64', [0xffff, 0, 0, 0]), { value: null, complaints: 1 })
  assert.deepEqual(decodeOne('sunssf', [11]), { value: null, complaints: 1 })
  assert.deepEqual(decodeOne('string2', [0x4107, 0x4142]), { value: null, complaints: 1 })
  assert.deepEqual(decodeOne('string2', [0xffff, 0xffff]), { value: null, complaints: 1 })
})

test('a value with a missing or invalid scale factor is null with a complaint', () => {
  for (const scale of [0x8000, 11, 0xfff5]) {
    const registers = encode(models[103], inverter)
    registers[15] = scale
    const { values, complaints } = decode(models[103], registers)
    assert.equal(values.W, null)
    assert.ok(complaints.some(({ point }) => point === '103.W'))
    assert.equal(values.Hz, 50.02)
  }
})

test('a shorter model decodes without its end, the extra end of a longer one is ignored', () => {
  const registers = encode(models[103], { values: { ...inverter.values, EvtVnd4: 7 } })
  const shorter = Uint16Array.from(registers.subarray(0, 46))
  shorter[1] = 44
  const { values, broken } = decode(models[103], shorter)
  assert.deepEqual([values.W, values.EvtVnd1, values.EvtVnd4, broken], [12_340, null, null, null])

  const longer = Uint16Array.from([...registers, 1, 2, 3])
  longer[1] = registers.length + 1
  assert.equal(decode(models[103], longer).values.EvtVnd4, 7)
})

test('L decides, not the number of registers read', () => {
  const registers = encode(models[103], { values: { ...inverter.values, EvtVnd4: 7 } })
  registers[1] = 44
  assert.equal(decode(models[103], registers).values.EvtVnd4, null)
})

test('a repeating group uses the scale factors of the fixed block', () => {
  const registers = encode(models[160], {
    values: { DCA_SF: -2, DCV_SF: -1, DCW_SF: 1, DCWH_SF: 0 },
    groups: [
      { DCA: 8.01, DCV: 612.3, DCW: 4910, DCWH: 12 },
      { DCA: 0, Tmp: -3 },
    ],
  })
  const { values, groups } = decode(models[160], registers)
  assert.equal(values.N, 2)
  assert.equal(groups.length, 2)
  assert.deepEqual([groups[0]?.DCA, groups[0]?.DCV, groups[0]?.DCW], [8.01, 612.3, 4910])
  assert.deepEqual([groups[1]?.DCA, groups[1]?.DCV, groups[1]?.Tmp], [0, null, -3])
})

test('literal scale factors apply', () => {
  const registers = Uint16Array.from([303, 2, 251, 0xffff])
  const { groups } = decode(models[303], registers)
  assert.deepEqual(
    groups.map(({ TmpBOM }) => TmpBOM),
    [25.1, -0.1],
  )
})

test('a group repeats by its count, else by L', () => {
  const registers = encode(models[160], {
    values: { DCA_SF: 0 },
    groups: [{ DCA: 1 }, { DCA: 2 }, { DCA: 3 }],
  })
  const countGroups = (n: number, length = 68) => {
    registers[8] = n
    registers[1] = length
    const { groups, broken, complaints } = decode(models[160], registers)
    return [groups.length, broken === null, complaints.length]
  }
  assert.deepEqual(countGroups(3), [3, true, 0])
  assert.deepEqual(countGroups(2), [2, true, 0])
  assert.deepEqual(countGroups(0xffff), [3, true, 0])
  assert.deepEqual(countGroups(0), [3, true, 0])
  assert.deepEqual(countGroups(4), [3, true, 1])
  assert.deepEqual(countGroups(3, 69), [3, true, 0])
  assert.deepEqual(countGroups(0xffff, 67), [0, false, 0])
  assert.deepEqual(countGroups(4, 67), [0, false, 1])
  assert.deepEqual(decode(models[302], Uint16Array.from([302, 4, 1, 2, 3, 4])).groups, [])
})

test('registers of another model are not decoded', () => {
  const { values, broken } = decode(models[103], encode(models[101], inverter))
  assert.equal(values.W, null)
  assert.match(broken ?? '', /expected model 103, got 101/)
  assert.ok(decode(models[103], new Uint16Array()).broken)
})

test('counters of 64 bits are exact', () => {
  const registers = encode(models[701], { values: { TotWh_SF: 0, TotWhInj: 2 ** 50 + 1 } })
  assert.equal(decode(models[701], registers).values.TotWhInj, 2 ** 50 + 1)
})

test('encoding refuses values that do not fit, naming the point', () => {
  const encodeW = (W: number, W_SF: number | null = 0) =>
    encode(models[103], { values: { W, W_SF } })
  assert.throws(() => encodeW(40_000), /103\.W cannot be 40000/)
  assert.throws(() => encodeW(Number.NaN), /103\.W/)
  assert.throws(() => encodeW(1, null), /103\.W needs its scale factor W_SF/)
  assert.throws(() => encode(models[1], { values: { SN: 'x'.repeat(33) } }), /1\.SN/)
})

test('every model decodes to what was encoded', () => {
  for (const model of all) {
    fc.assert(
      fc.property(anyContent(model), ({ values, groups }) => {
        const decoded = decode(model, encode(model, { values, groups } as never))
        assert.equal(decoded.broken, null)
        assert.deepEqual(decoded.complaints, [])
        assert.deepEqual(decoded.values, { ...decoded.values, ...values })
        assert.deepEqual(decoded.groups, groups)
      }),
      { numRuns: 40 },
    )
  }
})

test('any registers decode without an error, to finite numbers, text or null', () => {
  for (const model of all) {
    fc.assert(
      fc.property(fc.uint16Array({ minLength: 0, maxLength: 80 }), (registers) => {
        if (registers.length > 0) registers[0] = model.id
        const { values, groups } = decode(model, registers)
        for (const value of [values, ...groups].flatMap(Object.values)) {
          assert.ok(value === null || typeof value === 'string' || Number.isFinite(value))
        }
      }),
      { numRuns: 40 },
    )
  }
})

/** Decodes one point of a type from its registers. */
function decodeOne(type: Point[2], registers: number[]) {
  const model = { id: 9, points: [['X', 2, type]] } as const satisfies Model
  const decoded = decode(model, Uint16Array.from([9, registers.length, ...registers]))
  return { value: decoded.values.X, complaints: decoded.complaints.length }
}

/** Content that registers can hold exactly: whole steps of the scale factor, or null. */
function anyContent(model: Model) {
  const { group } = model
  const names = model.points.filter(([, , type]) => type === 'sunssf').map(([name]) => name)
  return fc.tuple(...names.map(() => fc.integer({ min: -10, max: 10 }))).chain((exponents) => {
    const scales = Object.fromEntries(names.map((name, index) => [name, exponents[index]]))
    const counted = group?.count ?? ''
    return fc.record({
      values: anyValues(model.points, scales).map((values) => {
        delete values[counted]
        return { ...values, ...scales }
      }),
      groups: group
        ? fc.array(anyValues(group.points, scales), { minLength: 1, maxLength: 3 })
        : fc.constant([]),
    })
  })
}

function anyValues(points: readonly Point[], scales: Record<string, number | undefined>) {
  const measured = points.filter(([, , type]) => type !== 'pad')
  return fc
    .tuple(...measured.map((point) => fc.option(anyValue(point, scales), { freq: 4 })))
    .map(
      (values) =>
        Object.fromEntries(
          measured.map(([name], index) => [name, values[index] ?? null]),
        ) as Record<string, number | string | null>,
    )
}

function anyValue([, , type, , scale]: Point, scales: Record<string, number | undefined>) {
  if (type === 'float32') {
    return fc.float({ noNaN: true, min: -1e9, max: 1e9 }) as fc.Arbitrary<number | string>
  }
  if (!isIntegerType(type)) {
    const bytes_max = sizeOf(type) * 2
    return fc
      .string({ minLength: 1, maxLength: bytes_max })
      .filter((text) => text.trim() === text && !/\p{Cc}/u.test(text))
  }
  const { min, max } = integers[type]
  const exponent = typeof scale === 'string' ? (scales[scale] ?? 0) : (scale ?? 0)
  return fc
    .integer({ min: type.startsWith('acc') ? 1 : min, max: Math.min(max, 2 ** 51) })
    .map((raw) => (exponent < 0 ? raw / 10 ** -exponent : raw * 10 ** exponent))
}
