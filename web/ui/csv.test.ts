import assert from 'node:assert/strict'
import test from 'node:test'
import { csvOf } from './csv.ts'

test('texts with commas, quotes and line breaks are quoted, unknown values are empty', () => {
  assert.equal(
    csvOf([
      ['Device', 'Power, kW', 'Note'],
      ['W-1', 12.5, 'a "b"\nc'],
      ['W-2', null, ''],
    ]),
    'Device,"Power, kW",Note\r\nW-1,12.5,"a ""b""\nc"\r\nW-2,,\r\n',
  )
})

test('a text is no formula of a spreadsheet, a negative number stays a number', () => {
  assert.equal(csvOf([['=1+1', '@x', -3]]), "'=1+1,'@x,-3\r\n")
})
