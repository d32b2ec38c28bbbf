import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { breakable, fitted, settable, widthOf } from './typeface.ts'

const type = { size_pt: 8 }

test('characters that the typeface lacks become one sign per run', () => {
  assert.equal(
    settable('Žďár, Ærø, Ελλάδα, Дніпро, 5 kWh/m² ≥ 3 €'),
    'Žďár, Ærø, Ελλάδα, Дніпро, 5 kWh/m² ≥ 3 €',
  )
  assert.equal(settable('roof ☀️👩‍🔧 電力 שלום'), 'roof \ufffd \ufffd \ufffd')
  assert.equal(settable('half \ud800 pair'), 'half \ufffd pair')
})

test('text is composed and loses control characters except line ends', () => {
  assert.equal(settable('Z\u030cda\u0301r'), 'Ždár')
  assert.equal(settable('a\u0000b\u001b[31m\u202ec\u200dd'), 'ab[31mcd')
  assert.equal(settable('a\r\nb\rc\u2028d\te'), 'a\nb\nc\nd e')
})

test('any text can be broken into lines that fit', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.constant('W'.repeat(300)),
  )
  fc.assert(
    fc.property(text, fc.integer({ min: 20, max: 300 }), (any, width_pt) => {
      const broken = breakable(settable(any), width_pt, type)
      assert.equal(broken.replaceAll('\u200b', ''), settable(any).replaceAll('\u200b', ''))
      for (const piece of broken.split(/[\s\u200b]/)) assert.ok(widthOf(piece, type) <= width_pt)
    }),
  )
})

test('a text is cut to fit, after a whole character', () => {
  assert.equal(fitted('Plant 1', 100, type), 'Plant 1')
  const cut = fitted('A very long name of a plant', 60, type)
  assert.match(cut, /^A very long \S*…$/)
  assert.ok(widthOf(cut, type) <= 60)
})
