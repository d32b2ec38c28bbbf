import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { confirm, minute, NotConfirmed, print, table } from './terminal.ts'

function fakeTerminal(is_interactive = true) {
  const streams = { input: new PassThrough(), output: new PassThrough(), notes: new PassThrough() }
  return { ...streams, is_interactive }
}

test('only a yes confirms, and the question stays out of the result', async () => {
  for (const answer of ['yes\n', ' YES \n']) {
    const terminal = fakeTerminal()
    terminal.input.end(answer)
    await confirm(terminal, 'Revoke it?')
    terminal.output.end()
    terminal.notes.end()
    assert.equal(await text(terminal.output), '')
    assert.match(await text(terminal.notes), /Revoke it\?/)
  }
  for (const answer of ['', '\n', 'n\n', 'y\n', 'yes please\n', 'no\nyes\n']) {
    const terminal = fakeTerminal()
    terminal.input.end(answer)
    await assert.rejects(confirm(terminal, 'Revoke it?'), NotConfirmed, JSON.stringify(answer))
  }
})

test('where nobody can be asked nothing is confirmed, whatever is piped in', async () => {
  const terminal = fakeTerminal(false)
  terminal.input.end('yes\n')
  await assert.rejects(confirm(terminal, 'Revoke it?'), /pass --yes/)
})

test('a result is printed for people or as one JSON document', async () => {
  for (const [as_json, printed] of [
    [false, 'one line\n'],
    [true, '[\n  1\n]\n'],
  ] as const) {
    const terminal = fakeTerminal()
    print(terminal, { json: [1], text: 'one line' }, as_json)
    terminal.output.end()
    assert.equal(await text(terminal.output), printed)
  }
})

test('columns are aligned, without blanks at line ends', () => {
  const rows = [
    ['Ήλιος', 'x', ''],
    ['a', 'longer', '1'],
  ]
  assert.equal(table(['NAME', 'B', 'C'], rows), 'NAME   B       C\nΉλιος  x\na      longer  1')
  assert.equal(minute(new Date('2026-06-01T12:34:56.789Z')), '2026-06-01 12:34Z')
  assert.equal(minute(null), '-')
})

test('no cell of a table breaks its line or speaks to the terminal', () => {
  const sly = 'seen\r\n2026-11-21 13:03Z  resolved\u001b[2J\u202e\u2028\u{e0001}'
  const [, row, ...more] = table(['NOTE', 'B'], [[sly, 'x']]).split('\n')
  assert.deepEqual(more, [])
  assert.equal(
    row,
    'seen\\u000d\\u000a2026-11-21 13:03Z  resolved\\u001b[2J\\u202e\\u2028\\u{e0001}  x',
  )
  assert.equal(table(['N'], [['näh 🔥 👩🏽']]), 'N\nnäh 🔥 👩🏽')
})
