import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { asciiText } from '../http/ascii-text.ts'
import { type ExportItem, textOf } from '../http/export-items.ts'
import { addItems } from './item-text.ts'
import { byColumn } from './reading-columns.ts'

const number = fc.oneof(
  fc.integer({ min: -99_999, max: 99_999 }).map((value) => value / 100),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1e-7, 12_345_678.123456, 2 ** 53, -0.000001, null),
)
const reading = fc.record({
  measured_at: fc.integer({ min: 0, max: 2e12 }),
  quality: fc.constantFrom('good', 'suspect'),
  power_kw: number,
  word: fc.option(fc.string(), { nil: null }),
  values: fc.option(fc.array(number, { maxLength: 40 }), { nil: null }),
})

async function* inOneBatch(items: readonly ExportItem[]) {
  yield items
}

test('items are written as JSON.stringify and exports of items write them', async () => {
  const input = fc.array(fc.array(reading, { maxLength: 5 }), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(input, async (parts) => {
      const names = ['quality', 'power_kw', 'word', 'missing', 'values']
      const items = parts.flat().map(({ measured_at, quality, power_kw, word, values }) => {
        const at = new Date(measured_at).toISOString()
        return { measured_at: at, quality, power_kw, word, missing: null, values }
      })
      const textIn = (form: 'json' | 'csv' | 'ndjson') => {
        const text = asciiText()
        addItems(text, form, parts.map(byColumn), names)
        return String(text.take())
      }
      assert.equal(`[${textIn('json')}]`, JSON.stringify(items))
      const form = { columns: ['measured_at', ...names], lines: (item: ExportItem) => [item] }
      for (const format of ['csv', 'ndjson'] as const) {
        const { value } = await textOf(format, form, inOneBatch(items)).next()
        assert.equal(textIn(format), value)
      }
    }),
    { numRuns: 500 },
  )
})
