import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { exampleOf } from './example.ts'
import { Nullable } from './params.ts'

const Panel = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  name: Type.String({ examples: ['East roof'] }),
  kind: Type.Enum(['mono', 'poly']),
  installed_at: Type.String({ format: 'date-time' }),
  power_kw: Nullable(Type.Number({ examples: [4.2] })),
  tilt_deg: Nullable(Type.Number()),
  strings: Type.Array(
    Type.Object({ index: Type.Integer({ minimum: 0 }), is_shaded: Type.Boolean() }),
  ),
  place: Type.Object({ latitude: Type.Number({ examples: [48] }), longitude: Type.Number() }),
})

test('an example has the examples of its fields, else the simplest values', () => {
  assert.deepEqual(exampleOf(Panel), {
    id: 1,
    name: 'East roof',
    kind: 'mono',
    installed_at: '2026-06-21T10:00:00.000Z',
    power_kw: 4.2,
    tilt_deg: null,
    strings: [{ index: 0, is_shaded: false }],
    place: { latitude: 48, longitude: 0 },
  })
})

test('overrides replace single fields, also of objects within, and whole arrays', () => {
  const example = exampleOf(Panel, {
    power_kw: null,
    place: { longitude: 12 },
    strings: [{ index: 3, is_shaded: true }],
  })
  assert.equal(example.power_kw, null)
  assert.deepEqual(example.place, { latitude: 48, longitude: 12 })
  assert.deepEqual(example.strings, [{ index: 3, is_shaded: true }])
  assert.equal(example.name, 'East roof')
})
