import assert from 'node:assert/strict'
import test from 'node:test'
import { dateOfText, dateTimeOfText, textOfDate } from './date-text.ts'

test('a date reads as on all pages, whatever the language of the browser', () => {
  assert.equal(textOfDate('2026-11-23'), '23 Nov 2026')
  assert.equal(textOfDate('2026-11-23T06:05'), '23 Nov 2026, 06:05')
  assert.equal(textOfDate(''), '')
  assert.equal(textOfDate('23 No'), '23 No')
})

test('a date is understood as it reads, and as it is written elsewhere', () => {
  for (const text of [
    '23 Nov 2026',
    '23 november 2026',
    '23.11.2026',
    '23/11/2026',
    '2026-11-23',
  ]) {
    assert.equal(dateOfText(text), '2026-11-23', text)
    assert.equal(dateTimeOfText(`${text}, 6:05`), '2026-11-23T06:05', text)
    assert.equal(dateTimeOfText(`${text} 06:05`), '2026-11-23T06:05', text)
  }
  for (let month = 1; month <= 12; month += 1) {
    const date = `2026-${String(month).padStart(2, '0')}-09`
    assert.equal(dateOfText(textOfDate(date)), date)
    assert.equal(dateTimeOfText(textOfDate(`${date}T23:59`)), `${date}T23:59`)
  }
  assert.equal(dateTimeOfText('2026-11-23T06:05'), '2026-11-23T06:05')
})

test('what is no date is none', () => {
  for (const text of ['', '23', '31 Feb 2026', '2026-13-01', '11/23/2026', '23 Foo 2026']) {
    assert.equal(dateOfText(text), null, text)
    assert.equal(dateTimeOfText(`${text} 06:00`), null, text)
  }
  for (const text of ['23 Nov 2026', '23 Nov 2026, 24:00', '23 Nov 2026, 12:60']) {
    assert.equal(dateTimeOfText(text), null, text)
  }
})
