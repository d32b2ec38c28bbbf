import assert from 'node:assert/strict'
import test from 'node:test'
import { boundedLine, cutText } from './log-line.ts'

const lineOf = (fields: object) => `${JSON.stringify(fields)}\n`

test('a short line stays the same, with control characters escaped', () => {
  const fields = { level: 50, msg: 'a\nb\u001b[2J\u009b\u202e\u2028\u{e0001}é🌞' }
  const line = boundedLine(lineOf(fields))
  assert.deepEqual(JSON.parse(line), fields)
  assert.match(line, /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\n$/u)
})

test('a long line is cut field by field', () => {
  const long = 'x'.repeat(1_000_000)
  const fields = {
    level: 50,
    time: 1,
    name: 'server',
    msg: long,
    err: { message: long, stack: long, path: [long, { deep: { deeper: long } }] },
  }
  const line = boundedLine(lineOf(fields))
  assert.ok(line.length < 6000, `${line.length}`)
  const { level, time, name, msg, err } = JSON.parse(line)
  assert.deepEqual([level, time, name, msg.length], [50, 1, 'server', 500])
  assert.deepEqual([err.message.length, err.stack.length, err.path[0].length], [500, 3000, 500])
  assert.deepEqual(err.path[1].deep, '…')
})

test('a line of many long fields keeps level, time, name and message', () => {
  const row = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}`, 'y'.repeat(600)]))
  const line = boundedLine(lineOf({ level: 40, time: 2, msg: 'odd', rows: Array(20).fill(row) }))
  const { cut_characters, ...kept } = JSON.parse(line)
  assert.deepEqual(kept, { level: 40, time: 2, msg: 'odd' })
  assert.ok(cut_characters > 200_000)
})

test('a text is cut between characters', () => {
  assert.equal(cutText('abc', 3), 'abc')
  assert.equal(cutText('abcd', 3), 'ab…')
  assert.ok(cutText('🌞🌞🌞', 4).isWellFormed())
})
